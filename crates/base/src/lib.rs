//! Types and functions that every crate of the project uses.
//!
//! | module | holds |
//! | --- | --- |
//! | [`page`] | [`Lpn`], the logical page number |
//! | [`time`] | [`Ticks`], simulated time as an integer |
//! | [`parameter`] | the description of one named parameter, and values checked against it |
//! | [`random`] | [`Random`], the seeded random number generator |
//! | [`sample`] | [`Samples`](sample::Samples), seeded samples of the numbers below a bound |
//! | [`list`] | [`Lists`](list::Lists), doubly linked lists of numbered items, without an allocation per node |
//! | [`table`] | tables that are indexed by number and grow as numbers are used |
//! | [`bins`] | bins that count values, exactly if they are small |
//! | [`archive`] | writing the state of a value as bytes, and reading the state from the bytes |
//! | [`lazy`] | [`lazy::LazyTable`], a large table that uses memory only for the chunks that were touched |
//!
//! No module here depends on a buffer, a flash device, a trace or a clock.
#![no_std]
extern crate alloc;

pub mod archive;
pub mod bins;
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
