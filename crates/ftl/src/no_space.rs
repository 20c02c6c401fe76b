//! The reasons why an operation finds no free block or other resource, as numbers. The caller that reports the
//! error writes the message and names the parameters.

use alloc::boxed::Box;
use core::ops::Deref;

/// A resource of the device is used up, and garbage collection cannot free more of it. The error is one machine word
/// wide, because every page operation may return it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSpace(Box<Shortage>);

/// The resource that is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortage {
    /// A layer that maps by page needs a free block, has none, and cannot free one.
    Pool {
        /// Blocks of the pool that has no free block.
        blocks: u32,
        /// Retired blocks among them, that is, blocks that reached the maximum number of erases.
        retired: u32,
        /// Erases after which a block retires; `u32::MAX` if blocks do not retire.
        endurance: u32,
    },
    /// A layer that maps by block needs a free block and has none.
    Spare {
        /// Blocks of the die.
        blocks: u32,
        /// Retired blocks among them, that is, blocks that reached the maximum number of erases.
        retired: u32,
        /// Erases after which a block retires; `u32::MAX` if blocks do not retire.
        endurance: u32,
    },
    /// No log block is unused.
    Log {
        /// Log blocks of the die.
        logs: u32,
    },
    /// A die collects garbage or repairs blocks without end, and serves no request.
    OnlyCollects {
        /// The number of the die.
        die: u32,
        /// Garbage collections, or repair steps of a mount, in a row.
        times: u32,
    },
    /// More requests are in flight than request numbers exist.
    Requests {
        /// The maximum number of requests in flight.
        most: u32,
    },
}

impl Shortage {
    /// Whether wear is the reason for the shortage. `retired` is the number of retired blocks of the device.
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
        // Three blocks of other pools have retired, but none of this pool: the pool is too small, not worn.
        assert!(!pool(0).is_of_wear(3));
        assert!(pool(1).is_of_wear(3));
        let collects = Shortage::OnlyCollects { die: 0, times: 9 };
        assert!(!collects.is_of_wear(0) && collects.is_of_wear(1));
        assert!(!Shortage::Log { logs: 2 }.is_of_wear(1));
    }
}
