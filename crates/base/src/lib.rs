//! The few words every crate of the project shares.
//!
//! | module | holds |
//! | --- | --- |
//! | [`page`] | [`Lpn`], the logical page number |
//! | [`time`] | [`Ticks`], simulated time as an integer |
//! | [`parameter`] | the description of one named parameter, and values checked against it |
//! | [`random`] | [`Random`], the one seeded generator |
//! | [`sample`] | [`Samples`](sample::Samples), which numbered things are in a sample
//! | [`list`] | [`Lists`](list::Lists), doubly linked lists over numbered things, without an allocation per node |
//! | [`table`] | how a table by number grows |
//! | [`archive`] | a state as bytes, and back |
//! | [`lazy`] | [`lazy::LazyTable`], a dense table that exists only where it was touched |
//!
//! Nothing here knows a buffer, a flash device, a trace or a clock.
#![no_std]
extern crate alloc;

pub mod archive;
pub mod lazy;
pub mod list;
pub mod page;
pub mod parameter;
pub mod random;
pub mod sample;
pub mod table;
pub mod time;

pub use page::Lpn;
pub use random::Random;
pub use time::Ticks;
