//! Tests of rules that must hold for every run, with any device, buffer and requests.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use destage_base::parameter::Value;
use destage_base::time::{TICKS_PER_MS, TICKS_PER_US, to_ms};
use destage_base::{Random, Ticks};
use destage_buffer::{Destage, SCHEMES, SchemeRow};
use destage_sample::sampled;
use destage_sim::metrics::find;
use destage_sim::observer::{Observer, Silent};
use destage_sim::prepass::Pass;
use destage_sim::run::{RunResult, run};
use destage_sim::settings::{Config, Settings};
use destage_sim::source::Source;
use destage_tests::Responses;
use destage_trace::{Operation, Request};

/// A device of 2 x 2 planes, each with 24 blocks of 8 pages, and a buffer of 16 pages.
const SMALL: [&str; 7] = [
    "flash.dies=2",
    "flash.planes_per_die=2",
    "flash.blocks_per_plane=24",
    "flash.pages_per_block=8",
    "flash.endurance=1000000",
    "buffer.capacity_bytes=64KiB",
    "buffer.kind=lru",
];

fn config(pairs: &[&str]) -> Config {
    let mut settings = Settings::new();
    for pair in SMALL.iter().chain(pairs) {
        settings.set_pair(pair).unwrap();
    }
    if settings.accepts("ftl.reserve_percent") {
        settings.set_pair("ftl.reserve_percent=30").unwrap();
    }
    settings
        .resolve()
        .unwrap_or_else(|error| panic!("{pairs:?}: {error}"))
}

fn simulate(config: &Config, requests: &[Request], observer: &mut dyn Observer) -> RunResult {
    let source = || Source::memory("requests", requests);
    let mut pass = Pass::read(&[config], &mut source(), |_| true).unwrap();
    match run(config, source(), &pass.prepass(config).unwrap(), observer) {
        Ok((result, _)) => result,
        Err(error) => panic!("{error}"),
    }
}

fn request(arrival: Ticks, page: u64, pages: u32, operation: Operation) -> Request {
    let sectors = if operation == Operation::Flush {
        0
    } else {
        8 * pages
    };
    Request {
        arrival,
        sector: 8 * page,
        sectors,
        operation,
        ..Request::BLANK
    }
}

/// Requests of all kinds over about 400 pages. Half of the requests go to a tenth of the pages.
fn mixture(seed: u64, count: usize) -> Vec<Request> {
    let mut random = Random::new(seed);
    let mut now = 0;
    (0..count)
        .map(|_| {
            now += random.below(400) * TICKS_PER_US;
            let pages = 1 + random.below(6) as u32;
            let page = if random.below(2) == 0 {
                random.below(40)
            } else {
                random.below(390)
            };
            let operation = match random.below(40) {
                0 => Operation::Flush,
                1 => Operation::Trim,
                2..10 => Operation::Read,
                _ => Operation::Write,
            };
            let fua = operation == Operation::Write && random.below(20) == 0;
            Request {
                fua,
                ..request(now, page, pages, operation)
            }
        })
        .collect()
}

