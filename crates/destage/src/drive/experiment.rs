//! The experiments of files of measurements, repeated on a [scaled-down drive](super::scaled).

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};

use destage_base::time::{TICKS_PER_US, to_ms};
use destage_base::{Random, Ticks};
use destage_sim::course;
use destage_sim::observer::{Observer, Response};
use destage_sim::settings::{Origin, Settings};
use destage_trace::{Operation, Request};
use destage_workload::Requests;

use super::knobs::{JOB, JOB_READ, SLEEP};
use super::scaled::Scaled;
use crate::error::Error;
use crate::grid::Combination;
use crate::input::Input;
use crate::progress::Progress;
use crate::run::run;
use crate::state::Prepared;

/// The smallest request of the experiments, in bytes. All requests are multiples of it. It has nothing to do with a
/// flash block, in spite of the name.
pub(super) const BLOCK: u64 = 4096;
const SECTOR: u64 = 512;

/// The response times of the reads and of the writes of a run, each in ascending order.
#[derive(Clone, Debug, Default)]
pub(super) struct Responses {
    of: [Vec<Ticks>; 2],
}

impl Responses {
    /// The response time of reads or of writes at `percentile`, in microseconds. `percentile` is `min`, `avg`,
    /// `max`, or a number up to 100. `None` if there was no such request.
    pub fn us(&self, operation: Operation, percentile: &str) -> Option<f64> {
        let times = &self.of[usize::from(operation == Operation::Write)];
        let (first, last) = (times.first()?, times.last()?);
        let us = |ticks: Ticks| ticks as f64 / TICKS_PER_US as f64;
        Some(match percentile {
            "min" => us(*first),
            "max" => us(*last),
            "avg" => times.iter().map(|ticks| us(*ticks)).sum::<f64>() / times.len() as f64,
            number => {
                let share = number.parse::<f64>().ok()? / 100.0;
                let rank = (share * times.len() as f64).ceil() as usize;
                us(times[rank.clamp(1, times.len()) - 1])
            }
        })
    }
}

/// Collects the response times of all requests from number `first` on, and the completion times of all requests.
struct Collector {
    first: u64,
    arrivals: Arrivals,
    responses: Responses,
    /// The arrival times of the first and of the last measured request.
    window: (Ticks, Ticks),
    /// The completion times of reads and of writes.
    complete: [Vec<Ticks>; 2],
}

impl Collector {
    fn new(first: u64, arrivals: Arrivals) -> Self {
        Self {
            first,
            arrivals,
            responses: Responses::default(),
            window: (Ticks::MAX, 0),
            complete: Default::default(),
        }
    }

    /// The rates of reads and of writes, per second, that completed between the arrivals of the first and the last
    /// measured request. About equally many requests are outstanding at both ends of this window. The beginning and
    /// the end of the run therefore do not distort the rates. `None` if all measured requests arrived at the same time.
    fn rates(&self) -> Option<[f64; 2]> {
        let (begin, end) = self.window;
        let seconds = to_ms(end.saturating_sub(begin)) / 1e3;
        let inside = |times: &Vec<Ticks>| {
            let times = times.iter();
            times.filter(|time| (begin..end).contains(*time)).count() as f64
        };
        let rates = self
            .complete
            .each_ref()
            .map(|times| inside(times) / seconds);
        (seconds > 0.0).then_some(rates)
    }
}

impl Observer for Collector {
    fn wants_responses(&self) -> bool {
        true
    }

    fn response(&mut self, response: &Response) {
        let place = match response.operation {
            Operation::Read => 0,
            Operation::Write => 1,
            Operation::Flush | Operation::Trim => return,
        };
        let Some(time) = response.response else {
            return;
        };
        self.complete[place].push(response.arrival + time);
        if response.index >= self.first {
            // Of several streams, the times of the first stream count. Reads of the other streams count too, because
            // otherwise there would be few reads at a high load.
            let is_counted = self.arrivals.streams().is_none_or(|streams| {
                place == 0 || streams.of(response.index, response.operation) == 0
            });
            if is_counted {
                self.responses.of[place].push(match self.arrivals {
                    // A request of a closed queue is submitted when it arrives.
                    Arrivals::Closed { .. } | Arrivals::Job { .. } => time,
                    Arrivals::Several { .. } | Arrivals::Open { .. } => time - response.waited,
                });
            }
            let (begin, end) = self.window;
            self.window = (begin.min(response.arrival), end.max(response.arrival));
        }
    }
}

