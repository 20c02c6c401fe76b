//! Tests of the warm-up, which are the requests before statistics open. With a warm-up, a count must be the
//! difference of the counts of two runs. Response times must be those of the requests after the warm-up, even if
//! requests of the warm-up complete later.

use destage_base::Random;
use destage_base::time::to_ms;
use destage_sim::metrics::{Metrics, find};
use destage_sim::observer::{Observer, Response, Silent};
use destage_sim::prepass::Prepass;
use destage_sim::run::run;
use destage_sim::settings::Settings;
use destage_sim::source::Source;
use destage_trace::{Operation, Request};

const REQUESTS: usize = 6000;
const WARMUP: usize = 2500;

/// Metrics that are plain counts. With a warm-up, each of these metrics is its value in a run without a warm-up minus
/// its value in a run of the warm-up requests alone.
const PLAIN: &[&str] = &[
    "host.requests",
    "host.page_reads",
    "host.page_writes",
    "host.bytes_written",
    "buffer.write_hits",
    "buffer.read_hits",
    "buffer.evictions",
    "buffer.destaged_pages",
    "buffer.on_demand_updates",
    "buffer.pad_reads",
    "buffer.pad_fills",
    "flash.reads",
    "flash.programs",
    "flash.erases",
    "flash.pages_moved",
    "flash.programs.host",
    "flash.programs.pad",
    "flash.programs.copy",
    "flash.programs.map",
    "flash.programs.wear",
    "ftl.gc_runs",
    "ftl.merges.switch",
    "ftl.merges.partial",
    "ftl.merges.full",
    "ftl.merge_causes.own_log",
    "ftl.merge_causes.room",
    "ftl.merge_causes.eager",
    "ftl.merge_copies",
    "ftl.merge_erases",
    "ftl.log_victims",
    "ftl.log_dead_victims",
    "ftl.log_merged_blocks",
    "scheme.evicted_sequential",
    "scheme.evicted_largest",
    "scheme.evicted_fallback",
    "scheme.evicted_hot",
    "scheme.victims_passed_over",
    "scheme.victims_by_queue",
    "scheme.migrations_by_age",
    "scheme.migrations_by_reads",
    "scheme.migrations_by_size",
    "scheme.migrations_by_flush",
];

/// Metrics that describe the moment at which statistics close. A warm-up does not change them.
const STATES: &[&str] = &[
    "buffer.dirty_at_end",
    "buffer.clean_after_ms",
    "sim.precondition_pages",
    "ftl.map_bytes",
    "wear.erase_min",
    "wear.erase_max",
    "wear.erase_mean",
    "wear.erase_std",
    "host.saturated",
    "scheme.pird_threshold",
    "scheme.bird_threshold",
    "scheme.pud_mean",
];

/// Reads, writes and a few other requests, with one long pause. Apart from the pause, requests arrive faster than the
/// device can serve them.
fn requests() -> Vec<Request> {
    let mut random = Random::new(11);
    let mut arrival = 0;
    let one = |index: usize| {
        arrival += random.below(8_000_000);
        if index == 4000 {
            arrival += 50_000_000_000;
        }
        let operation = match random.below(10) {
            0..=6 => Operation::Write,
            7 if random.below(40) == 0 => Operation::Flush,
            7 if random.below(40) == 0 => Operation::Trim,
            _ => Operation::Read,
        };
        let near = random.below(3) > 0;
        let page = random.below(if near { 120 } else { 900 });
        Request {
            arrival,
            sector: page * 8,
            sectors: 8 * (1 + random.below(4) as u32),
            line: index as u32 + 1,
            operation,
            ..Request::BLANK
        }
    };
    (0..REQUESTS).map(one).collect()
}

fn simulate(
    requests: &[Request],
    pairs: &[&str],
    observer: &mut dyn Observer,
) -> Result<Metrics, String> {
    let mut settings = Settings::new();
    let device = [
        "flash.dies=2",
        "flash.planes_per_die=1",
        "flash.blocks_per_plane=90",
        "flash.pages_per_block=8",
        "buffer.capacity_bytes=256KiB",
    ];
    for pair in device.iter().chain(pairs) {
        settings.set_pair(pair).expect("a setting");
    }
    let config = settings.resolve().map_err(|error| error.to_string())?;
    let source = Source::memory("test".to_owned(), requests);
    let (result, _) =
        run(&config, source, &Prepass::default(), observer).map_err(|error| error.to_string())?;
    Ok(result.metrics)
}

