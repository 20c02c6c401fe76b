//! Schemes that order runs of pages that came together.

pub mod dulo;
pub mod req_block;
