//! Tests of what a figure may name.

use std::path::PathBuf;

use super::*;
use crate::{Extra, InputFacts, Role, Scale, Traces};

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

/// If the run with one seed failed, the cell is empty, because a mean over the other seeds would not show it. The
/// reason names the run.
#[test]
fn a_failed_seed_empties_its_cell() {
    let row = |buffer: &str, seed: &str, result: Value| Row {
        labels: [
            ("buffer", buffer),
            ("flash.erase_us", "1500"),
            ("input", "short"),
            ("seed", seed),
            ("size", "131072"),
            ("variant", BASE),
        ]
        .map(|(axis, value)| (axis.to_owned(), value.to_owned()))
        .into(),
        input: InputFacts {
            name: "short".to_owned(),
            digest: None,
            role: Role::Made,
            differs: String::new(),
        },
        result: Arc::new(result),
    };
    let hits = |count: u64| json!({ "metrics": { "buffer.write_hits": count } });
    let rows = Rows {
        all: vec![
            row("fab", "1", hits(2)),
            row("fab", "2", json!({ "error": "no space" })),
            row("lru", "1", hits(1)),
            row("lru", "2", hits(3)),
        ],
        ..Rows::default()
    };
    let study = Study::parse("s", STUDY, "s.toml", PathBuf::new()).unwrap();
    let figure = &study.figures(&Arc::new(rows)).unwrap()[0];
    let means = figure.series.iter().map(|series| series.points[0]);
    let means: Vec<_> = means.map(|point| point.map(|point| point.mean)).collect();
    assert_eq!(means, [None, Some(2.0)]);
    assert_eq!(
        figure.gaps,
        [
            "a run gave no result: buffer=fab flash.erase_us=1500 input=short seed=2 size=131072 variant=base: no space"
        ]
    );
}
