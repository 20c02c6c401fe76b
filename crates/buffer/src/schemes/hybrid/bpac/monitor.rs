//! BPAC learns how far apart the uses of a page and of a block are.
//!
//! Over a period of page writes it collects two kinds of distances, and at the end of the period sets for each
//! kind a threshold that covers most of them:
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

/// Of infinite distances: nothing expires.
pub const NEVER: u64 = u64::MAX;
/// The unit of `cover`, so that no rounding of fractions decides.
const WHOLE: u64 = 1_000_000;

/// How many other page writes came between two uses at `before` and `time` (10 and 34 give 23).
#[inline]
pub fn distance(before: u64, time: u64) -> u64 {
    debug_assert!(before < time);
    time - before - 1
}

/// Whether something last used at `last` has not been used for more than `threshold` page writes.
#[inline]
pub fn has_expired(last: u64, time: u64, threshold: u64) -> bool {
    time > last && distance(last, time) > threshold
}

/// One kind of distance.
pub struct Histogram {
    /// The distances of this period; their order does not matter.
    pub samples: Vec<u64>,
    /// The threshold that applies now.
    pub threshold: u64,
}

impl Histogram {
    /// Without samples.
    pub fn new(threshold: u64) -> Self {
        Self {
            samples: Vec::new(),
            threshold,
        }
    }

    /// Ends a period: the least distance that covers `rule.cover` of the samples, if there are enough.
    fn close(&mut self, rule: &Rule) {
        let count = self.samples.len() as u64;
        if rule.adapts && count >= rule.min_samples && count > 0 {
            // Nearest rank, counted from 1.
            let rank = (count * rule.cover).div_ceil(WHOLE).max(1);
            let (_, threshold, _) = self.samples.select_nth_unstable(rank as usize - 1);
            self.threshold = *threshold;
        }
        self.samples.clear();
    }
}

/// How thresholds are learnt.
pub struct Rule {
    /// Page writes of a period.
    pub period: u64,
    /// Share of samples a threshold covers, in millionths.
    cover: u64,
    min_samples: u64,
    /// Whether thresholds are learnt; otherwise they stay as they are.
    pub adapts: bool,
}

/// The monitors of distances of pages and of blocks, and the time.
pub struct Monitor {
    /// Of pages: page re-reference interval distance.
    pub pird: Histogram,
    /// Of blocks: block re-reference interval distance.
    pub bird: Histogram,
    rule: Rule,
    /// The last page write of this period.
    period_end: u64,
    /// The values learned so far.
    pub periods: Periods,
}

impl Rule {
    /// `cover` in `0.0 ..= 1.0`.
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
    /// Begins the first period.
    pub fn new(rule: Rule, pird: u64, bird: u64) -> Self {
        Self {
            pird: Histogram::new(pird),
            bird: Histogram::new(bird),
            period_end: rule.period,
            rule,
            periods: Periods::default(),
        }
    }

    /// Whether the period is over once the page write `time` is done.
    #[inline]
    pub fn is_over(&self, time: u64) -> bool {
        time >= self.period_end
    }

    /// Ends the period of page write `time`, noting the share of size-independent clusters there.
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
