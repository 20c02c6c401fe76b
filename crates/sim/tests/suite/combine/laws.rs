//! Laws that every run must obey, whatever features are combined.

use std::collections::BTreeMap;

use destage_base::Random;
use destage_base::parameter::Value;
use destage_base::time::TICKS_PER_US;
use destage_buffer::{Counts, Sees};
use destage_device::RequestKind;
use destage_sim::check::Purpose;
use destage_sim::engine::Window;
use destage_sim::host::{Attribution, Scheduler};
use destage_sim::metrics::Metrics;
use destage_sim::observer::{Observer, Response, Silent};
use destage_sim::power::{CutAt, CutPlan, cut_run};
use destage_sim::prepass::{Pass, Prepass};
use destage_sim::run::live::{Ask, Live};
use destage_sim::run::{Simulation, run as run_alone};
use destage_sim::settings::{Config, Settings};
use destage_sim::source::Source;
use destage_sim::watch::{Recording, watched_run};
use destage_trace::{Operation, Request};

/// A law that was checked and holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Held {
    /// Every page that became dirty was destaged, was dropped, or is still dirty.
    Pages,
    /// If all times are doubled, response times double and counts stay the same.
    Scale,
    /// The buffer makes the same decisions in a run without a clock.
    Decisions,
    /// All written data can be read. After a loss of power, all data that the ledger requires can be read.
    Bytes,
    /// A watched run has the same results as an unwatched one.
    Watch,
    /// The parts of response times add up to the response times.
    Parts,
}

const REQUESTS: u64 = 300;
const PAGES: u64 = 2000;

/// Writes, reads, trims and flushes of two volumes and three streams, with some FUA writes.
fn requests() -> Vec<Request> {
    let mut random = Random::new(3);
    let mut arrival = 0;
    let mut request = |number: u64| {
        arrival += random.below(400) * TICKS_PER_US;
        let operation = match random.below(30) {
            0 => Operation::Flush,
            1 => Operation::Trim,
            2..=9 => Operation::Read,
            _ => Operation::Write,
        };
        let pages = 1 + random.below(4);
        let page = match random.below(3) {
            0 => random.below(100),
            _ => random.below(PAGES - 4),
        };
        let is_flush = operation == Operation::Flush;
        Request {
            arrival,
            sector: if is_flush { 0 } else { page * 8 },
            sectors: if is_flush { 0 } else { pages as u32 * 8 },
            volume: random.below(2) as u32,
            line: number as u32 + 1,
            operation,
            fua: operation == Operation::Write && random.below(20) == 0,
            stream: random.below(3) as u16,
        }
    };
    (0..REQUESTS).map(&mut request).collect()
}

/// An observer that adds up all response times, in ticks.
struct Sum(u128);

impl Observer for Sum {
    fn wants_responses(&self) -> bool {
        true
    }

    fn response(&mut self, response: &Response) {
        self.0 += response.response.map_or(0, u128::from);
    }
}

/// Runs `config` for `purpose`, and checks the laws that apply to such a run. Returns the checked laws if all of them
/// hold.
///
/// # Errors
/// The first law that does not hold, in words.
pub fn hold(config: &Config, purpose: Purpose) -> Result<Vec<Held>, String> {
    let requests = requests();
    match purpose {
        Purpose::Cut => cut(config, &requests),
        Purpose::Live => live(config, &requests),
        Purpose::Watch => watch(config, &requests),
        Purpose::Run => plain(config, &requests),
    }
}

fn prepass(config: &Config, requests: &[Request]) -> Result<Prepass, String> {
    let mut source = Source::memory("requests", requests);
    Pass::read(&[config], &mut source, |_| true)
        .and_then(|mut pass| pass.prepass(config))
        .map_err(|error| error.to_string())
}

