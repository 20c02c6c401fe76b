//! A trace of any length streams through a run in the memory that buffer and device need; in a timed run, once it has
//! more responses than are kept one by one.
//!
//! A workload is written as text by one process and read by another through a pipe. Both processes' peaks are taken
//! for a trace and for one ten times as long: no more than noise may lie between. `make soak-memory` does it with
//! 10 GB of text.

#![cfg(target_os = "linux")] // Elsewhere nothing says what the peak of a process was; /proc does.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use crate::common;

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

use common::{Place, json};

/// Pages of which every one is written in either run, so that the tables of both are as large as they get.
const FOOTPRINT_PAGES: u64 = 8192;
/// Mean length of a line of the generated text.
const LINE_BYTES: u64 = 27;

/// The peak so far of a process that may have ended, in KiB.
fn peak_kib(child: &Child) -> Option<u64> {
    let path = PathBuf::from(format!("/proc/{}/status", child.id()));
    let status = std::fs::read_to_string(path).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// A run of the buffer alone, one with a clock over a small device, all of whose blocks are used in any case, and a
/// comparison, whose runs are fed by one decoder.
const RUNS: [&[&str]; 3] = [
    &["run", "-", "--size", "4MiB", "--ftl", "none"],
    &[
        "run",
        "-",
        "--size",
        "4MiB",
        "--set",
        "sim.exact_responses=1000",
        "--set",
        "flash.dies=2",
        "--set",
        "flash.planes_per_die=2",
        "--set",
        "flash.blocks_per_plane=64",
    ],
    &[
        "compare",
        "-",
        "--buffers",
        "fifo,lru,bplru",
        "--sizes",
        "2MiB,4MiB",
        "--ftl",
        "none",
    ],
];

/// Peaks of the writing and the reading process, in KiB.
fn peaks(requests: u64, run: &[&str]) -> [u64; 2] {
    let place = Place::new();
    let workload = format!(
        "uniform:requests={requests},footprint_pages={FOOTPRINT_PAGES},mean_interarrival_ms=1"
    );
    let mut writer = place
        .command(&[
            "trace",
            "generate",
            "--workload",
            &workload,
            "--to",
            "disksim",
            "-o",
            "/dev/stdout",
        ])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut text = writer.stdout.take().unwrap();
    let arguments = [run, &["--format", "disksim", "--json"]].concat();
    let output = place.path("results.json");
    let mut reader = place
        .command(&arguments)
        .stdin(Stdio::piped())
        .stdout(std::fs::File::create(&output).unwrap())
        .spawn()
        .unwrap();
    let mut input = reader.stdin.take().unwrap();
    let mut peaks = [0; 2];
    let mut look = |reader: &Child| {
        for (peak, child) in peaks.iter_mut().zip([&writer, reader]) {
            *peak = peak_kib(child).unwrap_or(0).max(*peak);
        }
    };
    // Piece by piece: neither goes on before it has been looked at, however busy the machine is.
    let mut piece = vec![0; 1 << 16];
    loop {
        match text.read(&mut piece).unwrap() {
            0 => break,
            length => input.write_all(&piece[..length]).unwrap(),
        }
        look(&reader);
    }
    drop(input);
    let status = loop {
        look(&reader);
        if let Some(status) = reader.try_wait().unwrap() {
            break status;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    assert!(status.success() && writer.wait().unwrap().success());
    let mut results = json(&place.read("results.json"));
    if run[0] == "compare" {
        results = results["runs"][5].take();
    }
    assert_eq!(results["metrics"]["host.requests"], requests);
    peaks
}

#[test]
fn a_trace_ten_times_as_long_takes_no_more_memory() {
    let bytes = std::env::var("DESTAGE_SOAK_BYTES").map_or(20_000_000, |text| {
        text.parse()
            .expect("DESTAGE_SOAK_BYTES is a number of bytes")
    });
    let requests = bytes / LINE_BYTES;
    for run in RUNS {
        let short = peaks(requests / 10, run);
        let long = peaks(requests, run);
        println!(
            "{run:?}: peaks in KiB, writer and reader: {short:?} for {} requests, {long:?} for {requests}",
            requests / 10
        );
        for (short, long) in short.into_iter().zip(long) {
            assert!(short > 0, "nothing was measured");
            // Pages of memory come and go with the moments at which threads wait for each other.
            assert!(
                long <= short + 2048,
                "{run:?}: {long} KiB after {short} KiB"
            );
        }
    }
}
