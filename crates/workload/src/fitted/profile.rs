//! The profile of a trace. It contains the sweeps over numbered blocks, the extents of adjacent blocks, and the gaps
//! between arrivals.

use super::blocks::{Extent, Place};
use super::sweep::Sweep;

/// The number of classes of gaps. One class has gaps of 0, and the other nine have gaps of ascending length.
pub(super) const GAP_CLASSES: usize = 10;
/// The number of regions into which the address space is divided.
pub(super) const REGIONS: usize = 64;

/// The statistics of a trace, from which similar requests are generated.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    pub(super) requests: u64,
    /// The sector after the last sector that the trace touched, rounded up to a page of 4 KiB.
    pub(super) footprint_sectors: u64,
    /// The gaps that represent each class, in ticks. Each gap of a class represents the same number of gaps of the
    /// trace.
    pub(super) gaps: [Vec<u64>; GAP_CLASSES],
    /// The number of requests in a stretch.
    pub(super) pace_requests: u64,
    /// The duration of each stretch in ticks.
    pub(super) pace: Vec<u64>,
    /// The class of the gap before each request.
    pub(super) classes: Vec<u8>,
    /// The extents, in the order in which they are first touched. The blocks are in the same order.
    pub(super) extents: Vec<Extent>,
    pub(super) blocks: Vec<Place>,
    /// The sweeps, in the order of their first requests.
    pub(super) sweeps: Vec<Sweep>,
}

impl Profile {
    /// The number of requests of the trace. After this number of generated requests, the sweeps begin again at
    /// other addresses.
    #[must_use]
    pub const fn requests(&self) -> u64 {
        self.requests
    }

    /// The share of writes among requests, in percent.
    #[must_use]
    pub fn write_percent(&self) -> f64 {
        let writes = self.sweeps.iter().filter(|sweep| sweep.writes);
        writes.map(Sweep::requests).sum::<u64>() as f64 * 100.0 / self.requests as f64
    }
}
