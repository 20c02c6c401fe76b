//! The search, with few full runs, for the smallest size at which each scheme reaches the goals.
//!
//! A scheme that misses the goals at one size is assumed to miss the goals at all smaller sizes. A scheme that
//! reaches the goals at one size is assumed to reach the goals at all larger sizes. Forecasts (`forecast.rs`) find
//! the smallest size, first for the scheme with the best result on an excerpt. Most other schemes then need only one
//! forecast at this size, or no forecast. Full runs confirm the two best schemes. The ratio of a full run to its
//! forecast corrects all further forecasts.
//!
//! If no scheme reaches the goals in this way, the assumption may be wrong for these goals. Then all sizes are forecast
//! from runs without a clock; if the goals need a clock, only the smallest size of each scheme is run. A forecast is not
//! an answer: if a forecast would make a scheme one of the two best, the scheme is run at this size.
//!
//! A run that fails says nothing about the goals. If a cheaper run fails, a full run replaces it. If the full run
//! succeeds, another kind of runs gives all further forecasts. If the full run fails, its scheme is removed, and the
//! search begins again with all other schemes. Finished runs are not repeated.

use std::collections::BTreeMap;

use destage_sim::settings::Settings;

use super::forecast::Forecast;
use super::goal::Goal;
use super::line::{Line, POINTED};
use super::whole::Whole;
use crate::compare::Effort;
use crate::error::Error;
use crate::grid::Combination;
use crate::record::Record;

/// The number of a scheme, and a place: the index of a size in the scheme's list of sizes.
pub(super) type At = (usize, usize);

/// The reason why a search stops before its answer is known.
pub(super) enum Stop {
    Error(Error),
    /// A full run of this scheme failed.
    Failed(usize),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// The state of the search; see the [module](self).
pub(super) struct Search<'a> {
    pub(super) goals: &'a [Goal],
    pub(super) whole: &'a Whole,
    /// The settings of full runs. The candidates set the scheme and the size.
    pub(super) settings: &'a Settings,
    /// The combinations of each scheme, in ascending order of size.
    pub(super) candidates: Vec<Vec<Combination>>,
    /// Whether each scheme buffers pages. It is stored here because the scheme has to be built to find out.
    pub(super) keeps_pages: Vec<bool>,
    pub(super) forecasts: Vec<Forecast>,
    /// The scheme and place of the first forecast. `glimpses` is the number of runs on excerpts so far.
    pub(super) first: At,
    pub(super) glimpses: usize,
    /// The full runs of each scheme, by place.
    pub(super) full: Vec<BTreeMap<usize, Record>>,
    /// For goals that a run can show early to be out of reach: for each scheme, the range of its smallest place,
    /// according to full runs.
    pub(super) known: Vec<Range>,
    /// For the same goals: the scheme that came nearest to the goals, if it is not known which scheme is second best.
    pub(super) nearest: Option<usize>,
    /// For each scheme that was removed because a full run failed: its full runs, by place.
    pub(super) failed: Vec<BTreeMap<usize, Record>>,
    pub(super) effort: &'a Effort<'a>,
}

/// The result of a search. A place is an index in the list of sizes.
pub(super) struct Found {
    /// For each scheme, the smallest place at which a full run reaches the goals.
    pub(super) answers: Vec<(usize, Record)>,
    /// For each scheme without such a run, the smallest place at which a forecast reaches the goals.
    pub(super) seeming: Vec<(usize, Record)>,
    /// For each other scheme, the run or the forecast at the largest place.
    pub(super) missed: Vec<Record>,
    /// The failed run of each scheme that was removed from the search.
    pub(super) failed: Vec<Record>,
}

/// The place of a scheme that is not known to reach the goals. This place is larger than all places of sizes.
const NOWHERE: usize = usize::MAX;
/// At most this many runs that were ended early are repeated to find the one that comes nearest to the goals.
const MOST_REPEATED: usize = 4;

