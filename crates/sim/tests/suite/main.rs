//! One program with all tests of this crate that do not replace the memory allocator.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod ahead;
mod combine;
mod company;
mod curve;
mod end_of_run;
mod explain;
mod host_job;
mod limits;
mod merge_time;
mod precondition;
mod size;
mod small_devices;
mod state;
mod warmup;
mod wear_out;
