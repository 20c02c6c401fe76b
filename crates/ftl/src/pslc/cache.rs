//! The cache of a die: blocks whose cells hold one bit, in the order in which they were filled.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use destage_base::archived;

use crate::page::die::Die;
use destage_nand::found::FoundBlock;
use destage_nand::operation::Role;

/// See the [module](self).
#[derive(Clone)]
pub(super) struct Cache {
    /// By block of the die.
    is_here: Vec<bool>,
    /// Erased ones, where they stay here.
    free: Vec<u32>,
    /// Full ones, the oldest first.
    full: VecDeque<u32>,
    /// The block that is being filled, and its next page.
    open: Option<u32>,
    next: u32,
    /// Pages of the oldest full block before this one hold nothing any more.
    pub folded_to: u32,
    is_static: bool,
    block_pages: u32,
    /// The number of blocks it may have; or its blocks, if they are its own for ever.
    most_blocks: u32,
}

archived!(Cache { is_here, free, full, open, next, folded_to } fixed { is_static, block_pages, most_blocks });

impl Cache {
    /// An empty cache of up to `most_blocks` blocks of `block_pages` pages, in a die of `blocks`.
    pub fn new(blocks: u32, block_pages: u32, most_blocks: u32) -> Self {
        Self {
            is_here: vec![false; blocks as usize],
            free: Vec::new(),
            full: VecDeque::new(),
            open: None,
            next: 0,
            folded_to: 0,
            is_static: false,
            block_pages,
            most_blocks,
        }
    }

    /// Takes all its blocks from `die`, for ever; fewer if it needs them itself.
    pub fn take_all(&mut self, die: &mut Die) {
        self.is_static = true;
        while (self.free.len() as u32) < self.most_blocks {
            let Some(block) = die.take_block(die.rules.watermarks.high) else {
                break;
            };
            self.own_erased(block);
        }
        self.most_blocks = self.blocks();
    }

    /// `block`, which is erased, is its own.
    pub fn own_erased(&mut self, block: u32) {
        self.is_here[block as usize] = true;
        self.free.insert(0, block);
    }

    /// Adopts the blocks of `die`, which has its map again, that are `found` to be of a cache: the one programmed last continues if it is not full. A
    /// cache with blocks of its own takes any erased blocks while it has fewer than its number.
    pub fn take_over(&mut self, die: &mut Die, found: &[FoundBlock]) {
        self.is_here.fill(false);
        self.free.clear();
        let is_its = |block: &u32| found[*block as usize].role() == Some(Role::Cache);
        let mut used: Vec<u32> = (0..found.len() as u32).filter(is_its).collect();
        used.sort_by_key(|block| found[*block as usize].programs());
        for block in &used {
            self.is_here[*block as usize] = true;
        }
        let end = |block: &u32| found[*block as usize].end();
        self.open = used.pop_if(|block| end(block) < self.block_pages);
        self.next = self.open.as_ref().map_or(0, end);
        self.full = used.into();
        self.folded_to = 0;
        while self.lacks_blocks()
            && let Some(block) = die.take_block(0)
        {
            self.own_erased(block);
        }
    }

    /// Whether it has fewer blocks than are its own, as after a mount that found too few erased.
    pub fn lacks_blocks(&self) -> bool {
        self.is_static && self.blocks() < self.most_blocks
    }

    /// Its present blocks, and those it may fill if they are its own.
    pub fn blocks(&self) -> u32 {
        (self.free.len() + self.full.len()) as u32 + u32::from(self.open.is_some())
    }

    /// Whether `block` is one of its own now.
    pub fn has(&self, block: u32) -> bool {
        self.is_here[block as usize]
    }

    /// Whether its blocks are those that `die` does not need.
    pub fn is_dynamic(&self) -> bool {
        !self.is_static
    }

    /// Whether the next write finds no room.
    pub fn is_full(&self, die: &Die) -> bool {
        let may_open = match self.is_static {
            true => !self.free.is_empty(),
            false => self.blocks() < self.most_blocks && die.pools[0].free > spare(die),
        };
        self.open.is_none() && !may_open
    }

    /// How many percent of the blocks it may have in `die` are full.
    pub fn full_percent(&self, die: &Die) -> f64 {
        let may_have = match self.is_static {
            true => self.most_blocks,
            false => {
                let more = die.pools[0].free.saturating_sub(spare(die));
                self.most_blocks.min(self.blocks() + more)
            }
        };
        100.0 * self.full.len() as f64 / f64::from(may_have.max(1))
    }

    /// The place for the next page, if there is room.
    pub fn next(&mut self, die: &mut Die) -> Option<(u32, u32)> {
        if self.is_full(die) {
            return None;
        }
        if self.open.is_none() {
            let block = match self.is_static {
                true => self.free.pop(),
                false => die.take_block(spare(die)),
            }?;
            self.is_here[block as usize] = true;
            self.open = Some(block);
            self.next = 0;
        }
        let block = self.open?;
        let place = self.next;
        self.next += 1;
        if self.next == self.block_pages {
            self.full.push_back(block);
            self.open = None;
        }
        Some((block, place))
    }

    /// The full block that was filled first, if `die` has room for its pages.
    pub fn to_fold(&self, die: &Die) -> Option<u32> {
        let oldest = self.full.front().copied();
        oldest.filter(|block| die.has_room_for(*block, 0))
    }

    /// The oldest full block is empty: it is erased, unless it is worn out.
    pub fn give_back(&mut self, die: &mut Die) {
        self.folded_to = 0;
        let Some(block) = self.full.pop_front() else {
            return;
        };
        if die.is_worn(block) {
            return;
        }
        if self.is_static {
            die.erase_keeping(block, 0);
            self.free.insert(0, block);
        } else {
            die.erase(block, 0);
            self.is_here[block as usize] = false;
        }
    }
}

/// Free blocks that garbage collection wants, and two for the blocks that it and the host open next.
fn spare(die: &Die) -> u32 {
    die.rules.watermarks.high + 2
}
