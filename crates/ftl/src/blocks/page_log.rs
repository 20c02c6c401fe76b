//! Log blocks that hold newer copies of pages. A log block can hold pages of any logical blocks.
//!
//! The newest copy of a page is in at most one log block. A table gives the log block and the slot of that copy.
//! So the simulator handles a shared log block as quickly as a log block that is bound to one logical block.

use alloc::vec::Vec;

use destage_base::archived;
use destage_base::lazy::{LazyTable, Same};

use super::owners::Owners;
use super::{LogicalPage, NONE};
use destage_nand::array::BlockSlot;
use destage_nand::masks::{First, Masks};

/// One log block.
#[derive(Clone)]
struct Log {
    block: BlockSlot,
    /// The logical page that was programmed in each slot.
    pages: Vec<LogicalPage>,
    /// Number of slots that hold the newest copy of their page.
    live: u32,
    /// All slots hold pages of the logical block of slot 0, and each slot holds the page whose offset equals the
    /// number of the slot.
    in_sequence: bool,
}

archived!(Log {
    block,
    pages,
    live,
    in_sequence
});

/// The log blocks of a die, by number. See the [module](self).
#[derive(Clone)]
pub(crate) struct PageLog {
    logs: Vec<Log>,
    /// For each logical page whose newest copy is in the log, the log block and slot of that copy.
    places: LazyTable<Same<u32>>,
    newest: Masks<First>,
    /// For each log block, the logical blocks that have newest copies in it; empty if the layer does not need
    /// this.
    owners: Vec<Owners>,
    pages: u32,
    slot_bits: u32,
}

archived!(PageLog { logs, places, newest, owners } fixed { pages, slot_bits });

impl PageLog {
    /// A log of `logs` closed log blocks of `pages` pages each, for `logical` logical blocks.
    pub fn new(logs: u32, pages: u32, logical: u32) -> Self {
        let log = |_| Log {
            block: NONE,
            pages: Vec::with_capacity(pages as usize),
            live: 0,
            in_sequence: true,
        };
        Self {
            logs: (0..logs).map(log).collect(),
            places: LazyTable::new(logical as usize * pages as usize, Same(NONE)),
            newest: Masks::new(logical, pages, First(0)),
            owners: Vec::new(),
            pages,
            slot_bits: u32::BITS - (pages - 1).leading_zeros(),
        }
    }

    /// Returns this log, which from now on also counts [how many logical blocks](PageLog::owners) have newest
    /// copies in each log block.
    pub fn with_owners(self) -> Self {
        Self {
            owners: self.logs.iter().map(|_| Owners::new(self.pages)).collect(),
            ..self
        }
    }

    #[inline]
    fn index(&self, page: LogicalPage) -> usize {
        page.block as usize * self.pages as usize + page.offset as usize
    }

    /// Per logical block: the pages whose newest copy is in the log.
    #[inline]
    pub fn newest(&self) -> &Masks<First> {
        &self.newest
    }

    /// Number of log blocks, open or closed.
    pub fn len(&self) -> u32 {
        self.logs.len() as u32
    }

    /// Whether `log` has a physical block.
    #[inline]
    pub fn is_open(&self, log: u32) -> bool {
        self.logs[log as usize].block != NONE
    }

    /// Number of pages programmed in `log`.
    #[inline]
    pub fn programmed(&self, log: u32) -> u32 {
        self.logs[log as usize].pages.len() as u32
    }

    /// Whether `log` is open and has a free slot.
    #[inline]
    pub fn has_room(&self, log: u32) -> bool {
        self.is_open(log) && self.programmed(log) < self.pages
    }

    /// Number of pages whose newest copy is in `log`.
    #[inline]
    pub fn live(&self, log: u32) -> u32 {
        self.logs[log as usize].live
    }

    /// Number of logical blocks that have newest copies in `log`. The log has to be made [with
    /// owners](PageLog::with_owners).
    pub fn owners(&self, log: u32) -> u32 {
        self.owners[log as usize].distinct
    }

    /// Notes that the newest copy of a page of `block` is no longer in `log`.
    #[inline]
    fn leave(&mut self, log: u32, block: u32) {
        self.logs[log as usize].live -= 1;
        if let Some(owners) = self.owners.get_mut(log as usize) {
            owners.leave(block);
        }
    }

    /// The physical block of `log`.
    pub fn block(&self, log: u32) -> BlockSlot {
        self.logs[log as usize].block
    }

