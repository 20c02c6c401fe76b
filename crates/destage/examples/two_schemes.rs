//! The 99th percentile of a trace's response times under two schemes.

#![allow(
    clippy::print_stdout,
    reason = "a program whose results are what it prints"
)]

use destage::{Effort, Error, Grid, Input, Settings, compare};

fn main() -> Result<(), Error> {
    // A trace is named on the command line; without one a workload takes its place.
    let input = match std::env::args().nth(1) {
        Some(path) => Input::trace(path),
        None => Input::workload("zipf:requests=20000,mean_interarrival_ms=2", &[])?,
    };
    let mut settings = Settings::new();
    settings.load_profile("disksim-ssd")?;
    settings.set_pair("buffer.capacity_bytes=8MiB")?;

    let grid = Grid::new(settings).buffers(["lru", "bplru"]);
    let results = compare(&[input], &grid.combinations()?, &Effort::default())?;
    for run in &results.runs {
        match (&run.error, run.metric("response.p99_ms")?) {
            (Some(error), _) => println!("{}: {error}", run.buffer),
            (None, Some(p99)) => println!("{}: p99 {p99:.3} ms", run.buffer),
            (None, None) => println!("{}: no request was answered", run.buffer),
        }
    }
    Ok(())
}
