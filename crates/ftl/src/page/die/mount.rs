//! The state of a page-mapped die after a loss of power.

use alloc::vec::Vec;

use super::{Die, Open, Stream};
use crate::page::gc::empty_block;
use destage_nand::array::Ppn;
use destage_nand::found::FoundBlock;
use destage_nand::operation::{Cause, Operations, Purpose, Role};

impl Die {
    /// Sets the state of the cells to the findings `blocks`; the die was just built without contents.
    pub fn restore(&mut self, blocks: &[FoundBlock]) {
        for (block, found) in (0..).zip(blocks) {
            self.nand.restore(block, found);
        }
    }

    /// Notes that the newest copy of `page` is at `at`. `page` is the number of the page in this die, and `blocks`
    /// are the findings of this die.
    pub fn found(&mut self, page: u32, at: Ppn, blocks: &[FoundBlock]) {
        *self.map.get_mut(page as usize) = at.0;
        *self.owner.get_mut(at.0 as usize) = page;
        let block = at.0 >> self.shape.page_bits;
        self.blocks.get_mut(block as usize).valid += 1;
        if let (Some(streams), Some(purpose)) =
            (&mut self.extras.streams, blocks[block as usize].purpose())
        {
            streams.hint(page, purpose.owner.unwrap_or(0));
        }
    }

    /// Completes the mount of the die, after its cells were [restored](Self::restore) and all pages
    /// [found](Self::found).
    ///
    /// If the block that a stream filled last is not full, it is again the open block of the stream. Other blocks
    /// become candidates for garbage collection, as if they were full. Blocks of a cache are not touched; the
    /// layer with the cache restores them.
    pub fn mount(&mut self, blocks: &[FoundBlock]) {
        let mut used: Vec<u32> = (0..blocks.len() as u32)
            .filter(|block| !blocks[*block as usize].pages.is_empty())
            .filter(|block| blocks[*block as usize].role() != Some(Role::Cache))
            .collect();
        used.sort_by_cached_key(|block| blocks[*block as usize].programs().unwrap_or((0, 0)));
        self.next_sequence = 1;
        for block in &used {
            self.blocks.get_mut(*block as usize).sequence = self.next_sequence;
            self.next_sequence += 1;
        }
        if let Some(by_wear) = &mut self.free.by_wear {
            by_wear.clear();
        }
        for block in 0..blocks.len() as u32 {
            self.set_free(block, blocks[block as usize].pages.is_empty());
        }
        let open = self.open_at_mount(blocks, &used);
        // Blocks count as closed in the order of their last programs.
        used.sort_by_cached_key(|block| {
            blocks[*block as usize]
                .programs()
                .map_or(0, |(_, last)| last)
        });
        for block in used.iter().filter(|block| !open.contains(block)) {
            let valid = self.blocks.get(*block as usize).valid;
            self.offer(*block, valid);
        }
        for pool in 0..self.pools.len() {
            self.count_at_mount(pool, blocks);
        }
    }

    /// If interrupted programs have left a pool with too few free pages for garbage collection: chooses a block in
    /// which every valid page has an equal copy elsewhere, and uses the other copies. The chosen block can then be
    /// erased. `equal` lists pages, by their numbers in this die, with the place of another copy of the same
    /// version. Such a block exists if only garbage collection opens the last free block, since garbage collection
    /// erases no source before all its copies have ended. For each page of which another copy is used now, returns
    /// the old place and the new place.
    pub fn discard_copies(
        &mut self,
        blocks: &[FoundBlock],
        equal: &[(u32, Ppn)],
    ) -> Vec<(Ppn, Ppn)> {
        let mut moved = Vec::new();
        for pool in 0..self.pools.len() {
            self.discard_copies_of(pool, blocks, equal, &mut moved);
        }
        moved
    }

