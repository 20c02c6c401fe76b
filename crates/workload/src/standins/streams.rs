//! Workloads of several writers and readers side by side: a table of streams, each described by a few numbers.
//!
//! A stream makes a number of requests during a part of the course of the workload. They are evenly distributed
//! except for chance, and several come in a row. The stream goes through runs of sectors. When all streams have
//! made their requests, the course begins again, and each stream continues where it was.
//!
//! The draws are: at the start, for each stream, the time of its first turn and its first run; for each
//! request, the next run if one ends, the size, the position if the order is random, whether the request is
//! repeated, and the time of the next turn. Gaps come from a separate generator, so that they change nothing
//! but time.

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

/// Declares a table of streams, one in each line, with the numbers of [`Stream`] and [`Walk`].
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

/// The first word of a line of [`streams`].
pub(super) const WRITE: bool = true;
pub(super) const READ: bool = false;

/// One stream of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    /// Whether the stream writes; otherwise it reads.
    pub write: bool,
    /// The part of the course in which the stream makes requests, in percent.
    pub during: (f64, f64),
    /// The number of requests in one course.
    pub requests: u32,
    /// The number of requests that the stream makes in a row.
    pub turn: u32,
    /// The sizes of requests, each as a weight and a number of sectors.
    pub sizes: &'static [(u32, u32)],
    pub walk: Walk,
    /// How often each request is made before the walk continues, on average.
    pub times: f64,
    /// The gaps after requests: the percentage of gaps that are 0; the mean of the others in ms, and the ms
    /// that each sector of the request adds to this mean. These gaps are evenly distributed from half the mean
    /// to one and a half.
    pub gap: (f64, f64, f64),
}

/// How a stream moves: through one run of sectors after another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walk {
    /// The least and the largest length of a run in sectors. The logarithm of the length is evenly distributed.
    pub sectors: (u32, u32),
    /// A run begins at a multiple of this many sectors, anywhere in the area.
    pub align: u32,
    /// The number of passes through each run.
    pub passes: u32,
    /// 0: a pass goes from end to end. Otherwise a pass has the same amount in random order, at multiples of
    /// this many sectors.
    pub step: u32,
}

/// A stream and its current position.
#[derive(Clone, Debug)]
struct Walker {
    stream: Stream,
    /// The time at which its next turn is due, in percent of the course.
    due: f64,
    /// The number of its turns in this course that have begun.
    turns: u32,
    start: u64,
    length: u64,
    offset: u64,
    pass: u32,
    /// The offset and the length of the last request, in sectors; and how often this request will be repeated.
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
    /// All streams lie in this many pages at the end of the footprint, or in the whole footprint if it is
    /// smaller.
    pub area_pages: u64,
    /// The mean of the table's gaps in ms.
    pub mean_ms: f64,
}

/// All streams of a table.
#[derive(Clone, Debug)]
pub(super) struct Streams {
    walkers: Vec<Walker>,
    footprint: u64,
    /// The index of the stream whose turn it is, and the number of requests left in this turn.
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

    /// The time of the turn with this number, in percent of the course.
    fn due(&self, turn: u32, random: &mut Random) -> f64 {
        let (from, until) = self.during;
        from + (until - from) * (f64::from(turn) + random.unit()) / f64::from(self.turns())
    }
}

impl Streams {
    /// Creates streams over a space of `footprint` sectors. The error is the number of sectors that they need.
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

    /// The next request. `None` at the end of a course; the next call begins another course.
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
    /// Begins the turn that is due, and returns its number of requests.
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

    /// Repeats the last request, or moves on.
    fn step(&mut self, footprint: u64, random: &mut Random) {
        if self.more == 0 {
            self.go_on(footprint, random);
            let times = self.stream.times;
            let whole = times as u32;
            self.more = whole + u32::from(random.unit() < times - f64::from(whole));
        }
        self.more = self.more.saturating_sub(1);
    }

    /// Moves to the next request of the run, or to the next run.
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
    /// The factor for gaps.
    pace: f64,
    gap_ms: f64,
}

impl Iterator for StreamRequests {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        self.arrivals.count()?;
        self.arrivals.wait(self.gap_ms * self.pace);
        // At the end of a course the streams begin again. A table has at least one request.
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

/// The error that the footprint has no room for streams that need `needed` sectors.
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
    /// The area begins at a multiple of this many pages.
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
