//! Gaps of a trace, in as many classes as a profile has.

use super::profile::GAP_CLASSES;

/// Gaps that stand for a class.
const GAPS: usize = 16;
/// Share of all gaps above 0 that are no longer than those of a class, without the last class.
const SHARES: [f64; GAP_CLASSES - 2] = [0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.98, 0.995];

/// Classes of gaps, by the longest gap of each.
pub(super) struct GapClasses([u64; GAP_CLASSES]);

impl GapClasses {
    /// The gaps of `sorted` above 0: class 0 is no gap, the other classes hold rising shares of all.
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

    /// Gaps that stand for those of each class in `sorted`: means of equally large groups.
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

/// The mean of some gaps, at least one.
fn mean(gaps: &[u64]) -> u64 {
    let sum: u128 = gaps.iter().map(|gap| u128::from(*gap)).sum();
    (sum / gaps.len() as u128) as u64
}
