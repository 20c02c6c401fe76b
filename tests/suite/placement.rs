//! Tests `ftl.placement = dynamic` through the whole simulator. Writes to the pages of one die spread over all
//! dies, and the numbers of programs and reads do not change.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use destage_base::time::TICKS_PER_MS;
use destage_sim::metrics::Metrics;
use destage_sim::observer::Silent;
use destage_sim::prepass::Prepass;
use destage_sim::run::run;
use destage_sim::settings::Settings;
use destage_sim::source::Source;
use destage_trace::{Operation, Request};

/// Runs requests for pages 0, 8, 16, ... on 8 dies, four per millisecond; a quarter of them are reads.
fn run_with(placement: &str, costing: &str) -> Metrics {
    let requests: Vec<_> = (0..8_000u64)
        .map(|number| Request {
            arrival: number * TICKS_PER_MS / 4,
            sector: 8 * 8 * (number * 7 % 500),
            sectors: 8,
            operation: if number % 4 == 3 {
                Operation::Read
            } else {
                Operation::Write
            },
            ..Request::BLANK
        })
        .collect();
    let mut settings = Settings::new();
    for pair in [
        "buffer.kind=nocache",
        "flash.dies=8",
        "flash.planes_per_die=2",
        "flash.blocks_per_plane=40",
        "flash.pages_per_block=16",
        &format!("ftl.placement={placement}"),
        &format!("sim.costing={costing}"),
    ] {
        settings.set_pair(pair).unwrap();
    }
    let config = settings.resolve().unwrap();
    let source = Source::memory("requests", &requests);
    run(&config, source, &Prepass::default(), &mut Silent)
        .unwrap()
        .0
        .metrics
}

#[test]
fn writes_go_where_least_waits() {
    let (striped, dynamic) = (run_with("stripe", "event"), run_with("dynamic", "event"));
    let of = |metrics: &Metrics, name: &str| metrics.get(name).unwrap().as_f64();
    assert_eq!(
        of(&striped, "flash.programs.host"),
        of(&dynamic, "flash.programs.host")
    );
    let host_reads =
        |metrics: &Metrics| of(metrics, "flash.reads") - of(metrics, "flash.pages_moved");
    assert_eq!(host_reads(&striped), host_reads(&dynamic));
    assert_eq!(of(&striped, "flash.parallelism_mean"), 1.0);
    assert!(of(&dynamic, "flash.utilization_min") > 0.0);
    assert!(10.0 * of(&dynamic, "response.mean_ms") < of(&striped, "response.mean_ms"));
}

#[test]
fn without_a_clock_dies_take_turns() {
    let dynamic = run_with("dynamic", "op_count");
    let again = run_with("dynamic", "op_count");
    assert_eq!(dynamic, again);
    assert_eq!(
        dynamic.get("flash.programs.host"),
        run_with("stripe", "op_count").get("flash.programs.host")
    );
}
