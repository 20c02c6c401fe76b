//! `apu-lru`: set-associative cache that writes dirty lines back in idle time, the least recently used first.
//!
//! Lines are written back one at a time ("automatic periodic update") and stay as clean lines, so that a later write
//! to their set finds room without a program. They are written back in the order of their last access over the whole
//! cache, independently of sets.
//!
//! The rules are in `cache`. Cost: O(ways) per page.

use super::cache::{Central, central};
use super::dirty::Rule;
use crate::registry::{SchemeRow, Sees};

/// The row of `apu-lru`.
pub const ROW: SchemeRow = SchemeRow {
    name: "apu-lru",
    family: "set",
    about: "Write-back cache in sets that writes its least recent dirty line back when idle, one line at a time.",
    source: "APU cache: on-board cache with automatic periodic update, centralized and distributed.",
    reconstructed: false,
    parameters: Central::ROWS,
    needs_future: false,
    sees: &[Sees::Time],
    build: &|config| central(config, Rule::Recency),
};
