//! The repair of the blocks of a die after a loss of power, for layers that map by block.
//!
//! If one block holds all pages of a logical block, each in its place, that block is the data block again. If a
//! block holds only pages of the logical block, and the missing pages fit after them, the missing pages are copied
//! to this block. This completes an interrupted merge. Otherwise the pages are merged into a new block. The
//! incomplete target of an interrupted merge is then discarded, since its pages have equal copies elsewhere. So no
//! page stays in a log block. Every copy is programmed before its source is erased, so the power may fail again
//! after each operation.

use alloc::vec;
use alloc::vec::Vec;

use super::{Blocks, LogicalPage};
use crate::NoSpace;
use destage_nand::array::{BlockSlot, Ppn};
use destage_nand::found::{Found, FoundBlock, Rank};
use destage_nand::operation::{Cause, Operations, Purpose, Role};

/// A copy of a logical page on a die.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copy {
    /// The logical page.
    pub page: LogicalPage,
    /// The physical page that holds the copy.
    pub at: Ppn,
    /// The rank that decides which of several copies is used.
    pub rank: Rank,
}

/// A logical block whose pages have to be copied into one block.
#[derive(Clone, Debug)]
struct Merge {
    logical: u32,
    /// The block that receives the missing pages; `None` if this is a new block.
    into: Option<BlockSlot>,
    /// The pages to be copied: the offset, and the physical page of the source.
    sources: Vec<(u32, Ppn)>,
}

/// The repairs of a die, and the physical pages of its logical pages.
#[derive(Clone, Default, Debug)]
pub(crate) struct Recovery {
    /// Blocks with programmed pages of which none is needed.
    pub dead: Vec<BlockSlot>,
    merges: Vec<Merge>,
    /// For each block, the number of pages that are still to be copied from it.
    needed: Vec<u32>,
    /// For each block, whether it is a data block or will become one.
    is_kept: Vec<bool>,
    /// The blocks of each superblock; only used by the layer `superblock`.
    pub held: Vec<Vec<BlockSlot>>,
    /// For each logical page, the copy that is used.
    pub places: Vec<Copy>,
}

/// A logical block, its data block, and the pages in the data block, each with its offset and its slot.
pub(crate) type Adopted = (u32, BlockSlot, Vec<(u32, u32)>);

/// What the mount found on a die, prepared for the choice of data blocks.
struct Search<'a> {
    blocks: &'a Blocks,
    found: &'a [FoundBlock],
    /// For each block, the logical block to which all pages in it belong; `None` if they belong to several logical
    /// blocks, or if the block is empty.
    only_of: Vec<Option<u32>>,
    keeps_offsets: bool,
}

/// A possible data block of a logical block: the number of missing pages, the number of the last program in the
/// block, the block, and the usable pages in it.
type Candidate = (usize, u64, BlockSlot, Vec<(u32, Copy)>);

impl Search<'_> {
    /// Whether the pages at offsets `missing` can be programmed in `block` after its own pages.
    fn can_take(&self, block: BlockSlot, missing: &[u32]) -> bool {
        match self.keeps_offsets {
            true => {
                let mut missing = missing.iter();
                missing.all(|offset| self.blocks.nand.is_programmable(block, *offset))
            }
            false => self.blocks.programmed(block) + missing.len() as u32 <= self.blocks.pages(),
        }
    }

    /// The best data block for logical block `logical`: the block with the fewest missing pages, and among equals
    /// the block that was programmed last. `newest` holds the usable copies of each page.
    fn candidate(&self, logical: u32, newest: &[&[Copy]]) -> Option<Candidate> {
        let mut tried: Vec<BlockSlot> = Vec::new();
        let mut best: Option<Candidate> = None;
        for copy in newest.iter().copied().flatten() {
            let (block, _) = self.blocks.split(copy.at.0);
            if self.only_of[block as usize] != Some(logical) || tried.contains(&block) {
                continue;
            }
            tried.push(block);
            let (mut has, mut missing) = (Vec::new(), Vec::new());
            for copies in newest {
                let offset = copies[0].page.offset;
                let here = copies.iter().rev().find(|copy| {
                    let (other, slot) = self.blocks.split(copy.at.0);
                    other == block && (slot == offset || !self.keeps_offsets)
                });
                match here {
                    Some(copy) => has.push((offset, *copy)),
                    None => missing.push(offset),
                }
            }
            let last = self.found[block as usize].programs();
            let last = last.map_or(0, |(_, last)| last);
            let is_better = best
                .as_ref()
                .is_none_or(|best| (missing.len(), !last) < (best.0, !best.1));
            if is_better && self.can_take(block, &missing) {
                best = Some((missing.len(), last, block, has));
            }
        }
        best
    }
}

