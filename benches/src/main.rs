//! Measures the page requests per second of whole runs, and compares them with those of the reference simulator.
//!
//! Each run starts the program `destage` as a user does, with one thread. The time is the time of the whole process,
//! including the decoding of the trace. The table gives the median of several runs.
//!
//! `cargo run --release -p destage-benches -- path/to/destage [runs]`; `make bench` calls it.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program whose results are what it prints"
)]

use destage::sim::metrics::rows;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use destage_base::parameter::Values;
use destage_trace::writers;

/// A row of the table: a trace, its file, and the speed of the optimised reference simulator in pages per
/// second.
struct Row {
    name: &'static str,
    file: &'static str,
    /// The seed and the settings of the workload that generates the same requests, if there is such a workload.
    workload: Option<(u64, &'static [(&'static str, &'static str)])>,
    reference: f64,
}

/// The speeds of the reference simulator with its configuration `base-e8`, measured on the kind of machine that the
/// targets assume.
const ROWS: [Row; 4] = [
    Row {
        name: "iozone",
        file: "traces/iozone-100k.disksim.zst",
        workload: None,
        reference: 0.70e6,
    },
    Row {
        name: "postmark",
        file: "traces/postmark-62k.disksim.zst",
        workload: None,
        reference: 1.02e6,
    },
    Row {
        name: "synth-a",
        file: "oracle/synth-a.trace.zst",
        workload: Some((
            20081,
            &[
                ("requests", "100000"),
                ("footprint_pages", "100000"),
                ("mean_interarrival_ms", "0.5"),
            ],
        )),
        reference: 0.21e6,
    },
    Row {
        name: "synth-b",
        file: "oracle/synth-b.trace.zst",
        workload: Some((
            20082,
            &[
                ("requests", "100000"),
                ("footprint_pages", "100000"),
                ("write_percent", "70"),
                ("max_pages", "8"),
                ("mean_interarrival_ms", "0.5"),
            ],
        )),
        reference: 0.63e6,
    },
];
/// The target: how many times faster than the reference a run should be.
const TARGET: f64 = 10.0;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(program) = arguments.first() else {
        eprintln!("usage: destage-benches PATH_TO_DESTAGE [RUNS]");
        return ExitCode::from(2);
    };
    let runs = arguments
        .get(1)
        .and_then(|runs| runs.parse().ok())
        .unwrap_or(7);
    match bench(Path::new(program), runs) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn bench(program: &Path, runs: usize) -> Result<(), Box<dyn std::error::Error>> {
    println!("whole process, one thread, decoding included; median of {runs} runs\n");
    println!(
        "{:<10} {:>12} {:>10} {:>14} {:>14} {:>8} {:>8}",
        "trace", "pages", "ms", "M pages/s", "reference", "speed-up", "target"
    );
    for row in &ROWS {
        let Some(trace) = trace_of(row)? else {
            continue;
        };
        let mut pages = 0.0;
        let mut seconds = Vec::new();
        // The first run loads the trace into the page cache of the system, so its time does not count.
        for _ in 0..=runs {
            let start = Instant::now();
            pages = pages_of_run(program, trace.path())?;
            seconds.push(start.elapsed().as_secs_f64());
        }
        seconds.remove(0);
        seconds.sort_by(f64::total_cmp);
        let median = seconds[seconds.len() / 2];
        let rate = pages / median;
        println!(
            "{:<10} {:>12} {:>10.1} {:>14.2} {:>14.2} {:>7.1}x {:>7}x",
            row.name,
            pages,
            median * 1e3,
            rate / 1e6,
            row.reference / 1e6,
            rate / row.reference,
            TARGET
        );
    }
    Ok(())
}

/// A trace on disk. This is an existing file, or a file that is generated for this run and removed afterwards.
enum Trace {
    There(PathBuf),
    Made(tempfile::NamedTempFile),
}

impl Trace {
    fn path(&self) -> &Path {
        match self {
            Self::There(path) => path,
            Self::Made(file) => file.path(),
        }
    }
}

fn trace_of(row: &Row) -> Result<Option<Trace>, Box<dyn std::error::Error>> {
    let shared = std::env::var_os("DESTAGE_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"),
        PathBuf::from,
    );
    let path = shared.join(row.file);
    if path.is_file() {
        return Ok(Some(Trace::There(path)));
    }
    let Some((seed, settings)) = row.workload else {
        println!(
            "{:<10} skipped: the trace is not there; set DESTAGE_SHARED to its folder",
            row.name
        );
        return Ok(None);
    };
    let uniform = destage_workload::find("uniform").ok_or("no uniform workload")?;
    let mut values = Values::defaults(uniform.parameters);
    for (name, text) in settings {
        let parameter = uniform
            .parameters
            .iter()
            .find(|parameter| parameter.name == *name);
        let parameter = parameter.ok_or("no such workload parameter")?;
        values.set(parameter.name, parameter.read(text)?);
    }
    let file = tempfile::Builder::new().suffix(".disksim").tempfile()?;
    let mut out = std::io::BufWriter::new(&file);
    for request in (uniform.make)(&values, seed)? {
        writers::disksim::write(&mut out, &request)?;
    }
    out.flush()?;
    drop(out);
    Ok(Some(Trace::Made(file)))
}

fn pages_of_run(program: &Path, trace: &Path) -> Result<f64, Box<dyn std::error::Error>> {
    let output = Command::new(program)
        .arg("run")
        .arg(trace)
        .args(["--profile", "disksim-ssd", "--json", "--quiet"])
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(format!("{} run {} failed", program.display(), trace.display()).into());
    }
    let result: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let count = |name: &str| result["metrics"][name].as_f64().unwrap_or(0.0);
    Ok(count(rows::HOST_PAGE_READS.name) + count(rows::HOST_PAGE_WRITES.name))
}
