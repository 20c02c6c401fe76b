//! Bounds that no scheme can exceed, so that every result can be compared with its limit.

pub mod belady;
pub mod infinite;
