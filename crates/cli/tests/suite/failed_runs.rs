//! Tests of comparisons in which some runs fail, and of comparisons that would repeat runs.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use crate::common;

use common::{Place, TINY, json, page_writes};

/// Compares two buffers with four writes. On a small device, the first write is beyond the end of the device.
fn compare(place: &Place, more: &[&str]) -> common::Outcome {
    let writes = page_writes(&[40, 1, 2, 3]);
    place.write("t.disksim", writes);
    let arguments = ["compare", "t.disksim", "--buffers", "fifo,lru"];
    place.run(&[&arguments, &TINY[..], more].concat())
}

/// Two layers. The second layer reserves so much flash that page 40 is beyond the end of the device.
const SMALL: [&str; 2] = ["--ftls", "page,page:reserve_percent=60"];

#[test]
fn a_failed_run_stands_in_its_row_and_the_status_is_2() {
    let place = Place::new();
    let outcome = compare(&place, &[&SMALL[..], &["--json", "-o", "r.csv"]].concat());
    assert_eq!(outcome.status, 2, "{}", outcome.errors);
    let document = json(&outcome.output);
    let runs = document["runs"].as_array().unwrap();
    let errors: Vec<_> = runs.iter().map(|run| run["error"].as_str()).collect();
    assert_eq!(errors[..2], [None, None]);
    for error in &errors[2..] {
        assert!(
            error.unwrap().contains("ends beyond the device"),
            "{error:?}"
        );
    }
    assert!(runs[0]["metrics"]["host.requests"] == 4 && runs[2]["metrics"] == json("{}"));
    let named: Vec<_> = outcome.errors.lines().collect();
    assert_eq!(named.len(), 2, "{}", outcome.errors);
    let lru = "error: t.disksim on lru of 32 KiB, FTL page:reserve_percent=60: t.disksim:1: ";
    assert!(named[1].contains(lru), "{}", named[1]);
    assert!(
        place
            .read("r.csv")
            .lines()
            .next()
            .unwrap()
            .ends_with(",error")
    );
    compare(&place, &[&SMALL[..], &["-o", "r.html"]].concat());
    assert!(place.read("r.html").contains("ends beyond the device"));
    let table = compare(&place, &SMALL).output;
    assert!(table.contains("device too small"), "{table}");
}

#[test]
fn where_all_fail_there_is_no_result_and_each_cause_once() {
    let place = Place::new();
    let outcome = compare(
        &place,
        &["--ftl", "page:reserve_percent=60", "-o", "r.json"],
    );
    assert_eq!(outcome.status, 2);
    assert_eq!(outcome.output, "");
    assert_eq!(outcome.errors.lines().count(), 1, "{}", outcome.errors);
    assert!(
        outcome.errors.starts_with("destage: error: t.disksim:1: "),
        "{}",
        outcome.errors
    );
    assert_eq!(place.files(), ["t.disksim"]);
}

#[test]
fn nothing_runs_twice() {
    let place = Place::new();
    let buffers = ["--buffers", "nocache,lru,lru"];
    let sizes = ["--sizes", "32KiB,16KiB,32768"];
    let arguments = ["compare", "--workload", "uniform:requests=10", "--json"];
    let document = place.json(&[&arguments[..], &buffers, &sizes].concat());
    let runs = document["runs"].as_array().unwrap().iter();
    let rows: Vec<_> = runs
        .map(|run| {
            let parameters = &run["parameters"];
            let size = parameters["buffer.capacity_bytes"].as_u64().unwrap();
            (parameters["buffer.kind"].as_str().unwrap(), size >> 10)
        })
        .collect();
    assert_eq!(rows, [("nocache", 32), ("lru", 32), ("lru", 16)]);
}

/// The shell limits the address space. It is too small for the stacks of ten thousand threads.
#[cfg(target_os = "linux")]
#[test]
fn threads_beyond_the_runs_are_not_started() {
    let place = Place::new();
    let program = env!("CARGO_BIN_EXE_destage");
    for command in ["run", "compare"] {
        let line = format!(
            "ulimit -v 8000000 && {program} {command} --workload uniform:requests=10 --threads 10000"
        );
        let mut shell = std::process::Command::new("bash");
        shell.args(["-c", &line]).current_dir(place.path("."));
        let output = shell.output().expect("a shell runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
    }
}
