//! Workloads of several writers and readers that are active at the same time. A workload is a table of streams, and a
//! few numbers describe each stream.
//!
//! In each cycle through the table, a stream makes a fixed number of requests during a given
//! period of the cycle. It makes its requests in turns of several consecutive requests. The turns are spread evenly
//! over the period, with random deviations. The requests of a stream go through runs of sectors. At the end of the
//! cycle, the next cycle begins, and each stream continues at its current position.
//!
//! At the start, the random draws for each stream are the time of its first turn and its first run. For each request,
//! the draws are the next run if a run ends, the size, the position if the order is random, whether the request is
//! repeated, and the time of the next turn. The gaps are drawn from a separate random generator. A different gap
//! therefore changes only arrival times.

use destage_base::Random;

use crate::Requests;
use crate::WorkloadError;
use crate::shared::{
    Arrivals, FOOTPRINT_PAGES, MEAN_INTERARRIVAL_MS, PAGE_BYTES, REQUESTS, contradiction,
    page_sectors, pick, write_or_read,
};
use destage_base::parameter::Values;
use destage_base::parameters;
use destage_trace::Request;

/// Declares a table of streams. Each line is one stream, with the numbers of [`Stream`] and [`Walk`].
macro_rules! streams {
    ($($operation:ident $requests:literal, $from:literal to $until:literal, turn $turn:literal, times $times:literal,
        run $least:literal to $most:literal align $align:literal passes $passes:literal step $step:literal,
        gap $zero:literal $mean:literal $each:literal, sectors $($weight:literal of $size:literal),*;)*) => {
        &[$($crate::standins::streams::Stream {
            write: $crate::standins::streams::$operation,
            during: ($from, $until),
            requests: $requests,
            turn: $turn,
            sizes: &[$(($weight, $size)),*],
            walk: $crate::standins::streams::Walk {
                sectors: ($least, $most),
                align: $align,
                passes: $passes,
                step: $step,
            },
            times: $times,
            gap: ($zero, $mean, $each),
        }),*]
    };
}
pub(super) use streams;

/// The first word of a line of [`streams`]: the stream writes, or reads.
pub(super) const WRITE: bool = true;
pub(super) const READ: bool = false;

/// One stream of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    /// Whether the stream writes. Otherwise it reads.
    pub write: bool,
    /// The beginning and the end of the period in which the stream makes requests, in percent of the cycle.
    pub during: (f64, f64),
    /// The number of requests in one cycle.
    pub requests: u32,
    /// The number of consecutive requests in a turn of the stream.
    pub turn: u32,
    /// The possible sizes of requests, each as a weight and a number of sectors.
    pub sizes: &'static [(u32, u32)],
    pub walk: Walk,
    /// The mean number of times that each request is made before the stream moves on.
    pub times: f64,
    /// The gaps after requests: the percentage of gaps that are 0; the mean of the other gaps in ms; and the time in
    /// ms that is added to this mean for each sector of the request. The gaps above 0 are uniformly distributed, from
    /// half the mean to one and a half times the mean.
    pub gap: (f64, f64, f64),
}

/// The movement of a stream, through one run of sectors after another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walk {
    /// The shortest and the longest run, in sectors. The logarithm of the length is uniformly distributed.
    pub sectors: (u32, u32),
    /// A run begins at a random multiple of this many sectors.
    pub align: u32,
    /// The number of passes through each run. A pass transfers as many sectors as the run has.
    pub passes: u32,
    /// With 0, a pass is sequential. Otherwise the requests of a pass begin at random multiples of this many sectors
    /// within the run.
    pub step: u32,
}

/// A stream with its current position.
#[derive(Clone, Debug)]
struct Walker {
    stream: Stream,
    /// The time at which the next turn of the stream is due, in percent of the cycle.
    due: f64,
    /// The number of turns of the stream that have begun in this cycle.
    turns: u32,
    start: u64,
    length: u64,
    offset: u64,
    pass: u32,
    /// The offset and the length of the last request, in sectors. `more` is the number of repetitions of this request
    /// that remain.
    last: (u64, u64),
    more: u32,
}

