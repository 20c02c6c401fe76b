//! A die of the page-mapped device after a loss of power.

use alloc::vec::Vec;

use super::{Die, Open, Stream};
use crate::mount::FoundBlock;
use crate::nand::Ppn;
use crate::operation::{Cause, Operations, Role};

impl Die {
    /// Takes over `blocks`, as a die that was just made without contents: page and physical page of what is valid there
    /// are `valid`.
    ///
    /// A block that is not full goes on if it was the last of its stream; others are candidates as if they were full.
    pub fn mount(&mut self, blocks: &[FoundBlock], valid: impl Iterator<Item = (u32, Ppn)>) {
        for (block, found) in (0..).zip(blocks) {
            self.nand.restore(block, found);
        }
        for (page, at) in valid {
            *self.map.get_mut(page as usize) = at.0;
            *self.owner.get_mut(at.0 as usize) = page;
            let block = at.0 >> self.shape.page_bits;
            self.blocks.get_mut(block as usize).valid += 1;
        }
        let mut used: Vec<u32> = (0..blocks.len() as u32)
            .filter(|block| !blocks[*block as usize].pages.is_empty())
            .collect();
        used.sort_by_cached_key(|block| blocks[*block as usize].programs().unwrap_or((0, 0)));
        self.next_sequence = 1;
        for block in &used {
            self.blocks.get_mut(*block as usize).sequence = self.next_sequence;
            self.next_sequence += 1;
        }
        if let Some(by_wear) = &mut self.by_wear {
            by_wear.clear();
        }
        for block in 0..blocks.len() as u32 {
            self.set_free(block, blocks[block as usize].pages.is_empty());
        }
        let open = self.open_at_mount(blocks, &used);
        // Closed in the order of their last programs.
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

    /// Gives each pool and stream the block that it filled last, if that has room; all of these.
    fn open_at_mount(&mut self, blocks: &[FoundBlock], used: &[u32]) -> Vec<u32> {
        let mut all = Vec::new();
        let data_pages = self.shape.data_pages;
        for pool in 0..self.pools.len() {
            for stream in [Stream::Host, Stream::Migrations, Stream::Map] {
                let is_its = |block: &&u32| {
                    let found = &blocks[**block as usize];
                    let role = found.spares().next().map(|(_, spare)| spare.purpose.role);
                    self.pool_of(**block) == pool
                        && found.end() < data_pages
                        && self.stream_of_role(role) == Some(stream)
                };
                let last = |block: &&u32| blocks[**block as usize].programs();
                let found = used.iter().filter(is_its).max_by_key(last).copied();
                all.extend(found);
                self.open_again(pool, stream, found, blocks);
            }
        }
        all
    }

    fn stream_of_role(&self, role: Option<Role>) -> Option<Stream> {
        match role? {
            Role::Host => Some(Stream::Host),
            Role::Migrations if self.separate_migrations => Some(Stream::Migrations),
            Role::Map => Some(Stream::Map),
            _ => None,
        }
    }

    /// `stream` goes on in `block` of `pool`, or takes a block with its next page.
    fn open_again(
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
            }
            Stream::Migrations => self.asides[pool].open[0] = open,
            Stream::Map => self.asides[pool].open[1] = open,
        }
    }

    /// Counts what `pool` has.
    fn count_at_mount(&mut self, pool: usize, blocks: &[FoundBlock]) {
        let state = &self.pools[pool];
        let range = state.first_block..state.first_block + state.blocks;
        let free = range.clone().filter(|block| self.free.contains(*block));
        let free = free.count() as u32 + u32::from(self.counts_first_open);
        let valid = range
            .clone()
            .map(|block| u32::from(self.blocks.get(block as usize).valid));
        let valid = valid.sum();
        let erased = range.map(|block| u64::from(blocks[block as usize].erases));
        let erased = erased.sum();
        let needs_gc = free < self.watermarks.low;
        let aside = &mut self.asides[pool];
        self.needy_pools -= u32::from(aside.needs_gc);
        self.needy_pools += u32::from(needs_gc);
        (aside.needs_gc, aside.erased) = (needs_gc, erased);
        let limits_pools = self.limits_pools();
        let state = &mut self.pools[pool];
        state.free = free;
        state.pointer = state.first_block;
        if limits_pools {
            state.valid = valid;
        }
    }

    /// Erases a block in which nothing is valid, if there is one in a pool that needs garbage collection.
    pub fn mount_step(&mut self, operations: &mut Operations) -> bool {
        if self.needy_pools == 0 {
            return false;
        }
        let is_dead = |block: &u32| {
            self.victims.contains(*block)
                && self.blocks.get(*block as usize).valid == 0
                && self.asides[self.pool_of(*block)].needs_gc
        };
        let blocks = self.pools.iter().map(|pool| pool.blocks).sum();
        let Some(dead) = (0..blocks).find(is_dead) else {
            return false;
        };
        operations.push_erase(Cause::Mount, Ppn(dead << self.shape.page_bits));
        self.erase(dead, 0);
        true
    }
}
