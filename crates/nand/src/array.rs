//! The rules of NAND flash, and its wear.
//!
//! A page is programmed at most once between two erases. Pages of a block are programmed in ascending order; only
//! early flash allows any order. Only whole blocks are erased, and only when none of their pages holds a current
//! copy.
//!
//! An FTL that breaks one of these rules has a bug, so the simulator panics. Release builds check the rules too,
//! because a check costs only one comparison with a counter that every program advances anyway.

use alloc::vec::Vec;
use core::ops::Range;

use destage_base::archived;
use destage_base::lazy::{Initial, LazyTable};

use crate::found::{Found, FoundBlock};
use crate::geometry::Geometry;
use crate::masks::{FullRows, Masks};

/// A physical page of one die. The number consists of the block's slot ([`BlockSlot`]), shifted left, plus the page's
/// number in the block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Ppn(pub u32);

/// A block of one die by its slot: `plane * blocks_per_plane + index in the plane`.
pub type BlockSlot = u32;

/// The state of one block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockState {
    /// The number of pages up to and including the last programmed page; 0 after an erase. In flash with ascending
    /// order, the page with this number is the next one that may be programmed.
    pub programmed: u16,
    /// Number of erases so far.
    pub erases: u32,
}

archived!(BlockState { programmed, erases });

/// The blocks that are full before the first operation. The full blocks are distributed over the planes in turn, and
/// are the first blocks of each plane.
#[derive(Clone, Copy, Debug)]
pub struct InitialBlocks {
    planes: u32,
    blocks_per_plane: u32,
    full_blocks: u32,
    pages_per_block: u16,
}

impl InitialBlocks {
    fn new(geometry: &Geometry, full_blocks: u32) -> Self {
        Self {
            planes: geometry.planes,
            blocks_per_plane: geometry.blocks_per_plane,
            full_blocks,
            pages_per_block: geometry.pages_per_block as u16,
        }
    }
}

impl FullRows for InitialBlocks {
    fn is_full(&self, block: BlockSlot) -> bool {
        let (plane, index) = (block / self.blocks_per_plane, block % self.blocks_per_plane);
        index * self.planes + plane < self.full_blocks
    }
}

impl Initial for InitialBlocks {
    type Entry = BlockState;
    fn at(&self, index: usize) -> BlockState {
        let full = self.is_full(index as u32);
        BlockState {
            programmed: if full { self.pages_per_block } else { 0 },
            erases: 0,
        }
    }

    /// Fills `entries` plane by plane, because the full blocks of a plane are its first blocks.
    fn fill(&self, of: Range<usize>, entries: &mut Vec<BlockState>) {
        let (mut block, end) = (of.start as u32, of.end as u32);
        while block < end {
            let (plane, index) = (block / self.blocks_per_plane, block % self.blocks_per_plane);
            let here = (self.blocks_per_plane - index).min(end - block);
            let of_planes = self.full_blocks.saturating_sub(plane).div_ceil(self.planes);
            let full = of_planes.saturating_sub(index).min(here);
            let behind = entries.len() + here as usize;
            entries.resize(entries.len() + full as usize, self.at(block as usize));
            let free = BlockState {
                programmed: 0,
                erases: 0,
            };
            entries.resize(behind, free);
            block += here;
        }
    }
}

/// The cells of one die: the programmed pages, and the number of erases of each block.
#[derive(Clone)]
pub struct Nand {
    blocks: LazyTable<InitialBlocks>,
    /// The programmed pages, for flash whose pages may be programmed in any order; `None` for flash with ascending
    /// order.
    any_order: Option<Masks<InitialBlocks>>,
    pages_per_block: u16,
    /// The largest number of erases that a block had when the erase counts were set to 0; 0 if they never were.
    former: u32,
}

archived!(Nand { blocks, any_order, former } fixed { pages_per_block });

impl Nand {
    /// A die with `full_blocks` full blocks, which are distributed over the planes in turn. Pages of a block are
    /// programmed in ascending order.
    #[must_use]
    pub fn new(geometry: &Geometry, full_blocks: u32) -> Self {
        let initial = InitialBlocks::new(geometry, full_blocks);
        Self {
            blocks: LazyTable::new(geometry.blocks_per_die() as usize, initial),
            any_order: None,
            pages_per_block: initial.pages_per_block,
            former: 0,
        }
    }

    /// A die as [`Nand::new`] makes it, but of early flash, whose pages may be programmed in any order.
    #[must_use]
    pub fn with_any_order(geometry: &Geometry, full_blocks: u32) -> Self {
        let initial = InitialBlocks::new(geometry, full_blocks);
        Self {
            any_order: Some(Masks::new(
                geometry.blocks_per_die(),
                geometry.pages_per_block,
                initial,
            )),
            ..Self::new(geometry, full_blocks)
        }
    }

