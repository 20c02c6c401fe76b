//! Miniatures: a large buffer over a large device, measured on samples of its erase blocks.
//!
//! A sample takes whole erase blocks by chance ([`destage_base::sample`]). Requests to the sampled blocks go to a miniature, with a buffer and a
//! device that are smaller in the same ratio ([`miniature`]), and the miniature's counts stand for the share that was sampled (`estimate.rs`).
//! The interval of several samples follows from how much they differ. (Waldspurger and others, miniature simulation, USENIX ATC 2017; whole blocks
//! are ours, since schemes and layers work with them.)
//!
//! A miniature has no clock: only counts can be scaled, and the response times of a device with a light load say nothing about one with a heavy load.

mod block_counts;
mod estimate;
mod miniature;
mod split;

pub use self::block_counts::BlockCounts;
pub use self::estimate::{
    Coarseness, Estimate, Estimates, Sampled, estimates, is_estimated, widen,
};
pub use self::miniature::{block_pages, miniature, refusal};
pub use self::split::{Asked, Part, Splitter};

/// Numbers of pages or blocks where no device bounds them.
pub const UNBOUNDED: u64 = 1 << 56;
