//! Sweeps. A sweep is a sequence of reads, or of writes, in which each request begins where the previous one ended.

use std::collections::HashMap;

use destage_trace::{Operation, Request};

/// The longest pause between the first and the second request of a sweep, counted in requests of the trace. Each
/// later pause must be between half and twice the mean of the earlier pauses of the sweep. A request after another
/// pause begins a new sweep. The reason is that a sweep records only the positions of its first and its last request,
/// so its requests must follow at a steady pace.
const FIRST_PAUSE: u64 = 8;

/// A sequence of requests, each beginning where the previous one ended, at a steady pace among all other requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sweep {
    pub(super) writes: bool,
    /// The number of requests of the trace before the first request of the sweep. `last` is the number before its
    /// last request.
    pub(super) first: u64,
    pub(super) last: u64,
    /// The number of the block in which the sweep begins. `sector` is the offset of the sweep's first sector from the
    /// start of that block.
    pub(super) block: u32,
    pub(super) sector: u32,
    /// The sizes of the requests in sectors. Each size has the number of consecutive requests of that size.
    pub(super) sizes: Vec<(u32, u32)>,
}

impl Sweep {
    /// The number of requests in the sweep.
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

/// Divides requests into sweeps.
#[derive(Debug, Default)]
pub(super) struct Sweeps {
    /// All sweeps, in the order of their first requests.
    all: Vec<Sweep>,
    /// The number of requests in each sweep.
    counts: Vec<u64>,
    /// For a kind of operation (`true` for writes) and a sector, the sweep of that kind that ends at the sector.
    ends: HashMap<(bool, u64), usize>,
}

impl Sweeps {
    /// Adds a request that has `before` other requests before it. The request begins `sector` sectors after the start
    /// of `block`.
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

    /// All sweeps, in the order of their first requests.
    pub(super) fn finish(self) -> Vec<Sweep> {
        self.all
    }
}
