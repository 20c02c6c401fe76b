//! Draws arrivals: gaps from the classes of the trace, at the pace of the trace.

use destage_base::Random;

use super::deck::Deck;
use super::profile::Profile;

/// Draws the gaps of stretches of requests.
#[derive(Debug)]
pub(super) struct Arrivals {
    /// The gaps of each class.
    gaps: Vec<Deck>,
}

impl Arrivals {
    pub(super) fn new(profile: &Profile) -> Self {
        let gaps = profile.gaps.iter();
        Self {
            gaps: gaps.map(|gaps| Deck::new(gaps.clone())).collect(),
        }
    }

    /// The gaps in ticks before each request of a stretch of the profile. Their sum is the time that the
    /// stretch took in the trace.
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

/// Changes gaps so that their sum is `target`. The largest gaps absorb the difference; small gaps, which make
/// bursts, do not change.
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
        // Stops at the first gap that is above the level at which all remaining gaps would fit.
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
