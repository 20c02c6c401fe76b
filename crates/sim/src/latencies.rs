//! Response times and their statistics.
//!
//! Every response time is stored as an integer of 8 bytes. So percentiles are the times of exact ranks, and sums do
//! not depend on the order of addition. The user may limit the number of stored times. When a run has more times,
//! histograms of bounded memory replace the lists. Percentiles are then at most a thousandth too large. All other
//! statistics stay exact.

use destage_base::Ticks;
use destage_base::time::{TICKS_PER_MS, to_ms};
use hdrhistogram::Histogram;

use crate::ranks::values_of_ranks;

/// Response times of reads and writes.
#[derive(Clone, Debug)]
pub struct Latencies {
    /// The times that are stored one by one: the times of reads, and the times of writes.
    kept: [Vec<Ticks>; 2],
    /// The number of times that may still be added to `kept`. When another time follows, all times move to `rest`.
    room: usize,
    /// Histograms of the times of reads, and of the times of writes; `None` as long as all times are stored one by
    /// one.
    rest: Option<Box<[Counted; 2]>>,
}

impl Default for Latencies {
    fn default() -> Self {
        Self::keeping(usize::MAX)
    }
}

/// Significant digits of percentiles that come from a histogram.
const DIGITS: u8 = 3;

/// The largest of a number of times, their sum, and the sum of their squares.
#[derive(Clone, PartialEq, Debug, Default)]
struct Sums {
    max: Ticks,
    sum: u128,
    squares: Squares,
}

impl Sums {
    #[inline]
    fn push(&mut self, time: Ticks) {
        self.max = self.max.max(time);
        self.sum += u128::from(time);
        self.squares.add(time);
    }

    fn add(&mut self, other: &Self) {
        self.max = self.max.max(other.max);
        self.sum += other.sum;
        self.squares.add_all(other.squares);
    }

    /// The statistics of `count` times with these sums. `percentiles` are in ticks.
    fn summary(&self, count: u64, percentiles: [Ticks; PERCENTILES.len()]) -> Summary {
        Summary {
            count,
            mean_ms: mean_ms(self.sum, count),
            std_ms: deviation(self.sum, self.squares, count) / TICKS_PER_MS as f64,
            percentiles_ms: percentiles.map(to_ms),
            max_ms: to_ms(self.max),
        }
    }
}

/// A histogram of times in bounded memory, with their exact sum, sum of squares and maximum.
#[derive(Clone, PartialEq, Debug)]
pub struct Counted {
    times: Histogram<u64>,
    sums: Sums,
}

impl Default for Counted {
    fn default() -> Self {
        Self {
            times: Histogram::new(DIGITS).expect("three digits are legal"),
            sums: Sums::default(),
        }
    }
}

impl Counted {
    /// Records one time.
    pub fn push(&mut self, time: Ticks) {
        // The histogram resizes itself, so it accepts every value.
        self.times += time;
        self.sums.push(time);
    }

    fn and(mut self, other: &Self) -> Self {
        self.times += &other.times;
        self.sums.add(&other.sums);
        self
    }

    /// The percentile q = `part` / `whole`, in ticks: the time of rank ceil(q n) among n times, at most a thousandth
    /// too large. 0 if there are no times.
    #[must_use]
    pub fn percentile(&self, (part, whole): (u64, u64)) -> Ticks {
        let value = self.times.value_at_quantile(part as f64 / whole as f64);
        value.min(self.sums.max)
    }

    /// The largest time in ticks; 0 if there are no times.
    #[must_use]
    pub fn max(&self) -> Ticks {
        self.sums.max
    }

    /// The statistics of the times; `None` if there are no times.
    #[must_use]
    pub fn summary(&self) -> Option<Summary> {
        let count = self.times.len();
        let percentiles = || PERCENTILES.map(|percentile| self.percentile(percentile));
        (count > 0).then(|| self.sums.summary(count, percentiles()))
    }
}

/// An exact sum of squares: `low` plus `high` times 2^128.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Squares {
    low: u128,
    high: u64,
}

impl Squares {
    fn add(&mut self, time: Ticks) {
        self.add_all(Self {
            low: u128::from(time) * u128::from(time),
            high: 0,
        });
    }

    fn add_all(&mut self, other: Self) {
        let (low, carry) = self.low.overflowing_add(other.low);
        self.low = low;
        self.high += other.high + u64::from(carry);
    }
}