/// The metrics of a run, the counts of its buffer after the last arrival, and whether the parts of the response
/// times add up.
fn run(config: &Config, requests: &[Request]) -> Result<(Metrics, Option<Counts>, bool), String> {
    let told = |error: destage_sim::error::SimError| error.to_string();
    let prepass = prepass(config, requests)?;
    let ftl = config.prepared_ftl(&mut Silent).map_err(told)?;
    let mut seen = Sum(0);
    let observer = Box::new(&mut seen);
    let mut run = Simulation::new(config, "requests", ftl, &prepass, observer).map_err(told)?;
    run.feed(requests).map_err(told)?;
    let counts = run.buffer_counts();
    let result = run.finish().map_err(told)?;
    let parts = result.explained.and_then(|explained| explained.timed);
    let parts = parts.map(|timed| {
        let of_kinds = timed.responses.iter();
        of_kinds.map(|of| of.spreading.all().total()).sum::<u128>()
    });
    let is_of_request = config.typed.host.attribution == Attribution::Request;
    let is_whole = closes_late(config) && is_of_request;
    let adds_up = !is_whole || parts.is_none_or(|parts| parts == seen.0);
    Ok((result.metrics, counts, adds_up))
}

fn plain(config: &Config, requests: &[Request]) -> Result<Vec<Held>, String> {
    let mut held = Vec::new();
    let (metrics, counts, adds_up) = run(config, requests)?;
    if !adds_up {
        return Err("parts do not add up to responses".to_owned());
    }
    if config.explain {
        held.push(Held::Parts);
    }
    if config.is_timed() && closes_late(config) {
        let [completed, sent] =
            ["host.completed", "host.requests"].map(|name| metrics.get(name).map(|it| it.as_f64()));
        if completed != sent {
            return Err(format!("{completed:?} of {sent:?} requests were answered"));
        }
    }
    if let Some(counts) = counts {
        if !counts.are_balanced() {
            return Err(format!("pages appeared or disappeared: {counts:?}"));
        }
        held.push(Held::Pages);
    }
    if config.is_timed() {
        let doubled = doubled(config)?;
        let (slow, ..) = run(&doubled, requests)?;
        same_but_for_times(&metrics, &slow)?;
        held.push(Held::Scale);
    }
    let sees = config.scheme.sees;
    let asks = sees.contains(&Sees::Time) || sees.contains(&Sees::Queues);
    let is_idle = config.buffer_parameter("bg_destage") == Some(&Value::Flag(true));
    // On a link, a request without data, such as a trim, can overtake a write while the link still transfers the data
    // of the write.
    let keeps_order = config.keeps_order() && config.typed.host.link_lane_gb_per_s == 0.0;
    if config.is_timed() && keeps_order && !asks && !is_idle && closes_late(config) {
        // In a run with a clock, some slots are reserved for pages of program units, so the scheme cannot use these
        // slots. The buffer of the run without a clock is smaller by these slots.
        let page_bytes = config.typed.flash.page_bytes;
        let set_aside = u64::from(config.pages_in_units()) * page_bytes;
        let capacity = config.typed.buffer.capacity_bytes.saturating_sub(set_aside);
        let capacity = capacity.to_string();
        let set = [
            ("sim.costing", "op_count"),
            ("buffer.capacity_bytes", &*capacity),
        ];
        let counted = with(config, &set)?;
        let (other, ..) = run(&counted, requests)?;
        same_decisions(&metrics, &other)?;
        held.push(Held::Decisions);
    }
    Ok(held)
}

/// Whether statistics cover all requests.
fn closes_late(config: &Config) -> bool {
    let sim = &config.typed.sim;
    sim.warmup_requests == 0 && sim.window == Window::Complete
}

/// `config` with other values for some keys.
fn with(config: &Config, pairs: &[(&str, &str)]) -> Result<Config, String> {
    let mut settings = Settings::new();
    for (key, value) in config.chosen() {
        settings
            .set_pair(&format!("{key}={value}"))
            .map_err(|error| error.to_string())?;
    }
    for (key, value) in pairs {
        settings
            .set_pair(&format!("{key}={value}"))
            .map_err(|error| error.to_string())?;
    }
    settings.resolve().map_err(|error| error.to_string())
}

