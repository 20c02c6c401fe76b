//! The monitor with which BPAC learns the distances between uses of a page and of a block.
//!
//! During a period of page writes, the monitor collects two kinds of distances. At the end of the period it sets a
//! threshold for each kind. The threshold covers most of the distances:
//!
//! ```text
//!   count   #
//!           ##  #
//!           #####  #   #              #
//!           ------------|------------->  distance
//!                   threshold: at least `cover` of the samples lie at or below
//! ```

use alloc::vec::Vec;

use super::periods::{Period, Periods};

/// The threshold for an infinite distance. With this threshold, nothing expires.
pub const NEVER: u64 = u64::MAX;
/// The unit of `cover`. The share is in whole millionths, so that rounding of fractions has no influence.
const WHOLE: u64 = 1_000_000;

/// The number of other page writes between two uses at the virtual times `before` and `time` (for 10 and 34: 23).
#[inline]
pub fn distance(before: u64, time: u64) -> u64 {
    debug_assert!(before < time);
    time - before - 1
}

/// Whether more than `threshold` other page writes happened between the last use at `last` and `time`.
#[inline]
pub fn has_expired(last: u64, time: u64, threshold: u64) -> bool {
    time > last && distance(last, time) > threshold
}

/// The samples and the threshold of one kind of distance.
pub struct Histogram {
    /// The distances sampled in this period, in any order.
    pub samples: Vec<u64>,
    /// The present threshold.
    pub threshold: u64,
}

impl Histogram {
    /// Creates a histogram without samples.
    pub fn new(threshold: u64) -> Self {
        Self {
            samples: Vec::new(),
            threshold,
        }
    }

    /// Ends a period. If the period has enough samples, the new threshold is the smallest sampled distance that
    /// covers the share `rule.cover` of the samples.
    fn close(&mut self, rule: &Rule) {
        let count = self.samples.len() as u64;
        if rule.adapts && count >= rule.min_samples && count > 0 {
            // The nearest rank, counted from 1.
            let rank = (count * rule.cover).div_ceil(WHOLE).max(1);
            let (_, threshold, _) = self.samples.select_nth_unstable(rank as usize - 1);
            self.threshold = *threshold;
        }
        self.samples.clear();
    }
}

/// The rule by which thresholds are learned.
pub struct Rule {
    /// The length of a period in page writes.
    pub period: u64,
    /// The share of the samples that a threshold covers, in millionths.
    cover: u64,
    min_samples: u64,
    /// Whether thresholds are learned. Otherwise they keep their initial values.
    pub adapts: bool,
}

/// The distances of pages and of blocks, with their thresholds, and the end of the period.
pub struct Monitor {
    /// Distances of pages: page re-reference interval distance (PIRD).
    pub pird: Histogram,
    /// Distances of blocks: block re-reference interval distance (BIRD).
    pub bird: Histogram,
    rule: Rule,
    /// The virtual time of the last page write of this period.
    period_end: u64,
    /// The values that were learned so far, by period.
    pub periods: Periods,
}

impl Rule {
    /// Creates a rule that covers the share `cover` of the samples, in `0.0 ..= 1.0`.
    pub fn new(period: u64, cover: f64, min_samples: u64, adapts: bool) -> Self {
        Self {
            period,
            cover: (cover * WHOLE as f64 + 0.5) as u64,
            min_samples,
            adapts,
        }
    }
}

impl Monitor {
    /// Creates a monitor with the initial thresholds `pird` and `bird`, and begins the first period.
    pub fn new(rule: Rule, pird: u64, bird: u64) -> Self {
        Self {
            pird: Histogram::new(pird),
            bird: Histogram::new(bird),
            period_end: rule.period,
            rule,
            periods: Periods::default(),
        }
    }

    /// Whether the period ends with the page write `time`.
    #[inline]
    pub fn is_over(&self, time: u64) -> bool {
        time >= self.period_end
    }

    /// Ends the period with the page write `time`. At that time `independent` of the `clusters` clusters are
    /// size-independent. The share of size-independent clusters is recorded.
    pub fn close_period(&mut self, time: u64, independent: usize, clusters: usize) {
        self.pird.close(&self.rule);
        self.bird.close(&self.rule);
        self.period_end = (time / self.rule.period + 1) * self.rule.period;
        self.periods.push(Period {
            end: time,
            pird: self.pird.threshold,
            bird: self.bird.threshold,
            alpha: (clusters > 0).then(|| independent as f64 / clusters as f64),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_what_lies_between() {
        assert_eq!(distance(10, 34), 23);
        assert_eq!(distance(7, 8), 0);
        assert!(has_expired(10, 35, 23) && !has_expired(10, 34, 23));
        assert!(!has_expired(1, u64::MAX, NEVER));
    }

    #[test]
    fn a_threshold_is_the_nearest_rank() {
        let close = |samples: &[u64], cover: f64, min_samples| {
            let mut histogram = Histogram::new(99);
            histogram.samples = samples.to_vec();
            histogram.close(&Rule::new(1, cover, min_samples, true));
            assert!(histogram.samples.is_empty());
            histogram.threshold
        };
        let ten = [7, 1, 9, 3, 5, 2, 8, 4, 10, 6];
        assert_eq!(close(&ten, 0.9, 10), 9);
        assert_eq!(close(&ten, 0.91, 10), 10);
        assert_eq!(close(&ten, 1.0, 1), 10);
        assert_eq!(close(&ten, 0.0, 1), 1);
        assert_eq!(close(&ten, 0.9, 11), 99);
        assert_eq!(close(&[], 0.9, 0), 99);
        assert_eq!(close(&[5], 0.9, 0), 5);
    }
}
