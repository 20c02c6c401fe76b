//! Benchmarks of the buffers without a device: speed, memory, speed over buffer size, and a comparison with another
//! cache simulator.
//!
//! * `buffers rates [SCHEME...]`: page writes per second on synthetic streams and real traces, heap bytes per page
//! * `buffers sizes CHART.svg [SCHEME...]`: nanoseconds per page write over the size of the buffer
//! * `buffers pairing PYTHON`: write hits and speed of `lru` and of libCacheSim's LRU, on the same page writes
//!
//! `cargo run --release -p destage-benches --bin buffers -- rates`; `make bench` calls all three.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program whose results are what it prints"
)]

mod chart;
mod clock;
mod drive;
mod memory;
mod pairing;
mod rates;
mod sizes;
mod streams;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match words[..] {
        ["rates", ..] => {
            rates::print(&arguments[1..]);
            Ok(())
        }
        ["sizes", chart, ..] => sizes::print(Path::new(chart), &arguments[2..]),
        ["pairing", python] => pairing::print(Path::new(python)),
        _ => {
            eprintln!(
                "usage: buffers rates [SCHEME...] | sizes CHART.svg [SCHEME...] | pairing PYTHON"
            );
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