    /// The logical block of the first page in `log`; `None` if `log` is empty or closed.
    #[inline]
    pub fn first_block(&self, log: u32) -> Option<u32> {
        Some(self.logs[log as usize].pages.first()?.block)
    }

    /// Whether all slots hold pages of the logical block of slot 0, each slot the page whose offset equals the
    /// number of the slot.
    pub fn in_sequence(&self, log: u32) -> bool {
        self.logs[log as usize].in_sequence
    }

    /// Opens `log` in the erased physical block `block`.
    pub fn open(&mut self, log: u32, block: BlockSlot) {
        debug_assert!(!self.is_open(log));
        self.logs[log as usize].block = block;
    }

    /// If `block` belongs to a log block, moves the next slot of that log block to `end`. The slots in between
    /// have no content.
    pub fn pass_over(&mut self, block: BlockSlot, end: u32) {
        let Some(log) = self.logs.iter_mut().find(|log| log.block == block) else {
            return;
        };
        if log.pages.len() < end as usize {
            let nothing = LogicalPage {
                block: NONE,
                offset: 0,
            };
            log.pages.resize(end as usize, nothing);
            log.in_sequence = false;
        }
    }

    /// Closes `log`, in which no page may be needed any more, and returns its physical block.
    pub fn close(&mut self, log: u32) -> BlockSlot {
        if let Some(owners) = self.owners.get_mut(log as usize) {
            owners.clear();
        }
        let log = &mut self.logs[log as usize];
        assert!(
            log.live == 0,
            "log block with {} live pages closed",
            log.live
        );
        log.pages.clear();
        log.in_sequence = true;
        core::mem::replace(&mut log.block, NONE)
    }

    /// Notes that the newest copy of `page` was programmed in the next slot of `log`. Returns whether the previous
    /// newest copy was in a log block too.
    #[inline]
    pub fn add(&mut self, log: u32, page: LogicalPage) -> bool {
        let state = &mut self.logs[log as usize];
        let slot = state.pages.len() as u32;
        let first = state.pages.first().map_or(page.block, |page| page.block);
        state.in_sequence &= slot == page.offset && first == page.block;
        state.pages.push(page);
        state.live += 1;
        if let Some(owners) = self.owners.get_mut(log as usize) {
            owners.enter(page.block);
        }
        let index = self.index(page);
        let place = self.places.get_mut(index);
        let before = core::mem::replace(place, log << self.slot_bits | slot);
        let was_here = self.newest.set(page.block, page.offset);
        if was_here {
            self.leave(before >> self.slot_bits, page.block);
        }
        was_here
    }

    /// Notes that `page` is not needed any more, or that its newest copy is outside the log.
    pub fn invalidate(&mut self, page: LogicalPage) {
        if self.newest.clear(page.block, page.offset) {
            self.leave(
                self.places.get(self.index(page)) >> self.slot_bits,
                page.block,
            );
        }
    }

    /// Notes that the newest copies of all pages of logical block `block` are outside the log now.
    pub fn forget(&mut self, block: u32) {
        let first = block as usize * self.pages as usize;
        for offset in self.newest.ones(block) {
            let log = self.places.get(first + offset as usize) >> self.slot_bits;
            self.logs[log as usize].live -= 1;
            if let Some(owners) = self.owners.get_mut(log as usize) {
                owners.leave(block);
            }
        }
        self.newest.clear_row(block);
    }

    /// The log block and slot with the newest copy of `page`; `None` if that copy is outside the log.
    #[inline]
    pub fn place(&self, page: LogicalPage) -> Option<(u32, u32)> {
        if !self.newest.get(page.block, page.offset) {
            return None;
        }
        let place = self.places.get(self.index(page));
        Some((place >> self.slot_bits, place & ((1 << self.slot_bits) - 1)))
    }

    /// The physical block and page with the newest copy of `page`; `None` if that copy is outside the log.
    #[inline]
    pub fn find(&self, page: LogicalPage) -> Option<(BlockSlot, u32)> {
        let (log, slot) = self.place(page)?;
        Some((self.block(log), slot))
    }

    /// The logical page in `slot` of `log`, if that slot holds its newest copy.
    pub fn newest_in(&self, log: u32, slot: u32) -> Option<LogicalPage> {
        let page = *self.logs[log as usize].pages.get(slot as usize)?;
        let is_here = page.block != NONE && self.place(page) == Some((log, slot));
        is_here.then_some(page)
    }
}
