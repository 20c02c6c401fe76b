//! A batch: page operations that a die serves together on its parallel units.
//!
//! Only FTLs with more than one parallel unit per die use it. The FTL decides in which round and in which
//! order an operation gets its unit; [`Batch::finish_times`] gives the time at which the operation is done.

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
    /// Whether the operation is the first of its round. It then waits for all operations before it.
    pub starts_round: bool,
    /// Whether the operation is a write that fills its block, so that the summary page is programmed after
    /// it.
    pub seals: bool,
}

/// The operations of one batch in the order in which they get the die's channel.
#[derive(Debug, Default)]
pub struct Batch {
    /// All reads, then all writes; round after round, units in ascending order within a round.
    pub entries: Vec<Entry>,
}

impl Batch {
    /// The time at which each entry is done, in ticks after the start of the batch.
    ///
    /// In a round, the units start their transfers one after the other and then work in parallel. The next
    /// round begins when the slowest unit of this round is done.
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
