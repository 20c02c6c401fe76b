//! How long flash operations take, in ticks. The only file that turns operations into time.
//!
//! Channel time and cell time of an operation do not overlap within a die (no cache register), and
//! dies share no bus: the timing model of Agrawal et al., USENIX ATC 2008, as their released
//! simulator implements it.

use destage_base::Ticks;

use crate::operation::{Kind, Operation, Operations, Transfer};

/// Times of the parts of an operation, in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timing {
    /// Cells to page register.
    pub read: Ticks,
    /// Page register to cells.
    pub program: Ticks,
    /// Erase of a block.
    pub erase: Ticks,
    /// Cells to page register and page register to cells, of cells that hold one bit where others hold more.
    pub one_bit: [Ticks; 2],
    /// One page, spare bytes included, over the die's channel.
    pub page_transfer: Ticks,
    /// One sector, spare bytes included, over the die's channel.
    pub sector_transfer: Ticks,
}

impl Timing {
    /// Time of one operation alone, or of all of a run.
    #[must_use]
    #[inline]
    pub fn of(&self, operation: Operation) -> Ticks {
        let each = self.time(operation.kind, operation.transfer, operation.one_bit);
        each.saturating_mul(u64::from(operation.count))
    }

    /// Time of one operation; `one_bit` if its cells hold one bit where others hold more.
    #[must_use]
    #[inline]
    pub fn time(&self, kind: Kind, transfer: Transfer, one_bit: bool) -> Ticks {
        let cells = match (kind, one_bit) {
            (Kind::Read, false) => self.read,
            (Kind::Program, false) => self.program,
            (Kind::Read, true) => self.one_bit[0],
            (Kind::Program, true) => self.one_bit[1],
            (Kind::Erase, _) => self.erase,
        };
        let channel = match transfer {
            Transfer::None => 0,
            Transfer::Page => self.page_transfer,
            Transfer::Sector => self.sector_transfer,
            Transfer::TwoPages => 2 * self.page_transfer,
        };
        cells + channel
    }

    /// Time of operations one after the other.
    #[must_use]
    #[inline]
    pub fn serial(&self, operations: &[Operation]) -> Ticks {
        let times = operations.iter().map(|operation| self.of(*operation));
        times.fold(0, Ticks::saturating_add)
    }

    /// Time until the last lane is done.
    #[must_use]
    #[inline]
    pub fn parallel(&self, operations: &Operations) -> Ticks {
        if operations.is_single_lane() {
            return self.serial(operations.all());
        }
        operations
            .lanes()
            .map(|lane| self.serial(lane))
            .max()
            .unwrap_or(0)
    }
}
