//! Merges the requests of several sweeps into one order. The requests of a sweep remain in the order of the sweep,
//! and they are spread evenly between its first and its last request.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use destage_base::Random;

use super::sweep::Sweep;

/// Units of time per request of the trace. The units are so small that two requests rarely get equal times.
const SHARE: u64 = 1 << 16;

/// The position, the size and the operation of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) writes: bool,
    /// The block in which the sweep of this request begins.
    pub(super) block: u32,
    /// The first sector of the request, counted from the start of `block`.
    pub(super) sector: u64,
    pub(super) sectors: u32,
}

/// A sweep whose first request was returned or is due, and whose last request was not returned. Running sweeps are
/// ordered by the time of their next request, then by their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Running {
    next: u64,
    sweep: usize,
    /// The time between two consecutive requests of the sweep.
    pace: u64,
    /// The current run of requests of equal size. `left` is the number of requests that remain in the run, and
    /// `sector` is the first sector of the next request.
    run: usize,
    left: u32,
    sector: u64,
}

/// Returns each request of all sweeps once, in the order of time.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    running: BinaryHeap<Reverse<Running>>,
    begun: usize,
}

impl Schedule {
    /// The next request of `sweeps`; `None` after the last one.
    pub(super) fn next(&mut self, sweeps: &[Sweep], random: &mut Random) -> Option<Step> {
        while let Some(sweep) = sweeps.get(self.begun) {
            let first = sweep.first * SHARE;
            if self
                .running
                .peek()
                .is_some_and(|Reverse(next)| next.next < first)
            {
                break;
            }
            // The first request of a sweep has the same position among all requests as in the trace. The other
            // requests of the sweep follow at equal intervals.
            let pace = (sweep.last - sweep.first) * SHARE / (sweep.requests() - 1).max(1);
            self.running.push(Reverse(Running {
                next: first + random.below(SHARE),
                sweep: self.begun,
                pace,
                run: 0,
                left: sweep.sizes[0].1,
                sector: u64::from(sweep.sector),
            }));
            self.begun += 1;
        }
        let mut next = self.running.pop()?.0;
        let sweep = &sweeps[next.sweep];
        let sectors = sweep.sizes[next.run].0;
        let step = Step {
            writes: sweep.writes,
            block: sweep.block,
            sector: next.sector,
            sectors,
        };
        next.sector += u64::from(sectors);
        next.next += next.pace;
        next.left -= 1;
        if next.left == 0 {
            next.run += 1;
            next.left = sweep.sizes.get(next.run).map_or(0, |(_, count)| *count);
        }
        if next.left > 0 {
            self.running.push(Reverse(next));
        }
        Some(step)
    }
}