/// A copy of `config` in which all times are doubled and requests arrive half as often.
fn doubled(config: &Config) -> Result<Config, String> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for (key, row) in config.rows() {
        let value = config.parameters()[&key].clone();
        let twice = |value: &Value| match value {
            Value::Number(number) => Some((number * 2.0).to_string()),
            Value::Integer(number) => Some((number * 2).to_string()),
            Value::Text(text) if !text.is_empty() => text
                .split('/')
                .map(|part| {
                    part.parse::<f64>()
                        .ok()
                        .map(|number| (number * 2.0).to_string())
                })
                .collect::<Option<Vec<_>>>()
                .map(|parts| parts.join("/")),
            _ => None,
        };
        let changed = match row.unit {
            "us" | "ns" | "ms" | "s" => twice(&value),
            "GB/s" => match value {
                Value::Number(number) => Some((number / 2.0).to_string()),
                _ => None,
            },
            _ if key == "host.time_scale" => twice(&value),
            _ => None,
        };
        pairs.extend(changed.map(|changed| (key, changed)));
    }
    let pairs: Vec<(&str, &str)> = pairs
        .iter()
        .map(|(key, value)| (&**key, &**value))
        .collect();
    with(config, &pairs)
}

fn same_but_for_times(one: &Metrics, slow: &Metrics) -> Result<(), String> {
    let (one, slow) = (by_name(one), by_name(slow));
    for (name, value) in &one {
        let times = match () {
            // Percentiles from histograms are exact only to a thousandth, so they need not double exactly.
            () if name.starts_with("buffer.dirty_age.") => continue,
            () if name.starts_with("host.queue_p99_ms") => continue,
            () if name.contains("_ms") => 2.0,
            () if name == "throughput.iops" || name == "throughput.mb_per_s" => continue,
            () if name == "throughput.op_model_mb_per_s" => continue,
            () if name.starts_with("flash.utilization")
                || name.starts_with("flash.parallelism") =>
            {
                continue;
            }
            () if name.contains("utilization") => continue,
            () => 1.0,
        };
        let found = slow.get(name).copied().unwrap_or(f64::NAN);
        if found != value * times {
            return Err(format!(
                "with times doubled {name} is {found}, and was {value}"
            ));
        }
    }
    Ok(())
}

fn by_name(metrics: &Metrics) -> BTreeMap<String, f64> {
    metrics
        .iter()
        .map(|(name, number)| (name.to_owned(), number.as_f64()))
        .collect()
}

fn same_decisions(timed: &Metrics, counted: &Metrics) -> Result<(), String> {
    let (timed, counted) = (by_name(timed), by_name(counted));
    for name in [
        "host.page_writes",
        "buffer.write_hits",
        "buffer.evictions",
        "buffer.destaged_pages",
        "buffer.dirty_at_end",
    ] {
        if timed.get(name) != counted.get(name) {
            return Err(format!(
                "{name} is {:?} with a clock and {:?} without",
                timed.get(name),
                counted.get(name)
            ));
        }
    }
    // Whether a padding page is read or filled depends on the time at which a trim takes effect. So the test compares
    // only the sum of pad reads and pad fills.
    let pads = |of: &BTreeMap<String, f64>| {
        let count = |name: &str| of.get(name).copied().unwrap_or(0.0);
        count("buffer.pad_reads") + count("buffer.pad_fills")
    };
    match pads(&timed) == pads(&counted) {
        true => Ok(()),
        false => Err(format!(
            "{} pages pad with a clock and {} without",
            pads(&timed),
            pads(&counted)
        )),
    }
}

fn cut(config: &Config, requests: &[Request]) -> Result<Vec<Held>, String> {
    for (at, seed) in [(3, 1), (60, 2), (170, 3)] {
        let plan = CutPlan {
            at: CutAt::Write(at),
            seed,
        };
        let source = Source::memory("requests", requests);
        let prepass = prepass(config, requests)?;
        let ((_, result), _) = cut_run(config, source, &prepass, &plan, None, &mut Silent)
            .map_err(|error| format!("cut at write {at}: {error}"))?;
        if at == 60 && config.check(Purpose::Watch).is_ok() {
            let mut recording = Recording::new(config.geometry().dies);
            let (source, watched) = (Source::memory("requests", requests), Some(&mut recording));
            let ((_, again), _) = cut_run(config, source, &prepass, &plan, watched, &mut Silent)
                .map_err(|error| format!("cut at write {at} and watched: {error}"))?;
            if again != result {
                return Err(format!("watching changes a cut at write {at}"));
            }
            let mut work = recording.intervals.iter();
            if work.any(|work| work.begin + work.time > result.time) {
                return Err(format!("a die works after the cut at write {at}"));
            }
        }
        if !result.bad.is_empty() {
            return Err(format!(
                "cut at write {at}: {} sectors do not hold what they must",
                result.bad.len()
            ));
        }
    }
    Ok(vec![Held::Bytes])
}