    /// Programs `page` of `block`. On flash with ascending order, pages that are skipped cannot be programmed before
    /// the next erase of the block.
    ///
    /// # Panics
    /// If the block has no page of this number, or if `page` is programmed already. On flash with ascending order,
    /// also if a later page of the block is programmed.
    #[inline(always)]
    pub fn program(&mut self, block: BlockSlot, page: u32) {
        let state = self.blocks.get_mut(block as usize);
        let legal = match &mut self.any_order {
            None => page >= u32::from(state.programmed),
            Some(programmed) => !programmed.set(block, page),
        };
        if !legal || page >= u32::from(self.pages_per_block) {
            illegal_program(block, page, state.programmed);
        }
        state.programmed = state.programmed.max(page as u16 + 1);
    }

    /// Programs `page` of `block` if `page` is the next page in order, and returns whether it was programmed. If no
    /// operation has changed `block` so far, the page is not programmed and the result is `false`. The method may be
    /// called only for flash whose pages are [programmed in order](Nand::new).
    #[inline(always)]
    pub fn program_next(&mut self, block: BlockSlot, page: u32) -> bool {
        let Some(state) = self.blocks.touched_mut(block as usize) else {
            return false;
        };
        let is_next = page == u32::from(state.programmed) && page < u32::from(self.pages_per_block);
        if !is_next {
            return false;
        }
        debug_assert!(self.any_order.is_none(), "pages have an order");
        state.programmed = page as u16 + 1;
        true
    }

    /// Programs those pages of `block` that `pages` yields. The pages are in ascending order, and all of them are
    /// after the last programmed page. `end` is the number after the last page of `pages`.
    ///
    /// # Panics
    /// If the first page is not after the last programmed page, or if the block has fewer than `end` pages.
    pub fn program_run(&mut self, block: BlockSlot, end: u32, pages: impl Iterator<Item = u32>) {
        let mut pages = pages.peekable();
        let Some(first) = pages.peek().copied() else {
            return;
        };
        let state = self.blocks.get_mut(block as usize);
        assert!(
            first >= u32::from(state.programmed) && end <= u32::from(self.pages_per_block),
            "program of pages {first} to {end} in block {block}, which is programmed up to page {}",
            state.programmed
        );
        state.programmed = state.programmed.max(end as u16);
        if let Some(programmed) = &mut self.any_order {
            pages.for_each(|page| {
                programmed.set(block, page);
            });
        }
    }

    /// Programs those pages of the erased `block` whose bits are set in `row` of `pages`.
    ///
    /// # Panics
    /// If the block is not erased.
    pub fn program_row<R: FullRows>(&mut self, block: BlockSlot, pages: &Masks<R>, row: u32) {
        let state = self.blocks.get_mut(block as usize);
        assert!(
            state.programmed == 0,
            "program of pages in block {block}, which is programmed up to page {}",
            state.programmed
        );
        state.programmed = pages.end(row) as u16;
        if let Some(programmed) = &mut self.any_order {
            programmed.set_all_of(block, pages, row);
        }
    }

    /// Whether `page` of `block` may be programmed now.
    #[must_use]
    #[inline(always)]
    pub fn is_programmable(&self, block: BlockSlot, page: u32) -> bool {
        match &self.any_order {
            None => page >= u32::from(self.block(block).programmed),
            Some(programmed) => !programmed.get(block, page),
        }
    }

    /// Checks that `page` of `block` may be read.
    ///
    /// # Panics
    /// If the page is erased.
    #[inline(always)]
    pub fn read(&self, block: BlockSlot, page: u32) {
        let programmed = match &self.any_order {
            None => page < u32::from(self.block(block).programmed),
            Some(programmed) => programmed.get(block, page),
        };
        if !programmed {
            illegal_read(block, page);
        }
    }

    /// Erases `block`. `live` is the number of its pages that hold current copies.
    ///
    /// # Panics
    /// If `live` is not 0.
    #[inline(always)]
    pub fn erase(&mut self, block: BlockSlot, live: u32) {
        assert!(live == 0, "erase of block {block} with {live} live pages");
        let state = self.blocks.get_mut(block as usize);
        state.programmed = 0;
        state.erases += 1;
        if let Some(programmed) = &mut self.any_order {
            programmed.clear_row(block);
        }
    }

    /// Sets the state of `block` to the findings `found` of a mount. The die may not have any contents before.
    pub fn restore(&mut self, block: BlockSlot, found: &FoundBlock) {
        *self.blocks.get_mut(block as usize) = BlockState {
            programmed: found.end() as u16,
            erases: found.erases,
        };
        if let Some(programmed) = &mut self.any_order {
            for (page, found) in (0..).zip(found.pages.iter()) {
                if found != Found::Erased {
                    programmed.set(block, page);
                }
            }
        }
    }

    /// Sets the erase counts of all blocks to 0, and notes the largest of them ([`Wear::former_max`]).
    pub fn reset_wear(&mut self) {
        let most = self.blocks.touched().map(|(_, state)| state.erases).max();
        self.former = self.former.max(most.unwrap_or(0));
        self.blocks.for_each_touched(|state| state.erases = 0);
    }

