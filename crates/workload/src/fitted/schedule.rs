//! Puts the requests of sweeps in order: each sweep keeps its own order, and its pace among all others.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use destage_base::Random;

use super::sweep::Sweep;

/// Units of time for each request of the trace: fine enough that hardly any two requests get the same time.
const SHARE: u64 = 1 << 16;

/// The position, the size and the operation of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) writes: bool,
    /// The block in which the sweep begins.
    pub(super) block: u32,
    /// The first sector of the request, counted from the start of that block.
    pub(super) sector: u64,
    pub(super) sectors: u32,
}

/// A sweep that has begun and not ended. The order is by the time of its next request, then by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Running {
    next: u64,
    sweep: usize,
    /// The time from one request to the next.
    pace: u64,
    /// The current run of equal sizes, the number of requests left in it, and the sector of the next request.
    run: usize,
    left: u32,
    sector: u64,
}

/// Returns all requests of sweeps once, from the first to the last.
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
            // The first request keeps its position among all requests. The others follow at a steady pace.
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
