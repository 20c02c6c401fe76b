//! Data blocks. The data block of a logical block holds its pages, each at its own offset.

use destage_base::archived;
use destage_base::choices;
use destage_base::lazy::{Initial, LazyTable};

use super::{Blocks, NONE};
use crate::NoSpace;
use destage_nand::array::BlockSlot;
use destage_nand::geometry::Geometry;
use destage_nand::masks::{First, Masks};
use destage_nand::operation::{Cause, Operations, Purpose, Role};

choices! {
    /// Which pages of a data block a merge copies.
    pub(crate) enum Copies {
        /// Only pages whose newest copy is in the block.
        Valid = "valid",
        /// All pages that were programmed, trimmed pages included.
        All = "all",
    }
}

/// The block in which logical block `logical` of a filled device lies at the start: logical blocks are placed in
/// ascending order, one on each plane in turn.
pub(crate) fn initial_block(geometry: &Geometry, logical: u32) -> BlockSlot {
    let (row, plane) = (logical / geometry.planes, logical % geometry.planes);
    plane * geometry.blocks_per_plane + row
}

/// The number of the logical block that lies in `block` at the start of a filled device. The result may exceed the
/// number of logical blocks; the caller has to check this.
pub(crate) fn initial_logical(geometry: &Geometry, block: BlockSlot) -> u32 {
    let (plane, row) = (
        block / geometry.blocks_per_plane,
        block % geometry.blocks_per_plane,
    );
    row * geometry.planes + plane
}

/// The initial map from logical blocks to physical blocks.
#[derive(Clone)]
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
        initial_block(&self.geometry, index as u32)
    }
}

/// The data blocks of a die, and which pages of each logical block have their newest copy there.
#[derive(Clone)]
pub(crate) struct DataBlocks {
    map: LazyTable<InitialMap>,
    /// Per logical block: the pages whose newest copy is in the data block.
    newest: Masks<First>,
    /// Per logical block: the pages programmed in its data block. `None` unless merges copy all programmed pages.
    programmed: Option<Masks<First>>,
}

archived!(DataBlocks {
    map,
    newest,
    programmed
});

impl DataBlocks {
    /// The data blocks of a die of `blocks` logical blocks, all with contents if `filled`.
    pub fn new(geometry: &Geometry, blocks: u32, filled: bool, copies: Copies) -> Self {
        let initial = InitialMap {
            geometry: *geometry,
            filled,
        };
        let full = if filled { blocks } else { 0 };
        let masks = || Masks::new(blocks, geometry.data_pages(), First(full));
        Self {
            map: LazyTable::new(blocks as usize, initial),
            newest: masks(),
            programmed: (copies == Copies::All).then(masks),
        }
    }

    /// Number of logical blocks.
    pub fn len(&self) -> u32 {
        self.map.len() as u32
    }

    /// The data block of `logical`; `None` if it has no data block.
    #[inline]
    pub fn get(&self, logical: u32) -> Option<BlockSlot> {
        let block = self.map.get(logical as usize);
        (block != NONE).then_some(block)
    }

    /// The data block of `logical`. If there is none, one of `blocks` becomes the data block.
    ///
    /// # Errors
    /// [`NoSpace`] if no block is free.
    #[inline]
    pub fn get_or_new(
        &mut self,
        logical: u32,
        blocks: &mut Blocks,
        operations: &mut Operations,
    ) -> Result<BlockSlot, NoSpace> {
        if let Some(block) = self.get(logical) {
            return Ok(block);
        }
        let block = blocks.allocate(logical, operations)?;
        self.put(logical, block);
        Ok(block)
    }

    /// Makes `block` the data block of `logical`; returns the data block that it replaces.
    pub fn put(&mut self, logical: u32, block: BlockSlot) -> Option<BlockSlot> {
        let entry = self.map.get_mut(logical as usize);
        let before = core::mem::replace(entry, block);
        (before != NONE).then_some(before)
    }

    /// Makes `block` the data block of `logical`, with the newest copies of `pages`. Each page is given by its offset
    /// and its slot, which are equal.
    pub fn adopt(&mut self, logical: u32, block: BlockSlot, pages: &[(u32, u32)]) {
        self.put(logical, block);
        for (offset, _) in pages {
            self.set_newest(logical, *offset);
        }
    }

    /// Removes the data block of `logical` and returns it.
    pub fn take(&mut self, logical: u32) -> Option<BlockSlot> {
        if let Some(programmed) = &mut self.programmed {
            programmed.clear_row(logical);
        }
        self.get(logical)?;
        self.put(logical, NONE)
    }

    /// Per logical block: the pages whose newest copy is in the data block.
    #[inline]
    pub fn newest(&self) -> &Masks<First> {
        &self.newest
    }

    /// Per logical block: the pages of the data block that a merge copies.
    #[inline]
    pub fn copied(&self) -> &Masks<First> {
        self.programmed.as_ref().unwrap_or(&self.newest)
    }

    /// Marks that the newest copy of page `offset` of `logical` is in its data block, or will be there when the
    /// running merge is done.
    #[inline]
    pub fn set_newest(&mut self, logical: u32, offset: u32) {
        self.newest.set(logical, offset);
        if let Some(programmed) = &mut self.programmed {
            programmed.set(logical, offset);
        }
    }

    /// Marks that the newest copies of the pages set in `row` of `pages` are in the data block of `logical` too.
    pub fn set_newest_of(&mut self, logical: u32, pages: &Masks<First>, row: u32) {
        self.newest.set_all_of(logical, pages, row);
        if let Some(programmed) = &mut self.programmed {
            programmed.set_all_of(logical, pages, row);
        }
    }

    /// Marks that the newest copies of the pages `first..end` are in the data block of `logical` too.
    pub fn set_newest_range(&mut self, logical: u32, first: u32, end: u32) {
        self.newest.set_range(logical, first, end);
        if let Some(programmed) = &mut self.programmed {
            programmed.set_range(logical, first, end);
        }
    }

    /// Marks that no newest copy is in the data block of `logical`.
    pub fn clear_all_newest(&mut self, logical: u32) {
        self.newest.clear_row(logical);
    }

    /// Marks that the newest copy of page `offset` of `logical` is no longer in its data block.
    #[inline]
    pub fn clear_newest(&mut self, logical: u32, offset: u32) {
        self.newest.clear(logical, offset);
    }

    /// If a check of static wear levelling is due, compares the least worn data block with the most worn free
    /// block. If their erase counts differ by more than the gap, the data of the data block move into the free
    /// block. Among equally worn data blocks, that of the lowest logical block moves. Only logical blocks for
    /// which `eligible` returns true may move.
    pub fn level_wear(
        &mut self,
        blocks: &mut Blocks,
        eligible: impl Fn(u32) -> bool,
        operations: &mut Operations,
    ) {
        let Some((worn, limit)) = blocks.levelling_due() else {
            return;
        };
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
        let count = self.copied().count(logical);
        let offsets = self.copied().ones(logical);
        let copies = offsets.map(|offset| (blocks.ppn(cold, offset), blocks.ppn(worn, offset)));
        let transfer = blocks.copy_transfer([cold].into_iter(), worn);
        let purpose = Purpose::owned(Role::Data, logical);
        let mark = operations.mark();
        operations.push_copies(Cause::Wear, transfer, count, purpose, copies);
        blocks.nand.program_row(worn, self.copied(), logical);
        blocks.copied(worn, 0, purpose, mark, operations);
        blocks.erase(cold, 0, Cause::Wear, operations);
    }
}
