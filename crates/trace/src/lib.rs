//! Reads, measures, changes and writes traces of block devices.
//!
//! | module | holds |
//! | --- | --- |
//! | [`format`](mod@format) | the registry of formats; each has a file in `formats/` |
//! | [`options`] | how a trace is read: the `trace.*` parameters |
//! | [`reader`] | [`Reader`], one pass over a file in bounded memory |
//! | [`trace`] | [`Trace`], a whole file in memory |
//! | [`alignment`] | checks whether the requests of a trace begin on multiples of 4 KiB |
//! | [`plausibility`] | checks whether the times of a trace are plausible |
//! | [`error`] | [`TraceError`], whose text is one line that tells the user what to do |
//! | [`statistics`] | statistics of a trace |
//! | [`runs`] | values for pages, stored once for a run of neighbouring pages |
//! | [`page_bits`] | a set of pages |
//! | [`transform`] | cuts, scales, merges and anonymises traces |
//! | [`writers`] | writes requests to files |
//! | `containment` | in builds with Parquet: turns panics of its decoder into errors |
//!
//! A reader returns batches of [`Request`]s in the order in which they arrive. The reader checks every byte: it
//! skips no input silently, and truncates or wraps no number silently.

mod address;
mod admission;
pub mod alignment;
mod array;
mod blocks;
mod columns;
mod compression;
#[cfg(feature = "parquet")]
pub mod containment;
mod cursor;
mod decode;
mod detect;
mod digest;
mod digits;
pub mod error;
mod faults;
pub mod format;
mod formats;
mod held;
mod injection;
pub mod options;
mod order;
pub mod page_bits;
pub mod plausibility;
pub mod reader;
mod records;
mod report;
pub mod request;
mod rows;
pub mod runs;
mod second_pass;
mod slice;
pub mod statistics;
pub mod trace;
pub mod transform;
mod variant;
mod volumes;
pub mod writers;

pub use array::Array;
pub use digest::{digest, hexadecimal};
pub use error::{Excerpt, Fault, TraceError};
pub use format::{FORMATS, Format, TimeUnit};
pub use held::{Columns, placed};
pub use injection::injected;
pub use options::{
    BadLines, Choices, Event, InjectionRules, Order, PARAMETERS, ReadOptions, Streams, Volumes,
    ZeroLength,
};
pub use reader::Reader;
pub use reader::sift::{Passed, Sieve};
pub use report::{ReadReport, SoFar};
pub use request::{Operation, Request};
pub use second_pass::{allows_second_pass, require_second_pass};
pub use slice::Slice;
pub use statistics::{Collector, Statistics};
pub use trace::{Trace, read_all};
