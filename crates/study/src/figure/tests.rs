//! Tests of what a figure may name.

use std::path::PathBuf;

use super::*;
use crate::{Extra, Scale, Traces};

const STUDY: &str = r#"
title = "t"
[[input]]
name = "short"
pages = "0 1 2 3 4 5"
[[grid]]
buffers = ["lru", "fab"]
sizes = ["64KiB", "128KiB"]
vary = { "flash.erase_us" = [1500, 3000] }
[[figure]]
id = "f"
title = "Hits"
x = "size"
x_values = ["128KiB"]
series = "buffer"
series_values = ["fab", "lru"]
y = 'm("buffer.write_hits", input="short")'
log = "x"
where = { "flash.erase_us" = 1500 }
published = { fab = { "64KiB" = 3.0 } }
"#;

fn checked(text: &str) -> Result<(), Error> {
    let study = Study::parse("s", text, "s.toml", PathBuf::new())?;
    let traces = Traces::parse("", "traces.toml")?;
    let cells = study.cells(Scale::Reduced, &traces, &Extra::default())?;
    study.check_figures(&cells)
}

#[test]
fn a_figure_names_only_what_runs_have() {
    checked(STUDY).unwrap();
    for (from, to, parts) in [
        (
            "x = \"size\"",
            "x = \"sizze\"",
            ["x: \"sizze\" is not an axis", "\"size\""],
        ),
        (
            "series = \"buffer\"",
            "series = \"bufer\"",
            ["series: \"bufer\"", "did you mean \"buffer\""],
        ),
        (
            "x_values = [\"128KiB\"]",
            "x_values = [\"256KiB\"]",
            ["x_values: no run has size = \"256KiB\"", "64 KiB, 128 KiB"],
        ),
        (
            "[\"fab\", \"lru\"]",
            "[\"fab\", \"lur\"]",
            [
                "series_values: no run has buffer = \"lur\"",
                "did you mean \"lru\"",
            ],
        ),
        (
            "flash.erase_us\" = 1500",
            "flash.erase_us\" = 1600",
            ["where: no run has flash.erase_us = \"1600\"", "1500, 3000"],
        ),
        (
            "where = { \"flash.erase_us\"",
            "where = { \"flash.read_us\"",
            ["where: \"flash.read_us\"", "flash.erase_us"],
        ),
        (
            "input=\"short\"",
            "inptu=\"short\"",
            ["\"inptu\" is not an axis", "did you mean \"input\""],
        ),
        (
            "log = \"x\"",
            "log = \"z\"",
            ["log = \"z\"", "expected x, y or xy"],
        ),
        (
            "published = { fab",
            "published = { fba",
            ["published: \"fba\"", "did you mean \"fab\""],
        ),
    ] {
        assert!(STUDY.contains(from), "{from}");
        let error = checked(&STUDY.replace(from, to)).unwrap_err().to_string();
        for part in parts.iter().chain(&["s.toml: figure \"f\": "]) {
            assert!(error.contains(part), "{to}: {error}");
        }
    }
}

#[test]
fn labels_of_what_is_left_out_are_not_refused() {
    let more = "\n[[grid]]\nbuffers = [\"bplru\"]\nsizes = [\"64KiB\"]\nfull_only = true\n";
    let text = STUDY.replace("[\"fab\", \"lru\"]", "[\"fab\", \"bplru\"]");
    checked(&text).unwrap_err();
    checked(&(text + more)).unwrap();
}
