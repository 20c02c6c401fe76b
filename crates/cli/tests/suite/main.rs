//! One program with all tests of this crate that do not replace the memory allocator.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod about;
mod bad_input;
mod budget;
mod campaign;
mod columns;
mod common;
mod curve;
mod devices;
mod drives;
mod exchange;
mod failed_runs;
mod fleets;
mod goldens;
mod guides;
mod hostile;
mod inputs;
mod interrupt;
mod kills;
mod logs;
mod long_requests;
mod lookup;
mod memory;
mod notes;
mod odd_traces;
mod parquet;
mod pipes;
mod power;
mod profiles;
mod readme;
mod results;
mod runs;
mod serve;
mod settings;
mod size;
mod slips;
mod small;
mod state;
mod studies;
mod trace_page;
mod traces;
mod variants;
mod workloads;
