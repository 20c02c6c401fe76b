//! How long flash operations take, in ticks, on dies that do not share a channel.
//!
//! Within a die, transfers on the channel and the work of the cells do not overlap, because planes have no cache
//! register. Every die has its own channel. This is the timing model of Agrawal et al., USENIX ATC 2008, as their
//! released simulator implements it.

use destage_base::Ticks;

use crate::operation::{Kind, Operation, Operations, Transfer};

/// Times of the phases of an operation, in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timing {
    /// Time of a read: the page moves from the cells to the page register.
    pub read: Ticks,
    /// Time of a program: the page moves from the page register to the cells.
    pub program: Ticks,
    /// Time of the erase of a block.
    pub erase: Ticks,
    /// Times of a read and of a program, for cells that hold one bit although they could hold more.
    pub one_bit: [Ticks; 2],
    /// Time to transfer one page, with its spare bytes, over the die's channel.
    pub page_transfer: Ticks,
    /// Time to transfer one sector, with its spare bytes, over the die's channel.
    pub sector_transfer: Ticks,
}

impl Timing {
    /// Ticks of `operation`; if it stands for several equal operations, the sum of theirs.
    #[must_use]
    #[inline]
    pub fn of(&self, operation: Operation) -> Ticks {
        let each = self.time(operation.kind, operation.transfer, operation.one_bit);
        each.saturating_mul(u64::from(operation.count))
    }

    /// Ticks of one operation. `one_bit` says whether the cells of the operation hold one bit although they could
    /// hold more.
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

    /// Ticks of `operations` that run one after the other.
    #[must_use]
    #[inline]
    pub fn serial(&self, operations: &[Operation]) -> Ticks {
        let times = operations.iter().map(|operation| self.of(*operation));
        times.fold(0, Ticks::saturating_add)
    }

    /// Ticks until the last lane of `operations` is done.
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
