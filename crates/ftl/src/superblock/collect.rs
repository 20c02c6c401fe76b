//! Garbage collection among the blocks of one superblock.

use alloc::vec::Vec;

use super::{Class, Superblocks};
use crate::NoSpace;
use crate::blocks::NONE;
use destage_nand::array::BlockSlot;
use destage_nand::operation::{Cause, MergeCause, MergeKind, Operations};

impl Superblocks {
    /// Frees at least one block of `superblock`, which has its maximum number of blocks. If a block has no live
    /// pages, it is erased. Otherwise, if the open block of class `beside` has enough free pages, the live pages
    /// of the block with the fewest live pages are moved there. Otherwise the superblock is folded.
    pub(super) fn collect(
        &mut self,
        superblock: u32,
        beside: Class,
        operations: &mut Operations,
    ) -> Result<(), NoSpace> {
        let open = self.open_block(superblock, beside);
        let live = |block: &BlockSlot| self.live.get(*block as usize);
        let dead = self.held(superblock).find(|block| live(block) == 0);
        let fewest = self
            .held(superblock)
            .filter(|block| Some(*block) != open)
            .min_by_key(live);
        let (victim, kind, copies) = match (dead, open, fewest) {
            (Some(dead), ..) => (dead, MergeKind::Switch, 0),
            (None, Some(open), Some(victim))
                if u32::from(live(&victim))
                    <= self.blocks.pages() - self.blocks.programmed(open) =>
            {
                let most = self.blocks.pages();
                let copies =
                    self.copy_pages(superblock, victim, open, most, Cause::Copy, operations);
                (victim, MergeKind::Partial, copies)
            }
            _ => return self.fold(superblock, MergeCause::OwnLog, operations),
        };
        self.blocks.erase(victim, 0, Cause::Copy, operations);
        self.keep_others(superblock, |block| block != victim);
        self.end_collection(superblock, kind, MergeCause::OwnLog, copies, 1, operations);
        Ok(())
    }

    /// Moves the live pages of all blocks of `superblock` that are not fully live into new blocks, and fills these
    /// one after the other. The superblock then has no update blocks any more. Sources without live pages are
    /// erased before the next target block is allocated. If an erase would complete units of the target, the
    /// sources are only erased when the target is full, so that no fillers are programmed in the target before.
    pub(super) fn fold(
        &mut self,
        superblock: u32,
        cause: MergeCause,
        operations: &mut Operations,
    ) -> Result<(), NoSpace> {
        let pages = self.blocks.pages();
        let mut sources = core::mem::take(&mut self.scratch);
        sources.extend(self.held(superblock));
        sources.retain(|block| u32::from(self.live.get(*block as usize)) < pages);
        self.keep_others(superblock, |block| !sources.contains(&block));
        let (mut target, mut copies, mut erases) = (None, 0, 0);
        let mut moved: Vec<BlockSlot> = Vec::new();
        for source in sources.drain(..) {
            while self.live.get(source as usize) > 0 {
                let to = match target {
                    Some(to) if self.blocks.programmed(to) < pages => to,
                    _ => {
                        erases += self.erase_all(&mut moved, operations);
                        let to = self.blocks.allocate(superblock, operations)?;
                        self.hold(superblock, to);
                        to
                    }
                };
                let room = pages - self.blocks.programmed(to);
                copies += self.copy_pages(superblock, source, to, room, Cause::Copy, operations);
                target = Some(to);
            }
            moved.push(source);
            if !self.blocks.completes_units() {
                erases += self.erase_all(&mut moved, operations);
            }
        }
        erases += self.erase_all(&mut moved, operations);
        self.scratch = sources;
        if let Some(target) = target {
            // The block may be full; this is checked before the block is used.
            self.set_open(superblock, Class::Cold, target);
        }
        let kind = match copies {
            0 => MergeKind::Switch,
            _ => MergeKind::Full,
        };
        self.end_collection(superblock, kind, cause, copies, erases, operations);
        Ok(())
    }

    /// Erases `blocks` and empties the list. Returns the number of erased blocks.
    fn erase_all(&mut self, blocks: &mut Vec<BlockSlot>, operations: &mut Operations) -> u32 {
        let count = blocks.len() as u32;
        for block in blocks.drain(..) {
            self.blocks.erase(block, 0, Cause::Copy, operations);
        }
        count
    }

