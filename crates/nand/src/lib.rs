//! NAND flash: its rules, its contents and its times. A translation layer says which operations are done, and the
//! caller keeps the time.
//!
//! | module | answers |
//! | --- | --- |
//! | [`geometry`] | how many dies, planes, blocks and pages there are |
//! | [`operation`] | the operations that a translation layer asks for |
//! | [`array`](mod@array) | *is it legal?* Programs in order, once between erases; wear |
//! | [`medium`] | *contents*: bytes and spare areas; refuses operations that flash cannot do, or that lose data |
//! | [`found`] | what a mount finds in each page |
//! | [`timing`] | *how long?* Ticks for the operations of a step |
//! | [`media`] | *when*, if dies share channels? Phases on channels, dies and cache registers |
#![no_std]
extern crate alloc;

pub mod array;
pub mod batch;
pub mod divide;
mod filled;
pub mod found;
pub mod geometry;
pub mod masks;
pub mod media;
pub mod medium;
pub mod operation;
pub mod timing;

pub use geometry::{Geometry, GeometryError};
pub use medium::Medium;
pub use operation::{Cause, Kind, Operation, Operations, Transfer};
pub use timing::Timing;