/// The range of the smallest place at which a scheme reaches the goals: at least `low` and at most `high`. `high` is
/// [`NOWHERE`] if the scheme is not known to reach the goals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Range {
    pub(super) low: usize,
    pub(super) high: usize,
    /// The number of sizes that the scheme has.
    sizes: usize,
}

impl Range {
    /// The range of a scheme with `sizes` sizes, before any run or forecast.
    pub(super) fn of(sizes: usize) -> Self {
        Self {
            low: 0,
            high: NOWHERE,
            sizes,
        }
    }

    /// The places for which it is not known whether the scheme reaches the goals.
    pub(super) fn open(self) -> std::ops::Range<usize> {
        self.low..self.high.min(self.sizes)
    }
}

impl Search<'_> {
    /// Searches until the two best schemes are known.
    pub(super) fn carry_out(&mut self) -> Result<(), Error> {
        while !self.candidates.is_empty() {
            let found = self.find_best().and_then(|()| self.try_smaller());
            match found.and_then(|()| self.finish_nearest()) {
                Ok(()) => break,
                Err(Stop::Error(error)) => return Err(error),
                Err(Stop::Failed(scheme)) => self.remove(scheme),
            }
        }
        Ok(())
    }

    /// Removes `scheme` after its full run failed. The numbers of all later schemes decrease by one.
    fn remove(&mut self, scheme: usize) {
        let runs = self.full.remove(scheme);
        self.failed.push(runs);
        self.candidates.remove(scheme);
        self.keeps_pages.remove(scheme);
        self.forecasts
            .iter_mut()
            .for_each(|forecast| forecast.remove(scheme));
        let sizes = self.candidates.iter().map(Vec::len);
        self.known = sizes.map(Range::of).collect();
        self.nearest = None;
    }

    /// The smallest place of each scheme at which a full run reaches the goals, the best answer first.
    fn reached(&self) -> Vec<At> {
        let smallest = |scheme: usize| {
            let mut runs = self.full[scheme].iter();
            let (place, _) = runs.find(|(_, record)| self.reaches(record))?;
            Some((scheme, *place))
        };
        let mut all: Vec<At> = (0..self.full.len()).filter_map(smallest).collect();
        self.sort(&mut all);
        all
    }

    /// The scheme and the place of the best answer; `None` if no full run reaches the goals.
    pub(super) fn best(&self) -> Option<At> {
        self.reached().first().copied()
    }

    /// Whether runs on the whole input without a clock forecast all goals.
    fn is_counted(&self) -> bool {
        self.forecasts.iter().all(Forecast::is_of_counts)
    }

    /// Tries sizes that the search left out, because a metric need not be monotonic in the size. Sizes that have neither
    /// a full run nor a forecast are forecast: those of the best scheme that are smaller than its answer, or all sizes
    /// if there is no answer. If runs on the whole input without a clock cannot forecast all goals, only the smallest
    /// size of each scheme is run in place of these forecasts, and only if there is no answer. Then each size that
    /// [seems](Self::seeming) to be one of the two smallest answers is run.
    fn try_smaller(&mut self) -> Result<(), Stop> {
        if !self.is_counted() && self.best().is_none() {
            let mut smallest = self.unseen(None);
            smallest.retain(|(_, place)| *place == 0);
            self.run_all(&smallest, true)?;
        }
        loop {
            if self.is_counted() {
                let unseen = self.unseen(self.best());
                self.look(&unseen)?;
            }
            let seeming = self.seeming();
            if seeming.is_empty() {
                return Ok(());
            }
            self.run_all(&seeming, false)?;
        }
    }

    /// If no run reaches the goals, the result names the run that comes nearest. A run that was ended early has no metrics,
    /// so it is repeated up to the end of its input if it seems to be nearest.
    fn finish_nearest(&mut self) -> Result<(), Stop> {
        if self.best().is_some() {
            return Ok(());
        }
        for _ in 0..MOST_REPEATED {
            let runs = self.full.iter().enumerate();
            let all = runs.flat_map(|(scheme, runs)| runs.iter().map(move |run| (scheme, run)));
            let known = all.filter_map(|(scheme, (place, run))| {
                let at: At = (scheme, *place);
                Some((self.excess(scheme, *place)?, at, run.error.is_some()))
            });
            let nearest = known.min_by(|one, other| one.0.total_cmp(&other.0));
            match nearest {
                Some((_, at, true)) => self.run_all(&[at], false)?,
                _ => break,
            }
        }
        Ok(())
    }

    /// The places that have neither a full run nor a forecast: those of the scheme of `best` below its answer, or those
    /// of all schemes without an answer.
    fn unseen(&self, best: Option<At>) -> Vec<At> {
        match best {
            Some((scheme, place)) => self.unseen_below(scheme, place).collect(),
            None => (0..self.candidates.len())
                .flat_map(|scheme| self.unseen_below(scheme, NOWHERE))
                .collect(),
        }
    }

    /// The schemes at the smallest place that has no full run, but at which a forecast reaches the goals. A place counts
    /// only if it would be one of the two best answers. If there is no answer, and runs on the whole input forecast all
    /// goals, a forecast also counts without its correction, because the ratio of full run to forecast may differ between
    /// sizes.
    fn seeming(&self) -> Vec<At> {
        let reached = self.reached();
        let end = |scheme: usize| match &reached[..] {
            [(best, place), ..] if *best == scheme => *place,
            [_, (_, place), ..] => *place,
            _ => NOWHERE,
        };
        let uncorrected = reached.is_empty() && self.is_counted();
        let mut all: Vec<At> = Vec::new();
        for (scheme, sizes) in self.candidates.iter().enumerate() {
            let seems = |place: &usize| {
                !self.full[scheme].contains_key(place)
                    && (self.meets(scheme, *place) == Some(true)
                        || uncorrected && self.is_foreseen(scheme, *place))
            };
            let mut places = 0..end(scheme).min(sizes.len());
            all.extend(places.find(seems).map(|place| (scheme, place)));
        }
        let smallest = all.iter().map(|(_, place)| *place).min();
        all.retain(|(_, place)| Some(*place) == smallest);
        all
    }

    /// Whether the forecasts of `scheme` at `place` reach all goals without a correction.
    fn is_foreseen(&self, scheme: usize, place: usize) -> bool {
        let mut goals = self.goals.iter().enumerate();
        goals.all(|(index, goal)| {
            let value = self.foreseen(index, scheme, place);
            value.is_some_and(|value| goal.is_met(value))
        })
    }

    /// The places of `scheme` below `place` that have neither a full run nor a forecast.
    fn unseen_below(&self, scheme: usize, place: usize) -> impl Iterator<Item = At> {
        let places = 0..place.min(self.candidates[scheme].len());
        let unseen = places.filter(move |place| self.meets(scheme, *place).is_none());
        unseen.map(move |place| (scheme, place))
    }

    /// For each scheme, the sizes in bytes that have neither a full run nor a forecast; if there is an answer, only
    /// those that are smaller than the best answer.
    pub(super) fn untried(&self) -> Vec<(String, Vec<u64>)> {
        let bytes = |(scheme, place): At| self.candidates[scheme][place].capacity();
        let best = self.best();
        let most = best.map_or(u64::MAX, bytes);
        let of = |scheme: usize| {
            let unseen = self.unseen_below(scheme, NOWHERE).map(bytes);
            let smaller: Vec<u64> = unseen.filter(|size| *size < most).collect();
            (self.candidates[scheme][0].buffer.clone(), smaller)
        };
        let counts = best.is_none_or(|(scheme, _)| self.keeps_pages[scheme]);
        let all = (0..self.candidates.len())
            .filter(|scheme| self.keeps_pages[*scheme] && counts)
            .map(of);
        all.filter(|(_, sizes)| !sizes.is_empty()).collect()
    }

    fn find_best(&mut self) -> Result<(), Stop> {
        if self.shows_early() {
            return self.race();
        }
        if let [forecast, ..] = &self.forecasts[..] {
            let looks =
                forecast.glimpse(self.whole, &self.candidates, self.goals, 2, self.effort)?;
            self.first = looks[0];
            self.glimpses += self.candidates.len();
        }
        loop {
            let best = self.locate()?;
            let Some(wanted) = self.to_confirm(&best) else {
                return Ok(());
            };
            let mut runs = self.full.iter().flat_map(BTreeMap::values);
            let is_reached = runs.any(|run| self.reaches(run));
            self.run_all(&[wanted], is_reached)?;
        }
    }

    /// The result of the search.
    pub(super) fn found(self) -> Found {
        let mut found = Found {
            answers: Vec::new(),
            seeming: Vec::new(),
            missed: Vec::new(),
            failed: Vec::new(),
        };
        let has_failed = |run: &&Record| run.error.as_deref().is_some_and(Error::is_failure);
        let failed = self.failed.iter().flat_map(BTreeMap::values);
        found.failed.extend(failed.filter(has_failed).cloned());
        for (scheme, runs) in self.full.iter().enumerate() {
            let mut all = runs.iter();
            if let Some((place, record)) = all.find(|(_, record)| self.reaches(record)) {
                found.answers.push((*place, record.clone()));
                continue;
            }
            let sizes = 0..self.candidates[scheme].len();
            let foreseen = |place: usize| {
                let value = |index| self.value(index, scheme, place);
                let mut forecasts = self.forecasts.iter();
                let at = (scheme, place);
                forecasts.find_map(|each| each.record(&self.candidates, self.goals, at, value))
            };
            let reached = sizes
                .clone()
                .find(|place| self.meets(scheme, *place) == Some(true));
            let seeming = reached.and_then(|place| Some((place, foreseen(place)?)));
            if let Some(seeming) = seeming {
                found.seeming.push(seeming);
                continue;
            }
            let run = runs.iter().next_back();
            let beyond = run.map_or(0, |(place, _)| place + 1)..sizes.end;
            let forecast = beyond.rev().find_map(foreseen);
            let run = || run.map(|(_, record)| record.clone());
            found.missed.extend(forecast.or_else(run));
        }
        found
    }

    /// The full run that is nearest to the goals, if no full run reaches them. Runs that failed or stopped before the
    /// end of their input are left out.
    pub(super) fn closest(&self) -> Option<Record> {
        let excess = |run: &Record| {
            let of = |goal: &Goal| Some(goal.excess(run.number(&goal.metric)?));
            let parts: Option<Vec<f64>> = self.goals.iter().map(of).collect();
            parts?.into_iter().max_by(f64::total_cmp)
        };
        let runs = self.full.iter().flat_map(BTreeMap::values);
        let whole = runs.filter(|run| run.error.is_none() && !run.stopped_early());
        let known = whole.filter_map(|run| Some((excess(run)?, run)));
        let nearest = known.min_by(|one, other| one.0.total_cmp(&other.0));
        nearest.map(|(_, run)| run.clone())
    }

    /// The number of cheaper runs.
    pub(super) fn trials(&self) -> usize {
        self.glimpses + self.forecasts.iter().map(Forecast::runs).sum::<usize>()
    }

    /// The number of full runs that were ended early.
    pub(super) fn ended(&self) -> usize {
        let errors = self.all_runs().filter_map(|run| run.error.as_deref());
        errors.filter(|error| !error.is_failure()).count()
    }

    /// All full runs, including those of schemes that were removed from the search.
    fn all_runs(&self) -> impl Iterator<Item = &Record> {
        let schemes = self.full.iter().chain(&self.failed);
        schemes.flat_map(BTreeMap::values)
    }

    /// The number of full runs.
    pub(super) fn runs(&self) -> usize {
        self.all_runs().count()
    }

    /// The two best schemes, by full runs and forecasts.
    fn locate(&mut self) -> Result<Vec<At>, Stop> {
        loop {
            let ranges: Vec<Range> = (0..self.candidates.len())
                .map(|scheme| self.range(scheme))
                .collect();
            let wanted = self.to_look_at(&ranges);
            if wanted.is_empty() {
                let mut all: Vec<At> = ranges
                    .iter()
                    .enumerate()
                    .map(|(scheme, range)| (scheme, range.high))
                    .collect();
                self.sort(&mut all);
                all.truncate(2);
                return Ok(all);
            }
            self.look(&wanted)?;
        }
    }

    /// Simulates the runs of all forecasts for `wanted`.
    pub(super) fn look(&mut self, wanted: &[At]) -> Result<(), Stop> {
        (0..self.forecasts.len()).try_for_each(|forecast| self.look_by(forecast, wanted))
    }

    /// Simulates the runs of the forecasts about counts for `wanted`.
    pub(super) fn look_at_counts(&mut self, wanted: &[At]) -> Result<(), Stop> {
        let of_counts = |forecast: &usize| self.forecasts[*forecast].is_of_counts();
        let counts: Vec<usize> = (0..self.forecasts.len()).filter(of_counts).collect();
        counts
            .into_iter()
            .try_for_each(|forecast| self.look_by(forecast, wanted))
    }

    /// Simulates the runs of forecast number `forecast` for `wanted`. If a run fails, a full run replaces it.
    fn look_by(&mut self, forecast: usize, wanted: &[At]) -> Result<(), Stop> {
        self.forecasts[forecast].look(&self.candidates, wanted, self.effort)?;
        let is_open = |at: &At| !self.full[at.0].contains_key(&at.1);
        let open: Vec<At> = wanted.iter().copied().filter(is_open).collect();
        for at in open {
            if !self.forecasts[forecast].has_failed(at) {
                continue;
            }
            self.run_all(&[at], false)?;
            // The full run succeeded although the cheaper run failed, so this kind of cheaper runs is not possible on
            // this device.
            let known = &mut self.forecasts[forecast];
            known.take_next_kind(self.whole, self.settings)?;
            known.look(&self.candidates, wanted, self.effort)?;
        }
        Ok(())
    }

    /// Sorts in ascending order of place. At equal places, schemes that buffer no pages come first; all others are
    /// sorted by the metric of the first goal, the best scheme first. If the place of a scheme is [`NOWHERE`], its
    /// value at the largest size is used.
    pub(super) fn sort(&self, all: &mut [At]) {
        let rank = |(scheme, place): At| {
            let place = place.min(self.candidates[scheme].len() - 1);
            let value = self.value(0, scheme, place);
            value.map_or(f64::INFINITY, |value| self.goals[0].rank_of(value))
        };
        all.sort_by(|one, other| {
            let by_size = one.1.cmp(&other.1);
            let by_size = by_size.then(self.keeps_pages[one.0].cmp(&self.keeps_pages[other.0]));
            let by_rank = || rank(*one).total_cmp(&rank(*other));
            by_size.then_with(by_rank).then(one.0.cmp(&other.0))
        });
    }

    /// The next forecasts that are needed; empty if the two best schemes are known.
    fn to_look_at(&self, ranges: &[Range]) -> Vec<At> {
        let all = || ranges.iter().copied().enumerate();
        // The first forecast is for the scheme with the best result on an excerpt.
        if self.forecasts.iter().all(|forecast| forecast.runs() == 0) {
            return vec![self.first];
        }
        let mut found: Vec<At> = all()
            .filter(|(_, range)| range.open().is_empty())
            .map(|(scheme, range)| (scheme, range.high))
            .collect();
        self.sort(&mut found);
        // A scheme is open if its smallest place is not yet known. An open scheme matters only if its smallest place
        // may be below that of the second best known scheme, or not above that of the best known scheme.
        let bound = |range: &Range| match found[..] {
            [] => true,
            [(_, best)] => range.low <= best,
            [(_, best), (_, second), ..] => range.low < second || range.low <= best,
        };
        let mut open: Vec<(usize, Range)> = all()
            .filter(|(_, range)| !range.open().is_empty() && bound(range))
            .collect();
        if open.is_empty() && found.len() < 2 {
            open = all()
                .filter(|(_, range)| !range.open().is_empty())
                .collect();
        }
        // For each such scheme, one forecast is made first, at the place that shows whether the scheme can be among
        // the two best. Most schemes are excluded by this forecast.
        if let Some((_, place)) = found.get(found.len().min(2).wrapping_sub(1)) {
            let cut = |(scheme, range): &(usize, Range)| {
                let place = match found.len() {
                    1 => *place,
                    _ => place.saturating_sub(1).max(found[0].1),
                };
                let place = place.clamp(range.low, range.open().end - 1);
                (*scheme, place)
            };
            let wanted: Vec<At> = open.iter().map(cut).collect();
            let is_unseen = |(scheme, place): &At| !self.seen(*scheme).contains(place);
            let wanted: Vec<At> = wanted.into_iter().filter(is_unseen).collect();
            if !wanted.is_empty() {
                return wanted;
            }
        }
        // After these forecasts, only the best open scheme gets more forecasts, until its smallest size that reaches the
        // goals is known.
        let is_seen = |(scheme, _): &&(usize, Range)| !self.seen(*scheme).is_empty();
        let mut looks: Vec<At> = open
            .iter()
            .filter(is_seen)
            .map(|(scheme, range)| (*scheme, range.high))
            .collect();
        self.sort(&mut looks);
        looks.truncate(1);
        let like = found.first().map(|(scheme, _)| *scheme);
        looks
            .into_iter()
            .map(|(scheme, _)| (scheme, self.next_place(scheme, like, ranges)))
            .collect()
    }

    /// The next place to try for `scheme`. It is the place at which a line through the scheme's values reaches the
    /// goals. If the scheme has too few values, the line has the slope of the line of `like`. If there is no line, or
    /// if several trials along the line have not found the smallest place, it is the middle of the open range.
    fn next_place(&self, scheme: usize, like: Option<usize>, ranges: &[Range]) -> usize {
        let line = |scheme: usize| {
            let sizes = self.candidates[scheme].len();
            Line::around(ranges[scheme], sizes, |place| {
                self.excess_of_forecast(scheme, place)
            })
        };
        let Range { low, high, .. } = ranges[scheme];
        let open = ranges[scheme].open();
        let as_like = || {
            let seen = [low.checked_sub(1), Some(high)].into_iter().flatten();
            let mut seen = seen.filter_map(|at| Some((at, self.excess_of_forecast(scheme, at)?)));
            let (place, excess) = seen.next()?;
            Some(line(like?)?.moved_to(place, excess))
        };
        let pointed = line(scheme).or_else(as_like);
        let pointed = pointed.and_then(|line| line.crossing());
        let pointed = pointed.filter(|_| self.seen(scheme).len() <= POINTED);
        let place = pointed.unwrap_or(open.start.midpoint(open.end));
        place.clamp(open.start, open.end - 1)
    }

    /// How far `scheme` misses its worst goal at `place`, as a fraction of the goal, from full runs or forecasts. The
    /// value is negative if the scheme reaches all goals.
    fn excess_of_forecast(&self, scheme: usize, place: usize) -> Option<f64> {
        let mut most = f64::NEG_INFINITY;
        for (index, goal) in self.goals.iter().enumerate() {
            most = most.max(goal.excess(self.value(index, scheme, place)?));
        }
        Some(most)
    }

    /// The places of `scheme` with a full run or a forecast.
    fn seen(&self, scheme: usize) -> Vec<usize> {
        let places = 0..self.candidates[scheme].len();
        places
            .filter(|place| self.meets(scheme, *place).is_some())
            .collect()
    }

    fn range(&self, scheme: usize) -> Range {
        let mut range = Range::of(self.candidates[scheme].len());
        // Full runs override forecasts.
        for (place, record) in &self.full[scheme] {
            match self.reaches(record) {
                true => range.high = range.high.min(*place),
                false => range.low = range.low.max(place + 1),
            }
        }
        let within = range;
        for place in within.open() {
            match self.meets(scheme, place) {
                Some(true) => {
                    range.high = place;
                    break;
                }
                Some(false) => range.low = place + 1,
                None => {}
            }
        }
        range.low = range.low.min(range.high);
        range
    }

    /// Whether `record` reaches all goals.
    pub(super) fn reaches(&self, record: &Record) -> bool {
        self.goals.iter().all(|goal| goal.is_met_by(record))
    }

    /// Whether `scheme` reaches the goals at `place`, by a full run or a forecast; `None` if there is neither a full
    /// run nor a forecast.
    fn meets(&self, scheme: usize, place: usize) -> Option<bool> {
        if let Some(record) = self.full[scheme].get(&place) {
            return Some(self.reaches(record));
        }
        let mut all = true;
        for (index, goal) in self.goals.iter().enumerate() {
            all &= goal.is_met(self.value(index, scheme, place)?);
        }
        Some(all)
    }

    /// The value of the metric of goal `index`, from a full run, or from a forecast times its correction factor. NaN,
    /// which reaches no goal, if the full run stopped before the end of its input.
    pub(super) fn value(&self, index: usize, scheme: usize, place: usize) -> Option<f64> {
        let run = self.full[scheme].get(&place);
        if run.is_some_and(Record::stopped_early) {
            return Some(f64::NAN);
        }
        if let Some(value) = run.and_then(|run| run.number(&self.goals[index].metric)) {
            return Some(value);
        }
        Some(self.foreseen(index, scheme, place)? * self.factor(index, scheme, place))
    }

    fn foreseen(&self, index: usize, scheme: usize, place: usize) -> Option<f64> {
        let mut all = self.forecasts.iter();
        all.find_map(|forecast| forecast.value(self.goals, index, scheme, place))
    }

    /// The correction factor for a forecast of goal `index`. It is the ratio of full run to forecast at the nearest
    /// place of the scheme with a full run. If the scheme has no full run, it is the geometric mean of these ratios
    /// over all schemes.
    pub(super) fn factor(&self, index: usize, scheme: usize, place: usize) -> f64 {
        let of = |scheme: usize| {
            let whole = self.full[scheme]
                .iter()
                .filter(|(_, run)| !run.stopped_early());
            whole.filter_map(move |(at, run)| {
                let measured = run.number(&self.goals[index].metric)?;
                let factor = measured / self.foreseen(index, scheme, *at)?;
                (factor.is_finite() && factor > 0.0).then_some((*at, factor))
            })
        };
        if let Some((_, factor)) = of(scheme).min_by_key(|(at, _)| at.abs_diff(place)) {
            return factor;
        }
        let (mut sum, mut count) = (0.0, 0.0);
        for (_, factor) in (0..self.full.len()).flat_map(of) {
            sum += factor.ln();
            count += 1.0;
        }
        if count > 0.0 {
            f64::exp(sum / count)
        } else {
            1.0
        }
    }

    /// The next full run that is needed to confirm the schemes of `best`; `None` if all are confirmed.
    fn to_confirm(&self, best: &[At]) -> Option<At> {
        for (scheme, place) in best {
            let last = self.candidates[*scheme].len() - 1;
            let at = (*place).min(last);
            if !self.full[*scheme].contains_key(&at) {
                return Some((*scheme, at));
            }
            // The next smaller size also needs a full run, because a forecast is not exact.
            if let Some(below) = at.checked_sub(1).filter(|_| *place <= last)
                && !self.full[*scheme].contains_key(&below)
            {
                return Some((*scheme, below));
            }
        }
        None
    }
}
