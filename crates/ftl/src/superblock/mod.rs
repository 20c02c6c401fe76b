//! Several adjacent logical blocks form a superblock. They share flash blocks, and a page map gives the place of
//! each page in these blocks.
//!
//! A page is appended to the open block of its superblock, whatever its logical offset. Pages that have already
//! been written since the last collection are appended to a separate open block. When a superblock has its maximum
//! number of update blocks, garbage is collected among the blocks of that superblock. (Kang, Jo, Kim and Lee,
//! EMSOFT 2006.)
//!
//! Simulation cost: a few machine words for each page. A collection visits each block of the superblock, and each
//! page of the blocks from which it moves pages.

mod collect;
mod mount;
mod tables;

use alloc::vec::Vec;

use destage_base::archived;
use destage_base::lazy::{LazyTable, Same};
use destage_base::list::List;
use destage_base::parameter::Kind;
use destage_base::parameters;

use self::tables::{Initial, LiveAtStart, MapAtStart, OwnerAtStart};
use super::blocks::mount::{Copy, Recovery};
use super::blocks::parameters as shared;
use super::blocks::striped::{self, Die};
use super::blocks::{Blocks, LogicalPage, NONE};
use super::{FtlConfig, FtlRow, NoSpace, PageWrite};
use destage_nand::array::BlockSlot;
use destage_nand::divide::Divider;
use destage_nand::found::FoundBlock;
use destage_nand::masks::{First, Masks};
use destage_nand::operation::{MergeCause, Operations, Purpose, Role};

const SOURCE: &str = "Kang, Jo, Kim and Lee, EMSOFT 2006.";

parameters! {
    /// The parameters of `superblock`.
    struct Parameters {
        /// Adjacent logical blocks of a die that form a superblock.
        sb_blocks: u32 = "4" in Kind::Integer { min: 1, max: 1024 }, "blocks", SOURCE;
        /// Flash blocks that a superblock may have in addition to its logical blocks before it collects garbage.
        sb_update_blocks: u32 = "2" in Kind::Integer { min: 1, max: 1024 }, "blocks", SOURCE;
        /// Whether pages rewritten since the last collection go to another update block than other pages.
        sb_hotcold: bool = "true", "", SOURCE;
        /// Whether the page map is in RAM; if not, each look-up of a page with contents reads the spare area that
        /// holds the map.
        sb_map_cached: bool = "true", "", SOURCE;
        log_blocks: u32 as shared::LOG_BLOCKS;
        spare_blocks: u32 as shared::SPARE_BLOCKS;
        levelling: shared::Levelling;
    }
}

/// The registry row.
pub(super) const ROW: FtlRow = FtlRow {
    name: "superblock",
    about: "Adjacent logical blocks share data and update blocks, with a page map inside and garbage collection of their own.",
    source: SOURCE,
    fills_blocks_in_turn: true,
    has_merges: true,
    parameters: Parameters::ROWS,
    build: |config| {
        let parameters = Parameters::from_values(config.values);
        let (logs, spare) = (parameters.log_blocks, parameters.spare_blocks);
        striped::build(config, &parameters, Some(logs), spare, Superblocks::new)
    },
    ..FtlRow::BLANK
};

/// The class of a page, which selects the open block of the superblock to which the page is appended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Cold = 0,
    Hot = 1,
}

impl Class {
    fn other(self) -> Self {
        match self {
            Self::Cold => Self::Hot,
            Self::Hot => Self::Cold,
        }
    }
}

/// Values that are derived from the configuration.
#[derive(Clone, Copy)]
struct Rules {
    /// Maximum number of blocks of a superblock, update blocks included.
    width: u32,
    /// Maximum number of update blocks of the die.
    updates_max: u32,
    logical: u32,
    superblock_blocks: u32,
    update_blocks: u32,
    by_superblock: Divider,
    map_cached: bool,
}

/// One die.
#[derive(Clone)]
struct Superblocks {
    rules: Rules,
    blocks: Blocks,
    /// Logical page -> physical page.
    map: LazyTable<MapAtStart>,
    /// Physical page -> the logical page that was last programmed there.
    owner: LazyTable<OwnerAtStart>,
    /// Per physical block: the number of pages that are the newest copy of their logical page.
    live: LazyTable<LiveAtStart>,
    /// The blocks of each superblock, in the order in which they were added; `width` entries per superblock.
    held: LazyTable<Initial>,
    /// Per superblock: the open block of each class.
    open: LazyTable<Same<u32>>,
    /// Per superblock: the pages that were written since its last collection; `None` if pages are not divided into
    /// classes.
    written: Option<Masks<First>>,
    /// Superblocks with update blocks; the one that was written longest ago is in front.
    order: List<u32>,
    /// Number of update blocks of the die.
    updates: u32,
    /// Blocks of the superblock that is being folded.
    scratch: Vec<BlockSlot>,
}

