//! Tests of limits that are checked during a run. If the check finds that a metric exceeds its limit, the final value
//! of the metric must exceed the limit too. If the final value exceeds the limit by far, the check must find this
//! early.

use destage_base::Random;
use destage_sim::limits::{Demand, Limits};
use destage_sim::observer::Silent;
use destage_sim::prepass::Prepass;
use destage_sim::run::Simulation;
use destage_sim::settings::{Config, Settings};
use destage_trace::{Operation, Request};

/// Metrics that can be compared with a limit during a run.
const METRICS: [&str; 14] = [
    "buffer.destaged_pages",
    "buffer.evictions",
    "buffer.on_demand_updates",
    "waf.bytes",
    "waf.host",
    "flash.programs",
    "flash.reads",
    "response.mean_ms",
    "response.p95_ms",
    "response.max_ms",
    "response.read.p50_ms",
    "response.write.mean_ms",
    "response.write.p99_ms",
    "response.write.p999_ms",
];

fn config(pairs: &[&str]) -> Config {
    let mut settings = Settings::new();
    let device = [
        "flash.dies=2",
        "flash.planes_per_die=1",
        "flash.blocks_per_plane=80",
        "flash.pages_per_block=8",
        "buffer.capacity_bytes=128KiB",
        "trace.addr_map=modulo",
    ];
    for pair in device.iter().chain(pairs) {
        settings.set_pair(pair).expect("a setting");
    }
    settings.resolve().expect("a configuration")
}

fn requests(seed: u64) -> Vec<Request> {
    let mut random = Random::new(seed);
    let request = |line: u32| Request {
        arrival: u64::from(line) * (1 + random.below(400_000_000)) / 20,
        sector: 4 * random.below(4000),
        sectors: 4 + 4 * random.below(6) as u32,
        line,
        operation: match random.below(10) {
            0..3 => Operation::Read,
            9 => Operation::Trim,
            _ => Operation::Write,
        },
        ..Request::BLANK
    };
    let mut all: Vec<Request> = (1..3001).map(request).collect();
    all.sort_by_key(|request| request.arrival);
    all
}

fn demand(config: &Config, requests: &[Request]) -> Demand {
    let mut demand = Demand::default();
    let (addressing, strict_trim) = (config.addressing(0), config.has_strict_trim());
    requests
        .iter()
        .for_each(|request| demand.add(&addressing, request, strict_trim));
    demand
}

/// Runs `requests`. Returns two values for each goal: the value of its metric at the end of the run, and the number
/// of requests that were answered when the check first found that the metric exceeds the goal. The second value is
/// `None` if the check never found this.
fn found(
    config: &Config,
    requests: &[Request],
    goals: &[(&str, f64)],
) -> (Vec<Option<f64>>, Vec<Option<usize>>) {
    let ftl = config.prepared_ftl(&mut Silent).expect("a device");
    let none = Prepass::default();
    let run = Simulation::new(config, "requests", ftl, &none, Box::new(Silent));
    let mut run = run.expect("a run");
    let demand = demand(config, requests);
    let limits = |goal: &(&str, f64)| Limits::new(config, demand, [*goal]).expect("a limit");
    let mut limits: Vec<Limits> = goals.iter().map(limits).collect();
    let mut beyond = vec![None; goals.len()];
    let mut pieces = requests.chunks(50);
    let mut fed = 0;
    loop {
        let goes_on = match pieces.next() {
            Some(piece) => {
                fed += piece.len();
                run.feed(piece).expect("a sound request")
            }
            None => run.work_down(100).expect("a sound request"),
        };
        for (limits, beyond) in limits.iter_mut().zip(&mut beyond) {
            if run.is_beyond(limits) {
                beyond.get_or_insert(fed - run.unanswered());
            }
        }
        if !goes_on {
            break;
        }
    }
    let metrics = run.finish().expect("an end").metrics;
    let value = |(name, _): &(&str, f64)| metrics.get(name).map(|number| number.as_f64());
    (goals.iter().map(value).collect(), beyond)
}

