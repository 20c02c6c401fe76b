//! `apu-lru-d`: writes dirty lines back in idle time. Each step writes back the least recently used line of every
//! package.
//!
//! The scheme works like [`apu-lru`](super::apu_lru), but the packages work in parallel: a step names one line for
//! each package that has a dirty line. All packages share one logically distributed cache (1:N), or the cache is
//! divided into independent pieces for `packages_per_piece` packages each (1:x).
//!
//! The rules are in `cache`. Cost: O(ways) per page, O(packages) per step.

use super::cache::{Distributed, distributed};
use super::dirty::Rule;
use crate::registry::{SchemeRow, Sees};

/// The row of `apu-lru-d`.
pub const ROW: SchemeRow = SchemeRow {
    name: "apu-lru-d",
    family: "set",
    about: "Works as apu-lru, but writes one line of every package back at a time.",
    source: "APU cache: on-board cache with automatic periodic update, centralized and distributed.",
    parameters: Distributed::ROWS,
    sees: &[Sees::Time, Sees::Numbers],
    ..SchemeRow::of(&|config| distributed(config, Rule::Recency))
};
