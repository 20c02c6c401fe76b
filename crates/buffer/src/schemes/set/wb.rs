//! `wb`: a set-associative write-back cache without idle work, the yardstick of the APU caches.
//!
//! A drive's on-board cache without further rules: a page may be in one of `ways` lines of one set, and a set without a free or clean line destages
//! its least recent line, however idle the rest of the cache is. Cut into pieces, the cache shows the effect of its index function; see `apu_index`.
//!
//! The rules are in `cache`. Cost: O(ways) per page.

use super::cache::{WriteBack, write_back};
use crate::registry::SchemeRow;

/// The row of `wb`.
pub const ROW: SchemeRow = SchemeRow {
    name: "wb",
    family: "set",
    about: "Write-back cache in sets; makes room one line at a time, and does not use idle time.",
    source: "APU cache: on-board cache with automatic periodic update, centralized and distributed.",
    reconstructed: false,
    parameters: WriteBack::ROWS,
    needs_future: false,
    sees: &[],
    build: &write_back,
};
