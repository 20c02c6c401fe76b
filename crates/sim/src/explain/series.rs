//! The course of a run, in equal intervals: few, whatever its length.

use destage_base::Ticks;
use destage_base::time::TICKS_PER_US;
use destage_nand::operation::Tally;

use super::path::Die;
use super::spread::Spread;

/// Intervals at a time. When there are this many, every two neighbours become one.
const INTERVALS: usize = 1000;
/// The length of an interval at first.
const FIRST_LENGTH: Ticks = 10 * TICKS_PER_US;

/// The events of one interval.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Interval {
    /// Requests that arrived.
    pub arrived: u64,
    /// Responses of the requests that completed: of reads, and of all others.
    pub responses: [Spread; 2],
    /// Requests outstanding, buffer slots in use, dirty pages: each times the ticks for which it was so.
    pub levels: [u128; 3],
    /// Most requests outstanding, and most dirty pages.
    pub outstanding_max: u64,
    /// See there.
    pub dirty_max: u64,
    /// Age of the page that has been dirty longest, at the end.
    pub oldest_dirty: Ticks,
    /// Records that left the buffer.
    pub destages: u64,
    /// Their dirty pages.
    pub destaged_pages: u64,
    /// Garbage collections and merges begun.
    pub gc_runs: u64,
    /// Time of garbage collection, summed over dies.
    pub gc_time: Ticks,
    /// Operations of commands that began.
    pub tally: Tally,
    /// Busy time of each die.
    pub busy: Box<[Ticks]>,
}

impl Interval {
    /// Joins with the interval behind this one.
    fn extend(&mut self, next: Self) {
        self.arrived += next.arrived;
        for (own, of_next) in self.responses.iter_mut().zip(&next.responses) {
            own.merge(of_next);
        }
        for (own, of_next) in self.levels.iter_mut().zip(next.levels) {
            *own += of_next;
        }
        self.outstanding_max = self.outstanding_max.max(next.outstanding_max);
        self.dirty_max = self.dirty_max.max(next.dirty_max);
        self.oldest_dirty = next.oldest_dirty;
        self.destages += next.destages;
        self.destaged_pages += next.destaged_pages;
        self.gc_runs += next.gc_runs;
        self.gc_time += next.gc_time;
        self.tally.add_all(&next.tally);
        for (own, of_next) in self.busy.iter_mut().zip(&next.busy) {
            *own += of_next;
        }
    }
}

/// The state of a device at a moment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Levels {
    pub outstanding: u64,
    pub occupied: u64,
    pub dirty: u64,
}

/// The course of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Series {
    /// When the first interval begins.
    pub start: Ticks,
    /// How long an interval is.
    pub length: Ticks,
    /// The length of the last interval: the run may have ended in it.
    pub last_length: Ticks,
    /// In the order of time.
    pub intervals: Vec<Interval>,
}

/// A course that goes on.
#[derive(Debug)]
pub(super) struct Recording {
    series: Series,
    current: Interval,
    /// When the current interval ends, and up to when its levels are summed.
    end: Ticks,
    now: Ticks,
    /// Of each die at the begin of the current interval: busy time, and garbage collection of all.
    busy: Vec<Ticks>,
    gc: Ticks,
    is_closed: bool,
}

impl Recording {
    /// Begins at `start`, with `dies` idle dies.
    pub fn new(start: Ticks, dies: usize) -> Self {
        Self {
            series: Series {
                start,
                length: FIRST_LENGTH,
                last_length: 0,
                intervals: Vec::new(),
            },
            current: empty(dies),
            end: start.saturating_add(FIRST_LENGTH),
            now: start,
            busy: vec![0; dies],
            gc: 0,
            is_closed: false,
        }
    }

    /// The interval that lasts.
    pub fn current(&mut self) -> &mut Interval {
        &mut self.current
    }

    /// The state was that of `levels` until `now`, and the dies did the work of `dies`. `oldest` gives the moment since which a page has
    /// been dirty.
    pub fn go_on(
        &mut self,
        now: Ticks,
        levels: Levels,
        dies: &[Die],
        oldest: impl FnOnce() -> Option<Ticks>,
    ) {
        if self.is_closed || now <= self.now {
            return;
        }
        if now < self.end {
            return self.pass(now, levels);
        }
        let oldest = oldest();
        while now >= self.end {
            let end = self.end;
            self.pass(end, levels);
            self.complete(end, levels, dies, oldest);
            self.end = end.saturating_add(self.series.length);
            if end == self.end {
                break;
            }
        }
        self.pass(now, levels);
    }

    fn pass(&mut self, now: Ticks, levels: Levels) {
        let passed = u128::from(now - self.now);
        self.now = now;
        let amounts = [levels.outstanding, levels.occupied, levels.dirty];
        for (sum, amount) in self.current.levels.iter_mut().zip(amounts) {
            *sum += passed * u128::from(amount);
        }
        self.note(levels);
    }

    fn note(&mut self, levels: Levels) {
        let current = &mut self.current;
        current.outstanding_max = current.outstanding_max.max(levels.outstanding);
        current.dirty_max = current.dirty_max.max(levels.dirty);
    }

    /// The current interval ends at `end`, and another begins.
    fn complete(&mut self, end: Ticks, levels: Levels, dies: &[Die], oldest: Option<Ticks>) {
        let mut interval = std::mem::replace(&mut self.current, empty(dies.len()));
        interval.oldest_dirty = oldest.map_or(0, |since| end.saturating_sub(since));
        let mut gc = 0;
        for ((busy, then), die) in interval.busy.iter_mut().zip(&mut self.busy).zip(dies) {
            let so_far = die.busy(end);
            *busy = so_far - *then;
            *then = so_far;
            gc += die.gc(end);
        }
        interval.gc_time = gc - self.gc;
        self.gc = gc;
        self.series.intervals.push(interval);
        if self.series.intervals.len() == INTERVALS {
            let mut old = std::mem::take(&mut self.series.intervals).into_iter();
            while let Some(mut first) = old.next() {
                if let Some(second) = old.next() {
                    first.extend(second);
                }
                self.series.intervals.push(first);
            }
            self.series.length = self.series.length.saturating_mul(2);
        }
        self.note(levels);
    }

    /// The run has ended: the interval that lasts is the last one, and shorter.
    pub fn close(&mut self, levels: Levels, dies: &[Die], oldest: Option<Ticks>) {
        if std::mem::replace(&mut self.is_closed, true) {
            return;
        }
        let start = self.end.saturating_sub(self.series.length);
        let now = self.now;
        if now > start || self.series.intervals.is_empty() {
            self.complete(now, levels, dies, oldest);
        }
        let Series { start, length, .. } = self.series;
        let before = self.series.intervals.len() as u64 - 1;
        self.series.last_length = now - (start + before * length);
    }

    /// What was recorded.
    pub fn into_series(mut self) -> Series {
        let intervals = self.series.intervals.iter_mut();
        intervals.for_each(|interval| interval.responses.iter_mut().for_each(Spread::settle));
        self.series
    }
}

fn empty(dies: usize) -> Interval {
    Interval {
        busy: vec![0; dies].into(),
        ..Interval::default()
    }
}
