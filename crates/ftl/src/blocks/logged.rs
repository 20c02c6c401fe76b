//! The data blocks and the [page log](super::page_log) of a die, and the merges of data blocks with log blocks.
//!
//! The layer decides to which log block a page is written and when a log block is reclaimed. This module then does
//! the write or the merge.

use destage_base::archived;

use super::data::DataBlocks;
use super::page_log::PageLog;
use super::parameters::{FirstWrite, Logs};
use super::{Blocks, LogicalPage};
use crate::{FtlConfig, NoSpace};
use destage_nand::operation::{Cause, MergeCause, MergeKind, Operations, Purpose, Role};

/// Number of logical blocks that are merged for each reclaimed log block, as a
/// [ratio](super::striped::Die::RATIOS) of two figures.
pub(crate) const ASSOCIATIVITY: [&str; 3] = ["associativity", "log_merged_blocks", "log_victims"];

/// The blocks of one die. See the [module](self).
#[derive(Clone)]
pub(crate) struct Logged {
    pub blocks: Blocks,
    pub data: DataBlocks,
    pub log: PageLog,
    /// Whether a sequential log block that is not full is completed with the missing pages. If not, all pages of
    /// the logical block are copied to a new block.
    partial: bool,
    /// Whether a page is written to its place in the data block if that place is still free.
    first_write_data: bool,
    reclaims: Reclaims,
}

archived!(Logged { blocks, data, log, reclaims } fixed { partial, first_write_data });

/// Counts of reclaimed shared log blocks.
#[derive(Clone, Default)]
struct Reclaims {
    victims: u64,
    /// Victims in which no page was needed any more.
    dead: u64,
    /// Logical blocks that were merged for all victims.
    merged: u64,
}

archived!(Reclaims {
    victims,
    dead,
    merged
});

impl Logged {
    /// The blocks of die `number`, with `logical` logical blocks and `logs` log blocks, under `rules`.
    pub fn new(config: &FtlConfig<'_>, rules: &Logs, number: u32, logical: u32, logs: u32) -> Self {
        let geometry = config.geometry;
        let levelling = rules.levelling.rule();
        Self {
            blocks: Blocks::new(config, number, logical, levelling, rules.in_order),
            data: DataBlocks::new(&geometry, logical, config.filled, rules.merge_copies),
            log: PageLog::new(logs, geometry.data_pages(), logical),
            partial: rules.partial,
            first_write_data: rules.first_write == FirstWrite::Data,
            reclaims: Reclaims::default(),
        }
    }

    /// Reads `page` for the host; emits no operation if the page has no contents.
    pub fn read(&self, page: LogicalPage, operations: &mut Operations) {
        if let Some((block, slot)) = self.log.find(page) {
            self.blocks.read(block, slot, operations);
        } else if let Some(data) = self.data.get(page.block)
            && self.data.newest().get(page.block, page.offset)
        {
            self.blocks.read(data, page.offset, operations);
        }
    }

    /// Whether `page` has contents.
    #[inline]
    pub fn is_written(&self, page: LogicalPage) -> bool {
        self.log.newest().get(page.block, page.offset)
            || self.data.newest().get(page.block, page.offset)
    }

    /// Programs `page` in its data block, if the parameter `first_write` is `data` and the place of the page is
    /// still free. Returns whether the page was programmed.
    ///
    /// # Errors
    /// [`NoSpace`] if the logical block has no data block yet and no block is free.
    #[inline]
    pub fn write_to_data(
        &mut self,
        page: LogicalPage,
        cause: Cause,
        operations: &mut Operations,
    ) -> Result<bool, NoSpace> {
        if !self.first_write_data || self.data.newest().get(page.block, page.offset) {
            return Ok(false);
        }
        let blocks = &mut self.blocks;
        let data = self.data.get_or_new(page.block, blocks, operations)?;
        if !self.blocks.nand.is_programmable(data, page.offset) {
            return Ok(false);
        }
        let purpose = Purpose::owned(Role::Data, page.block);
        self.blocks
            .program(data, page.offset, purpose, cause, operations);
        self.log.invalidate(page);
        self.data.set_newest(page.block, page.offset);
        Ok(true)
    }

    /// If fillers have completed units of a log block, moves the next slot of that log block behind the fillers.
    #[inline]
    pub fn follow_units(&mut self) {
        while let Some(block) = self.blocks.take_completed() {
            self.log.pass_over(block, self.blocks.programmed(block));
        }
    }

