//! What docs/LIVE.md and docs/PROTOTYPE.md say can be typed. Blocks that need other people's programs are run by `make live`.
#![cfg(unix)]

mod common;

use std::path::Path;
use std::process::{Command, Stdio};

use common::Place;

#[test]
fn every_command_of_the_guide_does_what_it_says() {
    let said = carry_out("LIVE.md", 5);
    assert!(
        said.contains("ready nbd+unix:///?socket=disk.sock"),
        "{said}"
    );
}

#[test]
fn the_prototype_by_hand_is_equal_to_its_run() {
    carry_out("PROTOTYPE.md", 1);
}

/// Runs the blocks of a page, of which there are at least so many; what they said.
fn carry_out(page: &str, least: usize) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs")
        .join(page);
    let text = std::fs::read_to_string(path).expect("the guide");
    // One shell and one folder for all: servers of the first block are asked by the next.
    let blocks: Vec<&str> = text
        .split("\n```sh\n")
        .skip(1)
        .map(|rest| rest.split("\n```").next().unwrap_or(rest))
        .collect();
    assert!(blocks.len() >= least, "{} blocks", blocks.len());
    let place = Place::new();
    let program = Path::new(env!("CARGO_BIN_EXE_destage"));
    let folder = program.parent().expect("a folder").to_string_lossy();
    let others = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("bash")
        // Servers end with the shell, also where a command fails.
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
