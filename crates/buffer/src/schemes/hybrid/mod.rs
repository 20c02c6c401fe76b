//! Schemes that have both single pages and clusters.

pub mod bpac;
pub mod cbm;
