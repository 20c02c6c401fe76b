//! The search where goals are about times that show during a run.
//!
//! Nothing that costs little tells how long a request takes: an excerpt has less to do, and a large buffer may answer later than a
//! smaller one. But a run that is far from its goals is known to be after a small part of the input, and is ended there
//! ([`destage_sim::limits`]). So the scheme that looks best is run at one size after the other, from the smallest on, until it reaches
//! the goals; at that size all others are run. If none of them reaches the goals, the one that ends last comes nearest.

use destage_sim::limits::Limits;

use super::goal::Goal;
use super::search::{At, Search};
use crate::compare::compare_within;
use crate::error::Error;

/// A run that takes more than this part of the input is near its goals.
const NEAR: f64 = 0.5;

impl Search<'_> {
    /// Whether it shows during a run that a goal about times is out of reach.
    pub(super) fn shows_early(&self) -> bool {
        let all = || self.candidates.iter().flatten();
        let shows = |goal: &Goal| {
            let limits = |config| Limits::new(config, self.whole.demand, goal.limit());
            all().all(|size| limits(&size.config).is_some())
        };
        let of_times = self.goals.iter().filter(|goal| goal.is_of_times());
        of_times.clone().next().is_some() && of_times.into_iter().all(shows)
    }

    /// Tries until the best is known, and the one that comes next to it.
    pub(super) fn race(&mut self) -> Result<(), Error> {
        let mut order: Vec<At> = (0..self.candidates.len())
            .map(|scheme| (scheme, 0))
            .collect();
        self.look(&order)?;
        self.sort(&mut order);
        let mut rest = order.into_iter().map(|(scheme, _)| scheme);
        let mut best = None;
        for scheme in rest.by_ref() {
            best = self.climb(scheme, 0)?;
            if best.is_some() {
                break;
            }
        }
        let Some(mut place) = best else {
            return Ok(());
        };
        let mut rest: Vec<usize> = rest.collect();
        let all = rest.clone();
        let mut has_next = false;
        loop {
            let reached = self.attempt(&rest, place)?;
            let known = rest.iter().zip(reached);
            let mut better: Vec<At> = known
                .filter(|(_, reached)| *reached)
                .map(|(scheme, _)| (*scheme, place))
                .collect();
            self.sort(&mut better);
            let Some((first, _)) = better.first().copied() else {
                break;
            };
            // They are as good as the best so far, or better: the one that looks best leaves the others a run each.
            has_next = true;
            let smaller = self.halve(first, 0, place)?;
            rest = better
                .into_iter()
                .skip(1)
                .map(|(scheme, _)| scheme)
                .collect();
            place = match smaller < place {
                true => smaller,
                false if place == 0 => break,
                false => place - 1,
            };
        }
        if has_next {
            return Ok(());
        }
        // Of those that miss, the one whose run was the longest comes nearest.
        let nearness = |scheme: &usize| self.share_of_run(*scheme, place);
        let nearest = all
            .into_iter()
            .max_by(|one, other| nearness(one).total_cmp(&nearness(other)));
        if let Some(scheme) = nearest {
            self.come_next(scheme, place + 1)?;
        }
        Ok(())
    }

    /// Where `scheme`, which misses at smaller sizes, begins to reach the goals from `low` on.
    fn come_next(&mut self, scheme: usize, low: usize) -> Result<(), Error> {
        let last = self.candidates[scheme].len() - 1;
        if low > last {
            return Ok(());
        }
        if self.share_of_run(scheme, low - 1) > NEAR {
            return self.climb(scheme, low).map(drop);
        }
        if self.attempt(&[scheme], last)? == [true] {
            self.halve(scheme, low, last)?;
        }
        Ok(())
    }

    /// Where `scheme` begins to reach the goals from `low` on, if it does. Where it is far from them no size is left out.
    fn climb(&mut self, scheme: usize, mut low: usize) -> Result<Option<usize>, Error> {
        let last = self.candidates[scheme].len() - 1;
        let (mut place, mut near) = (low, 0_u32);
        while self.attempt(&[scheme], place)? != [true] {
            if place == last {
                return Ok(None);
            }
            near = match self.share_of_run(scheme, place) > NEAR {
                true => near + 1,
                false => 0,
            };
            low = place + 1;
            place = place
                .saturating_add(1 << near.saturating_sub(1).min(16))
                .min(last);
        }
        self.halve(scheme, low, place).map(Some)
    }

    /// The smallest place from `low` on where `scheme` reaches the goals, as it does at `high`.
    fn halve(&mut self, scheme: usize, mut low: usize, mut high: usize) -> Result<usize, Error> {
        while low < high {
            let middle = low.midpoint(high);
            match self.attempt(&[scheme], middle)? == [true] {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        Ok(high)
    }

    /// The part of the input that the run of `scheme` at `place` took; 0 if there was none.
    fn share_of_run(&self, scheme: usize, place: usize) -> f64 {
        let run = self.full[scheme].get(&place);
        run.map_or(0.0, |run| match run.error.as_deref() {
            Some(Error::OutOfReach { requests }) => {
                *requests as f64 / self.whole.requests.max(1) as f64
            }
            _ => 1.0,
        })
    }

    /// Runs `schemes` at `place`, or at their last one, side by side, and ends those that cannot reach the goals any more; who reaches them.
    fn attempt(&mut self, schemes: &[usize], place: usize) -> Result<Vec<bool>, Error> {
        let at = |scheme: &usize| (*scheme, place.min(self.candidates[*scheme].len() - 1));
        let all: Vec<At> = schemes.iter().map(at).collect();
        let is_new = |(scheme, place): &At| !self.full[*scheme].contains_key(place);
        let new: Vec<At> = all.iter().copied().filter(is_new).collect();
        self.look_at_counts(&new)?;
        // What is foreseen to have too large a count is not run.
        let may_reach = |(scheme, place): &At| {
            let mut goals = self.goals.iter().enumerate();
            goals.all(|(index, goal)| {
                goal.is_of_times()
                    || self
                        .value(index, *scheme, *place)
                        .is_none_or(|value| goal.is_met(value))
            })
        };
        let wanted: Vec<At> = new.into_iter().filter(may_reach).collect();
        self.run_all(&wanted, true)?;
        let reaches = |(scheme, place): &At| {
            let run = self.full[*scheme].get(place);
            run.is_some_and(|run| self.reaches(run))
        };
        Ok(all.iter().map(reaches).collect())
    }

    /// Runs those of `wanted` in full; with `ends_early`, until they cannot reach the goals any more.
    pub(super) fn run_all(&mut self, wanted: &[At], ends_early: bool) -> Result<(), Error> {
        if wanted.is_empty() {
            return Ok(());
        }
        let combination = |(scheme, place): &At| self.candidates[*scheme][*place].clone();
        let combinations: Vec<_> = wanted.iter().map(combination).collect();
        let goals = || self.goals.iter().flat_map(Goal::limit);
        let limits = combinations.iter().map(|each| match ends_early {
            true => Limits::new(&each.config, self.whole.demand, goals()),
            false => None,
        });
        let limits: Vec<_> = limits.collect();
        let input = std::slice::from_ref(&self.whole.input);
        let runs = compare_within(input, &combinations, &limits, self.effort)?.runs;
        for ((scheme, place), run) in wanted.iter().zip(runs) {
            self.full[*scheme].insert(*place, run);
        }
        Ok(())
    }
}
