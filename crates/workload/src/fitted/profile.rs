//! The kept parts of a trace: its sweeps over numbered blocks, which blocks are neighbours, and gaps.

use destage_base::time::TICKS_PER_MS;

use super::blocks::{Extent, Place};
use super::sweep::Sweep;

/// Classes of gaps: none, and nine of rising length.
pub(super) const GAP_CLASSES: usize = 10;
/// Number of parts of the address space that are distinguished.
pub(super) const REGIONS: usize = 64;

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
    /// The class of the gap before each request.
    pub(super) classes: Vec<u8>,
    /// In the order in which they are first touched, as are blocks.
    pub(super) extents: Vec<Extent>,
    pub(super) blocks: Vec<Place>,
    /// In the order of their first requests.
    pub(super) sweeps: Vec<Sweep>,
}

impl Profile {
    /// The number of requests of the trace; after that many, its sweeps begin again at other addresses.
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