impl Recovery {
    /// Plans how the pages of each logical block are copied into one block. `copies` are sorted by page and rank.
    /// Also returns the logical blocks that have a data block already.
    pub fn plan(
        blocks: &Blocks,
        found: &[FoundBlock],
        copies: &[Copy],
        keeps_offsets: bool,
    ) -> (Self, Vec<Adopted>) {
        let search = Search {
            blocks,
            found,
            only_of: owners(blocks, found.len(), copies),
            keeps_offsets,
        };
        let mut plan = Self {
            needed: vec![0; found.len()],
            is_kept: vec![false; found.len()],
            ..Self::default()
        };
        let mut adopted = Vec::new();
        for of_block in copies.chunk_by(|one, next| one.page.block == next.page.block) {
            let logical = of_block[0].page.block;
            let pages = of_block.chunk_by(|one, next| one.page == next.page);
            let newest: Vec<&[Copy]> = pages.map(newest_of).collect();
            let (into, has) = match search.candidate(logical, &newest) {
                Some((_, _, block, has)) => (Some(block), has),
                None => (None, Vec::new()),
            };
            let has_not = |copies: &&&[Copy]| {
                let offset = copies[0].page.offset;
                has.iter().all(|(other, _)| *other != offset)
            };
            let missing: Vec<&[Copy]> = newest.iter().filter(has_not).copied().collect();
            let missing = sources(blocks, &missing);
            for copy in &missing {
                plan.needed[blocks.split(copy.at.0).0 as usize] += 1;
            }
            plan.places.extend(has.iter().map(|(_, copy)| *copy));
            plan.places.extend(&missing);
            if let Some(block) = into {
                plan.is_kept[block as usize] = true;
                let slots = has
                    .iter()
                    .map(|(offset, copy)| (*offset, blocks.split(copy.at.0).1));
                adopted.push((logical, block, slots.collect()));
            }
            if !missing.is_empty() {
                let sources = missing.iter().map(|copy| (copy.page.offset, copy.at));
                plan.merges.push(Merge {
                    logical,
                    into,
                    sources: sources.collect(),
                });
            }
        }
        let is_dead = |block: &u32| {
            let number = *block as usize;
            !found[number].pages.is_empty() && !plan.is_kept[number] && plan.needed[number] == 0
        };
        let dead: Vec<BlockSlot> = (0..found.len() as u32).filter(is_dead).collect();
        plan.dead = dead;
        (plan, adopted)
    }

    /// Does the next repair step on `blocks`. The outer `Option` is `None` if no step is left. The inner one is
    /// the logical block whose data block is new or has received pages; it is `None` if there is no such logical
    /// block.
    ///
    /// # Errors
    /// [`NoSpace`] if no block is free for the merged pages.
    pub fn step(
        &mut self,
        blocks: &mut Blocks,
        keeps_offsets: bool,
        operations: &mut Operations,
    ) -> Result<Option<Option<Adopted>>, NoSpace> {
        if let Some(dead) = self.dead.pop() {
            blocks.erase(dead, 0, Cause::Mount, operations);
            return Ok(Some(None));
        }
        // Merges that need no new block are done first. Among equals, the merge that frees the most blocks is done
        // first.
        let key = |merge: &Merge| (merge.into.is_none(), usize::MAX - self.frees(blocks, merge));
        let Some(next) = (0..self.merges.len()).min_by_key(|merge| key(&self.merges[*merge]))
        else {
            return Ok(None);
        };
        let into = self.merges[next].into;
        let target = match into {
            Some(block) => block,
            None => match blocks.allocate(self.merges[next].logical, operations) {
                Ok(block) => block,
                Err(full) if !self.make_room(blocks, operations) => return Err(full),
                Err(_) => return Ok(Some(None)),
            },
        };
        let Merge {
            logical, sources, ..
        } = self.merges.swap_remove(next);
        self.is_kept[target as usize] = true;
        let of_sources = sources.iter().map(|(_, from)| blocks.split(from.0).0);
        let transfer = blocks.copy_transfer(of_sources, target);
        let purpose = Purpose::owned(Role::Data, logical);
        let mut pages = Vec::new();
        let (next, mark) = (blocks.programmed(target), operations.mark());
        for (offset, from) in &sources {
            let slot = match keeps_offsets {
                true => *offset,
                false => blocks.programmed(target),
            };
            blocks.nand.program(target, slot);
            let to = blocks.ppn(target, slot);
            operations.push_copy(Cause::Mount, transfer, *from, to, || purpose);
            pages.push((*offset, slot));
        }
        blocks.copied(target, next, purpose, mark, operations);
        for (_, from) in &sources {
            let (block, _) = blocks.split(from.0);
            let needed = &mut self.needed[block as usize];
            *needed -= 1;
            if *needed == 0 && !self.is_kept[block as usize] {
                blocks.erase(block, 0, Cause::Mount, operations);
            }
        }
        Ok(Some(Some((logical, target, pages))))
    }

