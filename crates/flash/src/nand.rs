//! What NAND allows, and how worn it is.
//!
//! A page is programmed at most once between erases, pages of a block in ascending order, and only whole
//! blocks are erased. An FTL that breaks a rule has a bug, so a breach is a panic, in every build: the
//! check is one comparison with a counter that has to be advanced anyway.

use destage_base::lazy::{Initial, LazyTable};

use crate::geometry::Geometry;

/// A physical page of one element: the block's slot (plane-major) shifted left, and the page in it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Ppn(pub u32);

/// A block of one element by its slot: `plane * blocks_per_plane + index in the plane`.
pub type BlockSlot = u32;

/// State of one block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockState {
    /// Pages programmed since the last erase; also the next page that may be programmed.
    pub programmed: u16,
    /// Erases so far.
    pub erases: u32,
}

/// Which blocks are full before the first operation: the first `full_blocks_per_plane` of each plane.
#[derive(Clone, Copy, Debug)]
pub struct InitialBlocks {
    blocks_per_plane: u32,
    full_blocks_per_plane: u32,
    pages_per_block: u16,
}

impl Initial for InitialBlocks {
    type Entry = BlockState;
    fn at(&self, index: usize) -> BlockState {
        let full = index as u32 % self.blocks_per_plane < self.full_blocks_per_plane;
        BlockState {
            programmed: if full { self.pages_per_block } else { 0 },
            erases: 0,
        }
    }
}

/// The cells of one element: what is programmed, how often blocks were erased.
pub struct Nand {
    blocks: LazyTable<InitialBlocks>,
    pages_per_block: u16,
}

impl Nand {
    /// An element whose first `full_blocks_per_plane` blocks of each plane are programmed.
    #[must_use]
    pub fn new(geometry: &Geometry, full_blocks_per_plane: u32) -> Self {
        let initial = InitialBlocks {
            blocks_per_plane: geometry.blocks_per_plane,
            full_blocks_per_plane,
            pages_per_block: geometry.pages_per_block as u16,
        };
        Self {
            blocks: LazyTable::new(geometry.blocks_per_element() as usize, initial),
            pages_per_block: geometry.pages_per_block as u16,
        }
    }

    /// Programs the next page of `block`, which has to be `page`.
    ///
    /// # Panics
    /// If `page` is not the next page of the block: programmed already, or out of order.
    #[inline]
    pub fn program(&mut self, block: BlockSlot, page: u32) {
        let state = self.blocks.get_mut(block as usize);
        assert!(
            u32::from(state.programmed) == page && state.programmed < self.pages_per_block,
            "program of page {page} in block {block}, whose next page is {}",
            state.programmed
        );
        state.programmed += 1;
    }

    /// Leaves the next page of `block`, which has to be `page`, unprogrammed: it stays unused until the erase.
    ///
    /// # Panics
    /// If `page` is not the next page of the block.
    pub fn pass_over(&mut self, block: BlockSlot, page: u32) {
        self.program(block, page);
    }

    /// Erases `block`.
    #[inline]
    pub fn erase(&mut self, block: BlockSlot) {
        let state = self.blocks.get_mut(block as usize);
        state.programmed = 0;
        state.erases += 1;
    }

    /// State of `block`.
    #[must_use]
    #[inline]
    pub fn block(&self, block: BlockSlot) -> BlockState {
        self.blocks.get(block as usize)
    }

    /// Erase counts of all blocks summed up.
    #[must_use]
    pub fn wear(&self) -> Wear {
        let mut wear = Wear {
            blocks: self.blocks.len() as u64,
            ..Wear::default()
        };
        let mut touched = 0;
        for (_, state) in self.blocks.touched() {
            let erases = u64::from(state.erases);
            wear.min = if touched == 0 {
                erases
            } else {
                wear.min.min(erases)
            };
            wear.max = wear.max.max(erases);
            wear.sum += erases;
            wear.sum_of_squares += u128::from(erases) * u128::from(erases);
            touched += 1;
        }
        if touched < wear.blocks {
            wear.min = 0;
        }
        wear
    }
}

/// Erase counts of a set of blocks, as integer sums.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Wear {
    /// Blocks counted.
    pub blocks: u64,
    /// Fewest erases of any block.
    pub min: u64,
    /// Most erases of any block.
    pub max: u64,
    /// All erases.
    pub sum: u64,
    /// Sum of the squares.
    pub sum_of_squares: u128,
}

impl Wear {
    /// The two sets together.
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
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TINY: Geometry = Geometry {
        elements: 1,
        planes: 1,
        blocks_per_plane: 2,
        pages_per_block: 4,
        summary_page: false,
        page_bytes: 4096,
    };

    #[test]
    #[should_panic(expected = "whose next page is 1")]
    fn a_page_is_programmed_once() {
        let mut nand = Nand::new(&TINY, 0);
        nand.program(0, 0);
        nand.program(0, 0);
    }

    #[test]
    #[should_panic(expected = "whose next page is 4")]
    fn a_full_block_takes_no_page_until_it_is_erased() {
        let mut nand = Nand::new(&TINY, 1);
        nand.erase(0);
        (0..4).for_each(|page| nand.program(0, page));
        nand.program(0, 4);
    }
}
