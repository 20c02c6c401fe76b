//! Data blocks: where a logical block lies when its pages are at their own offsets.

use destage_base::lazy::{Initial, LazyTable};

use super::{Blocks, NONE};
use crate::geometry::Geometry;
use crate::masks::{First, Masks};
use crate::nand::BlockSlot;
use crate::operation::{Cause, Operations};

/// Logical block -> physical block at the start: in order, planes taken in turn.
struct InitialMap {
    geometry: Geometry,
    filled: bool,
}

impl Initial for InitialMap {
    type Entry = u32;
    fn at(&self, index: usize) -> u32 {
        if !self.filled {
            return NONE;
        }
        let (row, plane) = (
            index as u32 / self.geometry.planes,
            index as u32 % self.geometry.planes,
        );
        plane * self.geometry.blocks_per_plane + row
    }
}

/// The data blocks of an element, and which of their pages are the newest of their contents.
pub(in crate::ftl) struct DataBlocks {
    map: LazyTable<InitialMap>,
    /// Per logical block: the pages whose newest copy is in the data block.
    pub newest: Masks<First>,
}

impl DataBlocks {
    /// `blocks` logical blocks, all with contents if `filled`.
    pub fn new(geometry: &Geometry, blocks: u32, filled: bool) -> Self {
        let initial = InitialMap {
            geometry: *geometry,
            filled,
        };
        let full = if filled { blocks } else { 0 };
        Self {
            map: LazyTable::new(blocks as usize, initial),
            newest: Masks::new(blocks, geometry.data_pages(), First(full)),
        }
    }

    /// How many logical blocks there are.
    pub fn len(&self) -> u32 {
        self.map.len() as u32
    }

    /// The data block of `logical`, if it has one.
    #[inline]
    pub fn get(&self, logical: u32) -> Option<BlockSlot> {
        let block = self.map.get(logical as usize);
        (block != NONE).then_some(block)
    }

    /// `logical` now lies in `block`; gives the data block it had.
    pub fn put(&mut self, logical: u32, block: BlockSlot) -> Option<BlockSlot> {
        let entry = self.map.get_mut(logical as usize);
        let before = core::mem::replace(entry, block);
        (before != NONE).then_some(before)
    }

    /// `logical` has no data block any more; gives the one it had.
    pub fn take(&mut self, logical: u32) -> Option<BlockSlot> {
        self.put(logical, NONE)
    }

    /// Moves the data of the least worn block, erased `limit` times at most, into the free block `worn`; of
    /// equals the first logical block. Only blocks that are `eligible` move; without one, `worn` stays free.
    pub fn level_wear(
        &mut self,
        blocks: &mut Blocks,
        worn: BlockSlot,
        limit: u32,
        eligible: impl Fn(u32) -> bool,
        operations: &mut Operations,
    ) {
        let coldest = (0..self.len())
            .filter(|block| eligible(*block))
            .filter_map(|block| Some((blocks.nand.block(self.get(block)?).erases, block)))
            .min()
            .filter(|(erases, _)| *erases <= limit);
        let Some((_, logical)) = coldest else {
            return blocks.release(worn);
        };
        if blocks.nand.block(worn).programmed > 0 {
            blocks.wipe(worn, 0, Cause::Wear, operations);
        }
        let Some(cold) = self.put(logical, worn) else {
            return;
        };
        let count = self.newest.count(logical);
        let offsets = || self.newest.ones(logical);
        let moves = offsets().map(|offset| (blocks.ppn(cold, offset), blocks.ppn(worn, offset)));
        let transfer = blocks.move_transfer([cold].into_iter(), worn);
        operations.push_moves(Cause::Wear, transfer, count, moves);
        blocks
            .nand
            .program_run(worn, self.newest.end(logical), offsets());
        blocks.erase(cold, 0, Cause::Wear, operations);
    }
}
