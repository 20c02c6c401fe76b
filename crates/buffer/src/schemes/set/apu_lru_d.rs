//! `apu-lru-d`: writes dirty lines back when idle, the least recent one of every package at a time.
//!
//! As [`apu-lru`](super::apu_lru), with the packages working in parallel: a step names one line for each package that has a dirty one. The cache is
//! one for all packages, logically distributed (1:N), or is
//! cut into independent pieces of `packages_per_piece` packages (1:x).
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
    reconstructed: false,
    parameters: Distributed::ROWS,
    needs_future: false,
    sees: &[Sees::Time],
    build: &|config| distributed(config, Rule::Recency),
};