archived!(Superblocks { blocks, map, owner, live, held, open, written, order, updates } fixed { rules, scratch });

impl Superblocks {
    fn new(config: &FtlConfig<'_>, parameters: &Parameters, number: u32, logical: u32) -> Self {
        let geometry = config.geometry;
        let superblock_blocks = parameters.sb_blocks;
        let update_blocks = parameters.sb_update_blocks;
        let superblocks = logical.div_ceil(superblock_blocks);
        let width = superblock_blocks + update_blocks;
        let full = if config.filled { logical } else { 0 };
        let pages = geometry.data_pages();
        let initial = Initial {
            geometry,
            full,
            superblock_blocks,
            width,
        };
        let physical = geometry.blocks_per_die() as usize;
        // Two classes need two open blocks, so pages are not divided into classes if there is only one update
        // block.
        let tells_apart = parameters.sb_hotcold && update_blocks > 1;
        let row = superblock_blocks * pages;
        Self {
            rules: Rules {
                width,
                updates_max: parameters.log_blocks,
                logical,
                superblock_blocks,
                update_blocks,
                by_superblock: Divider::new(superblock_blocks),
                map_cached: parameters.sb_map_cached,
            },
            blocks: Blocks::new(config, number, logical, parameters.levelling.rule(), true),
            map: LazyTable::new(logical as usize * pages as usize, MapAtStart(initial)),
            owner: LazyTable::new(physical << geometry.page_bits(), OwnerAtStart(initial)),
            live: LazyTable::new(physical, LiveAtStart(initial)),
            held: LazyTable::new(superblocks as usize * width as usize, initial),
            open: LazyTable::new(2 * superblocks as usize, Same(NONE)),
            written: tells_apart.then(|| Masks::new(superblocks, row, First(0))),
            order: List::new(superblocks),
            updates: 0,
            scratch: Vec::with_capacity(width as usize),
        }
    }

    fn index(&self, page: LogicalPage) -> u32 {
        page.block * self.blocks.pages() + page.offset
    }

    /// The physical page of logical page `index`; `None` if the logical page has no contents.
    fn place(&self, index: u32) -> Option<u32> {
        let place = self.map.get(index as usize);
        (place != NONE).then_some(place)
    }

    /// Number of logical blocks of `superblock`; the last superblock may have fewer than the others.
    fn logical_blocks_of(&self, superblock: u32) -> u32 {
        let first = superblock * self.rules.superblock_blocks;
        (self.rules.logical - first).min(self.rules.superblock_blocks)
    }

    /// The blocks of `superblock`.
    fn held(&self, superblock: u32) -> impl Iterator<Item = BlockSlot> + '_ {
        let first = superblock as usize * self.rules.width as usize;
        (first..first + self.rules.width as usize)
            .map(|place| self.held.get(place))
            .take_while(|block| *block != NONE)
    }

    /// The open block of `class`; `None` if there is none, or if it is full.
    fn open_block(&self, superblock: u32, class: Class) -> Option<BlockSlot> {
        let block = self.open.get(2 * superblock as usize + class as usize);
        (block != NONE && self.blocks.programmed(block) < self.blocks.pages()).then_some(block)
    }

    fn set_open(&mut self, superblock: u32, class: Class, block: BlockSlot) {
        *self.open.get_mut(2 * superblock as usize + class as usize) = block;
    }

    /// The class of a write to page `index` of `superblock`.
    fn class_of(&self, superblock: u32, index: u32) -> Class {
        let first = superblock * self.rules.superblock_blocks * self.blocks.pages();
        match &self.written {
            Some(written) if written.get(superblock, index - first) => Class::Hot,
            _ => Class::Cold,
        }
    }

    /// Returns a block with a free page for logical page `index`. The class of the page is determined again after
    /// each collection, because a collection forgets which pages were written before.
    fn block_with_room(
        &mut self,
        superblock: u32,
        index: u32,
        operations: &mut Operations,
    ) -> Result<BlockSlot, NoSpace> {
        loop {
            let class = self.class_of(superblock, index);
            if let Some(open) = self.open_block(superblock, class) {
                return Ok(open);
            }
            let held = self.held(superblock).count() as u32;
            let logical = self.logical_blocks_of(superblock);
            if held == logical + self.rules.update_blocks {
                self.collect(superblock, class.other(), operations)?;
                continue;
            }
            if held >= logical {
                if self.updates == self.rules.updates_max {
                    if let Some(open) = self.open_block(superblock, class.other()) {
                        return Ok(open);
                    }
                    let oldest = self.order.front().unwrap_or(superblock);
                    self.fold(oldest, MergeCause::Room, operations)?;
                    continue;
                }
                self.updates += 1;
                if !self.order.contains(superblock) {
                    self.order.push_back(superblock);
                }
            }
            let block = self.blocks.allocate(superblock, operations)?;
            let place = superblock as usize * self.rules.width as usize + held as usize;
            *self.held.get_mut(place) = block;
            self.set_open(superblock, class, block);
            return Ok(block);
        }
    }

    /// The use of the blocks of `superblock`.
    fn purpose(&self, superblock: u32) -> Purpose {
        Purpose::owned(Role::Update, superblock * self.rules.superblock_blocks)
    }

    /// Notes that the newest copy of logical page `index` is not needed any more; returns the block that holds
    /// that copy, or `None` if the page has no contents.
    fn invalidate(&mut self, index: u32) -> Option<BlockSlot> {
        let (block, _) = self.blocks.split(self.place(index)?);
        *self.live.get_mut(block as usize) -= 1;
        Some(block)
    }

    /// Notes that the newest copy of logical page `index` is now in `page` of `block`.
    fn settle(&mut self, index: u32, block: BlockSlot, page: u32) {
        let place = self.blocks.ppn(block, page).0;
        *self.map.get_mut(index as usize) = place;
        *self.owner.get_mut(place as usize) = index;
        *self.live.get_mut(block as usize) += 1;
    }

    /// If the page map is not in RAM: reads the map of `superblock` from the spare area of the page that was
    /// programmed last in its last block.
    fn look_up(&self, superblock: u32, operations: &mut Operations) {
        if self.rules.map_cached {
            return;
        }
        if let Some(last) = self.held(superblock).last() {
            let end = self.blocks.programmed(last).min(self.blocks.pages());
            let page = self.blocks.ppn(last, end - 1);
            operations.push_spare_read(page);
        }
    }
}

