//! One test program for all tests of this crate that need no global allocator of their own.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod adaptive;
mod background;
mod block_goldens;
mod block_models;
mod common;
mod conformance;
mod device;
mod features;
mod goldens;
mod goldens_epo_sets;
mod idle;
mod large_requests;
mod models;
mod models_bounds;
mod models_emulators;
mod models_epo_cflru;
mod models_sets;
mod registry;
mod scenarios;
mod shares;
mod shown;
mod waiting;
