//! When requests come: gaps of the classes of the trace, at the pace of the trace.

use destage_base::Random;

use super::deck::Deck;
use super::profile::Profile;

/// Draws the gaps of stretches of requests.
#[derive(Debug)]
pub(super) struct Arrivals {
    /// Gaps of each class.
    gaps: Vec<Deck>,
}

impl Arrivals {
    pub(super) fn new(profile: &Profile) -> Self {
        let gaps = profile.gaps.iter();
        Self {
            gaps: gaps.map(|gaps| Deck::new(gaps.clone())).collect(),
        }
    }

    /// The gaps, in ticks, before the requests of a stretch of the profile. Together they take as long as the stretch
    /// took in the trace.
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

/// Makes gaps take `target` in all. The largest gaps absorb the difference: small gaps make bursts, and stay unchanged.
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
        // Were all from here on as large as this one, they would not fit.
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
