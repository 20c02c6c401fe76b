//! What is kept of a trace: its sweeps over numbered blocks, which blocks are neighbours, and gaps of its phases.

use std::collections::BTreeMap;

use destage_base::time::TICKS_PER_MS;

use super::blocks::{Extent, Place};
use super::sweep::Sweep;

/// Classes of gaps: none, and five of rising length.
pub(super) const GAP_CLASSES: usize = 6;
/// What a gap depends on: the request before it, with the gap before that, and the request behind it.
pub(super) const CONTEXTS: usize = 12 * 3 * 3;
/// Parts of the address space that are told apart.
pub(super) const REGIONS: usize = 64;

/// A request, as far as the gap behind it depends on it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Before(usize);

impl Before {
    /// A request, as whether it writes and its sectors, and the class of the gap before it.
    pub(super) const fn new((writes, sectors): (bool, u32), gap: usize) -> Self {
        let size = match sectors {
            0..=16 => 0,
            17..=128 => 1,
            129..=512 => 2,
            513..=2048 => 3,
            2049..=6144 => 4,
            _ => 5,
        };
        let gap = [0, 1, 1, 1, 2, 2][gap];
        Self((6 * writes as usize + size) * 3 + gap)
    }

    /// The context of the gap before the next request, as whether it writes and its sectors.
    pub(super) const fn context(self, (writes, sectors): (bool, u32)) -> usize {
        let next = match (writes, sectors) {
            (false, _) => 0,
            (true, 0..=512) => 1,
            (true, _) => 2,
        };
        self.0 * 3 + next
    }
}

/// How many times each value came.
pub(super) type Tally = BTreeMap<u32, u32>;

/// A trace's statistics, from which requests like its own are drawn.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    pub(super) requests: u64,
    pub(super) footprint_sectors: u64,
    /// Gaps of each class in ticks, all alike.
    pub(super) gaps: [Vec<u64>; GAP_CLASSES],
    /// Requests of a stretch.
    pub(super) pace_requests: u64,
    /// How long each stretch took, in ticks.
    pub(super) pace: Vec<u64>,
    /// Requests of a phase; the last may have fewer.
    pub(super) phase_requests: u64,
    /// By phase and context: the classes of the gaps before its requests.
    pub(super) phases: Vec<Vec<Tally>>,
    /// In the order in which they are first touched, as are blocks.
    pub(super) extents: Vec<Extent>,
    pub(super) blocks: Vec<Place>,
    /// In the order of their first requests.
    pub(super) sweeps: Vec<Sweep>,
}

impl Profile {
    /// How many requests the trace had; after so many, its sweeps begin again at other addresses.
    #[must_use]
    pub const fn requests(&self) -> u64 {
        self.requests
    }

    /// The sector after the last one that the trace touched.
    #[must_use]
    pub const fn footprint_sectors(&self) -> u64 {
        self.footprint_sectors
    }

    /// Writes in a hundred requests.
    #[must_use]
    pub fn write_percent(&self) -> f64 {
        let writes = self.sweeps.iter().filter(|sweep| sweep.writes);
        writes.map(Sweep::requests).sum::<u64>() as f64 * 100.0 / self.requests as f64
    }

    /// Mean gap between arrivals, in milliseconds.
    #[must_use]
    pub fn mean_interarrival_ms(&self) -> f64 {
        let span: u128 = self.pace.iter().map(|ticks| u128::from(*ticks)).sum();
        span as f64 / TICKS_PER_MS as f64 / self.requests as f64
    }
}
