//! Schemes that keep both single pages and clusters.

pub mod bpac;
pub mod cbm;
