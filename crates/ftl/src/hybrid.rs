//! Hybrid mapping: each logical block is stored in one block of flash, with its pages in any order.
//!
//! A written page goes to the next free page of its block, called a slot, and a table gives the slot of each page.
//! So the pages of a block can be written in any order without a copy. If no slot is free, the pages that are
//! still needed move to a new block. So an overwrite in a full block costs as much as with plain block mapping,
//! and hybrid mapping is only cheaper while a block is partly filled. (Hybrid mapping as summarised in BPLRU, FAST
//! 2008.)
//!
//! Simulation cost: a few machine words for each page write; one step for each page of the block for a rewrite.

use alloc::vec;
use alloc::vec::Vec;

use destage_base::archived;
use destage_base::parameters;

use destage_base::lazy::{Initial, LazyTable};

use super::blocks::data::{Copies, DataBlocks};
use super::blocks::parameters as shared;
use super::blocks::striped::{self, Die};
use super::blocks::{Blocks, LogicalPage};
use super::{FtlConfig, FtlRow, NoSpace, PageWrite};
use destage_nand::array::BlockSlot;
use destage_nand::operation::{Cause, MergeCause, MergeKind, Operations, Purpose, Role};

parameters! {
    /// The parameters of `hybrid`.
    struct Parameters {
        batch: bool as shared::BATCH;
        spare_blocks: u32 as shared::SPARE_BLOCKS;
        levelling: shared::Levelling;
    }
}

/// The registry row.
pub(super) const ROW: FtlRow = FtlRow {
    name: "hybrid",
    about: "Block mapping with pages in any slot of their block: they are written in order of arrival, and compacted when the block is full.",
    source: "As summarised in BPLRU (FAST 2008).",
    has_merges: true,
    parameters: Parameters::ROWS,
    build: |config| {
        let parameters = Parameters::from_values(config.values);
        let spare = parameters.spare_blocks;
        striped::build(config, &parameters, None, spare, Hybrid::new)
    },
    ..FtlRow::BLANK
};

/// The slot of a page without contents.
const NO_SLOT: u16 = u16::MAX;

/// The initial map from logical pages to slots of their block: each page at its own offset.
#[derive(Clone)]
struct InitialSlots {
    pages: u32,
    filled: bool,
}

impl Initial for InitialSlots {
    type Entry = u16;
    fn at(&self, index: usize) -> u16 {
        if self.filled {
            (index % self.pages as usize) as u16
        } else {
            NO_SLOT
        }
    }
}

/// An open rewrite: pages with higher offsets than its last page may still join it.
#[derive(Clone, Copy)]
struct Rewrite {
    /// The logical block. Its data block is already the new block.
    block: u32,
    /// The old block.
    from: BlockSlot,
    /// Number of pages that still have to be copied from the old block.
    left: u32,
    /// The offset after that of the last page that the host wrote.
    next: u32,
}

archived!(Rewrite { block, from, left, next } vacant Self { block: 0, from: 0, left: 0, next: 0 });

/// One die.
#[derive(Clone)]
struct Hybrid {
    blocks: Blocks,
    /// In this layer the masks of data blocks are indexed by slot, not by offset.
    data: DataBlocks,
    slots: LazyTable<InitialSlots>,
    open: Option<Rewrite>,
    /// For each offset, whether the page was written to the new block of the open rewrite.
    moved: Vec<bool>,
    batch: bool,
}

archived!(Hybrid { blocks, data, slots, open, moved } fixed { batch });

impl Hybrid {
    fn new(config: &FtlConfig<'_>, parameters: &Parameters, number: u32, logical: u32) -> Self {
        let pages = config.geometry.data_pages();
        let slots = InitialSlots {
            pages,
            filled: config.filled,
        };
        Self {
            blocks: Blocks::new(config, number, logical, parameters.levelling.rule(), true),
            data: DataBlocks::new(&config.geometry, logical, config.filled, Copies::Valid),
            slots: LazyTable::new(logical as usize * pages as usize, slots),
            open: None,
            moved: vec![false; pages as usize],
            batch: parameters.batch,
        }
    }

    fn index(&self, page: LogicalPage) -> usize {
        page.block as usize * self.blocks.pages() as usize + page.offset as usize
    }

    fn slot_of(&self, page: LogicalPage) -> Option<u32> {
        let slot = self.slots.get(self.index(page));
        (slot != NO_SLOT).then_some(u32::from(slot))
    }

    /// The open rewrite, if it rewrites the block of `page` and `page` has not been written to the new block yet.
    fn still_in_old_block(&self, page: LogicalPage) -> Option<Rewrite> {
        self.open
            .filter(|open| open.block == page.block && !self.moved[page.offset as usize])
    }

    /// Notes that the newest copy of `page` is not needed any more. Returns whether the open rewrite therefore has
    /// one page less to copy.
    fn invalidate(&mut self, page: LogicalPage) -> bool {
        let Some(slot) = self.slot_of(page) else {
            return false;
        };
        match self.still_in_old_block(page) {
            Some(open) => {
                self.open = Some(Rewrite {
                    left: open.left - 1,
                    ..open
                });
                true
            }
            None => {
                self.data.clear_newest(page.block, slot);
                false
            }
        }
    }

    /// Programs `page` in the next free slot of `block`.
    fn append(
        &mut self,
        block: BlockSlot,
        page: LogicalPage,
        cause: Cause,
        operations: &mut Operations,
    ) {
        let slot = self.blocks.programmed(block);
        self.invalidate(page);
        let purpose = Purpose::owned(Role::Data, page.block);
        self.blocks.program(block, slot, purpose, cause, operations);
        self.data.set_newest(page.block, slot);
        let index = self.index(page);
        *self.slots.get_mut(index) = slot as u16;
    }

