//! The smallest size of each scheme that reaches the goals, with few runs.
//!
//! A scheme that misses at a size is taken to miss at smaller ones, and one that reaches the goals to reach them at larger
//! ones: sizes are halved between the two. A scheme that cannot be among the two best any more is left alone. All runs that
//! are wanted at a time are fed by one reading.
//!
//! What costs little says before where to begin (`trials.rs`). Then the two schemes that look best are tried there, and what
//! is found leaves the others a run each, or none.

use crate::compare::{Effort, compare};
use crate::error::Error;
use crate::facts::Facts;
use crate::grid::Combination;
use crate::input::Input;
use crate::record::Record;

/// What is known of one scheme, in places of the list of sizes.
pub(super) struct Candidate {
    /// Its combination at each size.
    pub(super) sizes: Vec<Combination>,
    /// The smallest size that may reach the goals.
    low: usize,
    /// The smallest size that does, with its run.
    pub(super) reached: Option<(usize, Record)>,
    /// The largest size that does not, with its run.
    pub(super) missed: Option<(usize, Record)>,
    hint: Option<Hint>,
}

/// What is known of a scheme before it is run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hint {
    /// The smallest size that seems to reach the goals, or the number of sizes.
    pub(super) place: usize,
    /// How good it seems there; less is better.
    pub(super) rank: f64,
    /// No smaller size needs a run.
    pub(super) is_sure: bool,
}

impl Candidate {
    pub(super) fn new(sizes: Vec<Combination>) -> Self {
        Self {
            sizes,
            low: 0,
            reached: None,
            missed: None,
            hint: None,
        }
    }

    /// Begins where `hint` says.
    pub(super) fn begin_at(&mut self, hint: Hint) {
        if hint.is_sure {
            self.low = hint.place;
        }
        self.hint = Some(hint);
    }

    /// The smallest size that reaches the goals as far as is known, or the number of sizes.
    pub(super) fn place(&self) -> usize {
        self.reached.as_ref().map_or(self.sizes.len(), |of| of.0)
    }

    /// The size to try next, if any may be smaller than `bound`.
    fn next(&self, bound: usize) -> Option<usize> {
        let bound = bound.min(self.sizes.len());
        match &self.reached {
            Some((reached, _)) if self.low < *reached => Some(match self.hint {
                // A hint is nearly always right to a step.
                Some(hint) if hint.place == *reached || hint.place + 1 == *reached => *reached - 1,
                Some(hint) if (self.low..*reached).contains(&hint.place) => hint.place,
                _ => self.low.midpoint(*reached),
            }),
            Some(_) => None,
            None if self.low >= bound => None,
            None if self.hint.is_some_and(|hint| hint.is_sure) => Some(self.low),
            // One run tells whether it is of interest at all.
            None => Some(bound - 1),
        }
    }

    fn learn(&mut self, size: usize, record: Record, reaches: bool) {
        if reaches {
            self.reached = Some((size, record));
        } else {
            self.low = size + 1;
            self.missed = Some((size, record));
        }
    }
}

/// Tries until the two best of `candidates` are known; how many runs that took, and what is known of the input.
pub(super) fn search(
    input: &Input,
    candidates: &mut [Candidate],
    reaches: impl Fn(&Record) -> bool,
    effort: &Effort<'_>,
) -> Result<(usize, Vec<Facts>), Error> {
    let (mut runs, mut facts) = (0, Vec::new());
    let mut begun = false;
    loop {
        let mut reached: Vec<usize> = candidates
            .iter()
            .filter_map(|candidate| Some(candidate.reached.as_ref()?.0))
            .collect();
        reached.sort_unstable();
        // The second best so far; who is not below it does not matter. Of two that are equal, others may be the equal, and reach
        // the goals better, unless that is known.
        let is_sure = |candidate: &Candidate| candidate.hint.is_some_and(|hint| hint.is_sure);
        let bound = match reached[..] {
            [best, second, ..] if best == second && !candidates.iter().all(is_sure) => best + 1,
            [_, second, ..] => second,
            _ => usize::MAX,
        };
        let next = |(index, candidate): (usize, &Candidate)| {
            let is_behind = candidate.low >= bound;
            let size = candidate.next(bound).filter(|_| !is_behind)?;
            (size < candidate.sizes.len()).then_some((index, size))
        };
        let wanted: Vec<(usize, usize)> = match begun {
            true => candidates.iter().enumerate().filter_map(next).collect(),
            false => beginning(candidates),
        };
        begun = true;
        if wanted.is_empty() {
            return Ok((runs, facts));
        }
        let combinations: Vec<_> = wanted
            .iter()
            .map(|(index, size)| candidates[*index].sizes[*size].clone())
            .collect();
        let results = compare(std::slice::from_ref(input), &combinations, effort)?;
        runs += results.runs.len();
        facts = results.manifest.inputs;
        for ((index, size), record) in wanted.into_iter().zip(results.runs) {
            let is_reached = reaches(&record);
            candidates[index].learn(size, record, is_reached);
        }
    }
}

/// What to try first: with hints the two schemes that look best, each where it should reach the goals; else all at their middle:
/// if some reach the goals there, the others need no more than a run each.
fn beginning(candidates: &[Candidate]) -> Vec<(usize, usize)> {
    let all = || candidates.iter().enumerate();
    let mut hinted: Vec<(Hint, usize)> = all()
        .filter_map(|(index, candidate)| Some((candidate.hint?, index)))
        .collect();
    if hinted.len() < candidates.len() {
        let middle = |(index, candidate): (usize, &Candidate)| (index, candidate.sizes.len() / 2);
        return all().map(middle).collect();
    }
    hinted.sort_by(|(one, a), (other, b)| {
        let by_rank = one.rank.total_cmp(&other.rank);
        one.place.cmp(&other.place).then(by_rank).then(a.cmp(b))
    });
    let within = |(hint, index): (Hint, usize)| {
        // Who seems to reach them nowhere is tried at the largest size.
        (index, hint.place.min(candidates[index].sizes.len() - 1))
    };
    hinted.into_iter().map(within).take(2).collect()
}
