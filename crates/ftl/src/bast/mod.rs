//! The block-associative sector translation (BAST): each log block is bound to one logical block.
//!
//! A page is appended to the log block of its logical block. A log block and the data block are merged into one
//! block if the log block is full, or if another logical block needs a log block and none is unused. (Kim et al.,
//! IEEE Transactions on Consumer Electronics 48(2), 2002.)

mod merge;

use alloc::vec::Vec;

use destage_base::archived;
use destage_base::lazy::{LazyTable, Same};
use destage_base::list::List;
use destage_base::{Random, choices, parameters};

use self::merge::merge;
use super::blocks::data::DataBlocks;
use super::blocks::log_block::LogBlock;
use super::blocks::parameters::{self as shared, FirstWrite};
use super::blocks::striped::{self, Die};
use super::blocks::{Blocks, LogicalPage, NONE};
use super::{FtlConfig, FtlRow, NoSpace, PageWrite, Shortage};
use destage_nand::array::BlockSlot;
use destage_nand::operation::{Cause, MergeCause, MergeKind, Operations, Purpose, Role};

const SOURCE: &str =
    "Kim et al., IEEE TCE 48(2), 2002, as used by BPLRU (FAST 2008) and BPAC (MSST 2010).";
const OURS: &str = "ours";

choices! {
    /// Values of `log_victim`.
    enum Victim {
        Fifo = "fifo",
        Lru = "lru",
        Random = "random",
        MinCost = "min_cost",
    }
}

choices! {
    /// Values of `log_place`.
    enum Place {
        Append = "append",
        Offset = "offset",
    }
}

choices! {
    /// Values of `merge_time`.
    enum MergeTime {
        Lazy = "lazy",
        EagerSwitch = "eager_switch",
    }
}

parameters! {
    /// The parameters of `bast`.
    struct Parameters {
        log_blocks: u32 as shared::LOG_BLOCKS;
        spare_blocks: u32 as shared::SPARE_BLOCKS;
        /// Which log block is merged to make room: the one bound first, the one written longest ago, a random
        /// one, or the one that is cheapest to merge.
        log_victim: Victim = "fifo", "", OURS;
        /// Where a page is programmed in its log block: in the next free page, or in the page of its own offset.
        log_place: Place = "append", "", OURS;
        /// When a log block that is full in sequence becomes the data block: when it is needed, or at once.
        merge_time: MergeTime = "lazy", "", OURS;
        logs: shared::Logs;
    }
}

/// The registry row.
pub(super) const ROW: FtlRow = FtlRow {
    name: "bast",
    about: "Block mapping with log blocks, each bound to one logical block; switch, partial and full merges.",
    source: SOURCE,
    fills_blocks_in_turn: true,
    has_merges: true,
    parameters: Parameters::ROWS,
    build: |config| {
        let parameters = Parameters::from_values(config.values);
        let (logs, spare) = (parameters.log_blocks, parameters.spare_blocks);
        striped::build(config, &parameters, Some(logs), spare, Bast::new)
    },
    ..FtlRow::BLANK
};

/// One die.
#[derive(Clone)]
pub(super) struct Bast {
    blocks: Blocks,
    data: DataBlocks,
    logs: Vec<LogBlock>,
    /// Logical block -> the position of its log block in `logs`.
    log_of: LazyTable<Same<u32>>,
    /// Log blocks in use; the next victim is in front.
    order: List<u32>,
    unused: Vec<u32>,
    victim: Victim,
    random: Random,
    eager_switch: bool,
    first_write_data: bool,
    /// Whether a sequential log block that is not full is completed with the missing pages. If not, all pages of
    /// the logical block are copied to a new block.
    partial: bool,
}

archived!(Bast { blocks, data, logs, log_of, order, unused, random } fixed { victim, eager_switch, first_write_data, partial });