parameters! {
    /// The parameters of a workload that consists of streams.
    struct Parameters {
        requests: u64 as REQUESTS;
        footprint_pages: u64 as FOOTPRINT_PAGES;
        page_bytes: u64 as PAGE_BYTES;
        mean_interarrival_ms: f64 as MEAN_INTERARRIVAL_MS;
    }
}

/// A workload that consists only of streams.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    pub name: &'static str,
    pub streams: &'static [Stream],
    /// All streams are in the last `area_pages` pages of the footprint. If the footprint is smaller, they are in the
    /// whole footprint.
    pub area_pages: u64,
    /// The mean of the gaps in the table, in ms.
    pub mean_ms: f64,
}

/// All streams of a table, with their current state.
#[derive(Clone, Debug)]
pub(super) struct Streams {
    walkers: Vec<Walker>,
    footprint: u64,
    /// The index of the stream whose turn it is, and the number of requests that remain in this turn.
    turn: (usize, u32),
    gaps: Random,
}

/// A request, and the gap after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub write: bool,
    pub sector: u64,
    pub sectors: u64,
    pub gap_ms: f64,
}

impl Stream {
    fn turns(&self) -> u32 {
        self.requests.div_ceil(self.turn)
    }

    /// The gap in ms after a request of `sectors` sectors.
    fn gap_ms(&self, sectors: u64, random: &mut Random) -> f64 {
        let (zero, least, each) = self.gap;
        if random.unit() * 100.0 < zero {
            return 0.0;
        }
        (least + each * sectors as f64) * (0.5 + random.unit())
    }

    /// The time of turn number `turn`, in percent of the cycle. The first turn has the number 0.
    fn due(&self, turn: u32, random: &mut Random) -> f64 {
        let (from, until) = self.during;
        from + (until - from) * (f64::from(turn) + random.unit()) / f64::from(self.turns())
    }
}

impl Streams {
    /// Creates streams over a space of `footprint` sectors. If the space is too small, the error is the number of
    /// sectors that the streams need.
    pub fn new(
        streams: &[Stream],
        footprint: u64,
        seed: u64,
        random: &mut Random,
    ) -> Result<Self, u64> {
        let needed = streams
            .iter()
            .map(|stream| u64::from(stream.walk.sectors.1))
            .max()
            .unwrap_or(0);
        if needed > footprint {
            return Err(needed);
        }
        let walker = |stream: &Stream| {
            let mut walker = Walker {
                stream: *stream,
                due: stream.due(0, random),
                turns: 0,
                start: 0,
                length: 0,
                offset: 0,
                pass: 0,
                last: (0, 0),
                more: 0,
            };
            walker.settle(footprint, random);
            walker
        };
        Ok(Self {
            walkers: streams.iter().map(walker).collect(),
            footprint,
            turn: (0, 0),
            gaps: Random::new(!seed),
        })
    }

    /// The next request. Returns `None` at the end of a cycle through the table. The next call begins another cycle.
    pub fn next(&mut self, random: &mut Random) -> Option<Step> {
        if self.turn.1 == 0 {
            let due = self
                .walkers
                .iter()
                .enumerate()
                .filter(|(_, walker)| walker.turns < walker.stream.turns());
            let next = due
                .min_by(|one, other| one.1.due.total_cmp(&other.1.due))
                .map(|(index, _)| index);
            let Some(next) = next else {
                for walker in &mut self.walkers {
                    walker.turns = 0;
                    walker.due = walker.stream.due(0, random);
                }
                return None;
            };
            self.turn = (next, self.walkers[next].begin_turn(random));
        }
        self.turn.1 -= 1;
        let walker = &mut self.walkers[self.turn.0];
        walker.step(self.footprint, random);
        let (sector, sectors) = (walker.start + walker.last.0, walker.last.1);
        Some(Step {
            write: walker.stream.write,
            sector,
            sectors,
            gap_ms: walker.stream.gap_ms(sectors, &mut self.gaps),
        })
    }
}

impl Walker {
    /// Begins the turn that is due, and returns the number of requests in the turn.
    fn begin_turn(&mut self, random: &mut Random) -> u32 {
        let stream = &self.stream;
        let left = stream.requests - self.turns * stream.turn;
        self.turns += 1;
        self.due = stream.due(self.turns, random);
        left.min(stream.turn)
    }

