//! [`FlashMeter`] measures the work of the dies, in operations and in time; [`Totals`] are the sums that it has
//! measured.

use destage_base::Ticks;
use destage_nand::operation::{Cause, Kind, Operation, Tally, Transfer};
use destage_nand::{Operations, Timing};

/// Totals of the work of the dies. All times are in ticks.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// Number of operations by kind and cause, and merges.
    pub tally: Tally,
    /// Busy time of each die.
    pub busy: Vec<Ticks>,
    /// Time during which at least one die was busy.
    pub any_busy: Ticks,
    /// Sum of the times of all operations, as if they ran one after the other.
    pub serial_time: Ticks,
    /// Time of garbage collections, summed over the dies.
    pub gc_time: Ticks,
    /// Number of garbage collections that began.
    pub gc_runs: u64,
}

impl Totals {
    /// The difference between these totals and `earlier` totals of the same dies.
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
    /// The time at which the latest command began.
    since: Ticks,
    /// The number of running commands whose end is not known. The first of them began at `since`.
    open: u32,
    /// The number of page operations of a batch that are still running, minus one.
    parts_behind: u32,
}

/// The kinds in the order of their declaration.
const KINDS: [Kind; 3] = [Kind::Read, Kind::Program, Kind::Erase];
const TRANSFERS: [Transfer; 4] = [
    Transfer::None,
    Transfer::Page,
    Transfer::Sector,
    Transfer::TwoPages,
];

/// Counts operations, and the time that they take.
pub struct FlashMeter {
    pub(crate) timing: Timing,
    /// The time of one operation, by kind and transfer: first on cells with all their bits, then on cells with
    /// one bit.
    times: [[[Ticks; TRANSFERS.len()]; KINDS.len()]; 2],
    /// Number of operations by kind and cause.
    counts: [[u64; Cause::ALL.len()]; KINDS.len()],
    /// Only the merges. The operations are in `counts`.
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
    /// A meter for `dies` dies, all of them idle.
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

    /// Counts the flash operations of a page operation, during which the mapping table is busy for `map_time`.
    /// Returns the length of the page operation, in ticks.
    #[inline]
    pub fn serve(&mut self, operations: &Operations, map_time: Ticks) -> Ticks {
        let time = self.count(operations).max(map_time);
        self.serial_time = self.serial_time.saturating_add(time);
        time
    }

    /// Counts `operations`. Returns the ticks that they need if they run one after the other.
    #[inline(always)]
    fn count(&mut self, operations: &Operations) -> Ticks {
        if !operations.merges().is_empty() {
            self.tally.add_merges(operations.merges());
        }
        if !operations.collections().is_empty() {
            self.count_collections(operations);
        }
        match operations.all() {
            // Nearly always there is only one operation, so there is nothing to sum.
            [operation] => self.count_operation(operation),
            all => all.iter().fold(0, |time: Ticks, operation| {
                time.saturating_add(self.count_operation(operation))
            }),
        }
    }

    /// Counts the garbage collections that a page operation contains. Each takes as long as its operations, one after
    /// the other.
    #[cold]
    #[inline(never)]
    fn count_collections(&mut self, operations: &Operations) {
        for collection in operations.collections() {
            self.gc_runs += 1;
            let time = self.timing.serial(&operations.all()[collection.clone()]);
            self.add_gc_time(time);
        }
    }

    /// Counts one entry, which represents one or several equal operations. Returns the ticks that these operations
    /// need if they run one after the other.
    #[inline]
    fn count_operation(&mut self, operation: &Operation) -> Ticks {
        let count = u64::from(operation.count);
        self.counts[operation.kind as usize][operation.cause as usize] += count;
        let times = &self.times[usize::from(operation.one_bit)];
        let each = times[operation.kind as usize][operation.transfer as usize];
        each.saturating_mul(count)
    }

    /// Counts the flash operations of a batch. The page operations of a batch end at different times.
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

    /// Adds `time` to the time of garbage collections.
    pub fn add_gc_time(&mut self, time: Ticks) {
        self.gc_time = self.gc_time.saturating_add(time);
    }

    /// The sum of the times of all operations so far.
    #[inline]
    pub fn serial_time(&self) -> Ticks {
        self.serial_time
    }

    /// The operations by kind and cause, and the number of garbage collections, so far.
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

    /// Notes that a command begins at `die` and ends after `time`.
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

    /// Notes that a batch of `parts` page operations begins at `die`. The last of them ends after `time`.
    pub fn begin_batch(&mut self, die: u32, now: Ticks, time: Ticks, parts: u32) {
        self.dies[die as usize].parts_behind = parts - 1;
        self.begin(die, now, time);
    }

    /// For each die, the time at which its latest step began; if commands are timed one by one, the time since which
    /// the die has been busy without a pause. 0 for a die without commands. Only the first kind is used after a cut.
    #[must_use]
    pub fn begins(&self) -> Vec<Ticks> {
        self.dies.iter().map(|busy| busy.since).collect()
    }

    /// Notes that a command with an unknown end begins at `die`. Other such commands may be running at this die.
    pub fn occupy(&mut self, die: u32, now: Ticks) {
        if self.dies[die as usize].open == 0 {
            self.begin(die, now, 0);
        }
        self.dies[die as usize].open += 1;
    }

    /// Notes that one command that [`occupy`](Self::occupy) began at `die` has ended.
    pub fn release(&mut self, die: u32, now: Ticks) {
        let busy = &mut self.dies[die as usize];
        busy.open -= 1;
        if busy.open == 0 {
            busy.sum = busy.sum.saturating_add(now - busy.since);
            self.end(now);
        }
    }

    /// Notes that the command of a die has ended.
    #[inline]
    pub fn end(&mut self, now: Ticks) {
        self.busy_dies -= 1;
        if self.busy_dies == 0 {
            self.any_busy += now - self.any_busy_since;
        }
    }

    /// Notes that one page operation of the batch at `die` has ended. Returns whether it was the last one.
    pub fn end_part(&mut self, die: u32, now: Ticks) -> bool {
        let parts = &mut self.dies[die as usize].parts_behind;
        if *parts > 0 {
            *parts -= 1;
            return false;
        }
        self.end(now);
        true
    }

    /// The totals up to `now`. Of a running command, only the time up to `now` counts.
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
