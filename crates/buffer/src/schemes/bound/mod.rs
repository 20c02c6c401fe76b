//! Bounds: what no scheme can beat, so that every figure has a ceiling.

pub mod belady;
pub mod infinite;
