//! The series of a run: its course in intervals of equal length. The number of intervals is bounded for a run of any
//! length.

use destage_base::Ticks;
use destage_base::time::TICKS_PER_US;
use destage_nand::operation::Tally;

use super::path::Die;
use super::spread::Spread;

/// When a series has this number of intervals, each pair of neighbouring intervals is joined into one, so the length
/// of an interval doubles.
pub(crate) const INTERVALS: usize = 1000;
/// The length of an interval at the beginning of a run, in ticks.
pub(crate) const FIRST_LENGTH: Ticks = 10 * TICKS_PER_US;

/// The values of one interval.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Interval {
    /// Number of requests that arrived.
    pub arrived: u64,
    /// Response times of the requests that completed: of reads, and of all other requests.
    pub responses: [Spread; 2],
    /// Outstanding requests, buffer slots in use, and dirty pages. Each number is summed over time: the value
    /// multiplied by the ticks for which it was current.
    pub levels: [u128; 3],
    /// Maximum number of outstanding requests at one moment.
    pub outstanding_max: u64,
    /// Maximum number of dirty pages at one moment.
    pub dirty_max: u64,
    /// The longest time for which a page has been dirty at the end of the interval, in ticks; 0 if no page is dirty.
    pub oldest_dirty: Ticks,
    /// Number of destage records that the buffer emitted.
    pub destages: u64,
    /// Number of dirty pages in the emitted records.
    pub destaged_pages: u64,
    /// Number of garbage collections and merges that began.
    pub gc_runs: u64,
    /// Time of garbage collection in ticks, summed over dies.
    pub gc_time: Ticks,
    /// Flash operations of the commands that began, by kind and cause.
    pub tally: Tally,
    /// Busy time of each die, in ticks.
    pub busy: Box<[Ticks]>,
}

impl Interval {
    /// Adds the values of `next`, the following interval, to this interval.
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

/// The state of a device at a moment: outstanding requests, buffer slots in use, dirty pages.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Levels {
    pub outstanding: u64,
    pub occupied: u64,
    pub dirty: u64,
}

/// The series of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Series {
    /// The start of the first interval, in ticks.
    pub start: Ticks,
    /// Length of an interval, in ticks.
    pub length: Ticks,
    /// Length of the last interval, in ticks. It is shorter than the other intervals if the run ended before the end
    /// of the interval.
    pub last_length: Ticks,
    /// The intervals, in the order of time.
    pub intervals: Vec<Interval>,
}

/// A series that is being recorded.
#[derive(Debug)]
pub(super) struct Recording {
    series: Series,
    current: Interval,
    /// End of the current interval.
    end: Ticks,
    /// The time up to which the levels of the current interval are summed.
    now: Ticks,
    /// Busy time of each die up to the start of the current interval.
    busy: Vec<Ticks>,
    /// Time of garbage collection of all dies up to the start of the current interval.
    gc: Ticks,
    is_closed: bool,
}

impl Recording {
    /// A recording that begins at `start`, with `dies` idle dies.
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

    /// The current interval.
    pub fn current(&mut self) -> &mut Interval {
        &mut self.current
    }

    /// Counts the time up to `now`, during which the state was `levels`. `dies` is the work of the dies so far.
    /// `oldest` returns the time at which the page that has been dirty longest became dirty, or `None` if no page is
    /// dirty.
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

    /// Ends the current interval at `end`, and begins the next one.
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

    /// Ends the recording. The current interval is the last one, and may be shorter than the others.
    pub fn close(&mut self, levels: Levels, dies: &[Die], oldest: Option<Ticks>) {
        if std::mem::replace(&mut self.is_closed, true) {
            return;
        }
        let start = self.end.saturating_sub(self.series.length);
        let now = self.now;
        if now > start || self.series.intervals.is_empty() {
            self.complete(now, levels, dies, oldest);
        } else if let Some(last) = self.series.intervals.last_mut() {
            // What happens at the very end of the last interval belongs to it.
            let oldest_dirty = last.oldest_dirty;
            last.extend(std::mem::replace(&mut self.current, empty(dies.len())));
            last.oldest_dirty = oldest_dirty;
        }
        let Series { start, length, .. } = self.series;
        let before = self.series.intervals.len() as u64 - 1;
        self.series.last_length = now - (start + before * length);
    }

    /// The recorded series.
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
