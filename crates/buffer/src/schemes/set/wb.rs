//! `wb`: set-associative write-back cache that does not use idle time. It is the baseline for the APU caches.
//!
//! This is the on-board cache of a drive without further rules. A page may be in one of the `ways` lines of one set.
//! When a set has no free and no clean line, it destages its least recently used line, even if the rest of the cache
//! is unused. With a cache that is divided into pieces, the scheme shows the effect of the index function; see
//! `apu_index`.
//!
//! The rules are in `cache`. Cost: O(ways) per page.

use super::cache::{WriteBack, write_back};
use crate::registry::{SchemeRow, Sees};

/// The row of `wb`.
pub const ROW: SchemeRow = SchemeRow {
    name: "wb",
    family: "set",
    about: "Write-back cache in sets; makes room one line at a time, and does not use idle time.",
    source: "APU cache: on-board cache with automatic periodic update, centralized and distributed.",
    parameters: WriteBack::ROWS,
    sees: &[Sees::Numbers],
    ..SchemeRow::of(&write_back)
};
