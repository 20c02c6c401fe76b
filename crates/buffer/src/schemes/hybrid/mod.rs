//! Schemes that keep single pages and clusters side by side.

pub mod bpac;
pub mod cbm;