fn metric(metrics: &Metrics, name: &str) -> Option<f64> {
    metrics.get(name).map(|number| number.as_f64())
}

/// Configurations that together produce every plain count.
const CASES: &[&[&str]] = &[
    &["buffer.kind=lru", "ftl.kind=page", "ftl.reserve_percent=20"],
    &[
        "buffer.kind=nocache",
        "ftl.kind=dftl",
        "ftl.reserve_percent=20",
    ],
    &["buffer.kind=bpac", "ftl.kind=bast", "ftl.log_blocks=7"],
    &["buffer.kind=bplru", "ftl.kind=fast", "ftl.log_blocks=7"],
    &[
        "buffer.kind=griffin",
        "ftl.kind=page",
        "ftl.reserve_percent=20",
    ],
    &["buffer.kind=ecr", "ftl.kind=last"],
    &[
        "buffer.kind=gcar",
        "ftl.kind=page",
        "ftl.reserve_percent=20",
    ],
    &["buffer.kind=pud-lru", "ftl.kind=superblock"],
    &["buffer.kind=lru", "buffer.release=issue", "ftl.kind=none"],
];

#[test]
fn counts_are_those_of_the_whole_run_less_those_up_to_the_moment() {
    let requests = requests();
    let mut seen = std::collections::BTreeSet::new();
    for case in CASES {
        for costing in ["event", "op_count"] {
            let timed = costing == "event" && !case.contains(&"ftl.kind=none");
            let costing = format!("sim.costing={costing}");
            let with = |requests: &[Request], more: &[&str]| {
                let pairs = [case, &[&*costing][..], more].concat();
                simulate(requests, &pairs, &mut Silent).expect("a run")
            };
            let whole = with(&requests, &["sim.drain=true"]);
            let warmup = format!("sim.warmup_requests={WARMUP}");
            let part = with(&requests, &["sim.drain=true", &warmup]);
            // In a run with a clock, statistics open when the first request after the warm-up arrives. So the run of
            // the warm-up alone also includes this request, and closes its statistics when this request arrives.
            let before = if timed {
                with(&requests[..=WARMUP], &["sim.window=last_arrival"])
            } else {
                with(&requests[..WARMUP], &[])
            };
            for (name, number) in part.iter() {
                let value = number.as_f64();
                let at = |metrics| metric(metrics, name).unwrap_or(0.0);
                if name == "host.requests" {
                    assert_eq!(number.as_f64(), (REQUESTS - WARMUP) as f64);
                } else if PLAIN.contains(&name) {
                    assert_eq!(value, at(&whole) - at(&before), "{case:?} {costing} {name}");
                    if value > 0.0 && at(&before) > 0.0 {
                        seen.insert(name.to_owned());
                    }
                } else if STATES.contains(&name) {
                    assert_eq!(value, at(&whole), "{case:?} {costing} {name}");
                }
            }
            let time = |name| {
                let [part, whole, before] =
                    [&part, &whole, &before].map(|metrics| metric(metrics, name).unwrap_or(0.0));
                assert!((part - (whole - before)).abs() < 1e-6, "{case:?} {name}");
            };
            time("ftl.gc_time_ms");
            time("ftl.merge_time_ms");
        }
    }
    // The comparison of a count shows something only if the count is above 0 both during and after the warm-up.
    for name in [
        "host.page_reads",
        "buffer.pad_reads",
        "flash.pages_moved",
        "flash.programs.map",
        "ftl.merges.full",
        "ftl.log_victims",
        "scheme.evicted_fallback",
        "scheme.victims_by_queue",
        "scheme.migrations_by_size",
    ] {
        assert!(seen.contains(name), "{name} of {seen:?}");
    }
}

/// An observer that keeps every response.
#[derive(Default)]
struct Log(Vec<Response>);

impl Observer for Log {
    fn wants_responses(&self) -> bool {
        true
    }
    fn response(&mut self, response: &Response) {
        self.0.push(*response);
    }
}