impl Die for Superblocks {
    fn read(&self, page: LogicalPage, operations: &mut Operations) {
        if let Some(place) = self.place(self.index(page)) {
            self.look_up(self.rules.by_superblock.split(page.block).0, operations);
            let (block, page) = self.blocks.split(place);
            self.blocks.read(block, page, operations);
        }
    }

    fn write(
        &mut self,
        page: LogicalPage,
        write: PageWrite,
        operations: &mut Operations,
    ) -> Result<(), NoSpace> {
        let cause = write.cause;
        let superblock = self.rules.by_superblock.split(page.block).0;
        let index = self.index(page);
        if self.place(index).is_some() {
            self.look_up(superblock, operations);
        }
        if self.order.contains(superblock) {
            self.order.move_to_back(superblock);
        }
        let block = self.block_with_room(superblock, index, operations)?;
        let slot = self.blocks.programmed(block);
        self.invalidate(index);
        let purpose = self.purpose(superblock);
        self.blocks.program(block, slot, purpose, cause, operations);
        self.settle(index, block, slot);
        if let Some(written) = &mut self.written {
            let first = superblock * self.rules.superblock_blocks * self.blocks.pages();
            written.set(superblock, index - first);
        }
        Ok(())
    }

    fn trim(&mut self, page: LogicalPage, _: &mut Operations) {
        let index = self.index(page);
        let Some(block) = self.invalidate(index) else {
            return;
        };
        *self.map.get_mut(index as usize) = NONE;
        if self.live.get(block as usize) == 0 {
            self.release_if_empty(self.rules.by_superblock.split(page.block).0);
        }
    }

    fn trims_freely(&self, _: u32) -> bool {
        true
    }

    fn is_written(&self, page: LogicalPage) -> bool {
        self.place(self.index(page)).is_some()
    }

    fn may_hold(&self, block: u32) -> bool {
        let superblock = self.rules.by_superblock.split(block).0;
        self.held
            .get(superblock as usize * self.rules.width as usize)
            != NONE
    }

    const TAKES_UNITS: bool = true;

    /// Needs no other work: each page is programmed after all programmed pages of its block, fillers included.
    fn follow_units(&mut self) {
        while self.blocks.take_completed().is_some() {}
    }

    /// Superblocks have no data blocks, so this is never called.
    fn adopt(&mut self, _: u32, _: BlockSlot, _: &[(u32, u32)]) {}

    fn mount(&mut self, found: &[FoundBlock], copies: &[Copy]) -> Recovery {
        self.take_over(found, copies)
    }

    fn mount_step(
        &mut self,
        recovery: &mut Recovery,
        operations: &mut Operations,
    ) -> Result<bool, NoSpace> {
        self.put_in_order(recovery, operations)
    }

    fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    fn blocks_mut(&mut self) -> &mut Blocks {
        &mut self.blocks
    }

    /// 4 bytes for each block that superblocks may hold. If the page map is in RAM, 2 more bytes for each logical
    /// page.
    fn map_bytes(&self) -> u64 {
        let cached = if self.rules.map_cached {
            self.map.len()
        } else {
            0
        };
        4 * u64::from(self.rules.logical + self.rules.updates_max) + 2 * cached as u64
    }
}
