//! Schemes in which a page can only be in the few lines of one set, as in the cache on a drive's board.
//!
//! `cache` contains the common code: lines, sets, pieces and the order of dirty lines. The schemes differ in their
//! use of idle time.

pub mod apu_lfu;
pub mod apu_lfu_d;
pub mod apu_lru;
pub mod apu_lru_d;
mod cache;
mod dirty;
pub(in crate::schemes) mod lines;
pub(in crate::schemes) mod places;
mod shown;
pub mod wb;
