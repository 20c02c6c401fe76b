//! The sizes of a die, and the contents of its tables before the first request.

use alloc::vec::Vec;
use core::ops::Range;

use destage_base::archived;
use destage_base::lazy::Initial;

use destage_nand::geometry::Geometry;

/// The value for "no physical page" and "no logical page" in tables.
pub(crate) const NONE: u32 = u32::MAX;

/// The sizes of a die, on which the initial values of its tables depend.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub planes: u32,
    pub blocks_per_plane: u32,
    /// Number of blocks that hold the logical pages of a filled device: the first block of each plane in turn,
    /// then the second block of each plane, and so on.
    pub data_blocks: u32,
    /// Number of pages of the map or its journal. Their page numbers follow those of the logical pages. On a
    /// filled device, they are stored after the logical pages.
    pub map_pages: u32,
    pub pages_per_block: u32,
    pub data_pages: u32,
    pub page_bits: u32,
    /// Before the first request, either all logical pages have contents or none has.
    pub filled: bool,
    /// The number of dies, and the number of this die, if any page of the device may be on any die. In this case, a die
    /// numbers the pages as the device does.
    pub shared: Option<(u32, u32)>,
}

impl Shape {
    pub fn new(geometry: &Geometry, data_blocks: u32, map_pages: u32, filled: bool) -> Self {
        Self {
            planes: geometry.planes,
            blocks_per_plane: geometry.blocks_per_plane,
            data_blocks,
            map_pages,
            pages_per_block: geometry.pages_per_block,
            data_pages: geometry.data_pages(),
            page_bits: geometry.page_bits(),
            filled,
            shared: None,
        }
    }

    /// Number of page numbers that logical pages have in this die.
    pub fn numbers(&self) -> u32 {
        let dies = self.shared.map_or(1, |(dies, _)| dies);
        self.pages() * dies
    }

    /// Logical pages of the die.
    pub fn pages(&self) -> u32 {
        self.data_blocks * self.data_pages
    }

    /// Number of mapped pages: logical pages, and pages of the map or its journal.
    pub fn mapped_pages(&self) -> u32 {
        self.pages() + self.map_pages
    }

    /// Number of blocks that are full at the start. The last of these blocks may hold fewer pages.
    pub fn full_blocks(&self) -> u32 {
        if self.filled {
            self.mapped_pages().div_ceil(self.data_pages)
        } else {
            0
        }
    }

    /// Number of blocks of `plane` that are full at the start.
    pub fn full_in(&self, plane: u32) -> u32 {
        (self.full_blocks() + self.planes - 1 - plane) / self.planes
    }

    /// The block at position `number` if blocks are counted across the planes: one block of each plane in turn.
    pub fn slot(&self, number: u32) -> u32 {
        number % self.planes * self.blocks_per_plane + number / self.planes
    }

    /// The position of block `slot` if blocks are counted across the planes.
    fn number(&self, slot: u32) -> u32 {
        let (plane, index) = (slot / self.blocks_per_plane, slot % self.blocks_per_plane);
        index * self.planes + plane
    }

    /// Number of valid pages of block `slot` at the start.
    pub fn initially_valid(&self, slot: u32) -> u16 {
        let number = self.number(slot);
        if number >= self.full_blocks() {
            return 0;
        }
        self.valid_of_full(number)
    }

    /// Number of valid pages at the start of the full block at position `number`, if blocks are counted across the
    /// planes.
    pub fn valid_of_full(&self, number: u32) -> u16 {
        (self.mapped_pages() - number * self.data_pages).min(self.data_pages) as u16
    }
}

/// The initial map from logical to physical pages. Pages are stored in ascending order, in one block of each plane
/// in turn.
#[derive(Clone)]
pub(crate) struct InitialMap(pub Shape);
impl Initial for InitialMap {
    type Entry = u32;
    fn at(&self, index: usize) -> u32 {
        if !self.0.filled {
            return NONE;
        }
        let page = match self.0.shared {
            None => index as u32,
            Some(_) if index as u32 >= self.0.numbers() => {
                self.0.pages() + (index as u32 - self.0.numbers())
            }
            Some((dies, number)) if index as u32 % dies == number => index as u32 / dies,
            Some(_) => return NONE,
        };
        let (block, offset) = (page / self.0.data_pages, page % self.0.data_pages);
        self.0.slot(block) << self.0.page_bits | offset
    }

    fn of_all(&self) -> Option<u32> {
        (!self.0.filled).then_some(NONE)
    }

    /// Fills block by block.
    fn fill(&self, of: Range<usize>, entries: &mut Vec<u32>) {
        let Shape { data_pages, .. } = self.0;
        if !self.0.filled || self.0.shared.is_some() {
            return entries.extend(of.map(|page| self.at(page)));
        }
        let (mut page, end) = (of.start as u32, of.end as u32);
        while page < end {
            let (block, offset) = (page / data_pages, page % data_pages);
            let here = (data_pages - offset).min(end - page);
            let ppn = self.0.slot(block) << self.0.page_bits | offset;
            entries.extend(ppn..ppn + here);
            page += here;
        }
    }
}