/// Prepared states of drives. Drives that differ only in their times share a state.
#[derive(Default)]
pub(super) struct States(Mutex<Vec<Kept>>);

/// The settings on which a state depends, and the file that holds the state.
type Kept = (BTreeMap<String, String>, Arc<tempfile::NamedTempFile>);

impl States {
    /// The file of the drive state for `settings`. If no such state is stored yet, it is prepared first.
    fn of(
        &self,
        settings: &Settings,
        progress: &dyn Progress,
    ) -> Result<Arc<tempfile::NamedTempFile>, Error> {
        let config = settings.resolve()?;
        let depends = destage_sim::state::depends_on(&config);
        let mut all = self.0.lock().unwrap_or_else(|lock| lock.into_inner());
        if let Some((_, file)) = all.iter().find(|(known, _)| *known == depends) {
            return Ok(Arc::clone(file));
        }
        let unwritable = |error: std::io::Error| {
            Error::Input(format!("the state of the drive cannot be kept: {error}"))
        };
        let mut file = tempfile::NamedTempFile::new().map_err(unwritable)?;
        Prepared::new(&config, progress)?
            .save(&mut file)
            .map_err(unwritable)?;
        file.flush().map_err(unwritable)?;
        let file = Arc::new(file);
        all.push((depends, Arc::clone(&file)));
        Ok(file)
    }
}

/// A scaled-down drive in the state in which most experiments begin.
pub(super) struct Bench<'a> {
    drive: &'a Scaled,
    state: Arc<tempfile::NamedTempFile>,
    /// The number of measured requests of a run; half as many warm-up requests precede them.
    requests: u64,
}

/// Several streams of requests with exponentially distributed gaps. The first stream has as many reads as writes. Each
/// stream has at most a fixed number of requests in the device at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Streams {
    /// Of all reads and of all writes, the share that belongs to the first stream.
    pub first: [f64; 2],
}

/// The number of streams, and the number of requests of a stream that are in the device at a time, as in the
/// measurements of SSD-iq.
pub(super) const STREAMS: u64 = 7;
pub(super) const OF_STREAM: u64 = 64;

impl Streams {
    /// The stream of request number `index`, from 0.
    fn of(self, index: u64, operation: Operation) -> u32 {
        let first = self.first[usize::from(operation == Operation::Write)];
        let drawn = Random::new(index).unit();
        match drawn < first {
            true => 0,
            false => {
                let place = (drawn - first) / (1.0 - first) * (STREAMS - 1) as f64;
                1 + (place as u32).min(STREAMS as u32 - 2)
            }
        }
    }
}

/// How the requests of a steady-state experiment arrive.
#[derive(Clone, Copy, Debug)]
pub(super) enum Arrivals {
    /// Requests of several streams arrive with exponentially distributed gaps. `mean_ms` is the mean gap between
    /// requests of any streams.
    Several { mean_ms: f64, streams: Streams },
    /// Requests arrive with exponentially distributed gaps, whose mean is `mean_ms`. At most `depth` requests are in
    /// the device at a time.
    Open { mean_ms: f64, depth: u64 },
    /// `depth` requests are always in the device: the next request arrives when one completes. Several threads of the
    /// host issue them, and none of these threads limits the rate.
    Closed { depth: u64 },
    /// `depth` requests are always outstanding, and one thread of the host issues all of them. The thread spends the time
    /// [`JOB`](super::knobs::JOB) on each request.
    Job { depth: u64 },
}

impl Arrivals {
    fn settings(self, settings: &mut Settings) {
        let replay = match self {
            Self::Several { .. } => {
                set(settings, "host.queues", &STREAMS.to_string());
                set(settings, "host.queue_by", "volume");
                set(settings, "host.queue_requests", &OF_STREAM.to_string());
                "trace"
            }
            Self::Open { .. } => "trace",
            Self::Closed { .. } | Self::Job { .. } => "closed",
        };
        if !matches!(self, Self::Job { .. }) {
            for key in [JOB, JOB_READ, SLEEP] {
                set(settings, key, "0");
            }
        }
        set(settings, "host.replay", replay);
        set(settings, "host.queue_depth", &self.depth().to_string());
    }

