//! An explained run: its series, the distribution of response times, and the waits of each request.
//!
//! An explained run has an [`Explaining`] as its probe. The probe receives the events of the run and changes nothing. Its memory
//! does not grow with the length of the run. `docs/EXPLAIN.md` defines the parts
//! of a response time.

mod path;
mod queues;
mod series;
mod spread;
mod tables;

use destage_base::Ticks;
use destage_buffer::destage::{Destage, DestageCause};
use destage_device::{Device, Note, PageOperation, Request, Transaction};
use destage_nand::media::dispatch::Phase;
use destage_nand::operation::{Kind, Operation as FlashOperation};
use destage_nand::{Cause, Operations, Timing};
use destage_trace::Operation;

use self::path::{Accepted, BUS, PARTS_OF_STEPS, Paths, QUEUE};
pub use self::path::{Awaited, PART_NAMES, PARTS, Split};
pub(crate) use self::series::{FIRST_LENGTH, INTERVALS};
pub use self::series::{Interval, Series};
use self::series::{Levels, Recording};
pub use self::spread::{Bucket, Spread, Spreading};
use self::tables::Worst;
pub use self::tables::{Destages, Sized, Slow, Wear};
use crate::engine::{Command, Completion, Probe};
use crate::latencies::Counted;
use crate::run::Learnt;

/// The operations of requests, in the order of results.
pub const OPERATIONS: [Operation; 4] = [
    Operation::Read,
    Operation::Write,
    Operation::Flush,
    Operation::Trim,
];

/// The percentiles that are reported: name, and percentile as a fraction.
pub const PERCENTILES: [(&str, (u64, u64)); 5] = [
    ("50", (50, 100)),
    ("90", (90, 100)),
    ("99", (99, 100)),
    ("99.9", (999, 1000)),
    ("99.99", (9999, 10_000)),
];

/// The response times of requests with one operation.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Responses {
    /// The response times at [`PERCENTILES`], in ticks, each at most a thousandth too large.
    pub percentiles: [Ticks; PERCENTILES.len()],
    /// The largest response time, in ticks.
    pub max: Ticks,
    /// The histogram of response times, with the sum of each part in each bucket.
    pub spreading: Spreading,
}

/// Facts about an explained run that are not among the metrics.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Explained {
    /// Facts that need a clock; `None` for a run without one.
    pub timed: Option<Timed>,
    /// Destage records by size.
    pub destages: Destages,
    /// Blocks by their number of erases when statistics closed.
    pub wear: Wear,
    /// The values that the buffer's scheme learned, at the ends of its periods.
    pub scheme: Learnt,
}

/// Facts that need a clock.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Timed {
    /// The names of the parts of response times that are reported.
    pub parts: &'static [&'static str],
    /// Response times, in the order of [`OPERATIONS`].
    pub responses: [Responses; 4],
    /// The series of the run.
    pub series: Series,
    /// The slowest requests, the slowest first.
    pub worst: Vec<Slow>,
}

/// The path of a request so far.
#[derive(Clone, Debug, Default)]
struct Way {
    arrived: Ticks,
    /// The start of the latest transfer of the request.
    transfers: Ticks,
    /// The time of all transfers of the request before its answer, and after its answer.
    moved: [Ticks; 2],
    accepted: Accepted,
    answered: Option<Ticks>,
    device: Split,
    awaited: Option<(Awaited, Option<u32>)>,
    outstanding: u64,
    dirty_pages: u32,
    dies_collecting: u32,
}

/// The probe of a run that is to be explained. See the [module](self).
#[derive(Debug)]
pub struct Explaining {
    /// Whether commands wait in queues.
    in_queues: bool,
    now: Ticks,
    levels: Levels,
    /// Whether statistics are not closed yet.
    counts: bool,
    paths: Paths,
    /// The paths of requests. The index is the number of the request in the engine.
    ways: Vec<Way>,
    responses: [(Counted, Spreading); 4],
    recording: Option<Recording>,
    worst: Worst,
    destages: Destages,
    wear: Wear,
}

impl Explaining {
    /// A probe for a run on `dies` dies. `in_queues` says whether their commands wait in queues.
    #[must_use]
    pub fn new(dies: u32, in_queues: bool) -> Self {
        Self {
            in_queues,
            now: 0,
            levels: Levels::default(),
            counts: true,
            paths: Paths::new(dies),
            ways: Vec::new(),
            responses: Default::default(),
            recording: None,
            worst: Worst::default(),
            destages: Destages::default(),
            wear: Wear::default(),
        }
    }

    /// The result, without the values that the scheme learned.
    #[must_use]
    pub(crate) fn finish(self) -> Explained {
        let timed = Timed {
            parts: match self.in_queues {
                true => &PART_NAMES,
                false => &PART_NAMES[..PARTS_OF_STEPS],
            },
            responses: self.responses.map(|(times, spreading)| Responses {
                percentiles: PERCENTILES.map(|(_, percentile)| times.percentile(percentile)),
                max: times.max(),
                spreading,
            }),
            series: self
                .recording
                .map(Recording::into_series)
                .unwrap_or_default(),
            worst: self.worst.into_list(),
        };
        Explained {
            timed: Some(timed),
            destages: self.destages,
            wear: self.wear,
            scheme: Learnt::new(),
        }
    }

