//! The cache of a die: blocks whose cells hold one bit, in the order in which they were filled.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use destage_base::archived;

use crate::ftl::page::die::Die;

/// See the [module](self).
#[derive(Clone)]
pub(super) struct Cache {
    /// By block of the die.
    is_here: Vec<bool>,
    /// Erased ones, where they stay here.
    free: Vec<u32>,
    /// Full ones, the oldest first.
    full: VecDeque<u32>,
    /// The one that is being filled, and its next page.
    open: Option<u32>,
    next: u32,
    /// Pages of the oldest full block before this one hold nothing any more.
    pub folded_to: u32,
    is_static: bool,
    block_pages: u32,
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
            let Some(block) = die.take_block(die.watermarks.high) else {
                break;
            };
            self.is_here[block as usize] = true;
            self.free.insert(0, block);
        }
    }

    /// Blocks it has now, with those it may fill where they are its own.
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

    /// The full block that was filled first.
    pub fn oldest(&self) -> Option<u32> {
        self.full.front().copied()
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

/// Free blocks that garbage collection wants, and two for what it and the host open next.
fn spare(die: &Die) -> u32 {
    die.watermarks.high + 2
}
