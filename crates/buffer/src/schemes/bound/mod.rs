//! Bounds that no scheme can exceed. Every result can be compared with them.

pub mod belady;
pub mod infinite;
