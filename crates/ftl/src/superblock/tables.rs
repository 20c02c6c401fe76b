//! The tables of a superblock device before they are touched.

use destage_base::lazy;

use crate::blocks::NONE;
use crate::blocks::data::{initial_block, initial_logical};
use destage_nand::geometry::Geometry;

/// The state of the device at the start; as a table, the blocks that superblocks hold.
#[derive(Clone, Copy)]
pub(super) struct Initial {
    pub geometry: Geometry,
    /// Logical blocks with contents: all or none.
    pub full: u32,
    /// Logical blocks of a superblock.
    pub superblock_blocks: u32,
    /// Places for blocks of a superblock.
    pub width: u32,
}

impl lazy::Initial for Initial {
    type Entry = u32;
    fn at(&self, index: usize) -> u32 {
        let (superblock, place) = (index as u32 / self.width, index as u32 % self.width);
        let logical = superblock * self.superblock_blocks + place;
        if place < self.superblock_blocks && logical < self.full {
            initial_block(&self.geometry, logical)
        } else {
            NONE
        }
    }
}

/// Logical page -> physical page.
#[derive(Clone)]
pub(super) struct MapAtStart(pub Initial);

impl lazy::Initial for MapAtStart {
    type Entry = u32;
    fn at(&self, index: usize) -> u32 {
        let pages = self.0.geometry.data_pages();
        let (logical, page) = (index as u32 / pages, index as u32 % pages);
        if logical < self.0.full {
            initial_block(&self.0.geometry, logical) << self.0.geometry.page_bits() | page
        } else {
            NONE
        }
    }
}

/// Physical page -> logical page; of pages not programmed yet nothing that counts.
#[derive(Clone)]
pub(super) struct OwnerAtStart(pub Initial);

impl lazy::Initial for OwnerAtStart {
    type Entry = u32;
    fn at(&self, index: usize) -> u32 {
        let (bits, pages) = (
            self.0.geometry.page_bits(),
            self.0.geometry.data_pages() as usize,
        );
        let (block, page) = (index >> bits, index & ((1 << bits) - 1));
        let logical = initial_logical(&self.0.geometry, block as u32);
        if logical < self.0.full && page < pages {
            (logical as usize * pages + page) as u32
        } else {
            NONE
        }
    }
}

/// Live pages of physical blocks.
#[derive(Clone)]
pub(super) struct LiveAtStart(pub Initial);

impl lazy::Initial for LiveAtStart {
    type Entry = u16;
    fn at(&self, block: usize) -> u16 {
        let logical = initial_logical(&self.0.geometry, block as u32);
        if logical < self.0.full {
            self.0.geometry.data_pages() as u16
        } else {
            0
        }
    }
}

/// No block.
#[derive(Clone)]
pub(super) struct NoBlock;

impl lazy::Initial for NoBlock {
    type Entry = u32;
    fn at(&self, _: usize) -> u32 {
        NONE
    }
}
