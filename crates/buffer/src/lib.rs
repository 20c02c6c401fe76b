//! The buffer, its schemes, and the records they emit: which pages wait in RAM, and which leave.
//!
//! | module | holds |
//! | --- | --- |
//! | [`scheme`] | the [`Scheme`] trait: the calls a scheme gets, and the one question it answers |
//! | [`view`] | the [`View`] trait: the questions that a scheme may ask about the device |
//! | [`destage`] | the [`Destage`] record, which is all that leaves this crate |
//! | [`buffer`] | [`Buffer`], the engine every scheme shares |
//! | [`intake`] | passes its records on while a page enters |
//! | [`background`] | destaging in idle time, for every scheme |
//! | [`config`] | the parameters every buffer has |
//! | [`counts`] | the counts of a buffer |
//! | [`registry`] | the table of all schemes |
//! | [`schemes`] | the schemes, a folder per family |
//! | [`shown`] | the lists that a scheme shows in a recording |
//! | [`resident`] | which page is in which slot, and how safe its copy is |
//! | [`page_map`], [`order`] | the two data structures of the per-page path |
//! | [`heap`] | an order by key, for schemes that need more than lists |
//! | [`clusters`] | the buffered pages by logical block, for block-level schemes |
//! | [`groups`] | pages in groups of a scheme's own making |
//! | [`pending_victims`] | the programs that a page waits for if it needs its own place |
//! | [`padding`] | which pages complete a cluster |
//!
//! No bytes, no clock, no files: payload lives in the caller's memory at [`Slot`](destage::Slot)
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