#[test]
fn response_times_are_of_later_requests_whenever_those_before_complete() {
    let requests = requests();
    let warmup = format!("sim.warmup_requests={WARMUP}");
    let mut log = Log::default();
    let metrics = simulate(&requests, &["host.queue_depth=4", &warmup], &mut log).expect("a run");
    assert_eq!(log.0.len(), REQUESTS, "the log has every request");
    let opened = requests[WARMUP].arrival;
    let index = |response: &&Response| response.index >= WARMUP as u64;
    let (later, earlier): (Vec<_>, Vec<_>) = log.0.iter().partition(index);
    let ends = |response: &Response| response.arrival + response.response.expect("complete");
    assert!(
        earlier.iter().any(|response| ends(response) > opened),
        "some of the warm-up complete later"
    );
    let times: Vec<_> = later.iter().filter_map(|one| one.response).collect();
    let mean = to_ms(times.iter().sum()) / times.len() as f64;
    let close = |name, expected: f64| {
        let found = metric(&metrics, name).expect(name);
        assert!(
            (found / expected - 1.0).abs() < 1e-9,
            "{name}: {found} {expected}"
        );
    };
    close("response.mean_ms", mean);
    close(
        "response.max_ms",
        to_ms(*times.iter().max().expect("times")),
    );
    close("host.completed", times.len() as f64);
    let makespan = log.0.iter().map(ends).max().expect("an end") - opened;
    close(
        "throughput.iops",
        times.len() as f64 / to_ms(makespan) * 1e3,
    );
}

#[test]
fn maxima_begin_with_the_state_of_the_moment() {
    // The host writes ten pages and flushes them. Then the host writes single pages, and flushes after each of these
    // writes.
    let request = |index: u32, operation, page: u64| Request {
        arrival: u64::from(index) * 100_000_000,
        sector: page * 8,
        sectors: 8,
        line: index + 1,
        operation,
        ..Request::BLANK
    };
    let mut requests: Vec<_> = (0..10)
        .map(|index| request(index, Operation::Write, index.into()))
        .collect();
    requests.push(request(10, Operation::Flush, 0));
    for index in 11..20 {
        let operation = [Operation::Flush, Operation::Write][index as usize % 2];
        requests.push(request(index, operation, index.into()));
    }
    let with = |warmup: &str| {
        simulate(&requests, &["buffer.kind=lru", warmup], &mut Silent).expect("a run")
    };
    let bytes = |metrics: &Metrics| {
        ["buffer.dirty_bytes_max", "device.at_risk_bytes_max"].map(|name| metric(metrics, name))
    };
    let oldest = |metrics: &Metrics| metric(metrics, "buffer.oldest_dirty_ms_max").expect("a time");
    let (whole, clean, dirty) = (
        with("sim.warmup_requests=0"),
        with("sim.warmup_requests=11"),
        with("sim.warmup_requests=9"),
    );
    assert_eq!(bytes(&whole), [Some(40960.0); 2]);
    assert_eq!(bytes(&clean), [Some(4096.0); 2]);
    assert_eq!(bytes(&dirty), [Some(40960.0); 2]);
    assert_eq!(oldest(&whole), oldest(&dirty), "with all of its period");
    assert!(oldest(&clean) < oldest(&whole) / 4.0);
}

#[test]
fn a_run_that_ends_before_it_measures_is_refused() {
    let requests = &requests()[..50];
    for costing in ["sim.costing=event", "sim.costing=op_count"] {
        let with = |warmup| simulate(requests, &[costing, warmup], &mut Silent);
        for warmup in ["sim.warmup_requests=50", "sim.warmup_requests=1000"] {
            assert_eq!(
                with(warmup).expect_err("a refusal"),
                format!(
                    "test: {}: the run ended after 50 requests, and measured none of them; expected fewer than 50",
                    warmup.replace('=', " = ")
                )
            );
        }
        let last = with("sim.warmup_requests=49").expect("a run");
        assert_eq!(metric(&last, "host.requests"), Some(1.0));
        assert_eq!(metric(&last, "host.completed"), Some(1.0), "{costing}");
    }
}

#[test]
fn every_name_here_is_a_metric() {
    for name in PLAIN.iter().chain(STATES) {
        assert!(find(name).is_some(), "{name}");
    }
}
