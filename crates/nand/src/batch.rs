//! A batch: page operations that a die serves together on its parallel units.
//!
//! Only FTLs with more than one parallel unit per die use batches. The FTL distributes the operations over rounds, so
//! that in each round a unit has at most one operation. [`Batch::finish_times`] gives the time at which each
//! operation is done.

use alloc::vec::Vec;

use destage_base::Ticks;

use crate::timing::Timing;

/// One page operation of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Position in the list of reads, or in the list of writes, from which the batch was made.
    pub index: usize,
    /// Whether the operation is a write; otherwise it is a read.
    pub write: bool,
    /// Whether the operation is the first of its round. A round begins when all operations of the earlier rounds are
    /// done.
    pub starts_round: bool,
    /// Whether the operation is a write of the last data page of its block. The die then programs the summary page of
    /// the block after the write.
    pub seals: bool,
}

/// The operations of one batch, in the order in which they use the die's channel.
#[derive(Debug, Default)]
pub struct Batch {
    /// All reads come before all writes. Reads and writes are each sorted by round, and within a round by unit.
    pub entries: Vec<Entry>,
}

impl Batch {
    /// The time at which each entry is done, in ticks after the start of the batch.
    ///
    /// In a round, the transfers of the units follow one another on the channel. After its transfer, the cells of a
    /// unit work in parallel with the other units. The next round begins when the slowest unit is done.
    pub fn finish_times<'a>(
        &'a self,
        timing: &'a Timing,
    ) -> impl Iterator<Item = (Entry, Ticks)> + 'a {
        let mut round_start = 0;
        let mut transfers = 0;
        let mut latest = 0;
        self.entries.iter().map(move |entry| {
            if entry.starts_round {
                round_start = latest;
                transfers = 0;
            }
            transfers += timing.page_transfer;
            let mut cells = if entry.write {
                timing.program
            } else {
                timing.read
            };
            if entry.seals {
                cells += timing.sector_transfer + timing.program;
            }
            let finish = round_start + transfers + cells;
            latest = latest.max(finish);
            (*entry, finish)
        })
    }
}
