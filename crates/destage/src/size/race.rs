//! The search for goals about times, if a run can show early that it will not reach such a goal.
//!
//! No cheap run predicts response times: the load of an excerpt is lower, and response times do not always fall with
//! the size of the buffer. But a run that is far from its goals shows this early in the input, and is then ended
//! ([`destage_sim::limits`]). The search first needs one scheme that reaches the goals, called the leader here. The
//! schemes are run at increasing sizes, in the order of their results on an excerpt, until one scheme reaches the
//! goals. Far from the goals, a scheme is run at every size. Near the goals, sizes are skipped: a line through the
//! measured values gives the next size. Then the smallest size of the leader is found. Each other scheme that may
//! reach the goals at this size is run at this size. The best of the other schemes that reach the goals is tried at
//! smaller sizes. If it reaches the goals at a smaller size, it becomes the leader. Otherwise the remaining schemes
//! are run at the next smaller size. If no other scheme reaches the goals at the smallest size of the leader, the
//! scheme that came nearest to the goals is run at larger sizes.

use std::cmp::Reverse;

use destage_sim::limits::Limits;
use destage_sim::metrics::rows;

use super::goal::Goal;
use super::line::{Line, POINTED};
use super::search::{At, Range, Search, Stop};
use crate::compare::compare_within;
use crate::error::Error;

/// A run is near its goals if it misses the goals by less than this fraction of their values.
const NEAR: f64 = 0.33;
/// On the excerpt, the schemes are compared at the size whose index is the number of sizes divided by this number. At
/// the smallest sizes, the schemes hardly differ.
const FIRST_LOOK: usize = 4;

