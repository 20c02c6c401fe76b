//! Histograms of times with bounded memory: the width of a bucket is at most 1/32 of its values.

use std::ops::RangeInclusive;

use destage_base::Ticks;
use destage_base::bins::{bin_of, values_of};

use super::path::{PARTS, Split};

/// The binary logarithm of the number of buckets for each doubling of the time.
const STEP_BITS: u32 = 5;

/// The rank of the percentile `part` / `whole` among `total` times in ascending order: ceil(total * part / whole).
/// Ranks count from 1.
pub(super) fn rank(total: u64, (part, whole): (u64, u64)) -> u64 {
    let rank = (u128::from(total) * u128::from(part)).div_ceil(u128::from(whole));
    (rank as u64).max(1)
}

/// The response times of an interval: their count, their sum, and the largest. During the run there are also the
/// buckets that are not empty.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Spread {
    /// Number of response times.
    pub count: u64,
    /// Sum of the response times, in ticks.
    pub sum: u128,
    /// The largest response time, in ticks.
    pub max: Ticks,
    /// The 99th percentile in ticks, at most 1/32 too large. It is computed at the end of the run.
    pub p99: Ticks,
    buckets: Vec<(u16, u32)>,
}

impl Spread {
    pub(super) fn push(&mut self, time: Ticks) {
        self.count += 1;
        self.sum += u128::from(time);
        self.max = self.max.max(time);
        self.add(bin_of::<STEP_BITS>(time) as u16, 1);
    }

    fn add(&mut self, bucket: u16, count: u32) {
        match self.buckets.binary_search_by_key(&bucket, |entry| entry.0) {
            Ok(at) => self.buckets[at].1 = self.buckets[at].1.saturating_add(count),
            Err(at) => self.buckets.insert(at, (bucket, count)),
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
        for (bucket, count) in &other.buckets {
            self.add(*bucket, *count);
        }
    }

    /// Computes the percentile and drops the buckets. To be called after the last time was added.
    pub(super) fn settle(&mut self) {
        self.p99 = self.percentile((99, 100)).unwrap_or(0);
        self.buckets = Vec::new();
    }

    fn percentile(&self, percentile: (u64, u64)) -> Option<Ticks> {
        let rank = rank(self.count, percentile);
        let mut below = 0;
        let (bucket, _) = self.buckets.iter().find(|(_, count)| {
            below += u64::from(*count);
            below >= rank
        })?;
        Some((*values_of::<STEP_BITS>(usize::from(*bucket)).end()).min(self.max))
    }
}

/// The parts of the response times of the requests in one bucket.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Bucket {
    /// Number of requests.
    pub requests: u64,
    /// For each part: the sum over the requests, in ticks.
    pub sums: [u128; PARTS],
}

impl Bucket {
    fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        for (sum, more) in self.sums.iter_mut().zip(other.sums) {
            *sum += more;
        }
    }

    /// The sum of all response times, in ticks.
    #[must_use]
    pub fn total(&self) -> u128 {
        self.sums.iter().sum()
    }
}

/// The histogram of response times of one operation, with their parts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Spreading {
    buckets: Vec<Bucket>,
}

impl Spreading {
    pub(super) fn push(&mut self, response: Ticks, split: &Split) {
        let bucket = bin_of::<STEP_BITS>(response);
        if bucket >= self.buckets.len() {
            self.buckets.resize(bucket + 1, Bucket::default());
        }
        self.buckets[bucket].add(&Bucket {
            requests: 1,
            sums: split.0.map(u128::from),
        });
    }

    /// The buckets that are not empty, in ascending order, each with the smallest and the largest response time that
    /// it can hold, in ticks.
    pub fn buckets(&self) -> impl Iterator<Item = (RangeInclusive<Ticks>, &Bucket)> {
        let buckets = self.buckets.iter().enumerate();
        let filled = buckets.filter(|(_, bucket)| bucket.requests > 0);
        filled.map(|(index, bucket)| (values_of::<STEP_BITS>(index), bucket))
    }

    /// The sum of all buckets.
    #[must_use]
    pub fn all(&self) -> Bucket {
        sum(&self.buckets)
    }

    /// The sum of the bucket that holds the percentile `(part, whole)` and of all buckets above it.
    #[must_use]
    pub fn from_percentile(&self, percentile: (u64, u64)) -> Bucket {
        let rank = rank(self.all().requests, percentile);
        let mut below = 0;
        let first = self.buckets.iter().position(|bucket| {
            below += bucket.requests;
            below >= rank
        });
        sum(&self.buckets[first.unwrap_or(self.buckets.len())..])
    }
}

fn sum(buckets: &[Bucket]) -> Bucket {
    let mut all = Bucket::default();
    buckets.iter().for_each(|bucket| all.add(bucket));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_begins_with_the_bucket_of_the_percentile() {
        let mut spreading = Spreading::default();
        for time in 1..=200 {
            let mut split = Split::default();
            split.0[6] = time * 1000;
            spreading.push(time * 1000, &split);
        }
        let tail = spreading.from_percentile((99, 100));
        // The time of rank 198 of 200 is in the bucket from 196,608 ticks on, which also holds 197,000.
        assert_eq!(
            (tail.requests, tail.sums[6]),
            (4, 197_000 + 198_000 + 199_000 + 200_000)
        );
        assert_eq!(spreading.all().total(), 1000 * 200 * 201 / 2);
        assert_eq!(
            Spreading::default().from_percentile((99, 100)),
            Bucket::default()
        );
    }

    #[test]
    fn a_percentile_is_at_most_a_step_too_large() {
        let mut spread = Spread::default();
        (1..=1000).for_each(|time| spread.push(time * 77));
        let half = spread.percentile((50, 100)).unwrap();
        assert!((500 * 77..=500 * 77 * 33 / 32).contains(&half), "{half}");
        assert_eq!(spread.percentile((1, 1)), Some(77_000));
        let mut twice = spread.clone();
        twice.merge(&spread);
        assert_eq!(
            (twice.count, twice.percentile((50, 100))),
            (2000, Some(half))
        );
        assert_eq!(Spread::default().percentile((1, 2)), None);
    }
}