#[test]
fn a_run_that_is_beyond_a_limit_ends_beyond_it() {
    for pairs in [
        &["buffer.kind=lru"][..],
        &["buffer.kind=fab", "ftl.kind=bast"],
        &["buffer.kind=nocache", "host.attribution=disksim"],
        &["buffer.kind=lru", "sim.exact_responses=700"],
        &["buffer.kind=lru", "sim.window=last_arrival"],
        // Requests arrive far faster than the device can serve them, so most requests still wait when the last one
        // arrives.
        &["buffer.kind=fab", "host.time_scale=0.01"],
        &["host.time_scale=0.01", "host.attribution=disksim"],
        &["host.time_scale=0.01", "host.saturation=700"],
        &["host.time_scale=0.01", "sim.window=last_arrival"],
        &["host.replay=closed", "host.queue_depth=64"],
        &["device.trim=strict"],
        &[
            "host.time_scale=0.01",
            "flash.endurance=3",
            "flash.wearout=retire",
        ],
        &["host.time_scale=0.01", "sim.costing=op_count"],
    ] {
        let (config, requests) = (config(pairs), requests(5));
        let none: Vec<_> = METRICS.map(|metric| (metric, f64::MAX)).into();
        let (values, beyond) = found(&config, &requests, &none);
        assert!(beyond.iter().all(Option::is_none), "{pairs:?}");
        for share in [0.3, 0.9, 0.999, 1.0, 1.001] {
            let known = METRICS.iter().zip(&values);
            let goals: Vec<(&str, f64)> = known
                .filter_map(|(metric, value)| Some((*metric, (*value)? * share)))
                .collect();
            let (values, beyond) = found(&config, &requests, &goals);
            for (((metric, goal), value), beyond) in goals.iter().zip(values).zip(beyond) {
                let value = value.expect("a value");
                let reached = value < *goal;
                assert!(
                    !(reached && beyond.is_some()),
                    "{pairs:?} {metric} {value} < {goal}: given up after {beyond:?}"
                );
            }
        }
    }
}

#[test]
fn a_run_far_beyond_a_limit_is_known_to_be_early() {
    let (config, requests) = (config(&["buffer.kind=lru"]), requests(6));
    let none: Vec<_> = METRICS.map(|metric| (metric, f64::MAX)).into();
    let (values, _) = found(&config, &requests, &none);
    let goals = METRICS.iter().zip(values);
    let goals: Vec<(&str, f64)> = goals
        .filter_map(|(metric, value)| Some((*metric, value? / 2.0)))
        .collect();
    assert_eq!(goals.len(), METRICS.len());
    let (_, beyond) = found(&config, &requests, &goals);
    for ((metric, _), beyond) in goals.iter().zip(beyond) {
        assert!(
            beyond.is_some_and(|after| after < 2500),
            "{metric} {beyond:?}"
        );
    }
}

#[test]
fn what_waits_counts_before_it_is_answered() {
    let pairs = ["buffer.kind=lru", "host.time_scale=0.01"];
    let (config, requests) = (config(&pairs), requests(6));
    let metrics = ["response.mean_ms", "response.write.p50_ms"];
    let none = metrics.map(|metric| (metric, f64::MAX));
    let (values, _) = found(&config, &requests, &none);
    let goals = metrics.iter().zip(values);
    let goals: Vec<_> = goals
        .map(|(metric, value)| (*metric, value.expect("a value") / 1.5))
        .collect();
    let (_, beyond) = found(&config, &requests, &goals);
    // A check that used only answered requests would need two thirds of all requests for the mean, and half of the
    // writes for the median. The check also uses the requests that still wait, so it must need fewer answered
    // requests.
    for ((metric, _), beyond) in goals.iter().zip(beyond) {
        assert!(
            beyond.is_some_and(|answered| answered < requests.len() * 45 / 100),
            "{metric} {beyond:?}"
        );
    }
}

#[test]
fn nothing_is_known_before_statistics_open() {
    let config = config(&["sim.warmup_requests=10"]);
    assert!(Limits::new(&config, Demand::default(), [("waf.bytes", 1.0)]).is_none());
}
