//! All tests of this crate that need no allocator of their own, in one program.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod ahead;
mod combine;
mod company;
mod curve;
mod end_of_run;
mod explain;
mod limits;
mod precondition;
mod size;
mod small_devices;
mod state;
mod warmup;
mod wear_out;
