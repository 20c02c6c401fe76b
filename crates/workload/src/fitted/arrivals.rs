//! When requests come: gaps by what comes before and behind them, at the pace of the trace.

use destage_base::Random;

use super::deck::Deck;
use super::profile::{Before, Profile, Tally};
use super::schedule::Step;

/// Draws the gaps of stretches of requests.
#[derive(Debug)]
pub(super) struct Arrivals {
    /// Gaps of each class.
    gaps: Vec<Deck>,
    /// Classes by context, in the phase that was drawn from last.
    classes: Vec<Deck>,
    /// The last request of the stretch before.
    before: Before,
}

impl Arrivals {
    pub(super) fn new(profile: &Profile) -> Self {
        let each_once = |gaps: &Vec<u64>| {
            (0..gaps.len() as u32)
                .map(|index| (index, 1))
                .collect::<Tally>()
        };
        let gaps = profile.gaps.iter();
        Self {
            gaps: gaps.map(|gaps| Deck::of(&each_once(gaps))).collect(),
            classes: Vec::new(),
            before: Before::default(),
        }
    }

    /// The gaps, in ticks, before `steps`, a stretch, the first of which is the `from`th of the profile. Together they take as long as the stretch took in the trace.
    pub(super) fn gaps(
        &mut self,
        profile: &Profile,
        from: u64,
        steps: &[Step],
        random: &mut Random,
    ) -> Vec<u64> {
        let mut drawn = Vec::with_capacity(steps.len());
        for (request, step) in (from..).zip(steps) {
            if request.is_multiple_of(profile.phase_requests) {
                let phase = &profile.phases[(request / profile.phase_requests) as usize];
                self.classes = phase.iter().map(Deck::of).collect();
            }
            let side = (step.writes, step.sectors);
            let class = self.class(self.before.context(side), random);
            self.before = Before::new(side, class);
            let gap = self.gaps[class].draw(random);
            drawn.push(gap.map_or(0, |index| profile.gaps[class][index as usize]));
        }
        let target = profile.pace[(from / profile.pace_requests) as usize];
        fit_to(&mut drawn, target);
        drawn
    }

    /// A class of gaps in `context`, or in the next one that has any left.
    fn class(&mut self, context: usize, random: &mut Random) -> usize {
        let all = self.classes.len();
        let next = (0..all)
            .map(|more| (context + more) % all)
            .find(|context| self.classes[*context].left() > 0);
        let class = next.and_then(|context| self.classes[context].draw(random));
        class.unwrap_or(0) as usize
    }
}

/// Makes gaps take `target` in all. The largest take what is missing, or give what is too much: small gaps make
/// bursts, and stay as they are.
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
