//! Schemes for a log in front of the device. The log is not in RAM.

pub mod griffin;
