//! Tests of signals and closed pipes.
#![cfg(unix)]

use crate::common;

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{Place, ctrl_c};

/// Waits until the temporary file of `child` exists, sends an interrupt to `child`, and waits for the end of `child`.
fn interrupt(place: &Place, mut child: Child) -> (Option<i32>, String) {
    let patience = Instant::now();
    while !place.files().iter().any(|name| name.ends_with(".partial")) {
        assert!(
            patience.elapsed() < Duration::from_secs(60),
            "{:?}",
            place.files()
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    let number = child.id().to_string();
    assert!(
        Command::new("kill")
            .args([ctrl_c(), &number])
            .status()
            .expect("kill runs")
            .success()
    );
    let status = child.wait().expect("it ends").code();
    let mut errors = String::new();
    child
        .stderr
        .take()
        .expect("a pipe")
        .read_to_string(&mut errors)
        .expect("text");
    (status, errors)
}

#[test]
fn an_interrupted_run_leaves_no_file() {
    let place = Place::new();
    let outputs = [
        "-o",
        "x.json",
        "--response-log",
        "r.csv",
        "--destage-log",
        "d.csv",
    ];
    let run = [
        "run",
        "--workload",
        "zipf:requests=1000000000,mean_interarrival_ms=5",
    ];
    let mut command = place.command(&[&run[..], &outputs].concat());
    let child = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (status, errors) = interrupt(&place, child);
    assert_eq!(status, Some(130), "{errors}");
    assert!(errors.contains("interrupted"), "{errors}");
    assert_eq!(place.files(), Vec::<String>::new());
}

#[test]
fn waiting_for_standard_input_can_be_interrupted() {
    let place = Place::new();
    let run = ["run", "-", "--format", "disksim", "-o", "x.json"];
    let mut command = place.command(&run);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // Standard input stays open and has no line, so the command waits for input.
    let input = child.stdin.take();
    let (status, errors) = interrupt(&place, child);
    drop(input);
    assert_eq!(status, Some(130), "{errors}");
    assert_eq!(place.files(), Vec::<String>::new());
}

#[test]
fn a_closed_pipe_is_no_fault() {
    let place = Place::new();
    let mut command = place.command(&["show"]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    assert_eq!(errors, "");
}

#[test]
fn what_is_no_regular_file_is_written_in_place() {
    let place = Place::new();
    std::os::unix::fs::symlink("/dev/null", place.path("null.csv")).unwrap();
    place.succeed(&[
        "run",
        "--workload",
        "zipf:requests=10",
        "--response-log",
        "null.csv",
    ]);
    assert_eq!(place.files(), ["null.csv"]);
    assert!(place.path("null.csv").is_symlink());
    assert!(!std::path::Path::new("/dev/null").is_file());
}
