//! `apu-lru`: the write-back cache that writes dirty lines back when idle, least recent first, one at a time.
//!
//! "Automatic periodic update": lines written back ahead of time stay as clean ones, so that a later write
//! to their set finds room without a program. Lines are taken in the order of their last access over
//! the whole cache, without regard to sets.
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
