//! Schemes for a log in front of the device that is not in RAM.

pub mod griffin;
