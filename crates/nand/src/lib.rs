//! A model of NAND flash: the rules of its operations, the contents of its pages, and the times of its operations.
//! The translation layer chooses the operations. The caller of this crate keeps the simulated time.
//!
//! | module | contents |
//! | --- | --- |
//! | [`geometry`] | numbers of dies, planes, blocks and pages |
//! | [`operation`] | the operations that a translation layer requests |
//! | [`array`](mod@array) | which operations are legal: a page is programmed once between two erases, in ascending order; erase counts of blocks |
//! | [`medium`] | bytes and spare areas of pages; refusal of operations that flash cannot do, or that would lose data |
//! | [`found`] | what a mount finds in each page |
//! | [`timing`] | duration of the operations of a step, in ticks, if dies do not share channels |
//! | [`media`] | begin and end of commands, if dies share channels: phases on channels, dies and cache registers |
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