    /// The largest number of requests in the device at a time.
    fn depth(self) -> u64 {
        match self {
            Self::Several { .. } => STREAMS * OF_STREAM,
            Self::Open { depth, .. } | Self::Closed { depth } | Self::Job { depth } => depth,
        }
    }

    fn mean_ms(self) -> f64 {
        match self {
            Self::Several { mean_ms, .. } | Self::Open { mean_ms, .. } => mean_ms,
            Self::Closed { .. } | Self::Job { .. } => 0.0,
        }
    }

    fn streams(self) -> Option<Streams> {
        match self {
            Self::Several { streams, .. } => Some(streams),
            Self::Open { .. } | Self::Closed { .. } | Self::Job { .. } => None,
        }
    }
}

/// The load of a steady-state experiment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    pub arrivals: Arrivals,
    pub write_percent: f64,
    /// Bytes of each request.
    pub bytes: u64,
    /// Whether each request begins at the address at which the previous one ended.
    pub sequential: bool,
}

/// The results of a steady-state experiment.
pub(super) struct Steady {
    pub responses: Responses,
    /// The rates of reads and of writes, per second; see [`Collector::rates`].
    pub rates: Option<[f64; 2]>,
}

impl Steady {
    /// The rate of all requests, per second.
    pub fn per_s(&self) -> Option<f64> {
        self.rates.map(|[reads, writes]| reads + writes)
    }
}

fn set(settings: &mut Settings, key: &str, value: &str) {
    let origin = Origin::Given("an experiment on a drive".to_owned());
    settings.set(key, value, origin);
}

impl<'a> Bench<'a> {
    /// Prepares `drive`. The drive is written once in order, and then overwritten at random `passes` times.
    ///
    /// # Errors
    /// If the drive cannot be prepared, or its state cannot be written to a temporary file.
    pub fn new(
        drive: &'a Scaled,
        passes: u64,
        requests: u64,
        states: &States,
        progress: &dyn Progress,
    ) -> Result<Self, Error> {
        let mut settings = drive.settings.clone();
        let fill = match passes {
            0 => "sequential_fill".to_owned(),
            passes => format!("random_fill:{passes}"),
        };
        set(&mut settings, "sim.precondition", &fill);
        Ok(Self {
            state: states.of(&settings, progress)?,
            drive,
            requests,
        })
    }

    fn state(&self) -> &Path {
        self.state.path()
    }

    /// Simulates the steady state under `load`.
    ///
    /// # Errors
    /// If the drive cannot be simulated, or `progress` asked to stop.
    pub fn steady(&self, load: Load, progress: &dyn Progress) -> Result<Steady, Error> {
        // The run transfers as many bytes as `requests` requests of `BLOCK` bytes. It has at least 2000 requests,
        // because a mean of fewer requests would be unreliable, and several times as many as are outstanding, because
        // otherwise none would arrive after the first ones.
        let requests = (self.requests * BLOCK / load.bytes)
            .max(2_000)
            .max(4 * load.arrivals.depth());
        let warmup = requests / 2;
        let mut settings = self.drive.settings.clone();
        load.arrivals.settings(&mut settings);
        set(&mut settings, "sim.warmup_requests", &warmup.to_string());
        let state = format!("file:{}", self.state().display());
        set(&mut settings, "sim.precondition", &state);
        let input = self.input(&load, requests + warmup)?;
        let mut collector = Collector::new(warmup, load.arrivals);
        run(
            &input,
            &Combination::new(&settings)?,
            progress,
            &mut collector,
        )?;
        let rates = collector.rates();
        let mut responses = collector.responses;
        responses.of.iter_mut().for_each(|of| of.sort_unstable());
        Ok(Steady { responses, rates })
    }

