//! Miniatures: a large buffer over a large device, measured on samples of its erase blocks.
//!
//! A sample contains whole erase blocks that are chosen at random ([`destage_base::sample`]). Requests to the sampled
//! blocks go to a miniature: a buffer and a device that are smaller in the ratio of the sample ([`miniature`]). The
//! counts of the miniatures give estimates of the counts of the full device (`estimate.rs`). The differences between
//! several samples give an interval for each estimate. (Waldspurger and others, miniature simulation, USENIX ATC
//! 2017; the choice of whole blocks is ours, since schemes and layers work with blocks.)
//!
//! A miniature has no clock, because only counts can be scaled. A miniature has a lighter load than the full device,
//! so its response times would say nothing about the response times of the full device.

mod block_counts;
mod estimate;
mod miniature;
mod split;

pub use self::block_counts::BlockCounts;
pub use self::estimate::{
    Coarseness, Estimate, Estimates, Sampled, estimates, is_estimated, is_sum, widen,
};
pub use self::miniature::{block_pages, miniature, refusal, spare_error};
pub use self::split::{Asked, Part, Splitter};

/// The number of pages or blocks, if no device bounds it.
pub const UNBOUNDED: u64 = 1 << 56;
