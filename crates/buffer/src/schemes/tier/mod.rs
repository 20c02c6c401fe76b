//! Schemes for what stands in front of the device without being RAM.

pub mod griffin;