/// The statistics of a set of response times, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Number of times.
    pub count: u64,
    /// Arithmetic mean, in milliseconds.
    pub mean_ms: f64,
    /// Standard deviation of the population, in milliseconds.
    pub std_ms: f64,
    /// Percentiles 50, 95, 99 and 99.9, in milliseconds. Among n times, the percentile with the fraction q is the
    /// time of rank ceil(q n).
    pub percentiles_ms: [f64; 4],
    /// Largest time, in milliseconds.
    pub max_ms: f64,
}

/// The percentiles of [`Summary::percentiles_ms`], as fractions.
pub const PERCENTILES: [(u64, u64); 4] = [(50, 100), (95, 100), (99, 100), (999, 1000)];

impl Latencies {
    /// Stores up to `exact` times one by one. With more times, all of them are in histograms.
    #[must_use]
    pub fn keeping(exact: usize) -> Self {
        Self {
            kept: [Vec::new(), Vec::new()],
            room: exact,
            rest: None,
        }
    }

    /// Records one response time: of a write if `write` is true, otherwise of a read.
    #[inline(always)]
    pub fn push(&mut self, time: Ticks, write: bool) {
        let (room, is_full) = self.room.overflowing_sub(1);
        self.room = room;
        if is_full {
            return self.push_beyond(time, write);
        }
        self.kept[usize::from(write)].push(time);
    }

    #[cold]
    fn push_beyond(&mut self, time: Ticks, write: bool) {
        self.room = 0;
        let rest = self.rest.get_or_insert_with(Box::<[Counted; 2]>::default);
        for (rest, kept) in rest.iter_mut().zip(std::mem::take(&mut self.kept)) {
            kept.into_iter().for_each(|time| rest.push(time));
        }
        rest[usize::from(write)].push(time);
    }

    /// The times of reads, and the times of writes, each in the order in which they were recorded. `None` if the
    /// times are in histograms.
    pub(crate) fn kept(&self) -> Option<[&[Ticks]; 2]> {
        let [reads, writes] = &self.kept;
        self.rest.is_none().then_some([reads, writes])
    }

    /// The statistics of all times; `None` if there are none.
    #[must_use]
    pub fn all(&self) -> Option<Summary> {
        if let Some([reads, writes]) = self.rest.as_deref() {
            return reads.clone().and(writes).summary();
        }
        summary(&[&self.kept[0], &self.kept[1]])
    }

    /// The statistics of reads; `None` if there are none. `all` is the result of [`Latencies::all`], which is
    /// returned if there are no writes.
    #[must_use]
    pub fn reads(&self, all: Option<Summary>) -> Option<Summary> {
        self.of(false, all)
    }

    /// The statistics of writes; `None` if there are none. `all` is the result of [`Latencies::all`], which is
    /// returned if there are no reads.
    #[must_use]
    pub fn writes(&self, all: Option<Summary>) -> Option<Summary> {
        self.of(true, all)
    }

    fn of(&self, write: bool, all: Option<Summary>) -> Option<Summary> {
        if let Some(rest) = self.rest.as_deref() {
            return rest[usize::from(write)].summary();
        }
        if self.kept[usize::from(!write)].is_empty() {
            return all;
        }
        summary(&[&self.kept[usize::from(write)]])
    }
}

/// The statistics of all times in `sets`.
fn summary(sets: &[&[Ticks]]) -> Option<Summary> {
    let count = sets.iter().map(|times| times.len() as u64).sum();
    if count == 0 {
        return None;
    }
    let mut sums = Sums::default();
    sets.iter()
        .flat_map(|times| times.iter())
        .for_each(|time| sums.push(*time));
    let n = u128::from(count);
    let ranks = PERCENTILES
        .map(|(part, whole)| (n * u128::from(part)).div_ceil(u128::from(whole)) as usize - 1);
    Some(sums.summary(count, values_of_ranks(sets, sums.max, ranks)))
}

pub(crate) fn mean_ms(sum: u128, count: u64) -> f64 {
    sum as f64 / count as f64 / TICKS_PER_MS as f64
}