    /// Gives `log` a free block, if possible in the plane of logical block `near`.
    ///
    /// # Errors
    /// [`NoSpace`] if no block is free.
    pub fn open(
        &mut self,
        log: u32,
        near: u32,
        operations: &mut Operations,
    ) -> Result<(), NoSpace> {
        let block = self.blocks.allocate(near, operations)?;
        self.log.open(log, block);
        Ok(())
    }

    /// Programs `page` in the next slot of `log`, which must have a free slot. `purpose` is the use of the log
    /// block.
    #[inline]
    pub fn append(
        &mut self,
        log: u32,
        page: LogicalPage,
        purpose: Purpose,
        cause: Cause,
        operations: &mut Operations,
    ) {
        let (block, slot) = (self.log.block(log), self.log.programmed(log));
        self.blocks.program(block, slot, purpose, cause, operations);
        if !self.log.add(log, page) {
            self.data.clear_newest(page.block, page.offset);
        }
    }

    /// Marks that `page` is not needed any more. If `page` was the last page with contents of a block, the layer
    /// has to [release](Logged::release_empty) or [discard](Logged::discard) that block.
    pub fn trim(&mut self, page: LogicalPage) {
        self.log.invalidate(page);
        self.data.clear_newest(page.block, page.offset);
    }

    /// Whether a page of `block` may have contents.
    pub fn may_hold(&self, block: u32) -> bool {
        self.data.get(block).is_some() || self.log.newest().count(block) > 0
    }

    /// Makes the data block of `block` free if no page of `block` has contents.
    pub fn release_empty(&mut self, block: u32) {
        if self.data.newest().count(block) == 0
            && self.log.newest().count(block) == 0
            && let Some(data) = self.data.take(block)
        {
            self.blocks.release(data);
        }
    }

    /// Erases the block of `log`, in which no page is needed any more, and closes the log block.
    pub fn discard(&mut self, log: u32, operations: &mut Operations) {
        let live = self.log.live(log);
        let block = self.log.close(log);
        self.blocks.erase(block, live, Cause::Copy, operations);
    }

    /// The kind of the merge of `log` with the data block of the logical block to which its first page belongs.
    pub fn merge_kind(&self, log: u32) -> MergeKind {
        match self.is_sequential(log) {
            true if self.log.programmed(log) == self.blocks.pages() => MergeKind::Switch,
            true if self.partial => MergeKind::Partial,
            _ => MergeKind::Full,
        }
    }

    /// Whether `log` holds the pages of one logical block from offset 0 on, each once and in its place, and none
    /// of these pages has a newer copy elsewhere.
    fn is_sequential(&self, log: u32) -> bool {
        let Some(block) = self
            .log
            .first_block(log)
            .filter(|_| self.log.in_sequence(log))
        else {
            return false;
        };
        // `newest` does not count trimmed pages, since they have no newest copy. It does count a page that was
        // written again elsewhere, and is then greater than the number of live pages of the log block.
        let (log_pages, data_pages) = (self.log.newest(), self.data.newest());
        let end = self.log.programmed(log);
        let newest = log_pages.count(block) - log_pages.count_from(block, end)
            + data_pages.count(block)
            - data_pages.count_from(block, end);
        newest == self.log.live(log)
    }

    /// Merges `log`, which holds pages of one logical block only. [`Logged::merge_kind`] gives the kind of the
    /// merge. If no page in `log` is needed, the log block is only erased.
    ///
    /// # Errors
    /// [`NoSpace`] if a full merge finds no free block.
    pub fn merge_log(
        &mut self,
        log: u32,
        cause: MergeCause,
        operations: &mut Operations,
    ) -> Result<(), NoSpace> {
        let Some(block) = self.log.first_block(log).filter(|_| self.log.live(log) > 0) else {
            self.discard(log, operations);
            return Ok(());
        };
        let kind = self.merge_kind(log);
        let (copies, erases) = if kind == MergeKind::Full {
            let (copies, erases) = self.rewrite(block, None, operations)?;
            self.discard(log, operations);
            (copies, erases + 1)
        } else {
            self.take_over(log, block, operations)
        };
        self.blocks
            .emit_merge(block, kind, cause, copies, erases, operations);
        Ok(())
    }

