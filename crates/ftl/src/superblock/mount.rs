//! The mount of superblocks after a loss of power. Each superblock keeps the blocks in which its pages are found.
//!
//! If a superblock has more blocks than allowed, the pages of its blocks with the fewest live pages are moved into
//! its other blocks.

use alloc::vec;
use alloc::vec::Vec;

use super::{Class, Superblocks};
use crate::NoSpace;
use crate::blocks::mount::{Copy, Recovery};
use crate::blocks::striped::Die;
use destage_nand::array::BlockSlot;
use destage_nand::found::FoundBlock;
use destage_nand::operation::{Cause, Operations};

impl Superblocks {
    /// Implements [`Die::mount`].
    pub(super) fn take_over(&mut self, found: &[FoundBlock], copies: &[Copy]) -> Recovery {
        self.blocks_mut().mount(found);
        let superblocks = self.open.len() / 2;
        let mut plan = Recovery::default();
        plan.held = vec![Vec::new(); superblocks];
        let newest = copies.chunk_by(|one, next| one.page == next.page);
        for copy in newest.filter_map(<[Copy]>::last) {
            let (block, page) = self.blocks.split(copy.at.0);
            self.settle(self.index(copy.page), block, page);
            let superblock = self.rules.by_superblock.split(copy.page.block).0;
            let held = &mut plan.held[superblock as usize];
            if !held.contains(&block) {
                held.push(block);
            }
            plan.places.push(*copy);
        }
        let programs = |block: &BlockSlot| found[*block as usize].programs();
        for held in &mut plan.held {
            held.sort_by_key(programs);
        }
        let is_dead = |block: &u32| {
            !found[*block as usize].pages.is_empty() && self.live.get(*block as usize) == 0
        };
        plan.dead = (0..found.len() as u32).filter(is_dead).collect();
        plan
    }

    /// Implements [`Die::mount_step`].
    pub(super) fn put_in_order(
        &mut self,
        plan: &mut Recovery,
        operations: &mut Operations,
    ) -> Result<bool, NoSpace> {
        if let Some(dead) = plan.dead.pop() {
            self.blocks.erase(dead, 0, Cause::Mount, operations);
            return Ok(true);
        }
        if let Some(superblock) = self.over_limit(plan) {
            self.gather(superblock, &mut plan.held[superblock as usize], operations)?;
            return Ok(true);
        }
        self.hold_found(&core::mem::take(&mut plan.held));
        self.blocks.reset_figures();
        Ok(false)
    }

    /// The number of update blocks of `superblock` if it has the blocks `held`.
    fn updates_of(&self, superblock: u32, held: &[BlockSlot]) -> u32 {
        (held.len() as u32).saturating_sub(self.logical_blocks_of(superblock))
    }

    /// The superblock with the most update blocks, if it or the whole die has too many update blocks; otherwise
    /// `None`.
    fn over_limit(&self, plan: &Recovery) -> Option<u32> {
        let updates = || {
            let held = (0..).zip(&plan.held);
            held.map(|(superblock, held)| (self.updates_of(superblock, held), superblock))
        };
        let all: u32 = updates().map(|(updates, _)| updates).sum();
        let (most, superblock) = updates().max_by_key(|(updates, _)| *updates)?;
        (most > self.rules.update_blocks || all > self.rules.updates_max).then_some(superblock)
    }

    /// Moves the pages of the block with the fewest live pages into other blocks of `superblock`, and erases the
    /// block.
    fn gather(
        &mut self,
        superblock: u32,
        held: &mut Vec<BlockSlot>,
        operations: &mut Operations,
    ) -> Result<(), NoSpace> {
        let pages = self.blocks.pages();
        let live = |block: &BlockSlot| self.live.get(*block as usize);
        // The block that receives the pages must not be the source.
        let room = |block: &BlockSlot| pages - self.blocks.programmed(*block);
        let taker = held.iter().copied().max_by_key(room);
        let taker = taker.filter(|block| room(block) > 0);
        let others = held.iter().copied().filter(|block| Some(*block) != taker);
        let Some(source) = others.min_by_key(live) else {
            return Ok(());
        };
        held.retain(|block| *block != source);
        while self.live.get(source as usize) > 0 {
            let has_room = |block: &&BlockSlot| self.blocks.programmed(**block) < pages;
            let target = match held.iter().find(has_room) {
                Some(target) => *target,
                None => {
                    let target = self.blocks.allocate(superblock, operations)?;
                    held.push(target);
                    target
                }
            };
            let room = pages - self.blocks.programmed(target);
            self.copy_pages(superblock, source, target, room, Cause::Mount, operations);
        }
        self.blocks.erase(source, 0, Cause::Mount, operations);
        Ok(())
    }

    /// Makes `held` the blocks of the superblocks. In each superblock, the last block with free pages becomes the
    /// open block.
    fn hold_found(&mut self, held: &[Vec<BlockSlot>]) {
        for (superblock, held) in (0..).zip(held) {
            let first = superblock as usize * self.rules.width as usize;
            for (place, block) in held.iter().enumerate() {
                *self.held.get_mut(first + place) = *block;
            }
            let pages = self.blocks.pages();
            let has_room = |block: &&BlockSlot| self.blocks.programmed(**block) < pages;
            if let Some(open) = held.iter().rev().find(has_room).copied() {
                self.set_open(superblock, Class::Cold, open);
            }
            let updates = self.updates_of(superblock, held);
            self.updates += updates;
            if updates > 0 {
                self.order.push_back(superblock);
            }
        }
    }
}