impl Bast {
    fn new(config: &FtlConfig<'_>, parameters: &Parameters, number: u32, logical: u32) -> Self {
        let rules = &parameters.logs;
        let levelling = rules.levelling.rule();
        let geometry = config.geometry;
        let logs = parameters.log_blocks;
        let in_place = parameters.log_place == Place::Offset;
        let pages = geometry.data_pages();
        Self {
            blocks: Blocks::new(config, number, logical, levelling, rules.in_order),
            data: DataBlocks::new(&geometry, logical, config.filled, rules.merge_copies),
            logs: (0..logs).map(|_| LogBlock::new(pages, in_place)).collect(),
            log_of: LazyTable::new(logical as usize, Same(NONE)),
            order: List::new(logs),
            unused: (0..logs).rev().collect(),
            victim: parameters.log_victim,
            random: Random::new(config.seed.wrapping_add(u64::from(number))),
            eager_switch: parameters.merge_time == MergeTime::EagerSwitch,
            first_write_data: rules.first_write == FirstWrite::Data,
            partial: rules.partial,
        }
    }

    fn log_of(&self, block: u32) -> Option<u32> {
        let log = self.log_of.get(block as usize);
        (log != NONE).then_some(log)
    }

    /// Programs `page` in its data block if its place there is still free. Returns whether the page was
    /// programmed.
    fn write_to_data(
        &mut self,
        page: LogicalPage,
        cause: Cause,
        operations: &mut Operations,
    ) -> Result<bool, NoSpace> {
        let blocks = &mut self.blocks;
        let data = self.data.get_or_new(page.block, blocks, operations)?;
        if !self.blocks.nand.is_programmable(data, page.offset) {
            return Ok(false);
        }
        if let Some(log) = self.log_of(page.block) {
            self.logs[log as usize].invalidate(page.offset);
        }
        let purpose = Purpose::owned(Role::Data, page.block);
        self.blocks
            .program(data, page.offset, purpose, cause, operations);
        self.data.set_newest(page.block, page.offset);
        Ok(true)
    }

    /// Returns a log block of `page.block` in which `page` can be programmed; merges a log block first if needed.
    fn log_with_room(
        &mut self,
        page: LogicalPage,
        operations: &mut Operations,
    ) -> Result<u32, NoSpace> {
        if let Some(log) = self.log_of(page.block) {
            let state = &self.logs[log as usize];
            let place = state.place_of_next(page.offset);
            if place < self.blocks.pages() && self.blocks.nand.is_programmable(state.block, place) {
                return Ok(log);
            }
            self.merge(log, MergeCause::OwnLog, operations)?;
        } else if self.unused.is_empty() {
            let victim = self.choose_victim();
            self.merge(victim, MergeCause::Room, operations)?;
        }
        let Some(log) = self.unused.pop() else {
            let logs = self.logs.len() as u32;
            return Err(Shortage::Log { logs }.into());
        };
        let block = self.blocks.allocate(page.block, operations)?;
        self.logs[log as usize].bind(page.block, block);
        *self.log_of.get_mut(page.block as usize) = log;
        self.order.push_back(log);
        Ok(log)
    }

    /// Chooses a log block to merge, so that another logical block can use it. All log blocks are in use.
    fn choose_victim(&mut self) -> u32 {
        let first = self.order.front().unwrap_or(0);
        match self.victim {
            Victim::Fifo | Victim::Lru => first,
            Victim::Random => self.random.below(self.logs.len() as u64) as u32,
            Victim::MinCost => self
                .order
                .iter()
                .min_by_key(|log| self.merge_kind(&self.logs[*log as usize]))
                .unwrap_or(first),
        }
    }

    /// The kind of merge that `log` would need now. The log block can become the data block only if the present data
    /// block has no newer copy of a page that the log block holds too.
    fn merge_kind(&self, log: &LogBlock) -> MergeKind {
        let newest = self.data.newest();
        let has_newer = || newest.count(log.owner) > newest.count_from(log.owner, log.len());
        match log.is_sequential(self.blocks.programmed(log.block)) && !has_newer() {
            true if log.len() == self.blocks.pages() => MergeKind::Switch,
            true if self.partial => MergeKind::Partial,
            _ => MergeKind::Full,
        }
    }