    /// Merges every logical block that has newest copies in `victim`, in the order in which the pages were written
    /// to `victim`. Then erases `victim`. If `victim` holds the pages of one logical block in sequence, `victim`
    /// becomes the data block of that logical block instead. `bound` returns the log block that is bound to a
    /// logical block, if there is one. The merge of the logical block includes the pages of that log block, and
    /// erases it. A victim in which no page is needed is only erased.
    ///
    /// # Errors
    /// [`NoSpace`] if no block is free for the merged pages.
    pub fn reclaim(
        &mut self,
        victim: u32,
        cause: MergeCause,
        mut bound: impl FnMut(u32) -> Option<u32>,
        operations: &mut Operations,
    ) -> Result<(), NoSpace> {
        self.reclaims.victims += 1;
        if self.log.live(victim) == 0 {
            self.reclaims.dead += 1;
            self.discard(victim, operations);
            return Ok(());
        }
        let kind = self.merge_kind(victim);
        if let Some(block) = self
            .log
            .first_block(victim)
            .filter(|_| kind != MergeKind::Full)
        {
            let (copies, mut erases) = self.take_over(victim, block, operations);
            if let Some(log) = bound(block) {
                self.discard(log, operations);
                erases += 1;
            }
            self.blocks
                .emit_merge(block, kind, cause, copies, erases, operations);
            self.reclaims.merged += 1;
            return Ok(());
        }
        for slot in 0..self.log.programmed(victim) {
            let Some(page) = self.log.newest_in(victim, slot) else {
                continue;
            };
            let (copies, mut erases) = self.rewrite(page.block, None, operations)?;
            if let Some(log) = bound(page.block) {
                self.discard(log, operations);
                erases += 1;
            }
            let is_last = self.log.live(victim) == 0;
            if is_last {
                self.discard(victim, operations);
                erases += 1;
            }
            self.blocks
                .emit_merge(page.block, kind, cause, copies, erases, operations);
            self.reclaims.merged += 1;
        }
        Ok(())
    }

    /// Copies the missing pages of `block` behind the pages of the sequential `log`, and makes `log` the data
    /// block of `block`. Returns the number of copied pages and the number of erased blocks.
    fn take_over(&mut self, log: u32, block: u32, operations: &mut Operations) -> (u32, u32) {
        let (target, first) = (self.log.block(log), self.log.programmed(log));
        self.adopt(block);
        let count = self.data.copied().count_from(block, first);
        let (next, mark) = (self.blocks.programmed(target), operations.mark());
        self.push_copies(block, target, first..self.blocks.pages(), count, operations);
        if count > 0 {
            let end = self.data.copied().end(block);
            let behind = self.data.copied().ones(block).filter(|page| *page >= first);
            self.blocks.nand.program_run(target, end, behind);
        }
        let purpose = Purpose::owned(Role::Data, block);
        self.blocks.copied(target, next, purpose, mark, operations);
        self.log.forget(block);
        self.log.close(log);
        let erases = match self.data.put(block, target) {
            Some(old) => {
                self.blocks.erase(old, 0, Cause::Copy, operations);
                1
            }
            None => 0,
        };
        (count, erases)
    }

    /// Writes all pages of `block` to a new data block and erases the old data block. Returns the number of copied
    /// pages and the number of erased blocks. Log blocks with copies of these pages remain; the layer has to
    /// [discard](Logged::discard) them. `incoming` is the offset and the cause of a page that the host writes.
    /// This page is not copied, but programmed between the copies of the pages with lower and with higher offsets.
    ///
    /// # Errors
    /// [`NoSpace`] if no block is free.
    pub fn rewrite(
        &mut self,
        block: u32,
        incoming: Option<(u32, Cause)>,
        operations: &mut Operations,
    ) -> Result<(u32, u32), NoSpace> {
        let target = self.blocks.allocate(block, operations)?;
        self.adopt(block);
        let (pages, mark) = (self.blocks.pages(), operations.mark());
        let copies = match incoming {
            None => {
                let count = self.data.copied().count(block);
                self.push_copies(block, target, 0..pages, count, operations);
                count
            }
            Some((offset, cause)) => {
                self.data.set_newest(block, offset);
                let behind = self.data.copied().count_from(block, offset + 1);
                let before = self.data.copied().count(block) - behind - 1;
                self.push_copies(block, target, 0..offset, before, operations);
                let purpose = Purpose::owned(Role::Data, block);
                self.blocks
                    .push_program(target, offset, purpose, cause, operations);
                self.push_copies(block, target, offset + 1..pages, behind, operations);
                before + behind
            }
        };
        let copied = self.data.copied();
        self.blocks.nand.program_row(target, copied, block);
        let purpose = Purpose::owned(Role::Data, block);
        self.blocks.copied(target, 0, purpose, mark, operations);
        self.log.forget(block);
        let erases = match self.data.put(block, target) {
            Some(old) => {
                self.blocks.erase(old, 0, Cause::Copy, operations);
                1
            }
            None => 0,
        };
        Ok((copies, erases))
    }