/// The cause and the pages of each destage record, in order.
#[derive(Default)]
struct Destages(Vec<(&'static str, Vec<u64>)>);

impl Observer for Destages {
    fn wants_destages(&self) -> bool {
        true
    }
    fn destage(&mut self, _: Ticks, record: &Destage) {
        let pages = record.pages.iter().map(|dirty| dirty.page.0).collect();
        self.0.push((record.cause.name(), pages));
    }
}

#[test]
fn timing_decides_nothing() {
    // Schemes that use the load of the device, or that forget writes after some time, depend on timing by design.
    let depends = |row: &SchemeRow| row.family == "device" || row.name == "mqsim";
    for row in SCHEMES.iter().filter(|row| !depends(row)) {
        for seed in 0..sampled(1, 4) {
            let requests = mixture(seed, 1500);
            let sequence = |pairs: &[&str]| {
                let chosen = format!("buffer.kind={}", row.name);
                let all: Vec<_> = pairs.iter().copied().chain([chosen.as_str()]).collect();
                let config = config(&all);
                // Destaging in idle time depends on the clock, so records of this cause are left out.
                let mut destages = Destages::default();
                simulate(&config, &requests, &mut destages);
                destages.0.retain(|(cause, _)| *cause != "idle");
                destages.0
            };
            let timed = sequence(&[]);
            assert!(
                timed.len() > 50,
                "{}: only {} records",
                row.name,
                timed.len()
            );
            // The scheduler of the host can reorder the requests of a burst. With the scheduler `fifo` and one request
            // in the device at a time it cannot.
            let fixed = ["host.queue_depth=1", "host.scheduler=fifo"];
            let reference = sequence(&fixed);
            for other in [
                &["ftl.kind=none"][..],
                &["sim.costing=op_count"],
                &["buffer.release=issue"],
                &[
                    "host.queue_depth=1",
                    "host.scheduler=fifo",
                    "flash.program_us=9000",
                ],
            ] {
                if row.name == "nvmevirt" && other.contains(&"ftl.kind=none") {
                    // Without flash, a page that is written again keeps its address.
                    continue;
                }
                let both: Vec<_> = fixed.iter().chain(other).copied().collect();
                let ours = sequence(&both);
                let differs = ours
                    .iter()
                    .zip(&reference)
                    .position(|(ours, other)| ours != other);
                assert_eq!(differs, None, "{} under {other:?}: record", row.name);
                assert_eq!(ours.len(), reference.len(), "{} under {other:?}", row.name);
            }
        }
    }
}

#[test]
fn every_request_completes_on_any_device() {
    let mut random = Random::new(77);
    for round in 0..300 {
        let mut choose = |from: &[&'static str]| from[random.below(from.len() as u64) as usize];
        let pairs = [
            choose(&["buffer.kind=nocache", "buffer.kind=fifo", "buffer.kind=lru"]),
            choose(&["flash.copy_back=true", "flash.copy_back=false"]),
            choose(&["flash.parallel_units=1", "flash.parallel_units=2"]),
            choose(&["flash.summary_page=true", "flash.summary_page=false"]),
            choose(&["ftl.allocation_pool=die", "ftl.allocation_pool=plane"]),
            choose(&["ftl.background_gc=true", "ftl.background_gc=false"]),
            choose(&[
                "host.queue_depth=1",
                "host.queue_depth=3",
                "host.queue_depth=64",
            ]),
            choose(&["host.scheduler=clook", "host.scheduler=fifo"]),
            choose(&["host.replay=trace", "host.replay=closed"]),
            choose(&["host.attribution=request", "host.attribution=disksim"]),
            choose(&["sim.clock=exact", "sim.clock=double_ms"]),
            choose(&["sim.precondition=none", "sim.precondition=sequential_fill"]),
            choose(&["sim.drain=true", "sim.drain=false"]),
            choose(&["trace.align=cover", "trace.align=rmw"]),
            choose(&["buffer.capacity_bytes=4KiB", "buffer.capacity_bytes=256KiB"]),
            choose(&["buffer.release=complete", "buffer.release=issue"]),
        ];
        let requests = mixture(round, 1200);
        let mut responses = Responses::default();
        let result = simulate(&config(&pairs), &requests, &mut responses);
        let count = |name: &str| {
            result
                .metrics
                .get(name)
                .map_or(0.0, |number| number.as_f64())
        };
        assert_eq!(responses.by_index.len(), requests.len(), "{pairs:?}");
        assert!(responses.by_index.iter().all(Option::is_some), "{pairs:?}");
        assert_eq!(count("host.completed"), requests.len() as f64, "{pairs:?}");
        // The FTL programs the pages that the buffer destages.
        let (given, destaged) = (count("flash.programs.host"), count("buffer.destaged_pages"));
        if pairs.contains(&"flash.parallel_units=2") && pairs.contains(&"flash.copy_back=true") {
            // A page that occurs twice in a batch is programmed once.
            assert!(given <= destaged, "{pairs:?}");
        } else {
            assert_eq!(given, destaged, "{pairs:?}");
        }
        let causes =
            ["host", "pad", "copy", "map", "wear"].map(|cause| format!("flash.programs.{cause}"));
        let by_cause: f64 = causes.iter().map(|name| count(name)).sum();
        assert_eq!(count("flash.programs"), by_cause, "{pairs:?}");
        assert!(count("flash.utilization_max") <= 1.0, "{pairs:?}");
        for (name, number) in result.metrics.iter() {
            assert!(
                number.as_f64().is_finite() && number.as_f64() >= 0.0,
                "{name} = {number}"
            );
        }
    }
}

#[test]
fn every_metric_has_a_row() {
    for pairs in [
        &["sim.drain=true"][..],
        &["buffer.kind=nocache"],
        &["ftl.kind=none"],
    ] {
        let result = simulate(&config(pairs), &mixture(1, 500), &mut Silent);
        for (name, _) in result.metrics.iter() {
            assert!(find(name).is_some(), "{name} is in no list");
        }
    }
    for row in SCHEMES {
        let kind = format!("buffer.kind={}", row.name);
        let result = simulate(&config(&[&kind]), &mixture(1, 500), &mut Silent);
        assert!(result.metrics.iter().count() > 30, "{}", row.name);
        for (name, _) in result.metrics.iter() {
            assert!(find(name).is_some(), "{}: {name} is in no list", row.name);
        }
    }
}

#[test]
fn a_buffer_without_a_page_is_no_buffer() {
    let requests = mixture(9, 1500);
    let mut without = config(&["buffer.kind=nocache"]);
    without.set("buffer.capacity_bytes", Value::Integer(0));
    let expected = simulate(&without, &requests, &mut Silent).metrics;
    for row in SCHEMES {
        let mut config = config(&[&format!("buffer.kind={}", row.name)]);
        config.set("buffer.capacity_bytes", Value::Integer(0));
        assert_eq!(
            simulate(&config, &requests, &mut Silent).metrics,
            expected,
            "{}",
            row.name
        );
    }
}

/// Response times of `requests` in ms on the small device.
fn responses(pairs: &[&str], requests: &[Request]) -> Vec<f64> {
    let mut responses = Responses::default();
    simulate(&config(pairs), requests, &mut responses);
    responses
        .by_index
        .iter()
        .map(|time| to_ms(time.unwrap()))
        .collect()
}

/// Times in ms: to program and transfer a page of 4096 bytes, to read and transfer a page, and to transfer the 8
/// sectors of a page on the host bus.
const PROGRAM_MS: f64 = 0.2 + 0.1024;
const READ_MS: f64 = 0.025 + 0.1024;
const BUS_MS: f64 = 8.0 * 0.000_238_4;

fn assert_times(ours: &[f64], expected: &[f64]) {
    assert_eq!(ours.len(), expected.len());
    for (ours, expected) in ours.iter().zip(expected) {
        assert!(
            (ours - expected).abs() < 1e-9,
            "{ours} instead of {expected}"
        );
    }
}

#[test]
fn a_buffered_write_costs_the_bus_and_a_forced_one_its_program() {
    let at = |ms: u64| ms * TICKS_PER_MS;
    let forced = Request {
        fua: true,
        stream: 0,
        ..request(at(20), 4, 1, Operation::Write)
    };
    let requests = [
        request(at(0), 0, 1, Operation::Write),
        request(at(10), 0, 1, Operation::Read),
        forced,
        request(at(30), 0, 1, Operation::Flush),
        request(at(40), 0, 1, Operation::Flush),
        request(at(50), 0, 1, Operation::Read),
    ];
    assert_times(
        &responses(&[], &requests),
        &[
            BUS_MS,
            BUS_MS,
            BUS_MS + PROGRAM_MS,
            PROGRAM_MS,
            0.0,
            BUS_MS + READ_MS,
        ],
    );
    // A buffer that survives power loss ignores FUA and flush.
    let expected = [BUS_MS, BUS_MS, BUS_MS, 0.0, 0.0, BUS_MS];
    assert_times(
        &responses(&["buffer.flush_mode=ignore"], &requests),
        &expected,
    );
}

#[test]
fn a_write_that_finds_the_buffer_full_waits_for_a_slot() {
    // With one slot, each further write waits until the page of the previous write is programmed.
    let requests = [
        request(0, 0, 1, Operation::Write),
        request(TICKS_PER_MS, 1, 1, Operation::Write),
        request(2 * TICKS_PER_MS, 2, 1, Operation::Write),
    ];
    let one_slot = ["buffer.capacity_bytes=4KiB"];
    let waits = BUS_MS + PROGRAM_MS;
    assert_times(&responses(&one_slot, &requests), &[BUS_MS, waits, waits]);
    let reordering = ["buffer.capacity_bytes=4KiB", "buffer.release=issue"];
    assert_times(&responses(&reordering, &requests), &[BUS_MS; 3]);
}

#[test]
fn a_trimmed_page_is_neither_destaged_nor_read() {
    let at = |ms: u64| ms * TICKS_PER_MS;
    let requests = [
        request(at(0), 0, 2, Operation::Write),
        request(at(1), 0, 1, Operation::Trim),
        request(at(2), 0, 1, Operation::Read),
        request(at(3), 0, 1, Operation::Flush),
    ];
    let mut destages = Destages::default();
    simulate(&config(&[]), &requests, &mut destages);
    assert_eq!(destages.0, [("flush", vec![1])]);
    assert_times(
        &responses(&[], &requests),
        &[2.0 * BUS_MS, 0.0, BUS_MS, PROGRAM_MS],
    );
}
