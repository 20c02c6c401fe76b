//! Every test of this crate that needs no allocator of its own, in one program.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod common;
mod compare;
mod curve;
mod cut;
mod docs_tables;
mod documentation;
mod files;
mod fleet;
mod measured_drives;
mod model;
mod own_scheme;
mod reproduce;
mod sampled;
mod size;
mod smallest;
mod store;
mod trace_metrics;
mod watch;
