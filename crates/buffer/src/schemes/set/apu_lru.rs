//! `apu-lru`: set-associative cache that writes dirty lines back in idle time, the least recently used line first.
//!
//! Lines are written back one at a time ("automatic periodic update") and remain as clean lines. A later write to
//! their set then finds room without a program. The order is that of the last access over the whole cache,
//! independent of sets.
//!
//! The rules are in `cache`. Cost: O(ways) per page.

use super::cache::{Central, central};
use super::dirty::Rule;
use crate::registry::{SchemeRow, Sees};

/// The row of `apu-lru`.
pub const ROW: SchemeRow = SchemeRow {
    name: "apu-lru",
    family: "set",
    about: "Write-back cache in sets that writes its least recently used dirty line back when idle, one line at a time.",
    source: "APU cache: on-board cache with automatic periodic update, centralized and distributed.",
    parameters: Central::ROWS,
    sees: &[Sees::Time, Sees::Numbers],
    ..SchemeRow::of(&|config| central(config, Rule::Recency))
};
