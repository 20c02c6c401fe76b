//! The cache of a die: blocks with one bit per cell, in the order in which they were filled.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use destage_base::archived;

use crate::page::die::Die;
use destage_nand::found::FoundBlock;
use destage_nand::operation::Role;

/// The state of a cache. See the [module](self).
#[derive(Clone)]
pub(super) struct Cache {
    /// For each block of the die, whether it belongs to the cache.
    is_here: Vec<bool>,
    /// Erased blocks of the cache; empty for a dynamic cache.
    free: Vec<u32>,
    /// Full blocks, the oldest first.
    full: VecDeque<u32>,
    /// The block that is being filled, and the page of that block that is written next.
    open: Option<u32>,
    next: u32,
    /// In the oldest full block, the pages before this page hold no needed data.
    pub folded_to: u32,
    is_static: bool,
    block_pages: u32,
    /// Maximum number of blocks; for a static cache, the number of its blocks.
    most_blocks: u32,
}

archived!(Cache { is_here, free, full, open, next, folded_to } fixed { is_static, block_pages, most_blocks });

impl Cache {
    /// An empty cache of at most `most_blocks` blocks of `block_pages` pages each, on a die of `blocks` blocks.
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

    /// Takes the blocks of a static cache from the free blocks of `die`. The cache gets fewer blocks if garbage
    /// collection would otherwise have too few free blocks.
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

    /// Adds the erased block `block` to the cache.
    pub fn own_erased(&mut self, block: u32) {
        self.is_here[block as usize] = true;
        self.free.insert(0, block);
    }

    /// After a power loss: takes over those blocks of `die` whose spare areas have the role of a cache block. If
    /// the block that was programmed last is not full, the cache continues to fill it. A static cache with too few
    /// blocks takes erased blocks of the die. The map of the die must be restored before this call.
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

    /// Whether a static cache has fewer blocks than it should have. This can happen if a mount finds too few
    /// erased blocks.
    pub fn lacks_blocks(&self) -> bool {
        self.is_static && self.blocks() < self.most_blocks
    }

    /// Maximum number of blocks of the cache.
    pub fn most_blocks(&self) -> u32 {
        self.most_blocks
    }

    /// Number of blocks that belong to the cache now, erased ones included.
    pub fn blocks(&self) -> u32 {
        (self.free.len() + self.full.len()) as u32 + u32::from(self.open.is_some())
    }

    /// Whether `block` belongs to the cache now.
    pub fn has(&self, block: u32) -> bool {
        self.is_here[block as usize]
    }

    /// Whether the cache is dynamic: it uses free blocks of the die, and makes them free again after folding.
    pub fn is_dynamic(&self) -> bool {
        !self.is_static
    }

    /// Whether the cache has no page for the next write.
    pub fn is_full(&self, die: &Die) -> bool {
        let may_open = match self.is_static {
            true => !self.free.is_empty(),
            false => self.blocks() < self.most_blocks && die.pools[0].free > spare(die),
        };
        self.open.is_none() && !may_open
    }

    /// The number of full blocks, in percent of the number of blocks that the cache may have on `die` now.
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

    /// Reserves the physical page for the next write, and returns its block and its number in the block. `None` if
    /// the cache is full.
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

    /// The full block that was filled first, if `die` has enough free pages for the pages of that block.
    pub fn to_fold(&self, die: &Die) -> Option<u32> {
        let oldest = self.full.front().copied();
        oldest.filter(|block| die.has_room_for(*block, 0))
    }

    /// Removes the oldest full block, from which all pages were moved, from the list of full blocks, and erases
    /// it unless it is worn out.
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

/// Number of free blocks that a dynamic cache does not use: those that garbage collection needs, and two more for
/// the blocks that garbage collection and the host open next.
fn spare(die: &Die) -> u32 {
    die.rules.watermarks.high + 2
}