/// What a sector of a live device may hold: the data of the latest write. If waiting requests may overtake each other,
/// it may also hold the data of each earlier write that was not answered when the latest one was submitted.
struct Allowed {
    /// For each write that may have been the last to take effect, its number and its byte; a trim has the byte 0.
    last: BTreeMap<u64, Vec<(usize, u8)>>,
    may_overtake: bool,
    is_answered: Vec<bool>,
}

impl Allowed {
    /// Notes that request `number` writes `byte` to `sector`.
    fn write(&mut self, sector: u64, number: usize, byte: u8) {
        let last = self.last.entry(sector).or_default();
        let (is_answered, may_overtake) = (&self.is_answered, self.may_overtake);
        last.retain(|(number, _)| may_overtake && !is_answered[*number]);
        last.push((number, byte));
    }
}

/// Submits all requests to a live device, and then reads all written sectors.
fn live(config: &Config, requests: &[Request]) -> Result<Vec<Held>, String> {
    let mut live = Live::new(config, Box::new(Silent)).map_err(|error| error.to_string())?;
    let mut allowed = Allowed {
        last: BTreeMap::new(),
        may_overtake: config.typed.host.scheduler == Scheduler::CLook,
        is_answered: vec![false; requests.len()],
    };
    let mut answered = 0;
    for (tag, request) in requests.iter().enumerate() {
        let byte = (tag % 251) as u8 + 1;
        let data = match request.operation {
            Operation::Write => vec![byte; request.sectors as usize * 512],
            _ => Vec::new(),
        };
        let kind = match request.operation {
            Operation::Read => RequestKind::Read,
            Operation::Write => RequestKind::Write,
            Operation::Trim => RequestKind::Trim,
            Operation::Flush => RequestKind::Flush,
        };
        for sector in request.sector..request.end() {
            match request.operation {
                Operation::Write => allowed.write(sector, tag, byte),
                Operation::Trim => allowed.write(sector, tag, 0),
                _ => {}
            }
        }
        let ask = Ask {
            kind,
            sector: request.sector,
            sectors: request.sectors,
            fua: request.fua,
            data: &data,
            tag: tag as u64,
        };
        live.submit(request.arrival, &ask)
            .map_err(|error| error.to_string())?;
        while let Some(answer) = live.completed() {
            allowed.is_answered[answer.tag as usize] = true;
            answered += 1;
        }
    }
    while answered < requests.len() {
        live.advance_to_completion()
            .map_err(|error| error.to_string())?;
        while live.completed().is_some() {
            answered += 1;
        }
    }
    let mut bytes = Vec::new();
    for (sector, last) in allowed.last {
        // A trim may leave the earlier contents of a page that it covers in part.
        if last.iter().any(|(_, byte)| *byte == 0) {
            continue;
        }
        bytes.clear();
        live.read(sector, 1, &mut bytes)
            .map_err(|fault| format!("{fault:?}"))?;
        if !last.iter().any(|(_, byte)| bytes == vec![*byte; 512]) {
            return Err(format!(
                "sector {sector} does not hold what was written last"
            ));
        }
    }
    Ok(vec![Held::Bytes])
}

fn watch(config: &Config, requests: &[Request]) -> Result<Vec<Held>, String> {
    let prepass = prepass(config, requests)?;
    let source = Source::memory("requests", requests);
    let ((watched, _), _) =
        watched_run(config, source, &prepass, &mut Silent).map_err(|error| error.to_string())?;
    let source = Source::memory("requests", requests);
    let (alone, _) =
        run_alone(config, source, &prepass, &mut Silent).map_err(|error| error.to_string())?;
    match watched.metrics == alone.metrics {
        true => Ok(vec![Held::Watch]),
        false => Err("a run that is watched has other results".to_owned()),
    }
}
