//! Why there is no room, in numbers. The caller that informs the user supplies the words and the names of parameters.

use alloc::boxed::Box;
use core::ops::Deref;

/// Something ran out on the device, and garbage collection cannot help.
/// One word wide, because every page operation may return it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSpace(Box<Shortage>);

/// What ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortage {
    /// A layer that maps by page has no free block where one is needed, and cannot make one.
    Pool {
        /// Blocks among which one was looked for.
        blocks: u32,
        /// The blocks among them that were erased as often as they survive, and are not used any more.
        retired: u32,
        /// How often a block may be erased until it retires; `u32::MAX` if none is.
        endurance: u32,
    },
    /// A layer that maps by block has no free block where one is needed.
    Spare {
        /// Blocks of the die.
        blocks: u32,
        /// The blocks among them that were erased as often as they survive, and are not used any more.
        retired: u32,
        /// How often a block may be erased until it retires; `u32::MAX` if none does.
        endurance: u32,
    },
    /// No log block is unused.
    Log {
        /// Log blocks of the die.
        logs: u32,
    },
    /// A die does nothing but collect garbage.
    OnlyCollects {
        /// The die.
        die: u32,
        /// Garbage collections in a row.
        times: u32,
    },
    /// More requests are in flight than can be numbered.
    Requests {
        /// The most there may be.
        most: u32,
    },
}

impl Shortage {
    /// Whether it is wear that took the room, on a device of which `retired` blocks are not used any more.
    #[must_use]
    pub fn is_of_wear(&self, retired: u64) -> bool {
        match *self {
            Self::Pool { retired, .. } | Self::Spare { retired, .. } => retired > 0,
            Self::OnlyCollects { .. } => retired > 0,
            Self::Log { .. } | Self::Requests { .. } => false,
        }
    }
}

impl From<Shortage> for NoSpace {
    #[cold]
    fn from(shortage: Shortage) -> Self {
        Self(Box::new(shortage))
    }
}

impl Deref for NoSpace {
    type Target = Shortage;

    fn deref(&self) -> &Shortage {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_retired_blocks_make_it_wear() {
        let pool = |retired| Shortage::Pool {
            blocks: 9,
            retired,
            endurance: 5,
        };
        // Blocks of another pool may have retired; this one is too small.
        assert!(!pool(0).is_of_wear(3));
        assert!(pool(1).is_of_wear(3));
        let collects = Shortage::OnlyCollects { die: 0, times: 9 };
        assert!(!collects.is_of_wear(0) && collects.is_of_wear(1));
        assert!(!Shortage::Log { logs: 2 }.is_of_wear(1));
    }
}
