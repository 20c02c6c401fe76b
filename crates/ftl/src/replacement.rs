//! Replacement blocks: each logical block has a chain of blocks, and each page lies at its own offset in a block
//! of the chain.
//!
//! A page is written to the first block of the chain in which its offset is still free: the data block, or a
//! replacement block. So the newest copy of a page is in the last block of the chain that holds a copy of the
//! page. If no block of the chain has a free page at the offset, the chain gets another replacement block. If the
//! chain has its maximum length, it is folded into one block instead; if no replacement block is left, the longest
//! chain is folded. (Replacement blocks as summarised in BPLRU, FAST 2008; Ban's flash file system is the first of
//! this kind.)
//!
//! Simulation cost: for each page, one step per block of the chain; for each fold, a few machine words per block
//! of the chain.

use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use destage_base::archived;
use destage_base::lazy::{LazyTable, Same};
use destage_base::parameter::Kind;
use destage_base::parameters;

use super::blocks::data::{Copies, DataBlocks};
use super::blocks::parameters as shared;
use super::blocks::striped::{self, Die};
use super::blocks::{Blocks, LogicalPage, NONE};
use super::{FtlConfig, FtlRow, NoSpace, PageWrite};
use destage_nand::array::BlockSlot;
use destage_nand::masks::{First, Masks};
use destage_nand::operation::{Cause, MergeCause, MergeKind, Operations, Purpose, Role};

parameters! {
    /// The parameters of `replacement`.
    struct Parameters {
        /// Maximum number of blocks of a chain, the first included, before it is folded.
        chain_blocks: u32 = "4" in Kind::Integer { min: 2, max: u32::MAX as u64 }, "blocks", "ours";
        log_blocks: u32 as shared::LOG_BLOCKS;
        spare_blocks: u32 as shared::SPARE_BLOCKS;
        in_order: bool as shared::IN_ORDER { default: "false" };
        levelling: shared::Levelling;
    }
}

/// The registry row.
pub(super) const ROW: FtlRow = FtlRow {
    name: "replacement",
    about: "Block mapping with chains of replacement blocks, pages at their own offsets; chains are folded into one block.",
    source: "As summarised in BPLRU (FAST 2008).",
    has_merges: true,
    parameters: Parameters::ROWS,
    build: |config| {
        let parameters = Parameters::from_values(config.values);
        let (logs, spare) = (parameters.log_blocks, parameters.spare_blocks);
        striped::build(config, &parameters, Some(logs), spare, Replacement::new)
    },
    ..FtlRow::BLANK
};

/// A replacement block.
#[derive(Clone, Copy)]
struct Link {
    block: BlockSlot,
    /// The position of the next replacement block of the chain.
    next: u32,
    /// In the first replacement block: number of blocks of the chain, the data block included.
    length: u32,
    /// In the first replacement block: number of chains that were begun before this one.
    rank: u64,
}

archived!(Link {
    block,
    next,
    length,
    rank
});

/// One die.
#[derive(Clone)]
struct Replacement {
    blocks: Blocks,
    /// The first block of each chain.
    data: DataBlocks,
    /// Logical block -> the position of its first replacement block in `links`.
    first_of: LazyTable<Same<u32>>,
    links: Vec<Link>,
    /// By position in `links`: the pages whose newest copy is in that block.
    newest: Masks<First>,
    unused: Vec<u32>,
    /// Chains with replacement blocks, sorted by length (the longest first), rank and logical block. The first
    /// chain is folded if no replacement block is left.
    chains: BTreeSet<(Reverse<u32>, u64, u32)>,
    begun: u64,
    chain_blocks: u32,
}

archived!(Replacement {
    blocks,
    data,
    first_of,
    links,
    newest,
    unused,
    chains,
    begun,
    chain_blocks
});

