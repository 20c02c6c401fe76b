//! The simulator.

pub mod elements;
pub mod engine;
pub mod error;
pub mod events;
pub mod host;
pub mod latencies;
pub mod observer;
pub mod paging;
mod slab;
pub mod source;
