//! The counts of a die, and the contents of its tables before the first request.

use alloc::vec::Vec;
use core::ops::Range;

use destage_base::archived;
use destage_base::lazy::Initial;

use destage_nand::geometry::Geometry;

/// No physical page, or no logical page.
pub(crate) const NONE: u32 = u32::MAX;

/// The numbers of a die that every table's initial rule needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub planes: u32,
    pub blocks_per_plane: u32,
    /// Blocks that hold the logical pages of a filled device, planes taken in turn.
    pub data_blocks: u32,
    /// Pages that the layer keeps for itself; they have the numbers after the logical pages, and lie after them.
    pub map_pages: u32,
    pub pages_per_block: u32,
    pub data_pages: u32,
    pub page_bits: u32,
    /// Logical pages all have contents before the first request, or none has.
    pub filled: bool,
    /// Where any page of the device may be on any die: how many dies there are, and which this is.
    /// Pages are then known by their number in the device.
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

    /// Numbers by which logical pages are known here.
    pub fn numbers(&self) -> u32 {
        let dies = self.shared.map_or(1, |(dies, _)| dies);
        self.pages() * dies
    }

    /// Logical pages of the die.
    pub fn pages(&self) -> u32 {
        self.data_blocks * self.data_pages
    }

    /// Mapped pages: the logical ones, and those that the layer keeps for itself.
    pub fn mapped_pages(&self) -> u32 {
        self.pages() + self.map_pages
    }

    /// Blocks that are full at the start, planes taken in turn. The last may hold fewer pages.
    pub fn full_blocks(&self) -> u32 {
        if self.filled {
            self.mapped_pages().div_ceil(self.data_pages)
        } else {
            0
        }
    }

    /// Blocks of `plane` that are full at the start.
    pub fn full_in(&self, plane: u32) -> u32 {
        (self.full_blocks() + self.planes - 1 - plane) / self.planes
    }

    /// The block that comes at `number` if planes are taken in turn.
    pub fn slot(&self, number: u32) -> u32 {
        number % self.planes * self.blocks_per_plane + number / self.planes
    }

    /// Place of block `slot` in an order that takes planes in turn.
    fn number(&self, slot: u32) -> u32 {
        let (plane, index) = (slot / self.blocks_per_plane, slot % self.blocks_per_plane);
        index * self.planes + plane
    }

    /// Valid pages of block `slot` at the start.
    pub fn initially_valid(&self, slot: u32) -> u16 {
        let number = self.number(slot);
        if number >= self.full_blocks() {
            return 0;
        }
        self.valid_of_full(number)
    }

    /// As above, for the block that comes at `number` among the full ones if planes are taken in turn.
    pub fn valid_of_full(&self, number: u32) -> u16 {
        (self.mapped_pages() - number * self.data_pages).min(self.data_pages) as u16
    }
}

/// Logical page -> physical page at the start: in order, blocks striped over planes.
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

    /// Block by block.
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

/// Physical page -> logical page at the start: the inverse.
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

    /// Block by block; blocks and the parts that are filled at once are powers of two.
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

/// The FTL's data of a block; the NAND knows its programmed pages and its wear.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    /// Rank of its allocation in the die, from 1; 0 for a free block.
    pub sequence: u32,
    /// Pages that hold the newest copy of their logical page.
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

    /// Plane by plane: of each the first are full.
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
            // The last of all may hold fewer.
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

    /// Shapes of dies of three planes, some with a last block that is not full.
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

    /// Fills pieces of a table as they are filled where it is touched.
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