/// Standard deviation of the population, in ticks.
fn deviation(sum: u128, squares: Squares, count: u64) -> f64 {
    // n * sum of squares - (sum)^2 is an exact integer; only its root is rounded.
    let n = u128::from(count);
    let exact = (squares.high == 0).then_some(squares.low);
    let exact = exact.and_then(|squares| squares.checked_mul(n));
    match exact.zip(sum.checked_mul(sum)) {
        Some((of_squares, of_sum)) => ((of_squares - of_sum) as f64).sqrt() / count as f64,
        // The products exceed 128 bits: the run has more than 10^9 response times of hours, or a few response times
        // of years.
        None => {
            let squares = squares.low as f64 + squares.high as f64 * 2f64.powi(128);
            (squares / n as f64 - (sum as f64 / n as f64).powi(2))
                .max(0.0)
                .sqrt()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_of_rank_ceil() {
        let mut latencies = Latencies::default();
        for time in [40, 10, 30, 20] {
            latencies.push(time * TICKS_PER_MS, time > 20);
        }
        let all = latencies.all().unwrap();
        assert_eq!((all.count, all.mean_ms, all.max_ms), (4, 25.0, 40.0));
        assert_eq!(all.percentiles_ms, [20.0, 40.0, 40.0, 40.0]);
        assert!((all.std_ms - 125f64.sqrt()).abs() < 1e-12);
        assert_eq!(latencies.writes(latencies.all()).unwrap().mean_ms, 35.0);
    }

    #[test]
    fn sums_are_those_of_single_times() {
        let mut random = destage_base::Random::new(9);
        for bits in [10, 27, 28, 40, 64] {
            let times: Vec<Ticks> = (0..3000)
                .map(|_| random.next_u64() >> (64 - bits))
                .chain([(1 << 27) - 1; 1024])
                .collect();
            let (first, second) = times.split_at(1000);
            let [mut sums, others] = [first, second].map(|times| {
                let mut sums = Sums::default();
                times.iter().for_each(|time| sums.push(*time));
                sums
            });
            sums.add(&others);
            let mut squares = Squares::default();
            times.iter().for_each(|time| squares.add(*time));
            assert_eq!(sums.max, *times.iter().max().unwrap());
            assert_eq!(sums.sum, times.iter().map(|time| u128::from(*time)).sum());
            assert_eq!(sums.squares, squares, "{bits} bits");
        }
    }

    #[test]
    fn times_keep_all_of_their_64_bits() {
        let half = 1 << 63;
        let times = [(half + 3, true), (u64::MAX, false), (half, true), (1, true)];
        for (mut latencies, rounding) in [
            (Latencies::default(), 0.0),
            (Latencies::keeping(0), 1e-3),
            (Latencies::keeping(2), 1e-3),
        ] {
            for (time, write) in times {
                latencies.push(time, write);
            }
            let all = latencies.all().unwrap();
            let reads = latencies.reads(Some(all)).unwrap();
            let writes = latencies.writes(Some(all)).unwrap();
            assert_eq!((all.count, reads.count, writes.count), (4, 1, 3));
            assert_eq!(all.max_ms, to_ms(u64::MAX));
            assert_eq!(writes.max_ms, to_ms(half + 3));
            let share = |part: f64, of: u64| (part / to_ms(of) - 1.0).abs();
            assert!(share(all.mean_ms, half) < 1e-12, "{all:?}");
            // Two of the four times are at the mean, one is `half` above it and one is `half` below, so the
            // deviation is `half` / sqrt(2).
            assert!(share(all.std_ms * 2f64.sqrt(), half) < 1e-12, "{all:?}");
            assert!(share(all.percentiles_ms[0], half) <= rounding, "{all:?}");
            assert!(share(reads.percentiles_ms[3], u64::MAX) <= rounding);
        }
    }

    #[test]
    fn beyond_the_bound_only_percentiles_are_rounded_and_by_a_thousandth_at_most() {
        let mut random = destage_base::Random::new(6);
        let (mut exact, mut bounded) = (Latencies::default(), Latencies::keeping(1000));
        for _ in 0..50_000 {
            let bits = 10 + random.below(30);
            let time = random.below(1 << bits);
            let write = random.below(3) > 0;
            exact.push(time, write);
            bounded.push(time, write);
        }
        assert_eq!(bounded.kept.concat(), []);
        for write in [None, Some(false), Some(true)] {
            let of = |latencies: &Latencies| match write {
                None => latencies.all().unwrap(),
                Some(write) => latencies.of(write, latencies.all()).unwrap(),
            };
            let (exact, bounded) = (of(&exact), of(&bounded));
            let but_percentiles = |summary: Summary| Summary {
                percentiles_ms: [0.0; 4],
                ..summary
            };
            assert_eq!(but_percentiles(exact), but_percentiles(bounded));
            for (exact, bounded) in exact.percentiles_ms.iter().zip(bounded.percentiles_ms) {
                assert!(
                    (exact..=&(exact * 1.001)).contains(&&bounded),
                    "{exact} {bounded}"
                );
            }
        }
    }
}
