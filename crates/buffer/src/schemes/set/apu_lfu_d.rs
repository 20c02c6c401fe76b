//! `apu-lfu-d`: writes dirty lines back in idle time. Each step writes back the least frequently used line of every
//! package.
//!
//! The scheme works like [`apu-lru-d`](super::apu_lru_d). Within each package, it uses the order of
//! [`apu-lfu`](super::apu_lfu).
//!
//! The rules are in `cache`. Cost: O(ways + log n) per page, O(packages) per step.

use super::cache::{Distributed, distributed};
use super::dirty::Rule;
use crate::registry::{SchemeRow, Sees};

/// The row of `apu-lfu-d`.
pub const ROW: SchemeRow = SchemeRow {
    name: "apu-lfu-d",
    family: "set",
    about: "Works as apu-lfu, but writes one line of every package back at a time.",
    source: "APU cache: on-board cache with automatic periodic update, centralized and distributed.",
    parameters: Distributed::ROWS,
    sees: &[Sees::Time, Sees::Numbers],
    ..SchemeRow::of(&|config| distributed(config, Rule::Frequency))
};
