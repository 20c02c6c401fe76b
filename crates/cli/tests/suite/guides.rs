//! Tests that the commands in the guides of `docs` work. `make live` runs those blocks of commands that need programs
//! of other projects.
#![cfg(unix)]

use crate::common;

use std::path::Path;
use std::process::{Command, Stdio};

use common::Place;

/// Runs all blocks of commands of the guide `name`, and returns their output. The guide must have at least `least`
/// blocks.
fn run(name: &str, least: usize) -> String {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let text = std::fs::read_to_string(docs.join(name)).expect("the guide");
    // All blocks run in one shell and one folder, because later blocks use the servers that the first block starts.
    let blocks: Vec<&str> = text
        .split("\n```sh\n")
        .skip(1)
        .map(|rest| rest.split("\n```").next().unwrap_or(rest))
        .collect();
    assert!(blocks.len() >= least, "{name}: {} blocks", blocks.len());
    let place = Place::new();
    let program = Path::new(env!("CARGO_BIN_EXE_destage"));
    let folder = program.parent().expect("a folder").to_string_lossy();
    let others = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("bash")
        // The shell ends the servers when it exits, even if a command fails.
        .args(["-euxo", "pipefail", "-c"])
        .arg(format!(
            "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n{}",
            blocks.join("\n")
        ))
        .current_dir(place.path("."))
        .env("PATH", format!("{folder}:{others}"))
        .stdin(Stdio::null())
        .output()
        .expect("a shell");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn the_device_live() {
    let said = run("LIVE.md", 5);
    assert!(
        said.contains("ready nbd+unix:///?socket=disk.sock"),
        "{said}"
    );
}

#[test]
fn curves() {
    let said = run("CURVES.md", 1);
    assert!(
        said.contains("lru: every size from one pass, exact."),
        "{said}"
    );
    assert!(
        said.contains("a run for each size, exact at these."),
        "{said}"
    );
}

#[test]
fn fleets() {
    let said = run("FLEETS.md", 1);
    assert!(said.contains("one shared buffer"), "{said}");
}

#[test]
fn measured_drives() {
    let said = run("DRIVES.md", 1);
    assert!(said.contains("970 PRO: saturated rates"), "{said}");
}

#[test]
fn the_report() {
    let said = run("REPORT.md", 1);
    assert!(said.contains("With 16 MiB of buffer"), "{said}");
}

#[test]
fn watching() {
    let said = run("WATCH.md", 2);
    assert!(said.contains("bplru.html"), "{said}");
}

#[test]
fn a_run_explained() {
    let said = run("EXPLAIN.md", 1);
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/EXPLAIN.md");
    let guide = std::fs::read_to_string(guide).expect("the guide");
    let shown = guide.split("```text\n").nth(1).expect("what it says");
    let shown = shown.split("```").next().expect("its end");
    assert!(shown.contains("waiting for a buffer slot"));
    assert!(said.contains(shown), "{said}");
}

/// The output that the tutorial shows must equal the output of its commands. Lines that the tutorial omits are marked
/// with `...`.
#[test]
fn from_a_trace_to_an_answer() {
    const GUIDE: &str = "guides/trace-to-answer.md";
    let said = run(GUIDE, 6);
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let guide = std::fs::read_to_string(docs.join(GUIDE)).expect("the guide");
    let blocks = guide.split("```text\n").skip(1);
    let blocks = blocks.filter_map(|rest| rest.split("```").next());
    let parts: Vec<&str> = blocks.flat_map(|block| block.split("...\n")).collect();
    assert!(parts.len() >= 5, "{parts:?}");
    for part in parts {
        assert!(said.contains(part), "{part}\n is not in\n{said}");
    }
}

#[test]
fn the_prototype_by_hand() {
    run("PROTOTYPE.md", 1);
}
