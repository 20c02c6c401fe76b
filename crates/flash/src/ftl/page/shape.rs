//! The counts of a die, and what its tables hold before the first request.

use destage_base::archived;
use destage_base::lazy::Initial;

use crate::geometry::Geometry;

/// No physical page, or no logical page.
pub(in crate::ftl) const NONE: u32 = u32::MAX;

/// The numbers of a die that every table's initial rule needs.
#[derive(Clone, Copy, Debug)]
pub(in crate::ftl) struct Shape {
    pub planes: u32,
    pub blocks_per_plane: u32,
    /// Blocks that hold the logical pages of a filled device, planes taken in turn.
    pub data_blocks: u32,
    /// Pages the layer keeps for itself; they are numbered behind the logical pages, and lie behind them.
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

    /// Pages that are mapped: the logical ones, and those the layer keeps for itself.
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

    /// The same of the block that comes at `number` if planes are taken in turn, of those that are full.
    pub fn valid_of_full(&self, number: u32) -> u16 {
        (self.mapped_pages() - number * self.data_pages).min(self.data_pages) as u16
    }
}

/// Logical page -> physical page at the start: in order, blocks striped over planes.
#[derive(Clone)]
pub(in crate::ftl) struct InitialMap(pub Shape);
impl Initial for InitialMap {
    type Entry = u32;
    fn at(&self, index: usize) -> u32 {
        if !self.0.filled {
            return NONE;
        }
        let page = match self.0.shared {
            None => index as u32,
            Some((dies, number)) if index as u32 % dies == number => index as u32 / dies,
            Some(_) => return NONE,
        };
        let (block, offset) = (page / self.0.data_pages, page % self.0.data_pages);
        self.0.slot(block) << self.0.page_bits | offset
    }

    /// Block by block.
    fn fill(&self, first: usize, entries: &mut [u32]) {
        let Shape { data_pages, .. } = self.0;
        let mut left = entries;
        let mut page = first as u32;
        if !self.0.filled || self.0.shared.is_some() {
            let of_pages = (first..).zip(left);
            return of_pages.for_each(|(page, entry)| *entry = self.at(page));
        }
        while !left.is_empty() {
            let (block, offset) = (page / data_pages, page % data_pages);
            let here = left.len().min((data_pages - offset) as usize);
            let (of_block, behind) = left.split_at_mut(here);
            let ppn = self.0.slot(block) << self.0.page_bits | offset;
            (ppn..).zip(of_block).for_each(|(ppn, entry)| *entry = ppn);
            (left, page) = (behind, page + here as u32);
        }
    }
}

/// Physical page -> logical page at the start: the inverse.
#[derive(Clone)]
pub(in crate::ftl) struct InitialOwner(pub Shape);
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
            Some((dies, number)) => page * dies + number,
        }
    }

    /// Block by block; blocks and what is filled at once are powers of two.
    fn fill(&self, first: usize, entries: &mut [u32]) {
        let shape = &self.0;
        let per_block = 1 << shape.page_bits;
        if shape.shared.is_some() || !first.is_multiple_of(per_block) {
            let of_pages = (first..).zip(entries);
            return of_pages.for_each(|(ppn, entry)| *entry = self.at(ppn));
        }
        let slots = (first >> shape.page_bits) as u32..;
        for (slot, of_block) in slots.zip(entries.chunks_mut(per_block)) {
            let number = shape.number(slot);
            let held = match shape.filled && number < shape.full_blocks() {
                true => shape.valid_of_full(number),
                false => 0,
            };
            let (holding, empty) = of_block.split_at_mut(of_block.len().min(held.into()));
            let pages = number.wrapping_mul(shape.data_pages)..;
            pages.zip(holding).for_each(|(page, entry)| *entry = page);
            empty.fill(NONE);
        }
    }
}

/// What the FTL knows of a block; what is programmed and how worn it is, the NAND knows.
#[derive(Clone, Copy, Debug)]
pub(in crate::ftl) struct Block {
    /// Rank of its allocation in the die, from 1; 0 for a free block.
    pub sequence: u32,
    /// Pages that hold the newest copy of their logical page.
    pub valid: u16,
}

archived!(Block { sequence, valid });

#[derive(Clone)]
pub(in crate::ftl) struct InitialBlock(pub Shape);
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
    fn fill(&self, first: usize, entries: &mut [Block]) {
        let shape = &self.0;
        let (mut left, mut slot) = (entries, first as u32);
        while !left.is_empty() {
            let (plane, index) = (slot / shape.blocks_per_plane, slot % shape.blocks_per_plane);
            let here = left.len().min((shape.blocks_per_plane - index) as usize);
            let (of_plane, behind) = left.split_at_mut(here);
            let full = shape.full_in(plane).saturating_sub(index) as usize;
            let (full, free) = of_plane.split_at_mut(here.min(full));
            let mut number = index * shape.planes + plane;
            for block in &mut *full {
                *block = Block {
                    sequence: number + 1,
                    valid: shape.data_pages as u16,
                };
                number += shape.planes;
            }
            // The last of all may hold fewer.
            if let Some(last) = full.last_mut() {
                last.valid = shape.valid_of_full(number - shape.planes);
            }
            free.fill(Block {
                sequence: 0,
                valid: 0,
            });
            (left, slot) = (behind, slot + here as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

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
    fn filled<I: Initial>(rule: &I, len: usize, blank: I::Entry) -> Vec<I::Entry> {
        let mut entries = vec![blank; len];
        let pieces = (0..).step_by(1024).zip(entries.chunks_mut(1024));
        pieces.for_each(|(first, piece)| rule.fill(first, piece));
        entries
    }

    #[test]
    fn many_entries_are_filled_as_each_of_them_is() {
        for shape in shapes() {
            let blocks = (shape.planes * shape.blocks_per_plane) as usize;
            let map = InitialMap(shape);
            let pages = filled(&map, shape.mapped_pages() as usize, 9);
            assert!(
                (0..).zip(&pages).all(|(page, at)| map.at(page) == *at),
                "{shape:?}"
            );
            let owner = InitialOwner(shape);
            let pages = filled(&owner, blocks << shape.page_bits, 9);
            assert!(
                (0..).zip(&pages).all(|(at, page)| owner.at(at) == *page),
                "{shape:?}"
            );
            let block = InitialBlock(shape);
            let blank = Block {
                sequence: 9,
                valid: 9,
            };
            let known = filled(&block, blocks, blank);
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