    fn input(&self, load: &Load, requests: u64) -> Result<Input, Error> {
        let pages = self.drive.used(BLOCK);
        let text = match load.sequential {
            false => format!(
                "uniform:requests={requests},footprint_pages={},page_bytes={BLOCK},write_percent={},min_pages={blocks},max_pages={blocks},mean_interarrival_ms={}",
                pages,
                load.write_percent,
                load.arrivals.mean_ms(),
                blocks = load.bytes / BLOCK,
            ),
            true => format!(
                "sequential:requests={requests},footprint_pages={},page_bytes={BLOCK},write_percent={},streams=1,stream_pages={},mean_interarrival_ms={}",
                pages,
                load.write_percent,
                load.bytes / BLOCK,
                load.arrivals.mean_ms(),
            ),
        };
        let input = Input::workload(&text, &[])?;
        let Some(streams) = load.arrivals.streams() else {
            return Ok(input);
        };
        let make = move || -> Result<Requests, Error> {
            let made = input.generated(1)?.zip(0..);
            Ok(Box::new(made.map(move |(request, index)| Request {
                volume: streams.of(index, request.operation),
                ..request
            })))
        };
        Ok(Input::made("streams of requests", requests, make))
    }
}

/// The order in which the pages of a phase are written.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Pattern {
    /// Each page once, in ascending order of addresses. If the phase writes more than all pages, it begins again at
    /// the first page.
    Sequential,
    /// Each page once, in random order.
    Shuffled,
    /// Pages at random, uniformly.
    Uniform,
    /// Pages at random, by Zipf's law with the exponent `skew`. The popular pages are scattered over the address range,
    /// or they are the first pages, in order of their popularity.
    Zipf { skew: f64, is_scattered: bool },
    /// Zones of `bytes` bytes of the full drive. `open` zones are written at a time, each in ascending order. Each
    /// request goes to one of them at random. A zone that is full is replaced by another zone, which is chosen at random
    /// and trimmed before it is written. Zones are reduced in size as superblocks are.
    Zones { bytes: u64, open: u64 },
}

/// One phase of writes over the used capacity, in requests of [`BLOCK`] bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Phase {
    pub pattern: Pattern,
    /// The bytes that the phase writes, as a multiple of the used capacity.
    pub drive_writes: f64,
}

impl Phase {
    /// Checks whether `drive` can be written in this way.
    ///
    /// # Errors
    /// See [`written`].
    pub fn check(&self, drive: &Scaled) -> Result<(), Error> {
        written(self, drive.used(BLOCK), 1, 1, drive.superblock_share).map(drop)
    }
}

/// Totals at one moment, counted from the start of the first phase.
#[derive(Clone, Copy, Debug, Default)]
struct Point {
    /// Bytes that the host has written.
    bytes: f64,
    /// Bytes that the flash has programmed.
    programmed: f64,
    /// Seconds that have passed.
    seconds: f64,
}

/// Totals over time while several phases of writes are written to a drive.
pub(super) struct Course {
    points: Vec<Point>,
    /// Bytes that the host had written before each phase.
    starts: Vec<f64>,
    used_bytes: f64,
}

impl Course {
    /// Writes `phases` one after the other to the empty `drive`, with `depth` outstanding requests.
    ///
    /// # Errors
    /// If the drive cannot be simulated, or `progress` asked to stop.
    pub fn new(
        drive: &Scaled,
        phases: &[Phase],
        depth: u64,
        progress: &dyn Progress,
    ) -> Result<Self, Error> {
        let mut settings = drive.settings.clone();
        Arrivals::Closed { depth }.settings(&mut settings);
        set(&mut settings, "sim.precondition", "none");
        let used_bytes = (drive.used_pages * drive.page_bytes) as f64;
        let mut starts = Vec::new();
        let mut counts = Vec::new();
        let mut before = 0.0;
        for phase in phases {
            let requests = (phase.drive_writes * used_bytes / BLOCK as f64).ceil();
            starts.push(before);
            counts.push(requests as u64);
            before += requests * BLOCK as f64;
        }
        let all = counts.iter().sum();
        let (own, pages) = (phases.to_vec(), drive.used(BLOCK));
        let share = drive.superblock_share;
        let make = move || -> Result<Requests, Error> {
            let mut parts = Vec::new();
            for ((phase, &requests), seed) in own.iter().zip(&counts).zip(1..) {
                parts.push(written(phase, pages, requests, seed, share)?);
            }
            Ok(Box::new(parts.into_iter().flatten()))
        };
        let input = Input::made("phases of writes", all, make);
        let combination = Combination::new(&settings)?;
        let mut points = Points {
            page_bytes: drive.page_bytes,
            all: Vec::new(),
        };
        run(&input, &combination, progress, &mut points)?;
        Ok(Self {
            points: points.all,
            starts,
            used_bytes,
        })
    }

