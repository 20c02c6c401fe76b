//! The requests of sweeps in their order: each sweep keeps its own, and its pace among all others.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use destage_base::Random;

use super::sweep::Sweep;

/// A request's share of time, cut finely enough for all to have a time of their own.
const SHARE: u64 = 1 << 16;

/// Where a request goes, and how large it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) writes: bool,
    /// The block its sweep begins in.
    pub(super) block: u32,
    /// Sectors after the start of that.
    pub(super) sector: u64,
    pub(super) sectors: u32,
}

/// A sweep under way. Ordered by its next time, then by its place among all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Running {
    next: u64,
    sweep: usize,
    /// From one request to the next.
    pace: u64,
    /// Its run of equal sizes, how many of these are left, and where the next one begins.
    run: usize,
    left: u32,
    sector: u64,
}

/// Requests from first to last, once.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    running: BinaryHeap<Reverse<Running>>,
    begun: usize,
}

impl Schedule {
    /// The next request of `sweeps`; `None` after the last.
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
            // The first request keeps its place; the others come at a steady pace.
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
