//! `apu-lfu`: set-associative cache that writes dirty lines back in idle time, the least frequently used line first.
//!
//! The scheme works like [`apu-lru`](super::apu_lru), but writes lines back in the order of their access frequency. A
//! frequently accessed line is written back last, because it will soon be dirty again. Frequencies do not decay. When
//! a page enters again, its frequency starts again at 1.
//!
//! The rules are in `cache`. Cost: O(ways + log n) per page.

use super::cache::{Central, central};
use super::dirty::Rule;
use crate::registry::{SchemeRow, Sees};

/// The row of `apu-lfu`.
pub const ROW: SchemeRow = SchemeRow {
    name: "apu-lfu",
    family: "set",
    about: "Write-back cache in sets that writes its least frequently used dirty line back when idle, one line at a time.",
    source: "APU cache: on-board cache with automatic periodic update, centralized and distributed.",
    parameters: Central::ROWS,
    sees: &[Sees::Time, Sees::Numbers],
    ..SchemeRow::of(&|config| central(config, Rule::Frequency))
};
