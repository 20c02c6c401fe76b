//! Checks whether a pool has enough free pages or blocks, before anything is changed.

use super::{Die, Pool, Stream};
use crate::{NoSpace, Shortage};
use destage_nand::array::Ppn;
use destage_nand::operation::Operations;

impl Die {
    /// Programs fillers into the open block that contains page `at`, up to the end of the current unit of
    /// `unit_pages` pages. If no unit is begun, programs a whole unit of fillers.
    pub fn fill_unit(&mut self, at: Ppn, unit_pages: u32, operations: &mut Operations) {
        let block = at.0 >> self.shape.page_bits;
        let pool = self.pool_of(block);
        let Some((stream, next)) = self.host_stream_of(pool, block) else {
            return;
        };
        let end = (next / unit_pages + 1) * unit_pages;
        self.fill_up_to(pool, stream, end, operations);
    }

    /// Closes the open block of pool 0: the block receives no more pages of the host, and becomes a candidate for
    /// garbage collection.
    pub fn close_open(&mut self) {
        let block = self.pools[0].active_block;
        self.pools[0].active_page = self.shape.data_pages;
        self.search.front.forget();
        let valid = self.blocks.get(block as usize).valid;
        self.offer(block, valid);
    }

    /// Whether, in a pool that needs garbage collection, one more write could leave too few free blocks for the
    /// pages that garbage collection moves.
    pub fn is_short(&self) -> bool {
        let mut pools = self.pools.iter().zip(&self.rest.asides);
        // As many free blocks as the floor are enough for the valid pages of one block, and for one block that the
        // write may open.
        pools.any(|(pool, aside)| aside.needs_gc && pool.free < self.rules.floor)
    }

    /// Whether `pool` has enough free pages for the valid pages of `block`.
    pub fn has_room_for(&self, block: u32, pool: usize) -> bool {
        let state = &self.pools[pool];
        // The copies open at most one block for each stream. One of the blocks that count as free may be open, as
        // in the reference simulator.
        if state.free > self.rules.most_for_copies {
            return true;
        }
        if self.rules.most_for_copies > 2 {
            return self.has_free(state, self.blocks_for_copies(block, pool));
        }
        let valid = u32::from(self.blocks.get(block as usize).valid);
        let first = block << self.shape.page_bits;
        let maps = match self.shape.map_pages {
            0 => 0,
            _ => (first..first + self.shape.data_pages)
                .filter_map(|ppn| self.valid_at(ppn))
                .filter(|page| self.stream_of_copy(*page) == Stream::Map)
                .count() as u32,
        };
        let stream = if self.rules.separate_migrations {
            Stream::Migrations
        } else {
            Stream::Host
        };
        let has_no_room = |stream: Stream, pages: u32| {
            pages > self.shape.data_pages - self.open_page(pool, stream).page
        };
        let needed = u32::from(has_no_room(stream, valid - maps))
            + u32::from(has_no_room(Stream::Map, maps));
        self.has_free(state, needed)
    }

    /// Whether `needed` blocks of `pool` are free.
    fn has_free(&self, pool: &Pool, needed: u32) -> bool {
        let blocks = pool.first_block..pool.first_block + pool.blocks;
        let free = blocks.filter(|block| self.free.blocks.contains(*block));
        free.take(needed as usize).count() as u32 == needed
    }

    /// The number of free blocks of the pool that has the fewest.
    pub fn fewest_free(&self) -> u32 {
        self.pools.iter().map(|pool| pool.free).min().unwrap_or(0)
    }

    /// Whether `pool` has a free page for the next page of `stream`.
    pub fn has_room(&self, pool: usize, stream: Stream) -> bool {
        let state = &self.pools[pool];
        let end = state.first_block + state.blocks;
        self.open_page(pool, stream).page < self.shape.data_pages
            || self.free.blocks.first_in(state.first_block, end).is_some()
    }

    #[cold]
    pub fn exhausted(&self, pool: usize) -> NoSpace {
        let Pool {
            first_block,
            blocks,
            ..
        } = self.pools[pool];
        let erases = self.nand.erases().skip(first_block as usize);
        let of_pool = erases.take(blocks as usize);
        let retired = of_pool.filter(|erases| *erases >= self.rules.retire_at);
        Shortage::Pool {
            blocks,
            retired: retired.count() as u32,
            endurance: self.rules.retire_at,
        }
        .into()
    }

    /// Number of retired blocks.
    pub fn retired(&self) -> u32 {
        if self.rules.retire_at == u32::MAX {
            return 0;
        }
        self.nand.erased_as_often(self.rules.retire_at)
    }
}
