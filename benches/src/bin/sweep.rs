//! Measures the wall time and the peak memory of one `destage compare` with 64 configurations, and of 64 separate
//! `destage run`.
//!
//! `sweep PATH_TO_DESTAGE [TRACE]`; `make bench` calls it. Without a trace it uses a workload. A comparison decodes
//! its input only once, and has only a few batches of requests in memory. So the peak memory of the comparison should
//! be below the sum of the peaks of the runs. On N cores, the time of the comparison should be below the N-th part of
//! the sum of the times of the runs.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program whose results are what it prints"
)]

use std::error::Error;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

const BUFFERS: [&str; 8] = [
    "fifo", "lru", "cflru", "fab", "clc", "bplru", "lb-clock", "apu-lru",
];
const SIZES: [&str; 4] = ["2MiB", "4MiB", "8MiB", "16MiB"];
const FTLS: [&str; 2] = ["page", "dftl"];
const WORKLOAD: &str = "zipf:requests=100000,footprint_pages=100000,mean_interarrival_ms=2";

/// The resources that one or more processes used.
struct Cost {
    seconds: f64,
    /// Peak memory in KiB; `None` if the system does not report it.
    peak_kib: Option<u64>,
}

/// The peak memory of a process so far, in KiB; `None` if the process has ended.
fn peak_kib(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

fn cost(program: &str, arguments: &[&str]) -> Result<Cost, Box<dyn Error>> {
    let started = Instant::now();
    let mut child = Command::new(program)
        .args(arguments)
        .args(["--profile", "disksim-ssd", "--json", "--quiet"])
        .stdout(Stdio::null())
        .spawn()?;
    let mut peak = None;
    let status = loop {
        peak = peak.max(peak_kib(child.id()));
        if let Some(status) = child.try_wait()? {
            break status;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    if !status.success() {
        return Err(format!("{program} {} failed", arguments.join(" ")).into());
    }
    Ok(Cost {
        seconds: started.elapsed().as_secs_f64(),
        peak_kib: peak,
    })
}

fn measure(program: &str, input: &[&str]) -> Result<(), Box<dyn Error>> {
    let (mut seconds, mut peaks, mut runs) = (0.0, Some(0), 0);
    for ftl in FTLS {
        for buffer in BUFFERS {
            for size in SIZES {
                let choice = ["--buffer", buffer, "--size", size, "--ftl", ftl];
                let one = cost(program, &[&["run"], input, &choice[..]].concat())?;
                seconds += one.seconds;
                peaks = peaks.zip(one.peak_kib).map(|(sum, one)| sum + one);
                runs += 1;
            }
        }
    }
    let (buffers, sizes, ftls) = (BUFFERS.join(","), SIZES.join(","), FTLS.join(","));
    let lists = ["--buffers", &buffers, "--sizes", &sizes, "--ftls", &ftls];
    let all = cost(program, &[&["compare"], input, &lists[..]].concat())?;
    let mib =
        |kib: Option<u64>| kib.map_or("-".to_owned(), |kib| format!("{:.1}", kib as f64 / 1024.0));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!("{:<28} {:>8} {:>10}", "", "s", "peak MiB");
    println!(
        "{:<28} {seconds:>8.2} {:>10}",
        format!("{runs} runs, summed"),
        mib(peaks)
    );
    println!(
        "{:<28} {:>8.2} {:>10}",
        format!("one comparison, {cores} cores"),
        all.seconds,
        mib(all.peak_kib)
    );
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match &arguments[..] {
        [program] => measure(program, &["--workload", WORKLOAD]),
        [program, trace] => measure(program, &[trace]),
        _ => Err("usage: sweep PATH_TO_DESTAGE [TRACE]".into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sweep: {error}");
            ExitCode::FAILURE
        }
    }
}