    /// The erase count of each block, in the order of the blocks.
    pub fn erases(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.blocks.len()).map(|block| self.blocks.get(block).erases)
    }

    /// Number of blocks that were erased at least `erases` times.
    #[must_use]
    pub fn erased_as_often(&self, erases: u32) -> u32 {
        if erases == 0 {
            return self.blocks.len() as u32;
        }
        let mut count = 0;
        let of_touched = self.blocks.touched();
        of_touched.for_each(|(_, state)| count += u32::from(state.erases >= erases));
        count
    }

    /// The state of `block`.
    #[must_use]
    #[inline]
    pub fn block(&self, block: BlockSlot) -> BlockState {
        self.blocks.get(block as usize)
    }

    /// Sums over the erase counts of all blocks.
    #[must_use]
    pub fn wear(&self) -> Wear {
        let mut wear = Wear {
            blocks: self.blocks.len() as u64,
            min: u64::MAX,
            former_max: self.former.into(),
            ..Wear::default()
        };
        let mut erased = 0;
        // Only changed blocks are visited, because most blocks of a large device are never erased.
        let all = self.blocks.touched().map(|(_, state)| state.erases);
        all.filter(|erases| *erases > 0).for_each(|erases| {
            let erases = u64::from(erases);
            wear.min = wear.min.min(erases);
            wear.max = wear.max.max(erases);
            wear.sum += erases;
            wear.sum_of_squares += u128::from(erases * erases);
            erased += 1;
        });
        if erased == 0 || erased < wear.blocks {
            wear.min = 0;
        }
        wear
    }
}

#[cold]
#[inline(never)]
fn illegal_read(block: BlockSlot, page: u32) -> ! {
    panic!("read of page {page} in block {block}: this page is erased")
}

/// The panic is out of line, so that the check of a legal program costs no more than one comparison.
#[cold]
#[inline(never)]
fn illegal_program(block: BlockSlot, page: u32, programmed: u16) -> ! {
    panic!("program of page {page} in block {block}, which is programmed up to page {programmed}")
}

/// Sums over the erase counts of a set of blocks, as integers.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Wear {
    /// Number of blocks counted.
    pub blocks: u64,
    /// The smallest number of erases of a block.
    pub min: u64,
    /// The largest number of erases of a block.
    pub max: u64,
    /// Sum of the erases of all blocks.
    pub sum: u64,
    /// Sum of the squares of the blocks' numbers of erases.
    pub sum_of_squares: u128,
    /// The largest number of erases that a block had when the erase counts were set to 0; 0 if they never were.
    pub former_max: u64,
}

impl Wear {
    /// The sums over both sets of blocks.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        if self.blocks == 0 {
            return other;
        }
        Self {
            blocks: self.blocks + other.blocks,
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            sum: self.sum + other.sum,
            sum_of_squares: self.sum_of_squares + other.sum_of_squares,
            former_max: self.former_max.max(other.former_max),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TINY: Geometry = Geometry {
        dies: 1,
        planes: 1,
        blocks_per_plane: 2,
        pages_per_block: 4,
        summary_page: false,
        page_bytes: 4096,
    };

    #[test]
    fn many_blocks_are_filled_as_each_of_them_is() {
        let geometry = Geometry {
            planes: 3,
            blocks_per_plane: 700,
            ..TINY
        };
        for full in [0, 1, 2, 3, 1024, 1801, 2100] {
            let rule = InitialBlocks::new(&geometry, full);
            let mut blocks = Vec::new();
            for first in (0..2100).step_by(1024) {
                rule.fill(first..2100.min(first + 1024), &mut blocks);
            }
            assert_eq!(blocks.len(), 2100);
            for (index, block) in blocks.iter().enumerate() {
                assert_eq!(*block, rule.at(index), "{full} {index}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "programmed up to page 1")]
    fn a_page_is_programmed_once() {
        let mut nand = Nand::new(&TINY, 0);
        nand.program(0, 0);
        nand.program(0, 0);
    }

    #[test]
    #[should_panic(expected = "programmed up to page 4")]
    fn a_full_block_takes_no_page_until_it_is_erased() {
        let mut nand = Nand::new(&TINY, 1);
        nand.erase(0, 0);
        (0..4).for_each(|page| nand.program(0, page));
        nand.program(0, 4);
    }

    #[test]
    #[should_panic(expected = "programmed up to page 3")]
    fn pages_go_up() {
        let mut nand = Nand::new(&TINY, 0);
        nand.program(0, 2);
        nand.program(0, 1);
    }

    #[test]
    fn early_flash_takes_pages_in_any_order_but_once() {
        let mut nand = Nand::with_any_order(&TINY, 0);
        nand.program(0, 2);
        nand.program(0, 1);
        nand.read(0, 1);
        assert!(nand.is_programmable(0, 0) && !nand.is_programmable(0, 2));
    }

    #[test]
    #[should_panic(expected = "this page is erased")]
    fn an_erased_page_has_no_contents() {
        let mut nand = Nand::new(&TINY, 1);
        nand.erase(0, 0);
        nand.read(0, 0);
    }

    #[test]
    #[should_panic(expected = "with 3 live pages")]
    fn live_pages_are_not_erased() {
        Nand::new(&TINY, 1).erase(0, 3);
    }
}