    /// The write amplification and the host's write rate in MiB/s within phase `phase`. They cover the time in which
    /// the bytes written grow from `from` to `to`, as multiples of the used capacity. `None` if the run ends earlier.
    pub fn between(&self, phase: usize, from: f64, to: f64) -> Option<(f64, f64)> {
        let at = |writes: f64| self.at(self.starts[phase] + writes * self.used_bytes);
        let (begin, end) = (at(from)?, at(to)?);
        let bytes = end.bytes - begin.bytes;
        let seconds = end.seconds - begin.seconds;
        (bytes > 0.0 && seconds > 0.0).then(|| {
            (
                (end.programmed - begin.programmed) / bytes,
                bytes / seconds / f64::from(1 << 20),
            )
        })
    }

    /// The totals at the moment when the host had written `bytes`, interpolated between two points.
    fn at(&self, bytes: f64) -> Option<Point> {
        let behind = self.points.partition_point(|point| point.bytes < bytes);
        let last = self.points.last()?;
        if behind == self.points.len() {
            // The last phase may end slightly before its nominal end.
            return (bytes <= last.bytes * 1.001).then_some(*last);
        }
        let end = self.points[behind];
        let begin = match behind {
            0 => Point::default(),
            behind => self.points[behind - 1],
        };
        let share = match end.bytes - begin.bytes {
            none if none <= 0.0 => 0.0,
            all => (bytes - begin.bytes) / all,
        };
        let mix = |of: fn(&Point) -> f64| of(&begin) + share * (of(&end) - of(&begin));
        Some(Point {
            bytes,
            programmed: mix(|point| point.programmed),
            seconds: mix(|point| point.seconds),
        })
    }
}

/// Records the course of a run. Each request of the run counts as [`BLOCK`] bytes. That is not so for trims of zones, but
/// there is only one for each zone.
struct Points {
    page_bytes: u64,
    all: Vec<Point>,
}

impl Observer for Points {
    fn wants_course(&self) -> bool {
        true
    }

    fn course(&mut self, points: &[course::Point]) {
        let totals = points.iter().map(|point| Point {
            bytes: (point.completed * BLOCK) as f64,
            programmed: (point.programs * self.page_bytes) as f64,
            seconds: to_ms(point.passed) / 1e3,
        });
        self.all = totals.collect();
    }
}

/// The first `requests` requests of `phase` over `pages` pages of [`BLOCK`] bytes. `share` is the size of a superblock,
/// as a fraction of that of the full drive.
///
/// # Errors
/// If the Zipf workload refuses its parameters, or if there are no more zones than open ones.
fn written(
    phase: &Phase,
    pages: u64,
    requests: u64,
    seed: u64,
    share: f64,
) -> Result<Requests, Error> {
    let request = move |page: u64| Request {
        sector: page * (BLOCK / SECTOR),
        sectors: (BLOCK / SECTOR) as u32,
        line: 0,
        operation: Operation::Write,
        ..Request::BLANK
    };
    let mut random = Random::new(seed);
    let all: Requests = match phase.pattern {
        Pattern::Sequential => Box::new((0..).map(move |number| request(number % pages))),
        Pattern::Shuffled => {
            let mut order: Vec<u32> = (0..pages as u32).collect();
            for place in (1..order.len()).rev() {
                order.swap(place, random.below(place as u64 + 1) as usize);
            }
            Box::new(
                order
                    .into_iter()
                    .cycle()
                    .map(move |page| request(page.into())),
            )
        }
        Pattern::Uniform => Box::new(std::iter::repeat_with(move || request(random.below(pages)))),
        Pattern::Zipf { skew, is_scattered } => {
            // With a single cluster, pages stay in the order of their ranks.
            let cluster = if is_scattered { 1 } else { pages };
            let text = format!(
                "zipf:requests={requests},footprint_pages={pages},page_bytes={BLOCK},write_percent=100,skew={skew},cluster_pages={cluster},mean_interarrival_ms=0"
            );
            Input::workload(&text, &[])?.generated(seed)?
        }
        Pattern::Zones { bytes, open } => {
            let pages_of_zone = ((bytes as f64 * share / BLOCK as f64).round() as u64).max(1);
            let zones = pages / pages_of_zone;
            if zones <= open {
                return Err(Error::Input(format!(
                    "{open} zones of {:.2} GiB are open at a time, but the reduced drive has only {zones} zones; expected a larger reduced drive (more superblocks)",
                    bytes as f64 / super::scaled::GIB
                )));
            }
            Box::new(zoned(zones, pages_of_zone, open as usize, random).map(
                move |step| match step {
                    Step::Write(page) => request(page),
                    Step::Trim(page) => Request {
                        sectors: (pages_of_zone * (BLOCK / SECTOR)) as u32,
                        operation: Operation::Trim,
                        ..request(page)
                    },
                },
            ))
        }
    };
    Ok(Box::new(all.take(requests as usize)))
}