    fn way(&mut self, id: u32) -> &mut Way {
        let id = id as usize;
        if id >= self.ways.len() {
            self.ways.resize_with(id + 1, Way::default);
        }
        &mut self.ways[id]
    }

    fn interval(&mut self) -> Option<&mut Interval> {
        self.recording.as_mut().map(Recording::current)
    }
}

/// Whether `operation` is an erase or moves pages. Such an operation serves no request.
pub(crate) fn moves(operation: &FlashOperation) -> bool {
    operation.kind == Kind::Erase || matches!(operation.cause, Cause::Copy | Cause::Wear)
}

/// How long the operations take that collect garbage, move pages or erase, one after the other.
fn gc_of(operations: &Operations, timing: &Timing) -> Ticks {
    let collections = operations.collections();
    let is_collected = |place| collections.iter().any(|part| part.contains(&place));
    let all = operations.all().iter().enumerate();
    let of_gc = all.filter(|(place, operation)| moves(operation) || is_collected(*place));
    of_gc.fold(0, |sum, (_, operation)| {
        sum.saturating_add(timing.of(*operation))
    })
}

impl Probe for Explaining {
    fn moment(&mut self, now: Ticks, device: &Device) {
        self.paths.forget_cause();
        self.now = now;
        let buffer = device.buffer();
        self.levels.occupied = u64::from(buffer.occupied());
        self.levels.dirty = u64::from(buffer.dirty());
        if let Some(recording) = &mut self.recording {
            let oldest = || buffer.oldest_dirty_since();
            recording.go_on(now, self.levels, &self.paths.dies, oldest);
        }
    }

    fn opened(&mut self) {
        self.destages = Destages::default();
    }

    fn closed(&mut self, device: &Device) {
        self.counts = false;
        self.wear = Wear::of(|emit| device.ftl().erases(emit));
        let oldest = device.buffer().oldest_dirty_since();
        if let Some(recording) = &mut self.recording {
            recording.close(self.levels, &self.paths.dies, oldest);
        }
    }

    fn arrived(&mut self, id: u32, _: &mut Request) {
        let (now, dies) = (self.now, self.paths.dies.len());
        let recording = self
            .recording
            .get_or_insert_with(|| Recording::new(now, dies));
        recording.current().arrived += 1;
        self.levels.outstanding += 1;
        let way = self.way(id);
        way.arrived = now;
        way.answered = None;
        way.moved = [0; 2];
    }

    fn transfers(&mut self, id: u32) {
        self.way(id).transfers = self.now;
    }

    fn moved(&mut self, id: u32) {
        let now = self.now;
        let way = self.way(id);
        way.moved[usize::from(way.answered.is_some())] += now - way.transfers;
    }

    fn accepted(&mut self, id: u32, _: &Request, device: &Device) {
        let (now, outstanding) = (self.now, self.levels.outstanding);
        let dies = self.paths.dies.iter();
        let dies_collecting = dies.filter(|die| die.collects(now)).count() as u32;
        let way = self.way(id);
        way.accepted.at = now;
        way.outstanding = outstanding;
        way.dirty_pages = device.buffer().dirty();
        way.dies_collecting = dies_collecting;
        way.device = Split::default();
        way.awaited = None;
    }

    fn taken_in(&mut self, id: u32) {
        let now = self.now;
        let Self { paths, ways, .. } = self;
        let way = &mut ways[id as usize];
        if way.answered.is_none() {
            way.accepted.spent.clear();
            let dies = paths.dies.iter();
            way.accepted.spent.extend(dies.map(|die| die.spent(now)));
        }
    }

    fn answered(&mut self, id: u32) {
        let now = self.now;
        let Self { paths, ways, .. } = self;
        let way = &mut ways[id as usize];
        way.answered = Some(now);
        if now > way.accepted.at {
            (way.device, way.awaited) = paths.device_part(id, &way.accepted, now);
        }
    }

    fn completed(&mut self, completion: &Completion<'_>, now: Ticks) {
        self.levels.outstanding -= 1;
        let Completion {
            id,
            request,
            identity,
            counts,
        } = *completion;
        let way = self.way(id);
        let split = way.split(identity.arrival, now);
        debug_assert_eq!(split.total(), now - identity.arrival, "{way:?}");
        let slow = Slow {
            index: identity.index,
            operation: identity.operation,
            sector: request.sector,
            sectors: request.sectors,
            arrival: identity.arrival,
            split,
            awaited: way.awaited.map(|(awaited, _)| awaited),
            die: way.awaited.and_then(|(_, die)| die),
            outstanding: way.outstanding,
            dirty_pages: way.dirty_pages,
            dies_collecting: way.dies_collecting,
        };
        let response = slow.response();
        if let Some(interval) = self.interval() {
            let write = identity.operation != Operation::Read;
            interval.responses[usize::from(write)].push(response);
        }
        if counts {
            let (times, spreading) = &mut self.responses[place_of(identity.operation)];
            times.push(response);
            spreading.push(response, &split);
            self.worst.push(slow);
        }
    }

