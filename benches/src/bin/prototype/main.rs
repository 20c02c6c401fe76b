//! The prototype. It replays a trace on the live device in real time and in the simulator, and compares all records
//! of both.
//!
//! `prototype PATH_TO_DESTAGE FOLDER [INPUT...]`; an input is a workload with its parameters, or a trace file. The
//! program prints the tables, and writes the tables and the figure to FOLDER. The exit status is 1 if any record of
//! the live device differs from that of the simulator. `make prototype` calls it.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program whose results are what it prints"
)]

mod chart;
mod live;
mod logs;
mod tables;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The error of a step, as text.
pub type Failure = Box<dyn std::error::Error>;

/// The buffers that the figure of the paper compares.
const BUFFERS: [&str; 4] = ["nocache", "lru", "fab", "bplru"];

/// The inputs if the user names none: shortened stand-ins for the workloads W5, W9 and W7 of the paper.
const INPUTS: [&str; 3] = [
    "standin-mp3-fat:requests=900",
    "standin-postmark:file_system=fat,requests=3000",
    "standin-untar-ext3:requests=600",
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [program, folder, inputs @ ..] = &arguments[..] else {
        eprintln!("usage: prototype PATH_TO_DESTAGE FOLDER [WORKLOAD|TRACE...]");
        return ExitCode::from(2);
    };
    let inputs: Vec<&str> = match inputs {
        [] => INPUTS.to_vec(),
        named => named.iter().map(String::as_str).collect(),
    };
    match all(Path::new(program), Path::new(folder), &inputs) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(different) => {
            eprintln!("prototype: {different} runs differ from the simulator");
            ExitCode::FAILURE
        }
        Err(why) => {
            eprintln!("prototype: {why}");
            ExitCode::from(2)
        }
    }
}

/// Measures every buffer on every input. Returns the number of measurements in which the live device differs from the
/// simulator.
fn all(program: &Path, folder: &Path, inputs: &[&str]) -> Result<usize, Failure> {
    std::fs::create_dir_all(folder)?;
    let program = program.canonicalize()?;
    let folder: PathBuf = folder.canonicalize()?;
    let (mut text, mut panels, mut different) = (String::new(), Vec::new(), 0);
    for input in inputs {
        let work = live::Work::prepare(&program, &folder, input)?;
        let mut rows = Vec::new();
        for buffer in BUFFERS {
            eprintln!("prototype: {} on {buffer}", work.name);
            let row = work.measure(buffer)?;
            different += usize::from(row.difference.is_some());
            rows.push(row);
        }
        let part = tables::of(&work.name, &rows)?;
        print!("{part}");
        text += &part;
        panels.extend(rows.into_iter().map(|row| (work.name.clone(), row)));
    }
    std::fs::write(folder.join("tables.md"), text)?;
    chart::draw(
        &folder.join("prototype-responses.svg"),
        &panels,
        BUFFERS.len(),
    )?;
    Ok(different)
}
