//! Block mapping: each logical block is stored in one block of flash, with each page at its own offset.
//!
//! The map has only one entry for each logical block, but almost every overwrite is expensive: if the page at the
//! offset is already programmed, the layer rewrites the whole logical block in another block. With `batch`, a
//! rewrite stays open, and writes to ascending offsets of the same logical block join it. So a request that writes
//! a whole block in order copies no page. (Block mapping as summarised in BPLRU, FAST 2008.)
//!
//! Simulation cost: a few machine words of bit masks for each page write and each rewrite.

use destage_base::archived;
use destage_base::parameters;

use super::blocks::data::{Copies, DataBlocks};
use super::blocks::parameters as shared;
use super::blocks::striped::{self, Die};
use super::blocks::{Blocks, LogicalPage};
use super::{FtlConfig, FtlRow, NoSpace, PageWrite};
use destage_nand::array::BlockSlot;
use destage_nand::operation::{Cause, MergeCause, MergeKind, Operations, Purpose, Role};

parameters! {
    /// The parameters of `block`.
    struct Parameters {
        batch: bool as shared::BATCH;
        spare_blocks: u32 as shared::SPARE_BLOCKS;
        in_order: bool as shared::IN_ORDER;
        levelling: shared::Levelling;
    }
}

/// The registry row.
pub(super) const ROW: FtlRow = FtlRow {
    name: "block",
    about: "Block mapping: each page has its own offset in one block; a rewrite of a page moves the rest of its block.",
    source: "As summarised in BPLRU (FAST 2008).",
    has_merges: true,
    parameters: Parameters::ROWS,
    build: |config| {
        let parameters = Parameters::from_values(config.values);
        let spare = parameters.spare_blocks;
        striped::build(config, &parameters, None, spare, Block::new)
    },
    ..FtlRow::BLANK
};

/// An open rewrite: pages with higher offsets than its last page may still join it.
#[derive(Clone, Copy)]
struct Rewrite {
    /// The logical block. Its data block is already the new block.
    block: u32,
    /// The old block. The pages that still have to be copied from the old block have offset `next` or higher.
    from: BlockSlot,
    /// The offset after the last page written or copied to the new block.
    next: u32,
    /// Pages copied so far.
    copies: u32,
}

archived!(Rewrite { block, from, next, copies } vacant Self { block: 0, from: 0, next: 0, copies: 0 });

/// One die.
#[derive(Clone)]
struct Block {
    blocks: Blocks,
    data: DataBlocks,
    open: Option<Rewrite>,
    batch: bool,
}

archived!(Block { blocks, data, open } fixed { batch });

impl Block {
    fn new(config: &FtlConfig<'_>, parameters: &Parameters, number: u32, logical: u32) -> Self {
        let levelling = parameters.levelling.rule();
        Self {
            blocks: Blocks::new(config, number, logical, levelling, parameters.in_order),
            data: DataBlocks::new(&config.geometry, logical, config.filled, Copies::Valid),
            open: None,
            batch: parameters.batch,
        }
    }

    /// The physical block with the newest copy of `page`, if the page has contents.
    fn place_of(&self, page: LogicalPage) -> Option<BlockSlot> {
        if !self.data.newest().get(page.block, page.offset) {
            return None;
        }
        match self.open {
            Some(open) if open.block == page.block && page.offset >= open.next => Some(open.from),
            _ => self.data.get(page.block),
        }
    }

    /// Writes `page` to the new block of the open rewrite `open`; the offset of the page is `open.next` or
    /// higher.
    fn write_behind(
        &mut self,
        mut open: Rewrite,
        page: LogicalPage,
        cause: Cause,
        operations: &mut Operations,
    ) {
        self.copy(&mut open, page.offset, operations);
        if let Some(to) = self.data.get(page.block) {
            let purpose = Purpose::owned(Role::Data, page.block);
            self.blocks
                .program(to, page.offset, purpose, cause, operations);
        }
        self.data.set_newest(page.block, page.offset);
        open.next = page.offset + 1;
        self.open = Some(open);
        if !self.batch || self.data.newest().count_from(page.block, open.next) == 0 {
            self.finish(open, operations);
        }
    }