/// A step of writes to zones: the number of the page to write, or of the first page of the zone to trim.
enum Step {
    Write(u64),
    Trim(u64),
}

/// Writes to `zones` zones of `pages` pages, of which `open` are written at a time. See [`Pattern::Zones`].
fn zoned(zones: u64, pages: u64, open: usize, mut random: Random) -> impl Iterator<Item = Step> {
    // For each open zone its number, and the number of its pages that are written.
    let mut written: Vec<(u64, u64)> = Vec::new();
    std::iter::repeat_with(move || {
        let place = random.below(open as u64) as usize;
        let is_new = written.len() < open;
        if is_new || written[place].1 == pages {
            let is_open = |zone: u64| written.iter().any(|(other, _)| *other == zone);
            let mut zone = random.below(zones);
            while is_open(zone) {
                zone = random.below(zones);
            }
            match is_new {
                true => written.push((zone, 0)),
                false => written[place] = (zone, 0),
            }
            return Step::Trim(zone * pages);
        }
        let (zone, count) = &mut written[place];
        *count += 1;
        Step::Write(*zone * pages + *count - 1)
    })
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, Pattern, Phase, Random, SECTOR, Step, written, zoned};
    use std::collections::BTreeMap;

    /// Zones are trimmed before they are written. They are written completely and in ascending order, and the number of
    /// open zones never exceeds the requested number.
    #[test]
    fn zones_are_trimmed_and_then_written_in_order() {
        let (zones, pages, open) = (9, 5, 3);
        let mut written: BTreeMap<u64, u64> = BTreeMap::new();
        let mut trimmed = BTreeMap::new();
        for step in zoned(zones, pages, open, Random::new(7)).take(2_000) {
            match step {
                Step::Trim(page) => {
                    assert_eq!(page % pages, 0);
                    // A zone that is trimmed is not open: it was never written, or is full.
                    assert!(
                        written
                            .get(&(page / pages))
                            .is_none_or(|count| *count == pages)
                    );
                    written.insert(page / pages, 0);
                    *trimmed.entry(page / pages).or_insert(0) += 1;
                }
                Step::Write(page) => {
                    let count = written.get_mut(&(page / pages)).unwrap();
                    assert_eq!(page % pages, *count);
                    *count += 1;
                }
            }
            let is_open = |count: &&u64| **count < pages;
            assert!(written.values().filter(is_open).count() <= open);
        }
        assert_eq!(trimmed.len() as u64, zones);
        assert!(trimmed.values().all(|times| *times > 20), "{trimmed:?}");
    }
    /// Unless popular pages are scattered, each quarter of the pages gets more writes than the next one. By the law with
    /// the exponent 0.8, the first quarter of 1,000 pages gets 69 % of the writes.
    #[test]
    fn popular_pages_are_first_unless_they_are_scattered() {
        let shares = |is_scattered: bool| {
            let pattern = Pattern::Zipf {
                skew: 0.8,
                is_scattered,
            };
            let phase = Phase {
                pattern,
                drive_writes: 20.0,
            };
            let mut counts = [0.0_f64; 4];
            for request in written(&phase, 1_000, 20_000, 3, 1.0).unwrap() {
                let page = request.sector / (BLOCK / SECTOR);
                counts[page as usize / 250] += 1.0 / 20_000.0;
            }
            counts
        };
        let in_order = shares(false);
        assert!((in_order[0] - 0.69).abs() < 0.02, "{in_order:?}");
        assert!(
            in_order.is_sorted_by(|one, other| one > other),
            "{in_order:?}"
        );
        let scattered = shares(true);
        assert!(
            scattered.iter().all(|share| (share - 0.25).abs() < 0.15),
            "{scattered:?}"
        );
    }
}
