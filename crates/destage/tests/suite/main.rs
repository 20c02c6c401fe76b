//! The integration tests of this crate, in one program.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod common;
mod compare;
mod curve;
mod cut;
mod documentation;
mod files;
mod measured_drives;
mod model;
mod own_scheme;
mod sampled;
mod size;
mod smallest;
mod trace_metrics;