    fn discard_copies_of(
        &mut self,
        pool: usize,
        blocks: &[FoundBlock],
        equal: &[(u32, Ppn)],
        moved: &mut Vec<(Ppn, Ppn)>,
    ) {
        if !self.rest.asides[pool].needs_gc
            || self.dead(pool).is_some()
            || self.at_mount(pool).is_some()
        {
            return;
        }
        let block_of = |at: &Ppn| at.0 >> self.shape.page_bits;
        let page_of = |(page, at): &(u32, Ppn)| {
            let taken = Ppn(self.map.get(*page as usize));
            (block_of(&taken) != block_of(at)).then_some((*page, taken, *at))
        };
        let mut others: Vec<(u32, Ppn, Ppn)> = equal.iter().filter_map(page_of).collect();
        others.dedup_by_key(|(page, ..)| *page);
        let has_others = |block: &u32| {
            let of_block = others.iter().filter(|(_, at, _)| block_of(at) == *block);
            let found = &blocks[*block as usize];
            let is_worn = found.erases >= self.rules.retire_at;
            let valid = self.blocks.get(*block as usize).valid;
            // Erased blocks and blocks of a cache cannot be chosen.
            let is_its = !found.pages.is_empty() && found.role() != Some(Role::Cache);
            is_its && !is_worn && of_block.count() == usize::from(valid)
        };
        let state = &self.pools[pool];
        let all = state.first_block..state.first_block + state.blocks;
        let Some(copied) = all.clone().find(has_others) else {
            return;
        };
        others.retain(|(_, at, _)| block_of(at) == copied);
        for stream in self.all_streams() {
            if self.open_page(pool, stream).block == copied && !self.victims.contains(copied) {
                self.resume_stream(pool, stream, None, blocks);
            }
        }
        self.victims.remove(copied);
        for (page, from, to) in others {
            let block = to.0 >> self.shape.page_bits;
            *self.map.get_mut(page as usize) = to.0;
            *self.owner.get_mut(to.0 as usize) = page;
            self.blocks.get_mut(copied as usize).valid -= 1;
            self.blocks.get_mut(block as usize).valid += 1;
            if self.victims.contains(block) {
                self.victims.remove(block);
                self.offer(block, self.blocks.get(block as usize).valid);
            }
            moved.push((from, to));
        }
        self.offer(copied, 0);
    }

    /// A block of `pool` that can be erased without moving a page.
    pub fn dead(&self, pool: usize) -> Option<u32> {
        let state = &self.pools[pool];
        let mut all = state.first_block..state.first_block + state.blocks;
        all.find(|block| self.is_dead(*block))
    }

    fn is_dead(&self, block: u32) -> bool {
        self.victims.contains(block) && self.blocks.get(block as usize).valid == 0
    }

    /// The block of `pool` with the fewest valid pages, and the pool to which these pages are to be moved; `None`
    /// if they cannot be moved. The target is another pool if all blocks of `pool` are full of valid pages. This
    /// may happen because a power loss undoes trims.
    fn at_mount(&self, pool: usize) -> Option<(u32, usize)> {
        let state = &self.pools[pool];
        let all = state.first_block..state.first_block + state.blocks;
        let candidates = all.filter(|block| self.victims.contains(*block));
        let valid = |block: &u32| u32::from(self.blocks.get(*block as usize).valid);
        let fewest = candidates.min_by_key(valid)?;
        if valid(&fewest) < self.shape.data_pages {
            return self.has_room_for(fewest, pool).then_some((fewest, pool));
        }
        let others = (0..self.pools.len()).filter(|other| *other != pool);
        let roomiest = others.max_by_key(|other| self.pools[*other].free)?;
        let has_room = self.pools[roomiest].free > 1 && self.has_room_for(fewest, roomiest);
        has_room.then_some((fewest, roomiest))
    }

    /// For each pool and stream, opens the block that the stream filled last, if that block has free pages.
    /// Returns all blocks that were opened.
    fn open_at_mount(&mut self, blocks: &[FoundBlock], used: &[u32]) -> Vec<u32> {
        let mut all = Vec::new();
        let data_pages = self.shape.data_pages;
        for pool in 0..self.pools.len() {
            for stream in self.all_streams() {
                let is_its = |block: &&u32| {
                    let found = &blocks[**block as usize];
                    self.pool_of(**block) == pool
                        && found.end() < data_pages
                        && self.stream_of(found.purpose()) == Some(stream)
                };
                let last = |block: &&u32| blocks[**block as usize].programs();
                let found = used.iter().filter(is_its).max_by_key(last).copied();
                all.extend(found);
                self.resume_stream(pool, stream, found, blocks);
            }
        }
        all
    }

