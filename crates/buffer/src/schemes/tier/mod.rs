//! Schemes for a log in front of the device that is not RAM.

pub mod griffin;
