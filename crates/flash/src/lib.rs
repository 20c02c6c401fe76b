//! The flash device, without bytes, clock or queue.
//!
//! | module | answers |
//! | --- | --- |
//! | [`ftl`] | *which operations* does flash do for this page request? One file or folder per scheme, one registry |
//! | [`nand`] | *is it legal?* Programs in order, once between erases; wear |
//! | [`medium`] | *contents*: bytes and spare areas; refuses operations that flash cannot do, or that lose data |
//! | [`mount`] | the state *after* a loss of power | Spare areas, and layers made of them |
//! | [`timing`] | *how long?* Ticks for the operations an FTL emitted |
//! | [`media`] | *when*, where dies share channels? Phases on resources |
//! | [`geometry`] | how many of everything there are |
//! | [`operation`] | the operations of an FTL |
//!
//! An FTL emits operations and never asks how long they take; the caller decides about costs, and whether they run in virtual or in real time.
#![no_std]
extern crate alloc;

pub mod batch;
pub mod divide;
mod filled;
pub mod ftl;
pub mod geometry;
mod list;
mod masks;
pub mod media;
pub mod medium;
pub mod mount;
pub mod nand;
pub mod operation;
pub mod timing;

pub use ftl::Ftl;
pub use geometry::{Geometry, GeometryError};
pub use medium::Medium;
pub use operation::{Cause, Kind, Operation, Operations, Transfer};
pub use timing::Timing;