    /// Before a merge copies the pages of `block`, marks the newest copy of every page as being in the data block.
    /// The log still knows the sources until it [forgets](PageLog::forget) the block.
    fn adopt(&mut self, block: u32) {
        for offset in self.log.newest().ones(block) {
            self.data.set_newest(block, offset);
        }
    }

    /// Emits copies of pages of `block` to `target`. The copied pages are those that a merge copies and whose offset is
    /// in `offsets`. `count` is their number.
    fn push_copies(
        &self,
        block: u32,
        target: u32,
        offsets: core::ops::Range<u32>,
        count: u32,
        operations: &mut Operations,
    ) {
        let blocks = &self.blocks;
        let sources = || {
            let data = self.data.get(block);
            offsets
                .clone()
                .filter(|offset| self.data.copied().get(block, *offset))
                .filter_map(move |offset| {
                    let page = LogicalPage { block, offset };
                    let (source, at) = self.log.find(page).or(data.map(|data| (data, offset)))?;
                    Some((source, at, offset))
                })
        };
        let transfer = blocks.copy_transfer(sources().map(|(source, ..)| source), target);
        let copies = sources()
            .map(|(source, at, offset)| (blocks.ppn(source, at), blocks.ppn(target, offset)));
        let purpose = Purpose::owned(Role::Data, block);
        operations.push_copies(Cause::Copy, transfer, count, purpose, copies);
    }

    /// Moves cold data into a worn block, if wear levelling is due. A logical block with pages in the log does not
    /// count as cold.
    pub fn level_wear(&mut self, operations: &mut Operations) {
        let no_log = |block: u32| self.log.newest().count(block) == 0;
        self.data.level_wear(&mut self.blocks, no_log, operations);
    }

    /// Emits the counts of reclaimed log blocks; [`ASSOCIATIVITY`] is computed from two of them.
    pub fn report(&self, emit: &mut dyn FnMut(&'static str, f64)) {
        emit("log_victims", self.reclaims.victims as f64);
        emit("log_dead_victims", self.reclaims.dead as f64);
        emit("log_merged_blocks", self.reclaims.merged as f64);
    }

    /// Resets the counts of reclaimed log blocks.
    pub fn reset_figures(&mut self) {
        self.reclaims = Reclaims::default();
    }

    /// Bytes of maps that have an entry of 4 bytes for each logical block and for each page of `logs` log blocks.
    pub fn map_bytes(&self, logs: u32) -> u64 {
        4 * (u64::from(self.data.len()) + u64::from(logs) * u64::from(self.blocks.pages()))
    }
}

/// Implements the parts of [`Die`](super::striped::Die) that are the same for all dies with a [`Logged`], which is the
/// field `store`.
macro_rules! left_to_store {
    () => {
        const RATIOS: &'static [[&'static str; 3]] = &[$crate::blocks::logged::ASSOCIATIVITY];

        fn read(&self, page: LogicalPage, operations: &mut Operations) {
            self.store.read(page, operations);
        }

        fn is_written(&self, page: LogicalPage) -> bool {
            self.store.is_written(page)
        }

        fn may_hold(&self, block: u32) -> bool {
            self.store.may_hold(block)
        }

        fn adopt(&mut self, logical: u32, block: u32, pages: &[(u32, u32)]) {
            self.store.data.adopt(logical, block, pages);
        }

        fn blocks(&self) -> &$crate::blocks::Blocks {
            &self.store.blocks
        }

        fn blocks_mut(&mut self) -> &mut $crate::blocks::Blocks {
            &mut self.store.blocks
        }
    };
}

pub(crate) use left_to_store;
