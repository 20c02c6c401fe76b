//! The simulator.

pub mod elements;
pub mod engine;
pub mod error;
pub mod events;
pub mod host;
pub mod latencies;
pub mod metrics;
pub mod observer;
pub mod parameters;
pub mod paging;
pub mod profiles;
pub mod run;
pub mod settings;
pub mod untimed;
mod slab;
pub mod source;