impl Search<'_> {
    /// Whether runs of all candidates can show early that a goal about times is out of reach.
    pub(super) fn shows_early(&self) -> bool {
        let all = || self.candidates.iter().flatten();
        let shows = |goal: &Goal| {
            let limits = |config| Limits::new(config, self.whole.demand, goal.limit());
            all().all(|size| limits(&size.config).is_some())
        };
        let of_times = self.goals.iter().filter(|goal| goal.is_of_times());
        of_times.clone().next().is_some() && of_times.into_iter().all(shows)
    }

    /// Searches until the best scheme and the second best are known.
    pub(super) fn race(&mut self) -> Result<(), Stop> {
        let Some((mut best, order)) = self.first_to_reach()? else {
            return Ok(());
        };
        let mut challengers = order.into_iter();
        let place = loop {
            let place = self.find(best)?;
            // The next scheme in the order of the excerpt is run alone first. If it needs a smaller size than `best`,
            // the other schemes are run only at this smaller size.
            if let Some(rival) = challengers.find(|rival| *rival != best) {
                self.attempt(&self.open_at(&[rival], place), place)?;
                if self.known[rival].high <= place && self.does_better(rival, best, place)? {
                    best = rival;
                    continue;
                }
            }
            let all = 0..self.candidates.len();
            let others: Vec<usize> = all.filter(|scheme| *scheme != best).collect();
            self.attempt(&self.open_at(&others, place), place)?;
            // The schemes other than `best` that reach the goals at `place`, the smallest place of `best`.
            let mut rivals: Vec<At> = others
                .into_iter()
                .filter(|scheme| self.known[*scheme].high <= place)
                .map(|scheme| (scheme, place))
                .collect();
            self.sort(&mut rivals);
            let rivals: Vec<usize> = rivals.into_iter().map(|(scheme, _)| scheme).collect();
            let Some((first, rest)) = rivals.split_first() else {
                break place;
            };
            let Some(smaller) = place.checked_sub(1) else {
                return Ok(());
            };
            if self.does_better(*first, best, place)? {
                best = *first;
                continue;
            }
            self.attempt(&self.open_at(rest, smaller), smaller)?;
            let reaches = |scheme: &&usize| self.known[**scheme].high <= smaller;
            match rest.iter().find(reaches) {
                Some(scheme) => best = *scheme,
                None => return Ok(()),
            }
        };
        self.come_next(best, place)
    }

    /// Whether `rival` reaches the goals at a smaller place than `place`. Both `rival` and `best` reach the goals at
    /// `place`.
    fn does_better(&mut self, rival: usize, best: usize, place: usize) -> Result<bool, Stop> {
        let Some(smaller) = place.checked_sub(1) else {
            return Ok(false);
        };
        // The first trial is at the size at which the rival probably begins to reach the goals, instead of the next
        // smaller size.
        let pointed = self.pointed_from(best, rival, place).unwrap_or(smaller);
        let pointed = pointed.clamp(smaller / 2, smaller);
        self.attempt(&self.open_at(&[rival], pointed), pointed)?;
        Ok(self.find(rival)? <= smaller)
    }

    /// Runs the schemes at increasing sizes, in the order of their results on an excerpt, until one scheme reaches
    /// the goals. Returns this scheme, and the schemes that follow it in this order. `None` if no scheme reaches the
    /// goals.
    fn first_to_reach(&mut self) -> Result<Option<(usize, Vec<usize>)>, Stop> {
        let Some(forecast) = self.forecasts.first() else {
            return Ok(None);
        };
        let order = forecast.glimpse(
            self.whole,
            &self.candidates,
            self.goals,
            FIRST_LOOK,
            self.effort,
        )?;
        self.glimpses += order.len();
        let mut order = order.into_iter().map(|(scheme, _)| scheme);
        while let Some(scheme) = order.next() {
            let sizes = self.candidates[scheme].len();
            let mut near = 0_u32;
            while self.known[scheme].low < sizes {
                let step = (1_usize << near.min(16)) - 1;
                let low = self.known[scheme].low;
                let furthest = (low + step).min(sizes - 1);
                let pointed = self.line(scheme).and_then(|line| line.crossing());
                let place = pointed.map_or(furthest, |pointed| pointed.clamp(low, furthest));
                if self.attempt(&[scheme], place)? == [true] {
                    return Ok(Some((scheme, order.collect())));
                }
                near = match self.excess(scheme, place) {
                    Some(excess) if excess < NEAR => near + 1,
                    _ => 0,
                };
            }
        }
        Ok(None)
    }

    /// The smallest place at which `scheme` reaches the goals. The caller has to know that the scheme reaches the
    /// goals at some place.
    fn find(&mut self, scheme: usize) -> Result<usize, Stop> {
        let mut tried = 0;
        loop {
            let Range { low, high, .. } = self.known[scheme];
            if low >= high {
                return Ok(high);
            }
            let middle = low.midpoint(high);
            let place = match tried < POINTED {
                true => self
                    .line(scheme)
                    .and_then(|line| line.crossing())
                    .unwrap_or(middle),
                false => middle,
            };
            tried += 1;
            self.attempt(&[scheme], place.clamp(low, high - 1))?;
        }
    }

    /// The line through the two values of `scheme` that are nearest to the smallest place at which it reaches the
    /// goals.
    fn line(&self, scheme: usize) -> Option<Line> {
        let sizes = self.candidates[scheme].len();
        Line::around(self.known[scheme], sizes, |place| {
            self.excess(scheme, place)
        })
    }

    /// The smallest place at which `rival` would reach the goals, if a larger buffer improved `rival` as much as
    /// `scheme`. `place` is a place at which `rival` was run.
    fn pointed_from(&self, scheme: usize, rival: usize, place: usize) -> Option<usize> {
        let like = self.line(scheme)?;
        like.moved_to(place, self.excess(rival, place)?).crossing()
    }

    /// Called if `best` is the only scheme that reaches the goals at `place`. Searches for the smallest place of the
    /// scheme that came nearest to the goals.
    fn come_next(&mut self, best: usize, place: usize) -> Result<(), Stop> {
        let is_out = |scheme: usize| self.known[scheme].low >= self.candidates[scheme].len();
        let others =
            (0..self.candidates.len()).filter(|scheme| *scheme != best && !is_out(*scheme));
        // Schemes that are known to reach the goals come first, in ascending order of place. All other schemes
        // follow, in ascending order of the excess.
        let nearness = |scheme: &usize| {
            let Range { low, high, .. } = self.known[*scheme];
            let reached = (high < self.candidates[*scheme].len()).then_some(Reverse(low));
            let missed = low.checked_sub(1).map(|place| self.excess(*scheme, place));
            ((high, reached), missed.flatten().unwrap_or(f64::INFINITY))
        };
        let nearest = others.min_by(|one, other| {
            let ((place, excess), (than, other_excess)) = (nearness(one), nearness(other));
            place.cmp(&than).then(excess.total_cmp(&other_excess))
        });
        let Some(scheme) = nearest else {
            return Ok(());
        };
        let sizes = self.candidates[scheme].len();
        let low = self.known[scheme].low;
        let pointed = low
            .checked_sub(1)
            .and_then(|missed| self.pointed_from(best, scheme, missed));
        let mut is_far = pointed.is_none_or(|pointed| pointed > low);
        while self.known[scheme].high >= sizes && self.known[scheme].low < sizes {
            let low = self.known[scheme].low;
            let next = match is_far {
                true => sizes - 1,
                false => low,
            };
            self.attempt(&[scheme], next)?;
            // If the scheme misses the goals at this size, it is next tried at its largest size.
            is_far = true;
        }
        if self.known[scheme].high < sizes {
            self.find(scheme)?;
        }
        let next = self.known[scheme].high;
        let rest = 0..self.candidates.len();
        let rest: Vec<usize> = rest
            .filter(|other| ![best, scheme].contains(other))
            .collect();
        // If no other scheme can reach the goals at a smaller place than `next`, the schemes are run at `next`, to
        // find out which of them reach the goals at this place.
        let cannot_do_with_less = |other: &usize| {
            let known = self.known[*other];
            known.low >= next.min(self.candidates[*other].len())
        };
        if next < sizes && rest.iter().all(cannot_do_with_less) {
            self.attempt(&self.open_at(&rest, next), next)?;
        }
        let is_known = |other: &usize| {
            let known = self.known[*other];
            let sizes = self.candidates[*other].len();
            known.low > next || known.low >= sizes || (known.low == next && known.high == next)
        };
        if next > place && !rest.iter().all(is_known) {
            self.nearest = Some(scheme);
        }
        Ok(())
    }

    /// Those of `schemes` for which it is not yet known whether they reach the goals at `place`.
    fn open_at(&self, schemes: &[usize], place: usize) -> Vec<usize> {
        let is_open = |scheme: &&usize| {
            let place = place.min(self.candidates[**scheme].len() - 1);
            self.known[**scheme].open().contains(&place)
        };
        schemes.iter().filter(is_open).copied().collect()
    }

    /// Approximately how far `scheme` misses its worst goal at `place`, as a fraction of the goal. The value is
    /// negative if the scheme reaches all goals, and `None` if the scheme was not run at `place`.
    pub(super) fn excess(&self, scheme: usize, place: usize) -> Option<f64> {
        let run = self.full[scheme].get(&place)?;
        if let Some(Error::OutOfReach { requests, answered }) = run.error.as_deref() {
            let part = |count: u64| count as f64 / self.whole.requests.max(1) as f64;
            let (come, waiting) = (part(*requests), part(requests - answered));
            // The excess of a run that was ended early is estimated. The more requests it received before its end,
            // the nearer it was to the goals; the more of its requests were unanswered, the further away it was.
            return Some(1.0 / (come * (1.0 - waiting * waiting)).max(1e-6) - 1.0);
        }
        if run.stopped_early() {
            let served = run.number(rows::HOST_COMPLETED.name).unwrap_or(0.0);
            return Some(self.whole.requests as f64 / served.max(1.0));
        }
        let goals = self.goals.iter();
        let of = |goal: &Goal| {
            let number = run.number(&goal.metric).filter(|_| goal.below)?;
            Some(goal.excess(number))
        };
        goals.filter_map(of).max_by(f64::total_cmp)
    }

    /// Runs `schemes` at `place` in parallel. A scheme with fewer sizes is run at its largest size. A run that can no
    /// longer reach the goals is ended early. Returns for each scheme whether it reaches the goals.
    fn attempt(&mut self, schemes: &[usize], place: usize) -> Result<Vec<bool>, Stop> {
        let at = |scheme: &usize| (*scheme, place.min(self.candidates[*scheme].len() - 1));
        let all: Vec<At> = schemes.iter().map(at).collect();
        let is_new = |(scheme, place): &At| !self.full[*scheme].contains_key(place);
        let new: Vec<At> = all.iter().copied().filter(is_new).collect();
        self.look_at_counts(&new)?;
        // A scheme is not run if the forecast of a count misses a goal.
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
        let reached: Vec<bool> = all.iter().map(reaches).collect();
        for ((scheme, place), reached) in all.into_iter().zip(&reached) {
            let known = &mut self.known[scheme];
            match reached {
                true => known.high = known.high.min(place),
                false => known.low = known.low.max(place + 1),
            }
        }
        Ok(reached)
    }

    /// Simulates the full runs of `wanted`. If `ends_early` is true, a run ends as soon as it can no longer reach the
    /// goals. Returns `Stop::Failed` if a run fails.
    pub(super) fn run_all(&mut self, wanted: &[At], ends_early: bool) -> Result<(), Stop> {
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
        let mut failed = None;
        for ((scheme, place), run) in wanted.iter().zip(runs) {
            let has_failed = run.error.as_deref().is_some_and(Error::is_failure);
            failed = failed.or(has_failed.then_some(*scheme));
            self.full[*scheme].insert(*place, run);
        }
        match failed {
            Some(scheme) => Err(Stop::Failed(scheme)),
            None => Ok(()),
        }
    }
}
