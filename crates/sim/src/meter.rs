//! `Totals`: the work of the dies, in operations and in time.

use destage_base::Ticks;
use destage_nand::operation::{Cause, Kind, Operation, Tally, Transfer};
use destage_nand::{Operations, Timing};

/// Totals of the work of the dies.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// Operations by kind and cause.
    pub tally: Tally,
    /// Busy time of each die.
    pub busy: Vec<Ticks>,
    /// Time during which at least one die was busy.
    pub any_busy: Ticks,
    /// Times of all operations, one after the other.
    pub serial_time: Ticks,
    /// Time of garbage collections, summed over dies.
    pub gc_time: Ticks,
    /// Garbage collections begun.
    pub gc_runs: u64,
}

impl Totals {
    /// The work of the same dies since the state `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let busy = self.busy.iter().zip(&earlier.busy);
        Self {
            tally: self.tally.since(&earlier.tally),
            busy: busy.map(|(now, then)| now - then).collect(),
            any_busy: self.any_busy - earlier.any_busy,
            serial_time: self.serial_time - earlier.serial_time,
            gc_time: self.gc_time - earlier.gc_time,
            gc_runs: self.gc_runs - earlier.gc_runs,
        }
    }
}

#[derive(Clone, Copy, Default)]
struct Busy {
    sum: Ticks,
    until: Ticks,
    /// When the latest command began.
    since: Ticks,
    /// This many commands whose end is not known are under way, the first since then.
    open: u32,
    /// Parts of a batch in service that have not ended, less one.
    parts_behind: u32,
}

/// In the order of their declaration.
const KINDS: [Kind; 3] = [Kind::Read, Kind::Program, Kind::Erase];
const TRANSFERS: [Transfer; 4] = [
    Transfer::None,
    Transfer::Page,
    Transfer::Sector,
    Transfer::TwoPages,
];

/// Counts operations, and the time they take.
pub struct FlashMeter {
    pub(crate) timing: Timing,
    /// Time of one operation, by kind and transfer; first on cells of all their bits, then of one.
    times: [[[Ticks; TRANSFERS.len()]; KINDS.len()]; 2],
    /// Operations, by kind and cause.
    counts: [[u64; Cause::ALL.len()]; KINDS.len()],
    /// Merges; its operations are in `counts`.
    tally: Tally,
    serial_time: Ticks,
    gc_time: Ticks,
    gc_runs: u64,
    dies: Vec<Busy>,
    busy_dies: u32,
    any_busy_since: Ticks,
    any_busy: Ticks,
}

impl FlashMeter {
    /// A meter over `dies` idle dies.
    #[must_use]
    pub fn new(timing: Timing, dies: u32) -> Self {
        Self {
            timing,
            times: [false, true].map(|one_bit| {
                KINDS.map(|kind| TRANSFERS.map(|transfer| timing.time(kind, transfer, one_bit)))
            }),
            counts: [[0; Cause::ALL.len()]; KINDS.len()],
            tally: Tally::default(),
            serial_time: 0,
            gc_time: 0,
            gc_runs: 0,
            dies: vec![Busy::default(); dies as usize],
            busy_dies: 0,
            any_busy_since: 0,
            any_busy: 0,
        }
    }

    /// Counts the operations of a page operation, during which the map is busy for `map_time`; how long it takes.
    #[inline]
    pub fn serve(&mut self, operations: &Operations, map_time: Ticks) -> Ticks {
        let time = self.count(operations).max(map_time);
        self.serial_time = self.serial_time.saturating_add(time);
        time
    }

    /// Counts `operations`; how long they take, one after the other.
    #[inline(always)]
    fn count(&mut self, operations: &Operations) -> Ticks {
        if !operations.merges().is_empty() {
            self.tally.add_merges(operations.merges());
        }
        match operations.all() {
            // Nearly always it is one, and there is nothing to sum up.
            [operation] => self.count_operation(operation),
            all => all.iter().fold(0, |time: Ticks, operation| {
                time.saturating_add(self.count_operation(operation))
            }),
        }
    }

