//! The schemes: one file each, in one folder per family. Each file contains the scheme's registry row.
//!
//! | family | what its schemes order |
//! | --- | --- |
//! | [`block`] | clusters: the buffered pages of one logical block |
//! | [`bound`] | single pages; the schemes are bounds that no other scheme can exceed |
//! | [`device`] | single pages, chosen by the state of the dies |
//! | [`die`] | the pages of each die separately |
//! | [`emulator`] | the write buffers of existing emulators and simulators |
//! | [`hybrid`] | single pages and clusters |
//! | [`page`] | single pages, or the pages of one request |
//! | [`run`] | runs of pages that were written together |
//! | [`set`] | the lines of each set of a set-associative cache separately |
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
