//! The schemes: one file each, in a folder per family, ending in its registry row.
//!
//! | family | orders |
//! | --- | --- |
//! | [`block`] | the buffered pages of one logical block |
//! | [`bound`] | bounds that no scheme can exceed |
//! | [`device`] | single pages, chosen by the state of the dies |
//! | [`die`] | the pages of each die apart |
//! | [`emulator`] | the write buffers of today's emulators and simulators |
//! | [`hybrid`] | single pages and clusters side by side |
//! | [`page`] | single pages, or the pages of one request |
//! | [`run`] | runs of pages that came together |
//! | [`set`] | the lines of each set of a set-associative cache apart |
//! | [`tier`] | the contents of a log in front of the device |

pub mod block;
pub mod bound;
pub mod device;
pub mod die;
pub mod emulator;
pub mod hybrid;
pub mod page;
pub mod run;
pub mod set;
pub mod tier;
