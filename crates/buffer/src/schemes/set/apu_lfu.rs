//! `apu-lfu`: the write-back cache that writes dirty lines back when idle, least often used first, one at a time.
//!
//! As [`apu-lru`](super::apu_lru), but a frequently accessed line is left alone as long as there is another, since it will soon be dirty again.
//! Frequencies are never aged; a line begins again when its
//! page enters again.
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
    reconstructed: false,
    parameters: Central::ROWS,
    needs_future: false,
    sees: &[Sees::Time],
    build: &|config| central(config, Rule::Frequency),
};
