//! Counts how often each value occurs: exactly for small values, in narrow bins for large ones, in bounded
//! memory.

use destage_base::bins::{bin_of, values_of};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// The binary logarithm of the number of bins from each power of two to the next.
const BITS: u32 = 13;
/// The smallest value that shares a bin.
const EXACT: u64 = 1 << (BITS + 1);

/// Counts of values. Values below 16384 are counted exactly. Larger values may share a bin if they differ by
/// less than one in 8192.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// The counts of the bins, up to the bin of the largest value, without those in `carries`. Small counts keep more
    /// of the bins in the processor's cache.
    counts: Vec<u32>,
    /// By bin: how often its count passed the largest one that fits.
    carries: BTreeMap<usize, u64>,
    total: u64,
}

impl Histogram {
    /// Counts `value` once.
    pub fn add(&mut self, value: u64) {
        self.add_times(value, 1);
    }

    /// Counts `value`, `times` times.
    pub(super) fn add_times(&mut self, value: u64, times: u64) {
        if times == 0 {
            return;
        }
        let bin = bin_of::<BITS>(value);
        if bin >= self.counts.len() {
            self.counts.resize(bin + 1, 0);
        }
        let count = u64::from(self.counts[bin]) + times;
        self.counts[bin] = count as u32;
        if count > u64::from(u32::MAX) {
            *self.carries.entry(bin).or_insert(0) += count >> u32::BITS;
        }
        self.total += times;
    }

    /// The counts of the bins.
    fn counts(&self) -> impl Iterator<Item = u64> {
        let mut carries = self.carries.iter().peekable();
        self.counts.iter().enumerate().map(move |(bin, count)| {
            let carry = carries.next_if(|(other, _)| **other == bin);
            u64::from(*count) + carry.map_or(0, |(_, carry)| carry << u32::BITS)
        })
    }

    /// Cumulative counts at powers of two. Each row has a bound, which is a power of two less 1, and the number
    /// of values that are at most this bound. The first row is the first one that counts a value, and the last
    /// row is the first one that counts all values.
    ///
    /// ```
    /// use destage_trace::statistics::Histogram;
    /// let mut histogram = Histogram::default();
    /// [1, 5, 6].into_iter().for_each(|value| histogram.add(value));
    /// assert_eq!(histogram.cumulative(), [(1, 1), (3, 1), (7, 3)]);
    /// ```
    #[must_use]
    pub fn cumulative(&self) -> Vec<(u64, u64)> {
        self.rows(|values| {
            u64::MAX
                .checked_shr(values.end().leading_zeros())
                .unwrap_or(0)
        })
    }

    /// Cumulative counts at powers of two. Each row has a power of two, and the number of values that are at
    /// most this power. The first row is the first one that counts a value, and the last row is the first one
    /// that counts all values. Sizes are often powers of two. Here such a size counts in the row with this
    /// power.
    ///
    /// ```
    /// use destage_trace::statistics::Histogram;
    /// let mut histogram = Histogram::default();
    /// [1, 5, 8, 9].into_iter().for_each(|value| histogram.add(value));
    /// assert_eq!(histogram.up_to_powers(), [(1, 1), (2, 1), (4, 1), (8, 3), (16, 4)]);
    /// ```
    #[must_use]
    pub fn up_to_powers(&self) -> Vec<(u64, u64)> {
        self.rows(|values| {
            values
                .start()
                .checked_next_power_of_two()
                .unwrap_or(u64::MAX)
        })
    }

    /// Cumulative counts. `bound_of` returns the bound of the row in which the values of a bin count first.
    fn rows(&self, bound_of: impl Fn(RangeInclusive<u64>) -> u64) -> Vec<(u64, u64)> {
        let mut rows: Vec<(u64, u64)> = Vec::new();
        let mut sum = 0;
        for (bin, count) in self.counts().enumerate() {
            sum += count;
            let bound = bound_of(values_of::<BITS>(bin));
            match rows.last_mut() {
                Some(row) if row.0 == bound => row.1 = sum,
                _ if sum > 0 => rows.push((bound, sum)),
                _ => {}
            }
        }
        rows
    }

    /// The share of values that are at most `value`, which must be below 16384. `None` if there are no values.
    ///
    /// # Panics
    /// If `value` is 16384 or more.
    #[must_use]
    pub fn share_within(&self, value: u64) -> Option<f64> {
        assert!(value < EXACT, "{value} has no bin of its own");
        let within: u64 = self.counts().take(value as usize + 1).sum();
        (self.total > 0).then(|| within as f64 / self.total as f64)
    }

    /// The smallest value that at least `percent` % of the values do not exceed. From 16384 on, the result is
    /// the largest value of the bin that contains this value. `None` if there are no values.
    #[must_use]
    pub fn percentile(&self, percent: u64) -> Option<u64> {
        // The product of two 64-bit numbers may not fit in 64 bits.
        let wanted = (u128::from(self.total) * u128::from(percent))
            .div_ceil(100)
            .max(1);
        let mut seen = 0u128;
        let bin = self.counts().position(|count| {
            seen += u128::from(count);
            seen >= wanted
        });
        bin.map(|bin| *values_of::<BITS>(bin).end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use destage_base::Random;

    #[test]
    fn agrees_with_a_sorted_list() {
        let mut random = Random::new(4);
        let mut values: Vec<u64> = (0..999).map(|_| random.below(12_000)).collect();
        let mut histogram = Histogram::default();
        values.iter().for_each(|value| histogram.add(*value));
        values.sort_unstable();
        for percent in [1u64, 50, 90, 99, 100] {
            let rank = (999 * percent).div_ceil(100) as usize;
            assert_eq!(histogram.percentile(percent), Some(values[rank - 1]));
        }
        for bound in [0, 200, 5_000, 16_383] {
            let within = values.iter().filter(|value| **value <= bound).count();
            assert_eq!(histogram.share_within(bound), Some(within as f64 / 999.0));
        }
        for (bound, count) in histogram.cumulative() {
            let within = values.iter().filter(|value| **value <= bound).count();
            assert_eq!(within as u64, count);
        }
    }

    #[test]
    fn counts_may_be_large() {
        let mut histogram = Histogram::default();
        for times in [u64::from(u32::MAX), 1, 3 << 32, 5] {
            histogram.add_times(7, times);
        }
        histogram.add_times(9, 1);
        let seven = (4 << 32) + 5;
        assert_eq!(histogram.cumulative(), [(7, seven), (15, seven + 1)]);
        assert_eq!(histogram.percentile(99), Some(7));
        assert_eq!(histogram.percentile(100), Some(9));
    }

    #[test]
    fn the_largest_values_have_a_place_and_nothing_has_no_percentile() {
        let mut histogram = Histogram::default();
        assert_eq!(
            (histogram.percentile(50), histogram.share_within(1)),
            (None, None)
        );
        histogram.add_times(7, 0);
        assert_eq!(histogram, Histogram::default());
        histogram.add(u64::MAX);
        assert_eq!(histogram.percentile(50), Some(u64::MAX));
        assert_eq!(histogram.cumulative(), [(u64::MAX, 1)]);
    }
}
