//! Tests that the memory of a run does not depend on the length of the trace, but only on the buffer and the device.
//! A timed run first records response times one by one, so for a timed run this holds only after
//! `sim.exact_responses` responses.
//!
//! One process writes a workload as text, and another process reads it through a pipe. The test measures the peak
//! memory of both processes for a trace and for a trace that is ten times as long. The peaks of a process may differ
//! only by noise. `make soak-memory` runs the same test with 10 GB of text.

#![cfg(target_os = "linux")] // The peak of a process is read from /proc, which other systems do not have.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use crate::common;

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

use common::{Place, json};

/// The number of pages that the workload writes. Even the short run writes all of these pages, so the tables have
/// their full size in both runs.
const FOOTPRINT_PAGES: u64 = 8192;
/// The mean length of a line of the generated text.
const LINE_BYTES: u64 = 27;

/// The peak memory of a process in KiB; `None` if the process has ended.
fn peak_kib(child: &Child) -> Option<u64> {
    let path = PathBuf::from(format!("/proc/{}/status", child.id()));
    let status = std::fs::read_to_string(path).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Three commands. The first runs a buffer without flash. The second is a timed run on a device that is so small that
/// the run uses all blocks. The third is a comparison, whose runs share one decoder.
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

/// The peak memory of the writing process and of the reading process, in KiB.
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
    // The test passes the text from one process to the other in pieces and measures both processes between the
    // pieces. So it measures both processes before they end, even on a busy machine.
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
            // The number of memory pages in use varies with the timing of the threads.
            assert!(
                long <= short + 2048,
                "{run:?}: {long} KiB after {short} KiB"
            );
        }
    }
}
