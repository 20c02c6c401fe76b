//! Whether there is room, asked before anything is changed.

use alloc::format;

use super::{Die, Stream};
use crate::ftl::NoSpace;

impl Die {
    /// Whether the valid pages of `block` find room in `pool`.
    pub fn has_room_for(&self, block: u32, pool: usize) -> bool {
        let state = &self.pools[pool];
        // A block for each stream at most; and in the reference one counts as free that is open.
        if state.free > 2 {
            return true;
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
        let stream = if self.separate_migrations {
            Stream::Migrations
        } else {
            Stream::Host
        };
        let has_no_room = |stream: Stream, pages: u32| {
            pages > self.shape.data_pages - self.open_page(pool, stream).page
        };
        let needed = u32::from(has_no_room(stream, valid - maps))
            + u32::from(has_no_room(Stream::Map, maps));
        let blocks = state.first_block..state.first_block + state.blocks;
        let free = blocks.filter(|block| self.free.contains(*block));
        free.take(needed as usize).count() as u32 == needed
    }

    /// Free blocks of the pool that has the fewest.
    pub fn fewest_free(&self) -> u32 {
        self.pools.iter().map(|pool| pool.free).min().unwrap_or(0)
    }

    /// Whether the next page of `stream` finds room in `pool`.
    pub fn has_room(&self, pool: usize, stream: Stream) -> bool {
        let state = &self.pools[pool];
        let end = state.first_block + state.blocks;
        self.open_page(pool, stream).page < self.shape.data_pages
            || self.free.first_in(state.first_block, end).is_some()
    }

    #[cold]
    pub fn exhausted(&self, pool: usize) -> NoSpace {
        NoSpace {
            explanation: format!(
                "no free block is left among {} blocks; the data does not fit with garbage collection at this reserve: raise ftl.reserve_percent or use a larger device",
                self.pools[pool].blocks
            )
            .into(),
        }
    }
}
