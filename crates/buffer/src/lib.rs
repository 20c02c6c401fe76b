//! The write buffer: its schemes, the pages that they keep in RAM, and the destage records that they emit.
//!
//! | module | holds |
//! | --- | --- |
//! | [`scheme`] | the [`Scheme`] trait: the calls that a scheme gets, and the question that it answers |
//! | [`view`] | the [`View`] trait: the questions that a scheme may ask about the device |
//! | [`destage`] | the [`Destage`] record, the only form in which pages leave this crate |
//! | [`buffer`] | [`Buffer`], the engine that all schemes share |
//! | [`intake`] | [`Destager`], through which a caller takes records while a page enters |
//! | [`background`] | destaging in idle time, for every scheme |
//! | [`config`] | the parameters that every buffer has |
//! | [`counts`] | the counts of a buffer |
//! | [`registry`] | the table of all schemes |
//! | [`schemes`] | the schemes, one folder per family |
//! | [`shares`] | a buffer whose slots are divided among placement handles |
//! | [`shown`] | the lists that a scheme shows in a recording |
//! | [`resident`] | which page is in which slot, and how safe that copy of the page is |
//! | [`page_map`], [`order`] | the two data structures that every page request uses |
//! | [`heap`] | an order by key, for schemes that need more than lists |
//! | [`clusters`] | the buffered pages by logical block, for block-level schemes |
//! | [`groups`] | groups of pages that a scheme forms by its own rule |
//! | [`pending_victims`] | the victims whose programs a page waits for when it can use only one certain slot |
//! | [`padding`] | which pages complete a cluster |
//!
//! The crate handles no page contents, reads no clock and opens no files. The caller keeps the contents in its own
//! memory, indexed by [`Slot`](destage::Slot); it passes the time as an argument, and the device is behind a trait.
//! indices, time is an argument, and the device is behind a trait.
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
