//! Which kind of request comes next, and when: a walk over what follows what, at the pace of the trace.

use std::collections::VecDeque;

use destage_base::Random;

use super::deck::Deck;
use super::profile::{GAP_CLASSES, Kind, Profile, Tally, context_of};

/// The kinds of requests to come, with their gaps in ticks.
#[derive(Debug)]
pub(super) struct Arrivals {
    /// What follows on each context, in the phase that was drawn from last.
    steps: Vec<Deck>,
    gaps: Vec<Deck>,
    context: usize,
    drawn: u64,
    ahead: VecDeque<(Kind, u64)>,
}

impl Arrivals {
    pub(super) fn new(profile: &Profile) -> Self {
        let each_once = |gaps: &Vec<u64>| {
            (0..gaps.len() as u32)
                .map(|index| (index, 1))
                .collect::<Tally>()
        };
        Self {
            steps: Vec::new(),
            gaps: profile
                .gaps
                .iter()
                .map(|gaps| Deck::of(&each_once(gaps)))
                .collect(),
            context: 0,
            drawn: 0,
            ahead: VecDeque::new(),
        }
    }

    pub(super) fn next(&mut self, profile: &Profile, random: &mut Random) -> Option<(Kind, u64)> {
        if self.ahead.is_empty() {
            self.look_ahead(profile, random);
        }
        self.ahead.pop_front()
    }

    /// Draws the next stretch, which takes as long as it took in the trace.
    fn look_ahead(&mut self, profile: &Profile, random: &mut Random) {
        let at = self.drawn % profile.requests;
        let stretch = (at / profile.pace_requests) as usize;
        let count = profile.pace_requests.min(profile.requests - at);
        let (mut sum, mut drawn) = (0u64, Vec::new());
        for request in at..at + count {
            if request.is_multiple_of(profile.phase_requests) {
                self.steps = profile.phase(request).steps.iter().map(Deck::of).collect();
            }
            let (kind, class) = self.step(random);
            let gap = self.gaps[class]
                .draw(random)
                .map_or(0, |index| profile.gaps[class][index as usize]);
            sum = sum.saturating_add(gap);
            drawn.push((kind, gap));
        }
        self.drawn += count;
        fit_to(&mut drawn, sum, profile.pace[stretch]);
        self.ahead.extend(drawn);
    }

    /// The next kind, and the class of its gap.
    fn step(&mut self, random: &mut Random) -> (Kind, usize) {
        if self.steps[self.context].left() == 0 {
            self.leave_context(random);
        }
        let step = self.steps[self.context].draw(random).unwrap_or(0) as usize;
        let (kind, class) = (Kind::ALL[step / GAP_CLASSES], step % GAP_CLASSES);
        self.context = context_of(kind, class);
        (kind, class)
    }

    /// Goes to a context that something is left of, by how much that is.
    fn leave_context(&mut self, random: &mut Random) {
        let total: usize = self.steps.iter().map(Deck::left).sum();
        let mut card = random.below(total.max(1) as u64) as usize;
        for (context, deck) in self.steps.iter().enumerate() {
            if card < deck.left() {
                self.context = context;
                return;
            }
            card -= deck.left();
        }
    }
}

/// Makes the gaps of `drawn`, `sum` in all, `target` in all. The largest take what is missing, or give what is too
/// much: small gaps make bursts, and stay as they are.
fn fit_to(drawn: &mut [(Kind, u64)], sum: u64, target: u64) {
    if sum <= target {
        if let Some(largest) = drawn.iter_mut().max_by_key(|(_, gap)| *gap) {
            largest.1 += target - sum;
        }
        return;
    }
    let mut gaps: Vec<u64> = drawn.iter().map(|(_, gap)| *gap).collect();
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
    for (_, gap) in drawn {
        *gap = (*gap).min(level);
    }
}