    /// Appends `page` to `to`, the new block of the open rewrite, and ends the rewrite if no page is left to
    /// copy.
    fn append_to_rewrite(
        &mut self,
        to: BlockSlot,
        page: LogicalPage,
        cause: Cause,
        operations: &mut Operations,
    ) {
        self.append(to, page, cause, operations);
        self.moved[page.offset as usize] = true;
        if let Some(open) = &mut self.open {
            open.next = page.offset + 1;
            if !self.batch || open.left == 0 {
                self.finish(operations);
            }
        }
    }

    /// Ends the open rewrite: copies the remaining pages of the old block to the slots after the written pages,
    /// and erases the old block.
    fn finish(&mut self, operations: &mut Operations) {
        let Some(open) = self.open.take() else {
            return;
        };
        let (block, from) = (open.block, open.from);
        if let Some(to) = self.data.get(block).filter(|_| open.left > 0) {
            let first = self.blocks.programmed(to);
            let end = first + open.left;
            let page = |offset| LogicalPage { block, offset };
            let old_slots = (0..self.blocks.pages())
                .filter(|offset| !self.moved[*offset as usize])
                .filter_map(|offset| self.slot_of(page(offset)));
            let copies = old_slots
                .zip(first..)
                .map(|(old, new)| (self.blocks.ppn(from, old), self.blocks.ppn(to, new)));
            let transfer = self.blocks.copy_transfer([from].into_iter(), to);
            let purpose = Purpose::owned(Role::Data, block);
            operations.push_copies(Cause::Copy, transfer, open.left, purpose, copies);
            self.blocks.nand.program_run(to, end, first..end);
            self.data.set_newest_range(block, first, end);
            let mut new = first as u16;
            let index = self.index(page(0));
            for (offset, moved) in self.moved.iter().enumerate() {
                let slot = self.slots.get_mut(index + offset);
                if !moved && *slot != NO_SLOT {
                    *slot = new;
                    new += 1;
                }
            }
        }
        self.moved.fill(false);
        self.blocks.erase(from, 0, Cause::Copy, operations);
        let kind = match open.left {
            0 => MergeKind::Switch,
            _ => MergeKind::Full,
        };
        self.blocks
            .emit_merge(block, kind, MergeCause::OwnLog, open.left, 1, operations);
        self.data.level_wear(&mut self.blocks, |_| true, operations);
    }
}

impl Die for Hybrid {
    fn read(&self, page: LogicalPage, operations: &mut Operations) {
        let place = match self.still_in_old_block(page) {
            Some(open) => Some(open.from),
            None => self.data.get(page.block),
        };
        if let (Some(block), Some(slot)) = (place, self.slot_of(page)) {
            self.blocks.read(block, slot, operations);
        }
    }

    fn write(
        &mut self,
        page: LogicalPage,
        write: PageWrite,
        operations: &mut Operations,
    ) -> Result<(), NoSpace> {
        let cause = write.cause;
        let data = self.data.get(page.block);
        if let Some(open) = self.open {
            if open.block == page.block
                && page.offset >= open.next
                && let Some(to) = data
            {
                self.append_to_rewrite(to, page, cause, operations);
                return Ok(());
            }
            self.finish(operations);
        }
        let blocks = &mut self.blocks;
        let data = self.data.get_or_new(page.block, blocks, operations)?;
        if self.blocks.programmed(data) < self.blocks.pages() {
            self.append(data, page, cause, operations);
            return Ok(());
        }
        let to = self.blocks.allocate(page.block, operations)?;
        self.open = Some(Rewrite {
            block: page.block,
            from: data,
            left: self.data.newest().count(page.block),
            next: 0,
        });
        self.data.put(page.block, to);
        self.data.clear_all_newest(page.block);
        self.append_to_rewrite(to, page, cause, operations);
        Ok(())
    }

    fn trim(&mut self, page: LogicalPage, operations: &mut Operations) {
        if self.slot_of(page).is_none() {
            return;
        }
        let less_to_copy = self.invalidate(page);
        let index = self.index(page);
        *self.slots.get_mut(index) = NO_SLOT;
        if less_to_copy && self.open.is_some_and(|open| open.left == 0) {
            self.finish(operations);
        }
        let is_open = self.open.is_some_and(|open| open.block == page.block);
        if !is_open
            && self.data.newest().count(page.block) == 0
            && let Some(data) = self.data.take(page.block)
        {
            self.blocks.release(data);
        }
    }

    fn trims_freely(&self, block: u32) -> bool {
        self.open.is_none_or(|open| open.block != block)
    }

    fn is_written(&self, page: LogicalPage) -> bool {
        self.slot_of(page).is_some()
    }

    fn may_hold(&self, block: u32) -> bool {
        self.data.get(block).is_some()
    }

    const KEEPS_OFFSETS: bool = false;

    fn adopt(&mut self, logical: u32, block: BlockSlot, pages: &[(u32, u32)]) {
        self.data.put(logical, block);
        for (offset, slot) in pages {
            self.data.set_newest(logical, *slot);
            let index = self.index(LogicalPage {
                block: logical,
                offset: *offset,
            });
            *self.slots.get_mut(index) = *slot as u16;
        }
    }

    fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    fn blocks_mut(&mut self) -> &mut Blocks {
        &mut self.blocks
    }

    fn map_bytes(&self) -> u64 {
        4 * u64::from(self.data.len()) + 2 * self.slots.len() as u64
    }
}