/// The initial map from physical to logical pages: the inverse of [`InitialMap`].
#[derive(Clone)]
pub(crate) struct InitialOwner(pub Shape);
impl Initial for InitialOwner {
    type Entry = u32;
    fn at(&self, index: usize) -> u32 {
        let (slot, offset) = (
            index as u32 >> self.0.page_bits,
            index as u32 & ((1 << self.0.page_bits) - 1),
        );
        let page = self.0.number(slot) * self.0.data_pages + offset;
        let holds = self.0.filled && offset < self.0.data_pages && page < self.0.mapped_pages();
        match self.0.shared {
            _ if !holds => NONE,
            None => page,
            Some(_) if page >= self.0.pages() => self.0.numbers() + (page - self.0.pages()),
            Some((dies, number)) => page * dies + number,
        }
    }

    /// Fills block by block. This works because the sizes of the address range of a block and of the pieces that
    /// are filled at once are powers of two.
    fn fill(&self, of: Range<usize>, entries: &mut Vec<u32>) {
        let shape = &self.0;
        let per_block = 1 << shape.page_bits;
        if shape.shared.is_some() || !of.start.is_multiple_of(per_block) {
            return entries.extend(of.map(|ppn| self.at(ppn)));
        }
        let end = of.end;
        for first in of.step_by(per_block) {
            let number = shape.number((first >> shape.page_bits) as u32);
            let held = match shape.filled && number < shape.full_blocks() {
                true => shape.valid_of_full(number),
                false => 0,
            };
            let here = per_block.min(end - first);
            let behind = entries.len() + here;
            let page = number.wrapping_mul(shape.data_pages);
            entries.extend(page..page.wrapping_add(here.min(held.into()) as u32));
            entries.resize(behind, NONE);
        }
    }
}

/// The data that the FTL stores for each block. The programmed pages and the wear of the block are stored in the
/// NAND array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    /// Rank of the block in the order in which blocks were opened, from 1; 0 for a free block.
    pub sequence: u32,
    /// Number of pages that hold the newest copy of their logical page.
    pub valid: u16,
}

archived!(Block { sequence, valid });

#[derive(Clone)]
pub(crate) struct InitialBlock(pub Shape);
impl Initial for InitialBlock {
    type Entry = Block;
    fn at(&self, slot: usize) -> Block {
        let valid = self.0.initially_valid(slot as u32);
        Block {
            sequence: match valid {
                0 => 0,
                _ => self.0.number(slot as u32) + 1,
            },
            valid,
        }
    }

    /// Fills plane by plane: in each plane the first blocks are full.
    fn fill(&self, of: Range<usize>, entries: &mut Vec<Block>) {
        let shape = &self.0;
        let (mut slot, end) = (of.start as u32, of.end as u32);
        while slot < end {
            let (plane, index) = (slot / shape.blocks_per_plane, slot % shape.blocks_per_plane);
            let here = (shape.blocks_per_plane - index).min(end - slot);
            let behind = entries.len() + here as usize;
            let full = shape.full_in(plane).saturating_sub(index).min(here);
            let number = |place: u32| (index + place) * shape.planes + plane;
            entries.extend((0..full).map(|place| Block {
                sequence: number(place) + 1,
                valid: shape.data_pages as u16,
            }));
            // The last of all full blocks may hold fewer pages.
            if let (1.., Some(last)) = (full, entries.last_mut()) {
                last.valid = shape.valid_of_full(number(full - 1));
            }
            let free = Block {
                sequence: 0,
                valid: 0,
            };
            entries.resize(behind, free);
            slot += here;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shapes of dies with three planes; in some the last full block holds fewer pages.
    fn shapes() -> impl Iterator<Item = Shape> {
        let kinds = [(4, false, 700), (16, true, 700), (2048, true, 70)];
        kinds
            .into_iter()
            .flat_map(|(pages_per_block, summary_page, blocks_per_plane)| {
                let geometry = Geometry {
                    dies: 4,
                    planes: 3,
                    blocks_per_plane,
                    pages_per_block,
                    summary_page,
                    page_bytes: 4096,
                };
                let most = 2 * blocks_per_plane + 1;
                let filled = [(0, 0, true), (most, 7, true), (most, 0, false)];
                let of =
                    filled.map(|(blocks, map, filled)| Shape::new(&geometry, blocks, map, filled));
                let shared = of.map(|shape| Shape {
                    shared: Some((4, 1)),
                    map_pages: 0,
                    ..shape
                });
                of.into_iter().chain(shared)
            })
    }

    /// Fills a table in pieces of 1024 entries, as the lazy table does when it is touched.
    fn filled<I: Initial>(rule: &I, len: usize) -> Vec<I::Entry> {
        let mut entries = Vec::new();
        for first in (0..len).step_by(1024) {
            rule.fill(first..len.min(first + 1024), &mut entries);
        }
        assert_eq!(entries.len(), len);
        entries
    }

    #[test]
    fn many_entries_are_filled_as_each_of_them_is() {
        for shape in shapes() {
            let blocks = (shape.planes * shape.blocks_per_plane) as usize;
            let map = InitialMap(shape);
            let pages = filled(&map, shape.mapped_pages() as usize);
            assert!(
                (0..).zip(&pages).all(|(page, at)| map.at(page) == *at),
                "{shape:?}"
            );
            let owner = InitialOwner(shape);
            let pages = filled(&owner, blocks << shape.page_bits);
            assert!(
                (0..).zip(&pages).all(|(at, page)| owner.at(at) == *page),
                "{shape:?}"
            );
            let block = InitialBlock(shape);
            let known = filled(&block, blocks);
            for (slot, known) in known.iter().enumerate() {
                let expected = block.at(slot);
                assert_eq!(
                    (known.sequence, known.valid),
                    (expected.sequence, expected.valid),
                    "{shape:?} {slot}"
                );
            }
        }
    }
}
