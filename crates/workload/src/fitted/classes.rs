//! Gaps of a trace, in as many classes as a profile has.

use super::profile::GAP_CLASSES;

/// Gaps that stand for a class.
const GAPS: usize = 24;

/// Classes of gaps, by the longest gap of each.
pub(super) struct GapClasses([u64; GAP_CLASSES]);

impl GapClasses {
    /// Those of `sorted` gaps above 0: class 0 is no gap, the others take in rising shares of all.
    pub(super) fn of(sorted: &[u64]) -> Self {
        let mut bounds = [u64::MAX; GAP_CLASSES];
        bounds[0] = 0;
        for (class, share) in [(1, 0.3), (2, 0.6), (3, 0.85), (4, 0.97)] {
            if let Some(gap) = sorted.get((sorted.len() as f64 * share) as usize) {
                bounds[class] = *gap;
            }
        }
        Self(bounds)
    }

    pub(super) fn class(&self, gap: u64) -> usize {
        let class = self.0.iter().position(|longest| gap <= *longest);
        class.unwrap_or(GAP_CLASSES - 1)
    }

    /// Gaps that stand for those of each class in `sorted`: means of groups of equally many.
    pub(super) fn gaps(&self, sorted: &[u64]) -> [Vec<u64>; GAP_CLASSES] {
        std::array::from_fn(|class| {
            let of: Vec<u64> = sorted
                .iter()
                .copied()
                .filter(|gap| self.class(*gap) == class)
                .collect();
            let groups = of.len().min(GAPS);
            (0..groups)
                .map(|group| mean(&of[group * of.len() / groups..(group + 1) * of.len() / groups]))
                .collect()
        })
    }
}

/// The mean of some gaps, at least one.
fn mean(gaps: &[u64]) -> u64 {
    let sum: u128 = gaps.iter().map(|gap| u128::from(*gap)).sum();
    (sum / gaps.len() as u128) as u64
}
