//! Explained runs for tests, and checks that hold for each of them.

use std::collections::BTreeMap;

use destage_base::Random;
use destage_base::time::to_ms;
use destage_sim::course::Point;
use destage_sim::explain::{Explained, PART_NAMES, Slow, Timed};
use destage_sim::observer::{Observer, Response, Silent};
use destage_sim::prepass::Pass;
use destage_sim::run::{RunResult, run};
use destage_sim::settings::{Config, Settings};
use destage_sim::source::Source;
use destage_trace::{Operation, Request};

pub const MICROSECOND: u64 = 10_000;
pub const MILLISECOND: u64 = 1000 * MICROSECOND;
/// The time of eight sectors on the host bus, in ticks. The next constants are the times of the flash operations, in
/// ticks.
pub const BUS: u64 = 8 * 100 * 10;
pub const READ: u64 = 25 * MICROSECOND;
pub const PROGRAM: u64 = 200 * MICROSECOND;
pub const ERASE: u64 = 1500 * MICROSECOND;

pub fn request(arrival: u64, operation: Operation, page: u64, pages: u32) -> Request {
    Request {
        arrival,
        sector: page * 8,
        sectors: 8 * pages,
        operation,
        ..Request::BLANK
    }
}

/// A configuration in which only the bus and the cells take time, unless `pairs` set other times.
pub fn config(pairs: &[&str], explain: bool) -> Result<Config, String> {
    let mut settings = Settings::new();
    let device = [
        "flash.planes_per_die=1",
        "flash.pages_per_block=8",
        "flash.transfer_ns_per_byte=0",
        "flash.read_us=25",
        "flash.program_us=200",
        "flash.erase_us=1500",
        "host.bus_ns_per_sector=100",
        "trace.addr_map=modulo",
    ];
    for pair in device.iter().chain(pairs) {
        settings.set_pair(pair).map_err(|error| error.to_string())?;
    }
    if explain {
        settings.explain();
    }
    settings.resolve().map_err(|error| error.to_string())
}

/// An observer that records the response time of each request under the index of the request.
#[derive(Default)]
pub struct Responses(pub BTreeMap<u64, u64>);

impl Observer for Responses {
    fn wants_responses(&self) -> bool {
        true
    }

    fn response(&mut self, response: &Response) {
        if let Some(time) = response.response {
            self.0.insert(response.index, time);
        }
    }
}

/// An observer that keeps the course of the run.
#[derive(Default)]
pub struct Course(pub Vec<Point>);

impl Observer for Course {
    fn wants_course(&self) -> bool {
        true
    }

    fn course(&mut self, points: &[Point]) {
        self.0 = points.to_vec();
    }
}

pub fn simulate(config: &Config, requests: &[Request], observer: &mut dyn Observer) -> RunResult {
    let source = || Source::memory("test".to_owned(), requests);
    let mut pass = Pass::read(&[config], &mut source(), |_| true).expect("a pass");
    let prepass = pass.prepass(config).expect("a pass");
    run(config, source(), &prepass, observer).expect("a run").0
}

pub fn explained(requests: &[Request], pairs: &[&str]) -> (Explained, Responses) {
    let config = config(pairs, true).expect("a configuration");
    let mut responses = Responses::default();
    let result = simulate(&config, requests, &mut responses);
    (*result.explained.expect("an explained run"), responses)
}

pub fn timed(explained: &Explained) -> &Timed {
    explained.timed.as_ref().expect("a run with a clock")
}

/// Requests of every kind, which arrive so fast that some of them have to wait.
pub fn stream(seed: u64, count: usize, pages: u64) -> Vec<Request> {
    let mut random = Random::new(seed);
    let mut arrival = 0;
    let one = |_| {
        arrival += random.below(MILLISECOND);
        let near = random.below(2) == 0;
        let page = random.below(if near { 30 } else { pages });
        let operation = match random.below(24) {
            0 => Operation::Trim,
            1 => Operation::Flush,
            2..=7 => Operation::Read,
            _ => Operation::Write,
        };
        let mut request = request(arrival, operation, page, 1 + random.below(4) as u32);
        if random.below(3) == 0 {
            request.sector += random.below(8);
        }
        request.fua = operation == Operation::Write && random.below(10) == 0;
        request
    };
    (0..count).map(one).collect()
}

