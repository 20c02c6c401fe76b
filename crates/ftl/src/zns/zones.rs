//! Which blocks form a zone, and in which pages of the blocks the pages of a zone are.

use destage_nand::array::Ppn;
use destage_nand::found::{Found, FoundBlock, Scan};
use destage_nand::operation::{Mark, Operations};

/// The sizes of a zone and of its die.
#[derive(Clone, Copy)]
pub(super) struct Zones {
    pub blocks: u32,
    pub planes: u32,
    pub blocks_per_plane: u32,
    /// Number of bits of a page number within a zone, and within a block.
    pub zone_bits: u32,
    pub page_bits: u32,
    pub zone_pages: u32,
    /// Number of consecutive pages of a zone in one block before the next block is used.
    pub unit: u32,
}

impl Zones {
    /// Block `number` of `zone`. The blocks of zones are numbered with one block on each plane in turn.
    pub fn block(&self, zone: u32, number: u32) -> u32 {
        let block = zone * self.blocks + number;
        block % self.planes * self.blocks_per_plane + block / self.planes
    }

    /// The page of flash of page `at`, which is given by its zone and its page number in the zone.
    pub fn place(&self, Ppn(at): Ppn) -> Ppn {
        let (zone, page) = (at >> self.zone_bits, at & ((1 << self.zone_bits) - 1));
        let (unit, of_unit) = (page / self.unit, page % self.unit);
        let block = self.block(zone, unit % self.blocks);
        let within = unit / self.blocks * self.unit + of_unit;
        Ppn(block << self.page_bits | within)
    }

    /// The zone that contains the page of flash `at`, given as the number of the zone and page 0.
    pub fn zone_of(&self, Ppn(at): Ppn) -> Ppn {
        let block = at >> self.page_bits;
        let (plane, row) = (block / self.blocks_per_plane, block % self.blocks_per_plane);
        let zone = (row * self.planes + plane) / self.blocks;
        Ppn(zone << self.zone_bits)
    }

    /// Translates the operations emitted since `mark` from zones to blocks.
    pub fn tell(&self, mark: Mark, operations: &mut Operations) {
        let block =
            |Ppn(at): Ppn, number| Ppn(self.block(at >> self.zone_bits, number) << self.page_bits);
        operations.say_of_blocks(mark, self.blocks, |at| self.place(at), block);
    }

    /// Translates findings in blocks to findings in zones.
    pub fn scan(&self, of_blocks: &Scan) -> Scan {
        let zones = |blocks: &[FoundBlock]| {
            let count = blocks.len() as u32 / self.blocks;
            (0..count).map(|zone| self.found(zone, blocks)).collect()
        };
        let dies = of_blocks.dies.iter().map(|blocks| zones(blocks));
        Scan::new(dies.collect(), self.zone_bits)
    }

    /// The findings in `zone` of a die with these `blocks`. If a reset was interrupted, only some blocks of the
    /// zone are erased. The zone then counts as in use because of its other blocks.
    fn found(&self, zone: u32, blocks: &[FoundBlock]) -> FoundBlock {
        let first = zone << self.zone_bits;
        let block = |at: u32| &blocks[(at >> self.page_bits) as usize];
        let of_zone = || (0..self.blocks).map(|number| &blocks[self.block(zone, number) as usize]);
        let page = |page: u32| {
            let Ppn(at) = self.place(Ppn(first | page));
            block(at).pages.get(at & ((1 << self.page_bits) - 1))
        };
        let pages = match of_zone().all(|block| block.pages.is_empty()) {
            true => 0,
            false => self.zone_pages,
        };
        FoundBlock {
            pages: (0..pages)
                .map(|at| page(at).unwrap_or(Found::Erased))
                .collect(),
            erases: of_zone().map(|block| block.erases).max().unwrap_or(0),
        }
    }
}