    /// Chooses the length and the position of the next run.
    fn settle(&mut self, footprint: u64, random: &mut Random) {
        let Walk {
            sectors: (least, most),
            align,
            ..
        } = self.stream.walk;
        let factor = f64::from(most) / f64::from(least);
        let drawn = f64::from(least) * libm::exp(libm::log(factor) * random.unit());
        let length = (drawn as u64).clamp(1, u64::from(most));
        let align = u64::from(align);
        let places = (footprint - length) / align + 1;
        self.start = pick(random, places) * align;
        (self.length, self.offset, self.pass) = (length, 0, 0);
    }

    /// Repeats the last request, or moves to the next request.
    fn step(&mut self, footprint: u64, random: &mut Random) {
        if self.more == 0 {
            self.go_on(footprint, random);
            let times = self.stream.times;
            let whole = times as u32;
            self.more = whole + u32::from(random.unit() < times - f64::from(whole));
        }
        self.more = self.more.saturating_sub(1);
    }

    /// Moves to the next request of the run. At the end of the last pass, moves to the next run.
    fn go_on(&mut self, footprint: u64, random: &mut Random) {
        let Walk { passes, step, .. } = self.stream.walk;
        if self.offset >= self.length {
            self.pass += 1;
            if self.pass < passes {
                self.offset = 0;
            } else {
                self.settle(footprint, random);
            }
        }
        let sizes = self.stream.sizes;
        let mut drawn = pick(random, sizes.iter().map(|size| u64::from(size.0)).sum());
        let mut sectors = 1;
        for (weight, size) in sizes {
            sectors = u64::from(*size);
            if drawn < u64::from(*weight) {
                break;
            }
            drawn -= u64::from(*weight);
        }
        if step == 0 {
            sectors = sectors.min(self.length - self.offset);
            self.last = (self.offset, sectors);
        } else {
            sectors = sectors.min(self.length);
            let places = (self.length - sectors) / u64::from(step) + 1;
            self.last = (pick(random, places) * u64::from(step), sectors);
        }
        self.offset += sectors;
    }
}

struct StreamRequests {
    random: Random,
    arrivals: Arrivals,
    streams: Streams,
    first: u64,
    /// The factor by which gaps are multiplied.
    pace: f64,
    gap_ms: f64,
}

impl Iterator for StreamRequests {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        self.arrivals.count()?;
        self.arrivals.wait(self.gap_ms * self.pace);
        // At the end of a cycle, the next cycle begins. A table has at least one request.
        let step = self
            .streams
            .next(&mut self.random)
            .or_else(|| self.streams.next(&mut self.random))?;
        self.gap_ms = step.gap_ms;
        Some(self.arrivals.request(
            self.first + step.sector,
            step.sectors,
            write_or_read(step.write),
        ))
    }
}

/// The error that the footprint is too small for streams that need `needed` sectors.
pub(super) fn no_room(
    name: &'static str,
    footprint_pages: u64,
    needed: u64,
    page_sectors: u64,
) -> WorkloadError {
    let expected = format!("at least {}", needed.div_ceil(page_sectors));
    contradiction(name, FOOTPRINT_PAGES.name, footprint_pages, expected)
}

/// The requests of `table`.
pub(super) fn make(table: &Table, values: &Values, seed: u64) -> Result<Requests, WorkloadError> {
    /// The first page of the area is a multiple of this many pages.
    const ALIGN_PAGES: u64 = 64;
    let own = Parameters::from_values(values);
    let (name, footprint_pages) = (table.name, own.footprint_pages);
    let page_sectors = page_sectors(name, own.page_bytes)?;
    let area_pages = table.area_pages.min(footprint_pages);
    let first_page = (footprint_pages - area_pages) / ALIGN_PAGES * ALIGN_PAGES;
    let mut random = Random::new(seed);
    let streams = Streams::new(table.streams, area_pages * page_sectors, seed, &mut random)
        .map_err(|needed| no_room(name, footprint_pages, needed, page_sectors))?;
    Ok(Box::new(StreamRequests {
        random,
        arrivals: Arrivals::by_sectors(name, own.requests, own.mean_interarrival_ms, 1)?,
        streams,
        first: first_page * page_sectors,
        pace: own.mean_interarrival_ms / table.mean_ms,
        gap_ms: 0.0,
    }))
}
