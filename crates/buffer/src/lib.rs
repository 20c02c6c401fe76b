//! The write buffer: its schemes, the pages that are buffered in RAM, and the destage records that the buffer emits.
//!
//! | module | holds |
//! | --- | --- |
//! | [`scheme`] | the [`Scheme`] trait: the events that a scheme receives, and the question that it answers |
//! | [`view`] | the [`View`] trait: the queries of a scheme to the device |
//! | [`destage`] | the [`Destage`] record, the only form in which pages leave this crate |
//! | [`buffer`] | [`Buffer`], the engine that all schemes share |
//! | [`intake`] | [`Destager`], through which a caller receives records while a page enters |
//! | [`background`] | destaging in idle time, for every scheme |
//! | [`config`] | the parameters that every buffer has |
//! | [`counts`] | the counts of a buffer |
//! | [`registry`] | the table of all schemes |
//! | [`schemes`] | the schemes, one folder per family |
//! | [`shares`] | a buffer whose slots are divided among placement handles |
//! | [`shown`] | the lists that a scheme shows in a recording |
//! | [`resident`] | which page is in which slot, and whether that copy of the page is on flash |
//! | [`page_map`], [`order`] | the two data structures that every page request uses |
//! | [`heap`] | an order by key, for schemes for which lists are not sufficient |
//! | [`clusters`] | the buffered pages grouped by logical block, for block-level schemes |
//! | [`groups`] | groups of pages that a scheme forms by its own rule |
//! | [`pending_victims`] | the victims whose programs a page waits for, if only one certain slot is suitable for the page |
//! | [`padding`] | the choice of the pages that complete a cluster |
//!
//! The crate handles no page contents, reads no clock and opens no files. The caller stores the contents in its own
//! memory, indexed by [`Slot`](destage::Slot). It passes the time as an argument, and it implements [`View`] for the
//! device.
#![no_std]
extern crate alloc;

pub mod background;
pub mod buffer;
pub mod clusters;
pub mod config;
pub mod counts;
pub mod destage;
mod eager;
mod emission;
pub mod groups;
pub mod heap;
mod idle;
pub mod intake;
pub mod order;
pub mod padding;
pub mod page_map;
pub mod pending_victims;
pub mod registry;
pub mod resident;
pub mod scheme;
pub mod schemes;
pub mod shares;
pub mod shown;
pub mod view;

pub use buffer::Buffer;
pub use config::{BufferConfig, COMMON, Common, Contradiction, Release};
pub use counts::{Counts, Dropped};
pub use destage::{Destage, DestageCause};
pub use intake::{Destager, Found, Outlet};
pub use registry::{SCHEMES, SchemeConfig, SchemeRow, Sees, find};
pub use scheme::Scheme;
pub use shares::Shares;
pub use view::View;