    /// Copies the first `most` live pages of `source` to the pages after the programmed pages of `target`. Both
    /// are blocks of `superblock`. Returns the number of copied pages.
    pub(super) fn copy_pages(
        &mut self,
        superblock: u32,
        source: BlockSlot,
        target: BlockSlot,
        most: u32,
        cause: Cause,
        operations: &mut Operations,
    ) -> u32 {
        let count = u32::from(self.live.get(source as usize)).min(most);
        let first = self.blocks.programmed(target);
        let places = || (0..self.blocks.pages()).map(|page| self.blocks.ppn(source, page));
        let is_live = |place: u32| {
            let owner = self.owner.get(place as usize);
            owner != NONE && self.map.get(owner as usize) == place
        };
        let copies = places()
            .filter(|place| is_live(place.0))
            .zip(first..first + count)
            .map(|(from, to)| (from, self.blocks.ppn(target, to)));
        let transfer = self.blocks.copy_transfer([source].into_iter(), target);
        let purpose = self.purpose(superblock);
        let mark = operations.mark();
        operations.push_copies(cause, transfer, count, purpose, copies);
        let range = first..first + count;
        self.blocks
            .nand
            .program_run(target, range.end, range.clone());
        self.blocks.copied(target, first, purpose, mark, operations);
        let mut to = first;
        for page in 0..self.blocks.pages() {
            if to == range.end {
                break;
            }
            let place = self.blocks.ppn(source, page).0;
            let owner = self.owner.get(place as usize);
            if owner == NONE {
                continue;
            }
            let mapped = self.map.get_mut(owner as usize);
            if *mapped == place {
                let new = self.blocks.ppn(target, to).0;
                *mapped = new;
                *self.owner.get_mut(new as usize) = owner;
                to += 1;
            }
        }
        *self.live.get_mut(source as usize) -= count as u16;
        *self.live.get_mut(target as usize) += count as u16;
        count
    }

    /// Adds `block` to the blocks of `superblock`.
    fn hold(&mut self, superblock: u32, block: BlockSlot) {
        let first = superblock as usize * self.rules.width as usize;
        let place = first + self.held(superblock).count();
        *self.held.get_mut(place) = block;
    }

    /// Keeps only those blocks of `superblock` for which `stays` returns true, in their order.
    fn keep_others(&mut self, superblock: u32, stays: impl Fn(BlockSlot) -> bool) {
        let logical = self.logical_blocks_of(superblock);
        let first = superblock as usize * self.rules.width as usize;
        let before = self.held(superblock).count();
        let mut kept = 0;
        for place in 0..before {
            let block = core::mem::replace(self.held.get_mut(first + place), NONE);
            if stays(block) {
                *self.held.get_mut(first + kept) = block;
                kept += 1;
            }
        }
        self.updates -= (before as u32).saturating_sub(logical.max(kept as u32));
        if kept as u32 <= logical && self.order.contains(superblock) {
            self.order.remove(superblock);
        }
        for class in [Class::Cold, Class::Hot] {
            let open = self.open.get(2 * superblock as usize + class as usize);
            if open != NONE && !stays(open) {
                self.set_open(superblock, class, NONE);
            }
        }
    }

    /// Ends a collection: forgets which pages were written before the collection, reports the collection as a
    /// merge of the first logical block of `superblock`, and levels wear if this is due.
    fn end_collection(
        &mut self,
        superblock: u32,
        kind: MergeKind,
        cause: MergeCause,
        copies: u32,
        erases: u32,
        operations: &mut Operations,
    ) {
        if let Some(written) = &mut self.written {
            written.clear_row(superblock);
        }
        let first = superblock * self.rules.superblock_blocks;
        self.blocks
            .emit_merge(first, kind, cause, copies, erases, operations);
        if let Some((worn, limit)) = self.blocks.levelling_due() {
            self.level_wear(worn, limit, operations);
        }
    }

    /// Moves the pages of a cold block into the free block `worn`, and erases the cold block. The cold block is
    /// the least worn block that is not open and has valid pages. Among equally worn blocks, it is the first one
    /// in the superblock with the lowest number. If there is no such block, or if it was erased more than `limit`
    /// times, no page moves and `worn` is released.
    fn level_wear(&mut self, worn: BlockSlot, limit: u32, operations: &mut Operations) {
        let is_open = |superblock: usize, block: BlockSlot| {
            (0..2).any(|class| self.open.get(2 * superblock + class) == block)
        };
        let coldest = (0..self.held.len())
            .map(|place| (place, self.held.get(place)))
            .filter(|(place, block)| {
                *block != NONE && !is_open(place / self.rules.width as usize, *block)
            })
            .filter(|(_, block)| self.live.get(*block as usize) > 0)
            .map(|(place, block)| (self.blocks.nand.block(block).erases, place, block))
            .min()
            .filter(|(erases, ..)| *erases <= limit);
        let Some((_, place, cold)) = coldest else {
            return self.blocks.release(worn);
        };
        if self.blocks.programmed(worn) > 0 {
            self.blocks.wipe(worn, 0, Cause::Wear, operations);
        }
        let most = self.blocks.pages();
        let superblock = place as u32 / self.rules.width;
        self.copy_pages(superblock, cold, worn, most, Cause::Wear, operations);
        *self.held.get_mut(place) = worn;
        self.blocks.erase(cold, 0, Cause::Wear, operations);
    }

    /// Releases the blocks of `superblock` if no page of the superblock has contents. The blocks are erased when
    /// they are used again.
    pub(super) fn release_if_empty(&mut self, superblock: u32) {
        if self
            .held(superblock)
            .any(|block| self.live.get(block as usize) > 0)
        {
            return;
        }
        let first = superblock as usize * self.rules.width as usize;
        for place in first..first + self.held(superblock).count() {
            self.blocks.release(self.held.get(place));
        }
        self.keep_others(superblock, |_| false);
        if let Some(written) = &mut self.written {
            written.clear_row(superblock);
        }
    }
}