    fn transaction(&mut self, die: u32, transaction: Transaction, operations: &Operations) {
        let Transaction::ReadBetween(operation) = transaction else {
            return;
        };
        self.paths.begins_between(operation, die, self.now);
        if let Some(interval) = self.interval() {
            interval.tally.add(operations);
            interval.gc_runs += operations.collections().len() as u64;
        }
    }

    fn begins(&mut self, command: &Command<'_>) {
        let now = self.now;
        let operations = command.operations;
        let gc = match command.collects {
            true => command.time,
            false => gc_of(operations, command.timing).min(command.time),
        };
        self.paths.dies[command.die as usize].begin(now, command.time, gc);
        if let Some(interval) = self.interval() {
            interval.tally.add(operations);
            let parts = operations.merges().len() + operations.collections().len();
            interval.gc_runs += parts as u64 + u64::from(command.collects);
        }
    }

    fn goes_on(&mut self, die: u32, waits: Ticks, time: Ticks, moves: bool) {
        let waits = if moves { waits } else { time };
        self.paths.dies[die as usize].go_on(self.now, waits, time);
    }

    fn overlapping_begins(
        &mut self,
        number: u32,
        die: u32,
        operations: &Operations,
        waited: [(Ticks, Ticks); 2],
    ) {
        self.paths.overlapping_begins(number, die, self.now, waited);
        if let Some(interval) = self.interval() {
            interval.tally.add(operations);
            interval.gc_runs += operations.merges().len() as u64;
        }
    }

    fn die_works(&mut self, die: u32, time: Ticks) {
        self.paths.dies[die as usize].work(self.now, time);
    }

    fn overlapping_ending(&mut self, number: u32) {
        self.paths.overlapping_ending(number);
    }

    fn collects(&mut self, die: u32, begins: bool) {
        let die = &mut self.paths.dies[die as usize];
        die.serving.collects(self.now, begins);
    }

    fn issued(&mut self, die: u32, kind: Kind, moves: bool) {
        let die = &mut self.paths.dies[die as usize];
        die.serving.begins(self.now, kind, moves);
    }

    fn serves(&mut self, die: u32, operation: PageOperation) {
        self.paths.command_begins(operation, die, self.now);
    }

    fn phase_begins(&mut self, die: u32, phase: Phase, time: Ticks) {
        let span = (self.now, self.now.saturating_add(time));
        let die = &mut self.paths.dies[die as usize];
        die.serving.phase_begins(phase, span);
    }

    fn served(&mut self, operation: PageOperation) {
        self.paths.command_done(operation);
    }

    fn left(&mut self, die: u32) {
        self.paths.dies[die as usize].serving.leaves(self.now);
    }

    fn done(&mut self, die: u32, kind: Kind) {
        self.paths.dies[die as usize].serving.ends(self.now, kind);
    }

    fn ending(&mut self, die: u32) {
        self.paths.ending(die);
    }

    fn note(&mut self, note: &Note<'_>) {
        match *note {
            Note::Queued(operation, die) => self.paths.queued(operation, die, self.now),
            Note::SlotGiven => self.paths.slot_given(),
            Note::Ended(operation) => self.paths.ended(operation, self.now),
            Note::Emitted(record, _) => self.emitted(record),
            _ => {}
        }
    }
}

impl Explaining {
    fn emitted(&mut self, record: &Destage) {
        if record.cause == DestageCause::Bypass {
            return;
        }
        if self.counts {
            self.destages.count(record);
        }
        if let Some(interval) = self.interval() {
            interval.destages += 1;
            interval.destaged_pages += record.pages.len() as u64;
        }
    }
}

impl Way {
    /// Divides the time of this request, which is complete at `now`, into parts. The response time counts from
    /// `arrival`: the arrival of the request to which the response is credited.
    fn split(&self, arrival: Ticks, now: Ticks) -> Split {
        let accepted = self.accepted.at;
        let answered = self.answered.unwrap_or(now);
        let [bus_in, bus_out] = self.moved;
        // If `arrival` is later than the arrival of this request, the difference is removed from the first of these
        // times.
        let mut before = [accepted - self.arrived - bus_in, bus_in];
        let mut device = self.device.0;
        let mut behind = [now - answered - bus_out, bus_out];
        let mut cut = arrival.saturating_sub(self.arrived);
        let ways = before.iter_mut().chain(&mut device).chain(&mut behind);
        for time in ways {
            let less = cut.min(*time);
            *time -= less;
            cut -= less;
        }
        device[QUEUE] = before[0] + behind[0] + self.arrived.saturating_sub(arrival);
        device[BUS] = before[1] + behind[1];
        Split(device)
    }
}

fn place_of(operation: Operation) -> usize {
    match operation {
        Operation::Read => 0,
        Operation::Write => 1,
        Operation::Flush => 2,
        Operation::Trim => 3,
    }
}
