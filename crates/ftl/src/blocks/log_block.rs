//! A log block that holds newer copies of pages of one logical block.

use alloc::vec;
use alloc::vec::Vec;

use destage_base::archived;

use super::NONE;
use destage_nand::array::BlockSlot;

/// The page has no copy in the log block.
const NO_SLOT: u16 = u16::MAX;

/// The slot was programmed without content.
const NO_OFFSET: u16 = u16::MAX;

/// The state of a log block bound to one logical block.
#[derive(Clone)]
pub(crate) struct LogBlock {
    /// The logical block to which the log block is bound.
    pub owner: u32,
    /// The physical block.
    pub block: BlockSlot,
    /// The page offsets that were programmed, in the order of programming. A slot is an index in this list.
    offsets: Vec<u16>,
    /// For each page offset, the slot with its newest copy.
    newest: Vec<u16>,
    /// Number of page offsets whose newest copy is in this log block.
    live: u16,
    /// Each slot so far holds the page offset that equals the number of the slot.
    sequential: bool,
    /// Each page is programmed at its own offset.
    in_place: bool,
}

archived!(LogBlock { owner, block, offsets, newest, live, sequential } fixed { in_place });

impl LogBlock {
    /// A log block for blocks of `pages` pages that is not bound to a logical block yet.
    pub fn new(pages: u32, in_place: bool) -> Self {
        Self {
            owner: NONE,
            block: NONE,
            offsets: Vec::with_capacity(pages as usize),
            newest: vec![NO_SLOT; pages as usize],
            live: 0,
            sequential: true,
            in_place,
        }
    }

    /// Binds the released log block, which is now the physical block `block`, to logical block `owner`.
    pub fn bind(&mut self, owner: u32, block: BlockSlot) {
        debug_assert!(self.live == 0 && self.offsets.is_empty());
        self.owner = owner;
        self.block = block;
        self.sequential = true;
    }

    /// Unbinds the log block and forgets all its pages.
    pub fn release(&mut self) {
        let offsets = self.offsets.drain(..);
        for offset in offsets.filter(|offset| *offset != NO_OFFSET) {
            self.newest[usize::from(offset)] = NO_SLOT;
        }
        self.owner = NONE;
        self.live = 0;
    }

    /// Notes that all pages of the block before page `end` are programmed, some of them without content. The log
    /// block is then no longer in sequence.
    pub fn pass_over(&mut self, end: u32) {
        if end <= self.len() {
            return;
        }
        self.sequential = false;
        if !self.in_place {
            self.offsets.resize(end as usize, NO_OFFSET);
        }
    }

    /// Number of pages programmed so far, with or without content. If each page is programmed at its own offset,
    /// only pages with content count.
    pub fn len(&self) -> u32 {
        self.offsets.len() as u32
    }

    /// Number of page offsets whose newest copy is in this log block.
    pub fn live(&self) -> u32 {
        u32::from(self.live)
    }

    /// Whether the block holds the pages from offset 0 on, each once and at its own offset. `end` is the page
    /// after the last programmed page of the block.
    pub fn is_sequential(&self, end: u32) -> bool {
        // If each page is programmed at its own offset, the order of programming may differ from the order of the
        // offsets.
        self.sequential
            || (self.in_place
                && end == self.len()
                && self
                    .offsets
                    .iter()
                    .all(|offset| u32::from(*offset) < self.len()))
    }

    /// The page of the block in which the next copy of `offset` is programmed.
    #[inline]
    pub fn place_of_next(&self, offset: u32) -> u32 {
        if self.in_place { offset } else { self.len() }
    }

    /// Notes that the newest copy of `offset` was programmed in this log block. Returns whether the previous
    /// newest copy was in this log block too.
    #[inline]
    pub fn add(&mut self, offset: u32) -> bool {
        let slot = self.offsets.len() as u16;
        self.sequential &= u32::from(slot) == offset;
        self.offsets.push(offset as u16);
        let before = core::mem::replace(&mut self.newest[offset as usize], slot);
        self.live += u16::from(before == NO_SLOT);
        before != NO_SLOT
    }

    /// Notes that the newest copy of `offset` is not in this log block any more. Returns whether it was in this
    /// log block until now.
    pub fn invalidate(&mut self, offset: u32) -> bool {
        let was = core::mem::replace(&mut self.newest[offset as usize], NO_SLOT) != NO_SLOT;
        self.live -= u16::from(was);
        was
    }

    /// The page of the block with the newest copy of `offset`; `None` if the newest copy is not in this log block.
    #[inline]
    pub fn page_of(&self, offset: u32) -> Option<u32> {
        match self.newest[offset as usize] {
            NO_SLOT => None,
            _ if self.in_place => Some(offset),
            slot => Some(u32::from(slot)),
        }
    }

    /// The offsets whose newest copy is in this log block, in the order of programming.
    pub fn live_offsets(&self) -> impl Iterator<Item = u32> + '_ {
        let offsets = self.offsets.iter().enumerate();
        let known = offsets.filter(|(_, offset)| **offset != NO_OFFSET);
        let newest = |(slot, offset): (usize, &u16)| {
            (usize::from(self.newest[usize::from(*offset)]) == slot).then_some(u32::from(*offset))
        };
        known.filter_map(newest)
    }
}
