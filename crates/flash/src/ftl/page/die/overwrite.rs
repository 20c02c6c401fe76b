//! The write that nearly every write is.

use super::Die;
use crate::ftl::page::shape::NONE;
use crate::nand::Ppn;
use crate::operation::{Cause, Operations};

impl Die {
    /// Writes logical `page` for the host if that is a plain overwrite: the page has contents, the first of the
    /// pools with most room takes it, and its open block stays open. `false` if it is not; then it is
    /// left to [`Die::next_pool`] and [`Die::write`], which do the same for any write and cost twice as much.
    #[inline(always)]
    pub fn overwrite(&mut self, page: u32, cause: Cause, operations: &mut Operations) -> bool {
        let pages_per_block = self.shape.pages_per_block;
        if self.front.pools() == 0 && !self.front.find(&self.pools, pages_per_block) {
            return false;
        }
        let page_bits = self.shape.page_bits;
        let Some(home) = self.map.touched_mut(page as usize) else {
            return false;
        };
        let left_page = *home;
        if left_page == NONE || self.most_valid != u32::MAX {
            return false;
        }
        let left_block = left_page >> page_bits;
        let Some(left) = self.blocks.touched_mut(left_block as usize) else {
            return false;
        };
        let all = self.front.pools();
        let from_pointer = all & u64::MAX << self.write_pointer;
        let first = if from_pointer == 0 { all } else { from_pointer };
        let index = first.trailing_zeros();
        let pools = self.pools.len() as u32;
        let pool = &mut self.pools[index as usize];
        let (block, place) = (pool.active_block, pool.active_page);
        if place + 1 >= self.shape.data_pages {
            return false;
        }
        let ppn = block << page_bits | place;
        // As `Pool::is_behind` has it: in a block that was opened later, or further on in the same.
        if pool.active_sequence <= left.sequence && (block != left_block || ppn <= left_page) {
            return false;
        }
        // What is noted there counts only once the page is mapped to it.
        let Some(owner) = self.owner.touched_mut(ppn as usize) else {
            return false;
        };
        *owner = page;
        if !self.nand.program_next(block, place) {
            return false;
        }
        *home = ppn;
        left.valid -= 1;
        pool.active_page = place + 1;
        self.front.lower_first(index);
        self.pointer_before = self.write_pointer;
        self.write_pointer = if index + 1 == pools { 0 } else { index + 1 };
        operations.push_host_program(cause, Ppn(ppn), || super::Stream::Host.purpose());
        self.victims.lower(left_block);
        self.blocks.get_mut(block as usize).valid += 1;
        true
    }
}