    /// Counts one operation, or one run of equal ones; how long it takes.
    #[inline]
    fn count_operation(&mut self, operation: &Operation) -> Ticks {
        let count = u64::from(operation.count);
        self.counts[operation.kind as usize][operation.cause as usize] += count;
        let times = &self.times[usize::from(operation.one_bit)];
        let each = times[operation.kind as usize][operation.transfer as usize];
        each.saturating_mul(count)
    }

    /// Counts the operations of a batch, whose parts end on their own.
    pub fn serve_batch(&mut self, operations: &Operations) {
        let time = self.count(operations);
        self.serial_time = self.serial_time.saturating_add(time);
    }

    /// Counts the operations of a garbage collection.
    pub fn count_garbage(&mut self, operations: &Operations) {
        let serial = self.count(operations);
        self.serial_time = self.serial_time.saturating_add(serial);
        self.gc_runs += 1;
    }

    /// A garbage collection takes, or took, `time`.
    pub fn add_gc_time(&mut self, time: Ticks) {
        self.gc_time = self.gc_time.saturating_add(time);
    }

    /// Times of all operations so far, one after the other.
    #[inline]
    pub fn serial_time(&self) -> Ticks {
        self.serial_time
    }

    /// Operations by kind and cause, and garbage collections, so far.
    pub fn counted(&self) -> (Tally, u64) {
        let [reads, programs, erases] = self.counts;
        let tally = Tally {
            reads,
            programs,
            erases,
            ..self.tally
        };
        (tally, self.gc_runs)
    }

    /// A command begins at `die` and ends after `time`.
    #[inline(always)]
    pub fn begin(&mut self, die: u32, now: Ticks, time: Ticks) {
        let busy = &mut self.dies[die as usize];
        busy.sum = busy.sum.saturating_add(time);
        busy.until = now.saturating_add(time);
        busy.since = now;
        if self.busy_dies == 0 {
            self.any_busy_since = now;
        }
        self.busy_dies += 1;
    }

    /// A batch of `parts` parts begins at `die`, the last of which ends after `time`.
    pub fn begin_batch(&mut self, die: u32, now: Ticks, time: Ticks, parts: u32) {
        self.dies[die as usize].parts_behind = parts - 1;
        self.begin(die, now, time);
    }

    /// When the latest command of each die began; 0 if there was none.
    #[must_use]
    pub fn begins(&self) -> Vec<Ticks> {
        self.dies.iter().map(|busy| busy.since).collect()
    }

    /// A command begins at `die` whose end is not known; others may be under way.
    pub fn occupy(&mut self, die: u32, now: Ticks) {
        if self.dies[die as usize].open == 0 {
            self.begin(die, now, 0);
        }
        self.dies[die as usize].open += 1;
    }

    /// One of them has ended.
    pub fn release(&mut self, die: u32, now: Ticks) {
        let busy = &mut self.dies[die as usize];
        busy.open -= 1;
        if busy.open == 0 {
            busy.sum = busy.sum.saturating_add(now - busy.since);
            self.end(now);
        }
    }

    /// A command has ended.
    #[inline]
    pub fn end(&mut self, now: Ticks) {
        self.busy_dies -= 1;
        if self.busy_dies == 0 {
            self.any_busy += now - self.any_busy_since;
        }
    }

    /// A part of the batch at `die` has ended; whether it was the last.
    pub fn end_part(&mut self, die: u32, now: Ticks) -> bool {
        let parts = &mut self.dies[die as usize].parts_behind;
        if *parts > 0 {
            *parts -= 1;
            return false;
        }
        self.end(now);
        true
    }

    /// Totals up to `now`; service that has begun counts for the part that has passed.
    #[must_use]
    pub fn totals(&self, now: Ticks) -> Totals {
        let running = if self.busy_dies > 0 {
            now - self.any_busy_since
        } else {
            0
        };
        let dies = self.dies.iter();
        let under_way = |busy: &Busy| if busy.open > 0 { now - busy.since } else { 0 };
        let (tally, gc_runs) = self.counted();
        Totals {
            tally,
            busy: dies
                .map(|busy| busy.sum + under_way(busy) - busy.until.saturating_sub(now))
                .collect(),
            any_busy: self.any_busy + running,
            serial_time: self.serial_time,
            gc_time: self.gc_time,
            gc_runs,
        }
    }
}
