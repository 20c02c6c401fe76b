//! The classes into which a profile divides the gaps between arrivals.

use super::profile::GAP_CLASSES;

/// The largest number of gaps that represent a class.
const GAPS: usize = 16;
/// For each of classes 1 to 8, the share of all gaps above 0 that are in this class or a lower one. Class 9 has the
/// remaining gaps.
const SHARES: [f64; GAP_CLASSES - 2] = [0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.98, 0.995];

/// The longest gap of each class.
pub(super) struct GapClasses([u64; GAP_CLASSES]);

impl GapClasses {
    /// Makes classes for the gaps in `sorted`, which must be above 0 and in ascending order. Class 0 has gaps of 0.
    /// Classes 1 to 9 divide the gaps of `sorted` according to [`SHARES`].
    pub(super) fn of(sorted: &[u64]) -> Self {
        let mut bounds = [u64::MAX; GAP_CLASSES];
        bounds[0] = 0;
        for (class, share) in (1..).zip(SHARES) {
            if let Some(gap) = sorted.get((sorted.len() as f64 * share) as usize) {
                bounds[class] = *gap;
            }
        }
        Self(bounds)
    }

    pub(super) fn class(&self, gap: u64) -> u8 {
        let class = self.0.iter().position(|longest| gap <= *longest);
        class.unwrap_or(GAP_CLASSES - 1) as u8
    }

    /// The gaps that represent each class. The gaps of a class in `sorted` are divided into groups of equal size, and
    /// each group is represented by its mean.
    pub(super) fn gaps(&self, sorted: &[u64]) -> [Vec<u64>; GAP_CLASSES] {
        std::array::from_fn(|class| {
            let of: Vec<u64> = sorted
                .iter()
                .copied()
                .filter(|gap| usize::from(self.class(*gap)) == class)
                .collect();
            let groups = of.len().min(GAPS);
            (0..groups)
                .map(|group| mean(&of[group * of.len() / groups..(group + 1) * of.len() / groups]))
                .collect()
        })
    }
}

/// The mean of `gaps`, which must contain at least one gap.
fn mean(gaps: &[u64]) -> u64 {
    let sum: u128 = gaps.iter().map(|gap| u128::from(*gap)).sum();
    (sum / gaps.len() as u128) as u64
}
