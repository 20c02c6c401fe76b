//! An effect on a page of flash, from its emission to its end.

use alloc::collections::VecDeque;

use destage_nand::Cause;

use super::Contents;
use crate::operation::PageOperation;

/// An effect on a page of flash.
#[derive(Clone)]
pub(super) enum Effect {
    /// The page is programmed with its own contents.
    Program(Contents),
    /// The page is programmed to pad a cluster. The contents are determined when the program begins.
    Pad(Option<Contents>),
    /// The page is trimmed. The trim has this version.
    Trim(u64),
}

impl Effect {
    /// Whether `operation` carries out this effect.
    pub fn is_by(&self, operation: PageOperation) -> bool {
        match self {
            Self::Program(_) => operation.write_cause() == Some(Cause::Host),
            Self::Pad(_) => operation.write_cause() == Some(Cause::Pad),
            Self::Trim(_) => operation.is_trim(),
        }
    }
}

/// An effect with its number. All effects are numbered in the order of their emission.
#[derive(Clone)]
pub(super) struct Emitted {
    pub effect: Effect,
    pub number: u64,
}

/// The effects on a page that have not ended, in the order of their emission.
#[derive(Clone, Default)]
pub(super) struct Leaving {
    pub effects: VecDeque<Emitted>,
    /// Number of effects that have begun.
    pub begun: usize,
}

impl Leaving {
    /// The first `count` effects, the latest of them first.
    pub fn before(&self, count: usize) -> impl Iterator<Item = &Effect> {
        let first = self.effects.range(..count);
        first.rev().map(|emitted| &emitted.effect)
    }
}
