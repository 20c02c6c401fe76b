//! Blocks that a layer built on this one takes from the die, fills itself, and makes free again.

use super::Die;
use crate::NoSpace;
use destage_nand::array::Ppn;
use destage_nand::operation::{Cause, Operations, Purpose, Role};

impl Die {
    /// Removes a free block from pool 0 and returns it, if more than `spare` blocks are free.
    pub fn take_block(&mut self, spare: u32) -> Option<u32> {
        let pool = &self.pools[0];
        if pool.free <= spare {
            return None;
        }
        let end = pool.first_block + pool.blocks;
        let block = match &self.free.by_wear {
            Some(by_wear) => by_wear.least(0),
            None => self
                .free
                .blocks
                .first_in(pool.pointer, end)
                .or_else(|| self.free.blocks.first_in(pool.first_block, pool.pointer)),
        }?;
        let pool = &mut self.pools[0];
        pool.free -= 1;
        let is_low = pool.free < self.rules.watermarks.low;
        let aside = &mut self.rest.asides[0];
        if is_low && !aside.needs_gc {
            aside.needs_gc = true;
            self.rest.needy += 1;
        }
        self.set_free(block, false);
        Some(block)
    }

    /// Writes `page` for the host to page `place` of `block`, which was [taken](Die::take_block) before.
    pub fn write_in(
        &mut self,
        block: u32,
        place: u32,
        page: u32,
        cause: Cause,
        operations: &mut Operations,
    ) {
        let ppn = block << self.shape.page_bits | place;
        self.invalidate(page);
        operations.push_host_program(cause, Ppn(ppn), || Purpose::shared(Role::Cache));
        self.nand.program(block, place);
        *self.map.get_mut(page as usize) = ppn;
        *self.owner.get_mut(ppn as usize) = page;
        self.blocks.get_mut(block as usize).valid += 1;
    }

    /// Whether `block` has reached its maximum number of erases, so that it is not erased any more.
    pub fn is_worn(&self, block: u32) -> bool {
        self.nand.block(block).erases >= self.rules.retire_at
    }

    /// Number of valid pages of `block`.
    pub fn valid_of(&self, block: u32) -> u32 {
        u32::from(self.blocks.get(block as usize).valid)
    }

    /// Moves the first valid page of `block`, from page `from` on, to the open block to which garbage collection
    /// would move it. Counts the program under `cause`. Returns the number of the page after the moved page;
    /// `None` if no valid page is left.
    ///
    /// # Errors
    /// [`NoSpace`] if no block is free.
    pub fn move_next(
        &mut self,
        (block, from): (u32, u32),
        cause: Cause,
        operations: &mut Operations,
    ) -> Result<Option<u32>, NoSpace> {
        let first = block << self.shape.page_bits;
        let found = (from..self.shape.data_pages)
            .find_map(|place| Some((place, self.valid_at(first | place)?)));
        let Some((place, page)) = found else {
            return Ok(None);
        };
        let stream = self.stream_of_copy(page);
        let target = self.next_of(0, stream)?;
        self.log_migration(page);
        self.invalidate(page);
        let from = Ppn(first | place);
        self.push_copy(cause, (from, target), None, stream, operations);
        self.program(0, stream, page, operations);
        Ok(Some(place + 1))
    }
}