    fn stream_of(&self, purpose: Option<Purpose>) -> Option<Stream> {
        let Purpose { role, owner } = purpose?;
        let number = |owner: u32| u8::try_from(owner).ok()?.checked_sub(1);
        match (role, owner) {
            (Role::Host, None) => Some(Stream::Host),
            (Role::Migrations, None) if self.rules.separate_migrations => Some(Stream::Migrations),
            (Role::Map, _) => Some(Stream::Map),
            (Role::Host, Some(owner)) => number(owner).map(Stream::FurtherHost),
            (Role::Migrations, Some(owner)) => number(owner).map(Stream::FurtherMigrations),
            _ => None,
        }
    }

    /// Lets `stream` continue in `block` of `pool`; without `block`, the next page of the stream opens a block.
    fn resume_stream(
        &mut self,
        pool: usize,
        stream: Stream,
        block: Option<u32>,
        blocks: &[FoundBlock],
    ) {
        let open = match block {
            Some(block) => Open {
                block,
                page: blocks[block as usize].end(),
            },
            None => Open {
                block: self.pools[pool].first_block,
                page: self.shape.data_pages,
            },
        };
        match stream {
            Stream::Host => {
                let sequence = block.map_or(0, |block| self.blocks.get(block as usize).sequence);
                let pool = &mut self.pools[pool];
                pool.active_block = open.block;
                pool.active_page = open.page;
                pool.active_sequence = sequence;
                self.search.front.forget();
            }
            _ => self.set_open(pool, stream, open),
        }
    }

    /// Counts the free blocks, valid pages and erases of `pool`.
    fn count_at_mount(&mut self, pool: usize, blocks: &[FoundBlock]) {
        let state = &self.pools[pool];
        let range = state.first_block..state.first_block + state.blocks;
        let free = range
            .clone()
            .filter(|block| self.free.blocks.contains(*block));
        let free = free.count() as u32 + u32::from(self.rules.counts_first_open);
        let valid = range
            .clone()
            .map(|block| u32::from(self.blocks.get(block as usize).valid));
        let valid = valid.sum();
        let erased = range.map(|block| u64::from(blocks[block as usize].erases));
        let erased = erased.sum();
        let needs_gc = free < self.rules.watermarks.low;
        let aside = &mut self.rest.asides[pool];
        self.rest.needy -= u32::from(aside.needs_gc);
        self.rest.needy += u32::from(needs_gc);
        (aside.needs_gc, aside.erased) = (needs_gc, erased);
        let limits_pools = self.limits_pools();
        self.search.front.forget();
        let state = &mut self.pools[pool];
        state.free = free;
        state.pointer = state.first_block;
        if limits_pools {
            state.valid = valid;
        }
    }

    /// In a pool that needs garbage collection: erases a block without valid pages, or else moves the pages of the
    /// block with the fewest valid pages and erases it. Returns whether a block was erased.
    pub fn mount_step(&mut self, operations: &mut Operations) -> bool {
        if self.rest.needy == 0 {
            return false;
        }
        let is_dead =
            |block: &u32| self.is_dead(*block) && self.rest.asides[self.pool_of(*block)].needs_gc;
        let blocks = self.pools.iter().map(|pool| pool.blocks).sum();
        let dead = (0..blocks).find(is_dead).map(|dead| (dead, 0));
        let mut needy = (0..self.pools.len()).filter(|pool| self.rest.asides[*pool].needs_gc);
        let Some((block, pool)) = dead.or_else(|| needy.find_map(|pool| self.at_mount(pool)))
        else {
            return false;
        };
        let sealed = &mut Vec::new();
        if empty_block(self, block, pool, Cause::Mount, operations, sealed).is_err() {
            return false;
        }
        if let Some(migrated) = &mut self.extras.migrated {
            // After a mount, the map pages on flash are not used, so they need not be changed for these moves.
            migrated.clear();
        }
        self.finish_units(operations);
        operations.push_erase(Cause::Mount, Ppn(block << self.shape.page_bits));
        self.erase(block, 0);
        true
    }
}
