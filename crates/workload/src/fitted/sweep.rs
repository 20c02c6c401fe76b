//! Sweeps: reads, or writes, each of which begins where the one before it ended.

use std::collections::HashMap;

use destage_trace::{Operation, Request};

/// Most requests between two of a sweep, as a multiple of those between the earlier ones: later ones begin another sweep, since a sweep keeps only
/// the first and the last of its times.
const FIRST_PAUSE: u64 = 8;

/// Requests that go on behind each other, at a steady pace among all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sweep {
    pub(super) writes: bool,
    /// How many requests of the trace come before its first, and before its last.
    pub(super) first: u64,
    pub(super) last: u64,
    /// The block it begins in, in the order in which blocks are first touched; and sectors after the start of that.
    pub(super) block: u32,
    pub(super) sector: u32,
    /// Sizes in sectors, and how many requests in a row have each.
    pub(super) sizes: Vec<(u32, u32)>,
}

impl Sweep {
    /// How many requests it has.
    pub(super) fn requests(&self) -> u64 {
        self.sizes.iter().map(|(_, count)| u64::from(*count)).sum()
    }

    fn push(&mut self, sectors: u32) {
        match self.sizes.last_mut() {
            Some((size, count)) if *size == sectors => *count += 1,
            _ => self.sizes.push((sectors, 1)),
        }
    }
}

/// Puts requests into sweeps.
#[derive(Debug, Default)]
pub(super) struct Sweeps {
    /// In the order of their first requests.
    all: Vec<Sweep>,
    /// How many requests each has.
    counts: Vec<u64>,
    /// The sweep that ends before a sector, of reads and of writes.
    ends: HashMap<(bool, u64), usize>,
}

impl Sweeps {
    /// Takes in the request after `before` others, which begins `sector` sectors behind the start of `block`.
    pub(super) fn add(&mut self, before: u64, request: &Request, (block, sector): (u32, u32)) {
        let writes = request.operation == Operation::Write;
        let found = self.ends.remove(&(writes, request.sector));
        let goes_on = found.filter(|index| {
            let sweep = &self.all[*index];
            let pause = before - sweep.last;
            match self.counts[*index] - 1 {
                0 => pause <= FIRST_PAUSE,
                pauses => {
                    let all = sweep.last - sweep.first;
                    2 * pause * pauses >= all && pause * pauses <= 2 * all
                }
            }
        });
        let index = goes_on.unwrap_or_else(|| {
            self.all.push(Sweep {
                writes,
                first: before,
                last: before,
                block,
                sector,
                sizes: Vec::new(),
            });
            self.counts.push(0);
            self.all.len() - 1
        });
        self.all[index].push(request.sectors);
        self.all[index].last = before;
        self.counts[index] += 1;
        self.ends.insert((writes, request.end()), index);
    }

    /// All of them, in the order of their first requests.
    pub(super) fn finish(self) -> Vec<Sweep> {
        self.all
    }
}
