//! An effect on pages of flash, from its emission to its end.

use alloc::collections::VecDeque;

use destage_nand::Cause;

use super::Contents;
use crate::operation::PageOperation;

/// Something that happens to a page on flash.
#[derive(Clone)]
pub(super) enum Effect {
    /// Its own bytes are programmed.
    Program(Contents),
    /// It is programmed to pad a cluster. With details that are settled when the program begins.
    Pad(Option<Contents>),
    /// It is trimmed, as this version.
    Trim(u64),
}

impl Effect {
    /// Whether `operation` carries it out.
    pub fn is_by(&self, operation: PageOperation) -> bool {
        match self {
            Self::Program(_) => operation.write_cause() == Some(Cause::Host),
            Self::Pad(_) => operation.write_cause() == Some(Cause::Pad),
            Self::Trim(_) => operation.is_trim(),
        }
    }
}

/// An effect, and which of all it is by its emission.
#[derive(Clone)]
pub(super) struct Emitted {
    pub effect: Effect,
    pub number: u64,
}

/// The effects on a page that have not ended, in the order of their emission.
#[derive(Clone, Default)]
pub(super) struct Leaving {
    pub effects: VecDeque<Emitted>,
    /// How many of them have begun.
    pub begun: usize,
}

impl Leaving {
    /// The latest of the first `count` effects.
    pub fn before(&self, count: usize) -> impl Iterator<Item = &Effect> {
        let first = self.effects.range(..count);
        first.rev().map(|emitted| &emitted.effect)
    }
}