impl Replacement {
    fn new(config: &FtlConfig<'_>, parameters: &Parameters, number: u32, logical: u32) -> Self {
        let geometry = config.geometry;
        let replacements = parameters.log_blocks;
        let levelling = parameters.levelling.rule();
        let unbound = Link {
            block: NONE,
            next: NONE,
            length: 0,
            rank: 0,
        };
        Self {
            blocks: Blocks::new(config, number, logical, levelling, parameters.in_order),
            data: DataBlocks::new(&geometry, logical, config.filled, Copies::Valid),
            first_of: LazyTable::new(logical as usize, Same(NONE)),
            links: vec![unbound; replacements as usize],
            newest: Masks::new(replacements, geometry.data_pages(), First(0)),
            unused: (0..replacements).rev().collect(),
            chains: BTreeSet::new(),
            begun: 0,
            chain_blocks: parameters.chain_blocks,
        }
    }

    /// The replacement blocks of `block`, as positions in `links`.
    fn replacements(&self, block: u32) -> impl Iterator<Item = u32> + '_ {
        let some = |link: u32| (link != NONE).then_some(link);
        core::iter::successors(some(self.first_of.get(block as usize)), move |link| {
            some(self.links[*link as usize].next)
        })
    }

    /// The block with the newest copy of `page`; `None` if the page has no contents.
    fn holder(&self, page: LogicalPage) -> Option<BlockSlot> {
        if self.data.newest().get(page.block, page.offset) {
            return self.data.get(page.block);
        }
        self.replacements(page.block)
            .find(|link| self.newest.get(*link, page.offset))
            .map(|link| self.links[link as usize].block)
    }

    /// Number of pages of `block` that have contents.
    fn live(&self, block: u32) -> u32 {
        let replaced = self.replacements(block).map(|link| self.newest.count(link));
        self.data.newest().count(block) + replaced.sum::<u32>()
    }

    /// Notes that no block of the chain has the newest copy of `page`.
    fn invalidate(&mut self, page: LogicalPage) {
        self.data.clear_newest(page.block, page.offset);
        let mut link = self.first_of.get(page.block as usize);
        while link != NONE {
            self.newest.clear(link, page.offset);
            link = self.links[link as usize].next;
        }
    }

    /// Programs `page` in the first replacement block in which its offset is free; returns false if there is no
    /// such block.
    fn write_to_chain(
        &mut self,
        page: LogicalPage,
        cause: Cause,
        operations: &mut Operations,
    ) -> bool {
        let can_take = |link: &u32| {
            let block = self.links[*link as usize].block;
            self.blocks.nand.is_programmable(block, page.offset)
        };
        let Some(link) = self.replacements(page.block).find(can_take) else {
            return false;
        };
        let block = self.links[link as usize].block;
        self.invalidate(page);
        self.newest.set(link, page.offset);
        let purpose = Purpose::owned(Role::Replacement, page.block);
        self.blocks
            .program(block, page.offset, purpose, cause, operations);
        true
    }

    /// Adds a replacement block to the chain of `block`. If the chain has its maximum length, or no replacement
    /// block is left, folds a chain instead.
    fn lengthen(&mut self, block: u32, operations: &mut Operations) -> Result<(), NoSpace> {
        let first = self.first_of.get(block as usize);
        if first != NONE && self.links[first as usize].length == self.chain_blocks {
            return self.fold(block, MergeCause::OwnLog, operations);
        }
        let Some(position) = self.unused.pop() else {
            let longest = self.chains.first().map_or(block, |(.., longest)| *longest);
            return self.fold(longest, MergeCause::Room, operations);
        };
        self.links[position as usize] = Link {
            block: self.blocks.allocate(block, operations)?,
            next: NONE,
            length: 1,
            rank: self.begun,
        };
        let last = self.replacements(block).last();
        match last {
            Some(last) => self.links[last as usize].next = position,
            None => {
                *self.first_of.get_mut(block as usize) = position;
                self.begun += 1;
            }
        }
        let head = &mut self.links[self.first_of.get(block as usize) as usize];
        self.chains
            .remove(&(Reverse(head.length), head.rank, block));
        head.length += 1;
        self.chains.insert((Reverse(head.length), head.rank, block));
        Ok(())
    }

    /// Folds the chain of `block`, which has replacement blocks, into one block.
    fn fold(
        &mut self,
        block: u32,
        cause: MergeCause,
        operations: &mut Operations,
    ) -> Result<(), NoSpace> {
        let live = self.live(block);
        let last = self.replacements(block).last();
        let taken_over = last
            .filter(|last| self.newest.count(*last) == live)
            .map(|last| self.links[last as usize].block);
        let (target, copies) = match taken_over {
            Some(last) => (last, 0),
            None => {
                let target = self.blocks.allocate(block, operations)?;
                self.copy(block, target, live, operations);
                (target, live)
            }
        };
        let mut link = self.first_of.get(block as usize);
        while link != NONE {
            self.data.set_newest_of(block, &self.newest, link);
            link = self.links[link as usize].next;
        }
        if taken_over.is_none() {
            let newest = self.data.newest();
            self.blocks.nand.program_row(target, newest, block);
        }
        let mut erases = 0;
        if let Some(old) = self.data.put(block, target) {
            self.blocks.erase(old, 0, Cause::Copy, operations);
            erases += 1;
        }
        self.unchain(block, |blocks, old| {
            if old != target {
                blocks.erase(old, 0, Cause::Copy, operations);
                erases += 1;
            }
        });
        let kind = match taken_over {
            Some(_) => MergeKind::Switch,
            None => MergeKind::Full,
        };
        self.blocks
            .emit_merge(block, kind, cause, copies, erases, operations);
        let no_chain = |block: u32| self.first_of.get(block as usize) == NONE;
        self.data.level_wear(&mut self.blocks, no_chain, operations);
        Ok(())
    }

    /// Emits copies to `target` of all pages of `block` that have contents; `live` is the number of these pages.
    fn copy(&self, block: u32, target: BlockSlot, live: u32, operations: &mut Operations) {
        let blocks = &self.blocks;
        let copies = (0..blocks.pages()).filter_map(|offset| {
            let from = self.holder(LogicalPage { block, offset })?;
            Some((blocks.ppn(from, offset), blocks.ppn(target, offset)))
        });
        let replaced = self.replacements(block);
        let replaced = replaced.map(|link| self.links[link as usize].block);
        let sources = self.data.get(block).into_iter().chain(replaced);
        let transfer = blocks.copy_transfer(sources, target);
        let purpose = Purpose::owned(Role::Data, block);
        operations.push_copies(Cause::Copy, transfer, live, purpose, copies);
    }

    /// Removes the replacement blocks of `block` from its chain; `emit` receives each removed block, in the order
    /// of the chain.
    fn unchain(&mut self, block: u32, mut emit: impl FnMut(&mut Blocks, BlockSlot)) {
        let first = core::mem::replace(self.first_of.get_mut(block as usize), NONE);
        if first != NONE {
            let head = self.links[first as usize];
            self.chains
                .remove(&(Reverse(head.length), head.rank, block));
        }
        let mut link = first;
        while link != NONE {
            let Link { block, next, .. } = self.links[link as usize];
            emit(&mut self.blocks, block);
            self.newest.clear_row(link);
            self.unused.push(link);
            link = next;
        }
    }
}