    /// Called if no block is free. Chooses the block with the fewest needed pages, copies these pages to
    /// unprogrammed pages of other blocks, and erases the chosen block. Returns whether that was possible.
    fn make_room(&mut self, blocks: &mut Blocks, operations: &mut Operations) -> bool {
        let takes = |merge: &Merge, block: BlockSlot| merge.into == Some(block);
        let is_free = |block: &BlockSlot| !self.merges.iter().any(|merge| takes(merge, *block));
        let all = 0..self.needed.len() as u32;
        let needed = |block: &BlockSlot| self.needed[*block as usize];
        let can_go = |block: &BlockSlot| needed(block) > 0 && !self.is_kept[*block as usize];
        let Some(source) = all.clone().filter(can_go).min_by_key(needed) else {
            return false;
        };
        let pages = blocks.pages();
        let slots = all
            .filter(|block| *block != source && is_free(block))
            .filter(|block| blocks.programmed(*block) > 0)
            .flat_map(|block| (blocks.programmed(block)..pages).map(move |slot| (block, slot)));
        let slots: Vec<(BlockSlot, u32)> = slots.take(needed(&source) as usize).collect();
        if slots.len() < needed(&source) as usize {
            return false;
        }
        let mut slots = slots.into_iter();
        for (_, from) in self.merges.iter_mut().flat_map(|merge| &mut merge.sources) {
            if blocks.split(from.0).0 != source {
                continue;
            }
            let Some((block, slot)) = slots.next() else {
                break;
            };
            let transfer = blocks.copy_transfer([source].into_iter(), block);
            let (next, mark) = (blocks.programmed(block), operations.mark());
            blocks.nand.program(block, slot);
            let to = blocks.ppn(block, slot);
            let purpose = Purpose::shared(Role::Log);
            operations.push_copy(Cause::Mount, transfer, *from, to, || purpose);
            blocks.copied(block, next, purpose, mark, operations);
            self.needed[block as usize] += 1;
            *from = to;
        }
        self.needed[source as usize] = 0;
        blocks.erase(source, 0, Cause::Mount, operations);
        true
    }

    /// Number of blocks that can be erased after `merge`.
    fn frees(&self, blocks: &Blocks, merge: &Merge) -> usize {
        let mut sources: Vec<u32> = merge
            .sources
            .iter()
            .map(|(_, from)| blocks.split(from.0).0)
            .collect();
        sources.sort_unstable();
        let each = sources.chunk_by(|one, next| one == next);
        each.filter(|of_block| self.needed[of_block[0] as usize] == of_block.len() as u32)
            .count()
    }
}

/// Chooses a usable copy of each page, so that the copies are in few blocks. There are two ways to choose. The
/// first way takes the copy that was programmed first, so the target of an interrupted merge is not used. The
/// second way goes through the blocks, and always takes the block that holds the most pages without a chosen copy.
/// The second way is used if its copies are in fewer blocks.
fn sources(blocks: &Blocks, pages: &[&[Copy]]) -> Vec<Copy> {
    let block_of = |copy: &Copy| blocks.split(copy.at.0).0;
    let count = |copies: &[Copy]| {
        let mut of = copies.iter().map(block_of).collect::<Vec<_>>();
        of.sort_unstable();
        of.dedup();
        of.len()
    };
    let first: Vec<Copy> = pages.iter().map(|copies| copies[0]).collect();
    if count(&first) <= 1 {
        return first;
    }
    let (mut left, mut most) = (pages.to_vec(), Vec::<Copy>::new());
    while !left.is_empty() {
        let has = |block: u32| {
            let with = left.iter();
            with.filter(|copies| copies.iter().any(|copy| block_of(copy) == block))
                .count()
        };
        let all = left.iter().copied().flatten().map(block_of);
        let Some(block) = all.max_by_key(|block| has(*block)) else {
            break;
        };
        left.retain(|copies| {
            let here = copies.iter().find(|copy| block_of(copy) == block);
            most.extend(here);
            here.is_none()
        });
    }
    most.sort_by_key(|copy| copy.page.offset);
    match count(&most) < count(&first) {
        true => most,
        false => first,
    }
}

/// The usable copies of a page: those with the highest version. If some of these are whole, only the whole ones
/// are usable.
fn newest_of(copies: &[Copy]) -> &[Copy] {
    let order = |copy: &Copy| (copy.rank.version, copy.rank.is_whole);
    let newest = copies.last().map(order);
    let first = copies.iter().position(|copy| Some(order(copy)) == newest);
    &copies[first.unwrap_or(0)..]
}

/// For each block, the logical block to which all pages in it belong; `None` if they belong to several logical
/// blocks, or if the block is empty.
fn owners(blocks: &Blocks, count: usize, copies: &[Copy]) -> Vec<Option<u32>> {
    let mut of = vec![None; count];
    let mut is_mixed = vec![false; count];
    for copy in copies {
        let block = blocks.split(copy.at.0).0 as usize;
        let logical = *of[block].get_or_insert(copy.page.block);
        is_mixed[block] |= logical != copy.page.block;
    }
    for (of, is_mixed) in of.iter_mut().zip(is_mixed) {
        *of = of.filter(|_| !is_mixed);
    }
    of
}

impl Blocks {
    /// Sets the blocks to the state `found`; the blocks were just made without contents.
    pub fn mount(&mut self, found: &[FoundBlock]) {
        self.free.clear();
        for (block, found) in (0..).zip(found) {
            self.nand.restore(block, found);
            let is_erased = found.pages.iter().all(|page| page == Found::Erased);
            if is_erased && found.erases < self.retire_at {
                self.release(block);
            }
            self.note_erases(found.erases);
        }
        self.free_min = self.free.count();
    }
}
