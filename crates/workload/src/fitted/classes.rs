//! Sizes and gaps of a trace, in as many classes as a profile has.

use std::collections::{BTreeMap, HashMap};

use super::profile::GAP_CLASSES;

/// Sizes that stand by themselves, the most frequent ones.
const OWN_SIZES: usize = 64;
/// Groups of all others, of about equally many requests; the mean stands for each.
const SIZE_GROUPS: u64 = 64;
/// Gaps that stand for a class.
const GAPS: usize = 24;

/// Sizes of a profile in sectors, and which of them stands for each size in `counts`.
pub(super) fn sizes(counts: &BTreeMap<u32, u64>) -> (Vec<u32>, HashMap<u32, u32>) {
    let mut popular: Vec<(u64, u32)> = counts.iter().map(|(s, c)| (*c, *s)).collect();
    popular.sort_unstable_by(|a, b| b.cmp(a));
    let mut rest: Vec<(u32, u64)> = popular
        .split_off(popular.len().min(OWN_SIZES))
        .into_iter()
        .map(|(c, s)| (s, c))
        .collect();
    rest.sort_unstable();
    let mut sizes: Vec<u32> = popular.iter().map(|(_, s)| *s).collect();
    let mut of: HashMap<u32, u32> = sizes
        .iter()
        .enumerate()
        .map(|(i, s)| (*s, i as u32))
        .collect();
    let total: u64 = rest.iter().map(|r| r.1).sum();
    let (mut seen, mut group, mut groups): (u64, usize, Vec<Vec<(u32, u64)>>) =
        (0, usize::MAX, Vec::new());
    for (s, c) in rest {
        let g = (seen * SIZE_GROUPS / total.max(1)) as usize;
        seen += c;
        if g != group {
            group = g;
            groups.push(Vec::new());
        }
        if let Some(last) = groups.last_mut() {
            last.push((s, c));
        }
    }
    for g in groups {
        let count: u64 = g.iter().map(|x| x.1).sum();
        let mean = g.iter().map(|x| u64::from(x.0) * x.1).sum::<u64>() / count;
        for (s, _) in &g {
            of.insert(*s, sizes.len() as u32);
        }
        sizes.push(mean as u32);
    }
    (sizes, of)
}

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
