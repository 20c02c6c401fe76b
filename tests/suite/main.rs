//! One test program for all tests that cross crates.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

#[path = "../../crates/ftl/tests/suite/kit/mod.rs"]
mod ftl_kit;
#[path = "../../crates/device/tests/suite/kit/mod.rs"]
mod kit;

mod apu_room;
mod apu_split;
mod cache;
mod channels;
mod curves;
mod cuts;
mod direct;
mod dispatch;
mod drives;
mod engine;
mod fitted;
mod front;
mod house;
mod idle;
mod idle_busy;
mod long_writes;
mod matrix;
mod media;
mod oracle;
mod overtaking;
mod peers;
mod placement;
mod pslc;
mod published_wb;
mod queued;
mod real_traces;
mod sampled;
mod simop;
mod smallest;
mod trace_table;
mod translation;
mod units;
mod vectors;
