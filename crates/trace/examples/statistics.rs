//! Prints what a trace is like: `cargo run --example statistics -- FILE`, or `-` for standard input.
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use destage_trace::statistics::Number;
use destage_trace::{ReadOptions, Reader, Statistics, TraceError};
use std::path::PathBuf;
use std::process::ExitCode;

fn print(path: PathBuf) -> Result<(), TraceError> {
    let mut reader = Reader::open(&path, &ReadOptions::default())?;
    let mut statistics = Statistics::new(4096);
    let mut batch = Vec::new();
    while reader.fill(&mut batch)? {
        batch.iter().for_each(|request| statistics.add(request));
    }
    println!("{:<24}{}", "format", reader.format().name);
    for row in statistics.finish().rows() {
        match row.value {
            Number::Whole(value) => println!("{:<24}{value} {}", row.name, row.unit),
            Number::Decimal(value) => println!("{:<24}{value:.4} {}", row.name, row.unit),
        }
    }
    println!("{:<24}{}", "sha256", reader.digest().unwrap_or_default());
    Ok(())
}

fn main() -> ExitCode {
    let path = std::env::args_os().nth(1).unwrap_or_else(|| "-".into());
    match print(path.into()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            ExitCode::from(2)
        }
    }
}