/// Compares an explained run with the observed response times. The explanation must contain `counted` requests, and
/// each of the slowest requests with its observed response time. In each bucket of the histogram, the sum of the
/// parts must be within the bounds of the bucket.
pub fn hold_to_responses(explained: &Explained, responses: &Responses, counted: usize, what: &str) {
    let timed = timed(explained);
    let completed: u64 = timed
        .responses
        .iter()
        .map(|of| of.spreading.all().requests)
        .sum();
    assert_eq!(completed, counted as u64, "{what}");
    for slow in &timed.worst {
        assert_eq!(
            responses.0[&slow.index],
            slow.response(),
            "{what}: {slow:?}"
        );
    }
    for of in &timed.responses {
        for (times, bucket) in of.spreading.buckets() {
            let least = u128::from(*times.start()) * u128::from(bucket.requests);
            let most = u128::from(*times.end()) * u128::from(bucket.requests);
            assert!((least..=most).contains(&bucket.total()), "{what}");
        }
    }
}

/// Checks that the parameters and metrics in `result` equal those of the same run without an explanation.
pub fn hold_to_plain(pairs: &[&str], requests: &[Request], result: &RunResult, what: &str) {
    let plain = config(pairs, false).expect("a configuration");
    let plain = simulate(&plain, requests, &mut Silent);
    assert_eq!(plain.explained, None);
    assert_eq!(plain.parameters, result.parameters, "{what}");
    assert_eq!(plain.metrics, result.metrics, "{what}");
}

/// The parts of the response times of all `requests`, in the order of the requests. There may be at most 16 requests,
/// because an explanation records no more than 16 single requests.
pub fn all(requests: &[Request], pairs: &[&str]) -> Vec<Slow> {
    assert!(requests.len() <= 16);
    let (explained, _) = explained(requests, pairs);
    let mut all = timed(&explained).worst.clone();
    all.sort_by_key(|slow| slow.index);
    assert_eq!(all.len(), requests.len());
    all
}

/// The names and ticks of the parts that are not 0.
pub fn parts(slow: &Slow) -> Vec<(&'static str, u64)> {
    let parts = PART_NAMES.into_iter().zip(slow.split.0);
    parts.filter(|(_, time)| *time > 0).collect()
}

/// Compares the series of an explained run with its metrics. A tick counts once as busy time of a die, even if the
/// die executes several operations in this tick.
fn hold_to_metrics(result: &RunResult, dies: u32, what: &str) {
    let metric = |name: &str| {
        let number = result.metrics.get(name);
        number.map_or(0.0, |number| number.as_f64())
    };
    let explained = result.explained.as_ref().expect("explained");
    let series = &timed(explained).series;
    let span = (series.intervals.len() as u64 - 1) * series.length + series.last_length;
    let busy = series.intervals.iter().flat_map(|of| &of.busy);
    let busy: u128 = busy.map(|busy| u128::from(*busy)).sum();
    let share = busy as f64 / f64::from(dies) / span as f64;
    let kept = metric("flash.utilization_mean");
    assert!((share - kept).abs() < 1e-9, "{what}: {share} {kept}");
    let programs = series.intervals.iter();
    let programs: u64 = programs.flat_map(|of| of.tally.programs).sum();
    assert_eq!(programs as f64, metric("flash.programs"), "{what}");
    let gc = series.intervals.iter().map(|of| of.gc_time).sum();
    let gc_ms = metric("ftl.gc_time_ms");
    assert!((to_ms(gc) - gc_ms).abs() < 1e-6 * gc_ms.max(1.0), "{what}");
}

/// Checks an explained run on `dies` dies. Its results must equal those of the run without an explanation. The parts
/// of the response times must add up to the observed response times. Its series must agree with its metrics.
pub fn hold_to_run(pairs: &[&str], requests: &[Request], dies: u32) {
    let what = pairs.join(" ");
    let config = config(pairs, true).unwrap_or_else(|error| panic!("{error}"));
    let mut responses = Responses::default();
    let result = simulate(&config, requests, &mut responses);
    hold_to_plain(pairs, requests, &result, &what);
    hold_to_metrics(&result, dies, &what);
    let explained = result.explained.expect("explained");
    hold_to_responses(&explained, &responses, requests.len(), &what);
    let of = timed(&explained).responses.iter();
    let total: u128 = of.map(|of| of.spreading.all().total()).sum();
    let seen: u128 = responses.0.values().map(|time| u128::from(*time)).sum();
    assert_eq!(total, seen, "{what}");
}
