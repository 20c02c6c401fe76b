//! A log block that holds newer copies of pages of one logical block.

use alloc::vec;
use alloc::vec::Vec;

use destage_base::archived;

use super::NONE;
use destage_nand::array::BlockSlot;

/// No slot.
const NO_SLOT: u16 = u16::MAX;

/// The offset of a slot without content.
const NO_OFFSET: u16 = u16::MAX;

/// The state of a log block bound to one logical block.
#[derive(Clone)]
pub(crate) struct LogBlock {
    /// The logical block it is bound to.
    pub owner: u32,
    /// The physical block.
    pub block: BlockSlot,
    /// The page offset programmed in each slot, in the order of programming.
    offsets: Vec<u16>,
    /// The slot of the newest copy, by page offset.
    newest: Vec<u16>,
    /// Page offsets whose newest copy is here.
    live: u16,
    /// Every slot so far holds the offset of its own number.
    sequential: bool,
    /// Pages lie at their own offsets.
    in_place: bool,
}

archived!(LogBlock { owner, block, offsets, newest, live, sequential } fixed { in_place });

impl LogBlock {
    /// A log block for blocks of `pages` pages, bound to nothing yet.
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

    /// Binds the released log block, now at `block`, to `owner`.
    pub fn bind(&mut self, owner: u32, block: BlockSlot) {
        debug_assert!(self.live == 0 && self.offsets.is_empty());
        self.owner = owner;
        self.block = block;
        self.sequential = true;
    }

    /// Forgets everything that was written to it.
    pub fn release(&mut self) {
        let offsets = self.offsets.drain(..);
        for offset in offsets.filter(|offset| *offset != NO_OFFSET) {
            self.newest[usize::from(offset)] = NO_SLOT;
        }
        self.owner = NONE;
        self.live = 0;
    }

    /// The log block continues at page `end`: earlier pages have no content. It is not in sequence any more.
    pub fn pass_over(&mut self, end: u32) {
        if end <= self.len() {
            return;
        }
        self.sequential = false;
        if !self.in_place {
            self.offsets.resize(end as usize, NO_OFFSET);
        }
    }

    /// Pages programmed so far.
    pub fn len(&self) -> u32 {
        self.offsets.len() as u32
    }

    /// Page offsets whose newest copy is here.
    pub fn live(&self) -> u32 {
        u32::from(self.live)
    }

    /// Whether the pages programmed are those from 0 on, each once and in its place; the block is programmed up to page `end`.
    pub fn is_sequential(&self, end: u32) -> bool {
        // In place the order of programming may differ from that of the offsets.
        self.sequential
            || (self.in_place
                && end == self.len()
                && self
                    .offsets
                    .iter()
                    .all(|offset| u32::from(*offset) < self.len()))
    }

    /// The page in which the next copy of `offset` goes.
    #[inline]
    pub fn place_of_next(&self, offset: u32) -> u32 {
        if self.in_place { offset } else { self.len() }
    }

    /// Notes that the newest copy of `offset` was programmed; says whether the newest was here before.
    #[inline]
    pub fn add(&mut self, offset: u32) -> bool {
        let slot = self.offsets.len() as u16;
        self.sequential &= u32::from(slot) == offset;
        self.offsets.push(offset as u16);
        let before = core::mem::replace(&mut self.newest[offset as usize], slot);
        self.live += u16::from(before == NO_SLOT);
        before != NO_SLOT
    }

    /// The newest copy of `offset` is no longer here; says whether it was.
    pub fn invalidate(&mut self, offset: u32) -> bool {
        let was = core::mem::replace(&mut self.newest[offset as usize], NO_SLOT) != NO_SLOT;
        self.live -= u16::from(was);
        was
    }

    /// The page in which the newest copy of `offset` is, if it is here.
    #[inline]
    pub fn page_of(&self, offset: u32) -> Option<u32> {
        match self.newest[offset as usize] {
            NO_SLOT => None,
            _ if self.in_place => Some(offset),
            slot => Some(u32::from(slot)),
        }
    }

    /// The offsets whose newest copy is here, in the order of programming.
    pub fn live_offsets(&self) -> impl Iterator<Item = u32> + '_ {
        let offsets = self.offsets.iter().enumerate();
        let known = offsets.filter(|(_, offset)| **offset != NO_OFFSET);
        let newest = |(slot, offset): (usize, &u16)| {
            (usize::from(self.newest[usize::from(*offset)]) == slot).then_some(u32::from(*offset))
        };
        known.filter_map(newest)
    }
}
