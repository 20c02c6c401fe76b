//! Measures how many requests per second each workload generates on one thread. Start it with
//! `cargo bench -p destage-workload --bench generate [workload ...]`.
//!
//! Prints the rate of every workload with its default values, and the target rate. The rate is computed from the
//! processor time of the thread. The fastest of several rounds counts, because other work on the machine can only
//! make a round slower.
#![allow(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use destage_base::parameter::{Value, Values};
use destage_workload::{WORKLOADS, Workload};
use rustix::time::{ClockId, clock_gettime};

const ROUNDS: usize = 7;

/// The target rate of a workload, in million requests per second.
fn target(workload: &Workload) -> f64 {
    if workload.name.starts_with("standin-") {
        1.0
    } else {
        10.0
    }
}

fn requests(workload: &Workload) -> u64 {
    if workload.name.starts_with("standin-") {
        500_000
    } else {
        4_000_000
    }
}

fn processor_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn seconds(workload: &Workload) -> f64 {
    let mut values = Values::defaults(workload.parameters);
    values.set("requests", Value::Integer(requests(workload)));
    let start = processor_seconds();
    let (mut made, mut sum) = (0, 0u64);
    for request in (workload.make)(&values, 1).expect("defaults fit together") {
        made += 1;
        sum = sum.wrapping_add(request.sector ^ request.arrival);
    }
    let seconds = processor_seconds() - start;
    assert_eq!(made, requests(workload));
    std::hint::black_box(sum);
    seconds
}

fn main() {
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    println!("{:<28}{:>14}{:>9}", "workload", "Mrequests/s", "target");
    for workload in WORKLOADS {
        if !wanted.is_empty() && !wanted.iter().any(|name| name == workload.name) {
            continue;
        }
        let best = (0..ROUNDS)
            .map(|_| seconds(workload))
            .fold(f64::INFINITY, f64::min);
        println!(
            "{:<28}{:>14.2}{:>9}",
            workload.name,
            requests(workload) as f64 / 1e6 / best,
            target(workload)
        );
    }
}