    /// Copies the needed pages with the offsets `open.next..end` from the old block to the new block.
    fn copy(&mut self, open: &mut Rewrite, end: u32, operations: &mut Operations) {
        let (block, next, from) = (open.block, open.next, open.from);
        let newest = self.data.newest();
        let count = newest.count_from(block, next) - newest.count_from(block, end);
        let Some(to) = self.data.get(block).filter(|_| count > 0) else {
            return;
        };
        let offsets = || {
            let from_next = newest.ones(block).skip_while(|offset| *offset < next);
            from_next.take_while(|offset| *offset < end)
        };
        let blocks = &mut self.blocks;
        let copies = offsets().map(|offset| (blocks.ppn(from, offset), blocks.ppn(to, offset)));
        let transfer = blocks.copy_transfer([from].into_iter(), to);
        let purpose = Purpose::owned(Role::Data, block);
        operations.push_copies(Cause::Copy, transfer, count, purpose, copies);
        let last = newest.end(block).min(end);
        blocks.nand.program_run(to, last, offsets());
        open.next = end;
        open.copies += count;
    }

    /// Copies the remaining needed pages of the old block to the new block, and erases the old block.
    fn finish(&mut self, mut open: Rewrite, operations: &mut Operations) {
        self.open = None;
        let pages = self.blocks.pages();
        self.copy(&mut open, pages, operations);
        self.blocks.erase(open.from, 0, Cause::Copy, operations);
        let Rewrite { block, copies, .. } = open;
        let kind = match copies {
            0 => MergeKind::Switch,
            _ => MergeKind::Full,
        };
        self.blocks
            .emit_merge(block, kind, MergeCause::OwnLog, copies, 1, operations);
        self.data.level_wear(&mut self.blocks, |_| true, operations);
    }
}

impl Die for Block {
    fn read(&self, page: LogicalPage, operations: &mut Operations) {
        if let Some(block) = self.place_of(page) {
            self.blocks.read(block, page.offset, operations);
        }
    }

    fn write(
        &mut self,
        page: LogicalPage,
        write: PageWrite,
        operations: &mut Operations,
    ) -> Result<(), NoSpace> {
        let cause = write.cause;
        if let Some(open) = self.open {
            if open.block == page.block && page.offset >= open.next {
                self.write_behind(open, page, cause, operations);
                return Ok(());
            }
            self.finish(open, operations);
        }
        let (block, blocks) = (page.block, &mut self.blocks);
        let data = self.data.get_or_new(block, blocks, operations)?;
        if !blocks.nand.is_programmable(data, page.offset) {
            let to = blocks.allocate(block, operations)?;
            self.data.put(block, to);
            let open = Rewrite {
                block,
                from: data,
                next: 0,
                copies: 0,
            };
            self.write_behind(open, page, cause, operations);
            return Ok(());
        }
        let purpose = Purpose::owned(Role::Data, block);
        blocks.program(data, page.offset, purpose, cause, operations);
        self.data.set_newest(page.block, page.offset);
        Ok(())
    }

    fn trim(&mut self, page: LogicalPage, operations: &mut Operations) {
        self.data.clear_newest(page.block, page.offset);
        if let Some(open) = self.open.filter(|open| open.block == page.block)
            && self.data.newest().count_from(page.block, open.next) == 0
        {
            self.finish(open, operations);
        }
        if self.data.newest().count(page.block) == 0
            && let Some(data) = self.data.take(page.block)
        {
            self.blocks.release(data);
        }
    }

    fn trims_freely(&self, block: u32) -> bool {
        self.open.is_none_or(|open| open.block != block)
    }

    fn is_written(&self, page: LogicalPage) -> bool {
        self.data.newest().get(page.block, page.offset)
    }

    fn may_hold(&self, block: u32) -> bool {
        self.data.get(block).is_some()
    }

    fn adopt(&mut self, logical: u32, block: BlockSlot, pages: &[(u32, u32)]) {
        self.data.adopt(logical, block, pages);
    }

    fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    fn blocks_mut(&mut self) -> &mut Blocks {
        &mut self.blocks
    }

    fn map_bytes(&self) -> u64 {
        4 * u64::from(self.data.len())
    }
}
