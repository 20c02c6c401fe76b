//! Bounds that no scheme can exceed, so that every figure can be compared with its limit.

pub mod belady;
pub mod infinite;
