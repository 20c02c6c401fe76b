//! A batch: page operations a die serves together on its parallel units.
//!
//! Only FTLs with more than one parallel unit per die use it. The FTL says in which round and in
//! which order an operation gets its unit; [`Batch::finish_times`] says when it is done.

use alloc::vec::Vec;

use destage_base::Ticks;

use crate::timing::Timing;

/// One page operation of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Position in the list of reads, or of writes, the batch was made from.
    pub index: usize,
    /// Write or read.
    pub write: bool,
    /// This operation is the first of its round: it waits for all before it.
    pub starts_round: bool,
    /// A write that fills its block, and so programs the summary page too.
    pub seals: bool,
}

/// The operations of one batch in the order in which they get the die's channel.
#[derive(Debug, Default)]
pub struct Batch {
    /// All reads, then all writes; round after round, units in ascending order within a round.
    pub entries: Vec<Entry>,
}

impl Batch {
    /// When each entry is done, in ticks after the start of the batch.
    ///
    /// In a round, units start their transfers one after the other and then work in parallel; the next round begins when the slowest unit of this one
    /// is done.
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
