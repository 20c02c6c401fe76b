//! The initial contents of the tables of a superblock device.

use destage_base::lazy;

use crate::blocks::NONE;
use crate::blocks::data::{initial_block, initial_logical};
use destage_nand::geometry::Geometry;

/// The state of the device at the start. As the initial rule of a table, it gives the blocks of each superblock.
#[derive(Clone, Copy)]
pub(super) struct Initial {
    pub geometry: Geometry,
    /// Number of logical blocks with contents: either all logical blocks, or 0.
    pub full: u32,
    /// Logical blocks per superblock.
    pub superblock_blocks: u32,
    /// Entries per superblock in the table of blocks.
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

/// The initial map from logical to physical pages.
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

/// The initial map from physical to logical pages. Entries of pages that are not programmed are never used.
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

/// The initial number of live pages of each physical block.
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