impl Die for Replacement {
    fn read(&self, page: LogicalPage, operations: &mut Operations) {
        if let Some(block) = self.holder(page) {
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
        loop {
            let blocks = &mut self.blocks;
            let data = self.data.get_or_new(page.block, blocks, operations)?;
            if self.blocks.nand.is_programmable(data, page.offset) {
                self.invalidate(page);
                let purpose = Purpose::owned(Role::Data, page.block);
                self.blocks
                    .program(data, page.offset, purpose, cause, operations);
                self.data.set_newest(page.block, page.offset);
                return Ok(());
            }
            if self.write_to_chain(page, cause, operations) {
                return Ok(());
            }
            self.lengthen(page.block, operations)?;
        }
    }

    fn trim(&mut self, page: LogicalPage, _: &mut Operations) {
        self.invalidate(page);
        if self.live(page.block) == 0
            && let Some(data) = self.data.take(page.block)
        {
            self.blocks.release(data);
            self.unchain(page.block, Blocks::release);
        }
    }

    fn trims_freely(&self, _: u32) -> bool {
        true
    }

    fn is_written(&self, page: LogicalPage) -> bool {
        self.holder(page).is_some()
    }

    fn may_hold(&self, block: u32) -> bool {
        self.data.get(block).is_some() || self.live(block) > 0
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
        4 * (u64::from(self.data.len()) + self.links.len() as u64)
    }
}
