//! The smallest size of each scheme that reaches the goals, with few runs.
//!
//! A scheme that misses at a size is taken to miss at smaller ones, and one that reaches the goals to reach them at larger
//! ones: sizes are halved between the two. A scheme that cannot be among the two best any more is left alone. All runs that
//! are wanted at a time are fed by one reading.

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
}

impl Candidate {
    pub(super) fn new(sizes: Vec<Combination>) -> Self {
        Self {
            sizes,
            low: 0,
            reached: None,
            missed: None,
        }
    }

    /// The size to try next, if any may be smaller than `bound`.
    fn next(&self, bound: usize) -> Option<usize> {
        let bound = bound.min(self.sizes.len());
        match &self.reached {
            Some((reached, _)) => (self.low < *reached).then(|| self.low.midpoint(*reached)),
            // One run tells whether it is of interest at all.
            None => (self.low < bound).then(|| bound - 1),
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
        // The second best so far; who is not below it does not matter.
        let bound = reached.get(1).copied().unwrap_or(usize::MAX);
        let wanted = candidates
            .iter()
            .enumerate()
            .filter_map(|(index, candidate)| {
                let largest = candidate.sizes.len();
                let size = match begun {
                    true => candidate.next(bound)?,
                    // First the middle: if some reach the goals there, the others need no more than a run each.
                    false => largest / 2,
                };
                let is_behind = begun && candidate.low >= bound;
                (!is_behind && size < largest).then_some((index, size))
            });
        let wanted: Vec<(usize, usize)> = wanted.collect();
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
