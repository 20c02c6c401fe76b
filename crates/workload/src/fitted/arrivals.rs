//! Draws the gaps between arrivals. The length of each gap depends on its class in the trace. The duration of each
//! stretch of requests is the same as in the trace.

use destage_base::Random;

use super::deck::Deck;
use super::profile::Profile;

/// Draws the gaps before the requests of a stretch.
#[derive(Debug)]
pub(super) struct Arrivals {
    /// For each class, the gaps to draw from.
    gaps: Vec<Deck>,
}

impl Arrivals {
    pub(super) fn new(profile: &Profile) -> Self {
        let gaps = profile.gaps.iter();
        Self {
            gaps: gaps.map(|gaps| Deck::new(gaps.clone())).collect(),
        }
    }

    /// The gaps before the requests of a stretch of the profile, in ticks. The sum of the gaps is the duration of the
    /// stretch in the trace.
    pub(super) fn gaps(
        &mut self,
        profile: &Profile,
        stretch: usize,
        random: &mut Random,
    ) -> Vec<u64> {
        let requests = profile.pace_requests as usize;
        let classes = profile.classes.iter().skip(stretch * requests);
        let mut drawn: Vec<u64> = classes
            .take(requests)
            .map(|class| self.gaps[usize::from(*class)].draw(random).unwrap_or(0))
            .collect();
        fit_to(&mut drawn, profile.pace[stretch]);
        drawn
    }
}

/// Changes gaps so that their sum is `target`. Only the largest gaps are changed. The small gaps, which make bursts,
/// remain as they are.
fn fit_to(drawn: &mut [u64], target: u64) {
    let sum = drawn.iter().fold(0u64, |sum, gap| sum.saturating_add(*gap));
    if sum <= target {
        if let Some(largest) = drawn.iter_mut().max_by_key(|gap| **gap) {
            *largest += target - sum;
        }
        return;
    }
    let mut gaps = drawn.to_vec();
    gaps.sort_unstable();
    let (mut left, mut level) = (target, 0);
    for (index, gap) in gaps.iter().enumerate() {
        // Stops at the first gap that is longer than an equal part of the remaining time.
        let count = (gaps.len() - index) as u64;
        level = left / count;
        if *gap > level {
            break;
        }
        left -= gap;
    }
    for gap in drawn {
        *gap = (*gap).min(level);
    }
}