    fn merge(
        &mut self,
        log: u32,
        cause: MergeCause,
        operations: &mut Operations,
    ) -> Result<(), NoSpace> {
        let kind = self.merge_kind(&self.logs[log as usize]);
        let state = &mut self.logs[log as usize];
        let owner = state.owner;
        let (blocks, data) = (&mut self.blocks, &mut self.data);
        merge(state, kind, cause, blocks, data, operations)?;
        *self.log_of.get_mut(owner as usize) = NONE;
        self.order.remove(log);
        self.unused.push(log);
        self.level_wear(operations);
        Ok(())
    }

    /// Moves cold data into a worn block, if that is due.
    fn level_wear(&mut self, operations: &mut Operations) {
        let no_log = |block: u32| self.log_of.get(block as usize) == NONE;
        self.data.level_wear(&mut self.blocks, no_log, operations);
    }
}

impl Die for Bast {
    fn read(&self, page: LogicalPage, operations: &mut Operations) {
        if let Some(log) = self.log_of(page.block) {
            let log = &self.logs[log as usize];
            if let Some(place) = log.page_of(page.offset) {
                return self.blocks.read(log.block, place, operations);
            }
        }
        if let Some(data) = self.data.get(page.block)
            && self.data.newest().get(page.block, page.offset)
        {
            self.blocks.read(data, page.offset, operations);
        }
    }

    fn write(
        &mut self,
        page: LogicalPage,
        write: PageWrite,
        operations: &mut Operations,
    ) -> Result<(), NoSpace> {
        let cause = write.cause;
        if self.first_write_data && self.write_to_data(page, cause, operations)? {
            return Ok(());
        }
        self.follow_units();
        let log = self.log_with_room(page, operations)?;
        let state = &mut self.logs[log as usize];
        let place = state.place_of_next(page.offset);
        let purpose = Purpose::owned(Role::Log, page.block);
        self.blocks
            .program(state.block, place, purpose, cause, operations);
        if !state.add(page.offset) {
            self.data.clear_newest(page.block, page.offset);
        }
        if self.victim == Victim::Lru {
            self.order.move_to_back(log);
        }
        if self.eager_switch && self.merge_kind(&self.logs[log as usize]) == MergeKind::Switch {
            self.merge(log, MergeCause::Eager, operations)?;
        }
        Ok(())
    }

    fn trim(&mut self, page: LogicalPage, operations: &mut Operations) {
        let mut in_log = 0;
        if let Some(log) = self.log_of(page.block) {
            let state = &mut self.logs[log as usize];
            state.invalidate(page.offset);
            in_log = state.live();
            if in_log == 0 {
                self.blocks.erase(state.block, 0, Cause::Copy, operations);
                state.release();
                *self.log_of.get_mut(page.block as usize) = NONE;
                self.order.remove(log);
                self.unused.push(log);
            }
        }
        self.data.clear_newest(page.block, page.offset);
        if in_log == 0
            && self.data.newest().count(page.block) == 0
            && let Some(data) = self.data.take(page.block)
        {
            self.blocks.release(data);
        }
    }

    fn trims_freely(&self, block: u32) -> bool {
        self.log_of(block).is_none()
    }

    fn is_written(&self, page: LogicalPage) -> bool {
        self.data.newest().get(page.block, page.offset)
            || self
                .log_of(page.block)
                .is_some_and(|log| self.logs[log as usize].page_of(page.offset).is_some())
    }

    fn may_hold(&self, block: u32) -> bool {
        self.data.get(block).is_some() || self.log_of(block).is_some()
    }

    const TAKES_UNITS: bool = true;

    #[inline]
    fn follow_units(&mut self) {
        while let Some(block) = self.blocks.take_completed() {
            let end = self.blocks.programmed(block);
            let mut bound = self.logs.iter_mut().filter(|log| log.owner != NONE);
            if let Some(log) = bound.find(|log| log.block == block) {
                log.pass_over(end);
            }
        }
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
        4 * u64::from(self.data.len()) + 2 * self.logs.len() as u64 * u64::from(self.blocks.pages())
    }
}
