//! Schemes that order runs of pages that were written together.

pub mod dulo;
pub mod req_block;
