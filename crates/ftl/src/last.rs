//! Log blocks by locality (LAST): each sequential log block is bound to one logical block and receives its long
//! writes. All logical blocks share the other log blocks, and pages that are rewritten soon (hot pages) have
//! shared log blocks of their own.
//!
//! So a log block of hot pages probably has no needed page any more when it is reclaimed. Of the other shared log
//! blocks, the one that needs the fewest merges is reclaimed. (Lee et al., ACM SIGOPS Operating Systems Review
//! 42(6), 2008.)

use alloc::vec;
use alloc::vec::Vec;

use destage_base::archived;
use destage_base::lazy::{LazyTable, Same};
use destage_base::list::List;
use destage_base::parameter::Kind;
use destage_base::parameters;

use super::blocks::logged::{Logged, left_to_store};
use super::blocks::parameters as shared;
use super::blocks::striped::{self, Die};
use super::blocks::{LogicalPage, NONE};
use super::{FtlConfig, FtlRow, NoSpace, PageWrite};
use destage_nand::operation::{MergeCause, Operations, Purpose, Role};

const SOURCE: &str = "Lee et al., ACM SIGOPS OSR 42(6), 2008.";

parameters! {
    /// The parameters of `last`.
    struct Parameters {
        log_blocks: u32 as shared::TWO_LOG_BLOCKS;
        /// Share of a die's log blocks for long writes, rounded down; long writes and other writes each have at
        /// least one.
        seq_log_percent: u64 = "50" in Kind::Integer { min: 0, max: 100 }, "%", "ours";
        /// Minimum number of pages of a long write, which is one request or a run of destaged pages.
        seq_pages: u32 = "2" in Kind::Integer { min: 1, max: u32::MAX as u64 }, "pages", SOURCE;
        /// A page is hot if it was written before within this many page writes, in percent of the pages of the
        /// log blocks that are not for long writes. Long writes do not count.
        hot_window_percent: u64 = "100" in Kind::Integer { min: 0, max: 10_000 }, "%", SOURCE;
        spare_blocks: u32 as shared::SPARE_BLOCKS;
        logs: shared::Logs;
    }
}

/// The registry row.
pub(super) const ROW: FtlRow = FtlRow {
    name: "last",
    about: "Block mapping with log blocks by locality: for long writes, for pages that are soon rewritten, and for other pages.",
    source: SOURCE,
    has_merges: true,
    parameters: Parameters::ROWS,
    build: |config| {
        let parameters = Parameters::from_values(config.values);
        let (logs, spare) = (parameters.log_blocks, parameters.spare_blocks);
        striped::build(config, &parameters, Some(logs), spare, Last::new)
    },
    ..FtlRow::BLANK
};

/// The log blocks that are bound to one logical block each; they have the lowest numbers.
#[derive(Clone)]
struct Sequential {
    /// Logical block -> its log block.
    log_of: LazyTable<Same<u32>>,
    /// The log blocks in use; the one that was bound first is in front.
    order: List<u32>,
    unused: Vec<u32>,
}

archived!(Sequential {
    log_of,
    order,
    unused
});

impl Sequential {
    #[inline]
    fn log_of(&self, block: u32) -> Option<u32> {
        let log = self.log_of.get(block as usize);
        (log != NONE).then_some(log)
    }

    /// Unbinds the log block of `block` and returns it; `None` if `block` has no log block.
    fn unbind(&mut self, block: u32) -> Option<u32> {
        let log = self.log_of(block)?;
        *self.log_of.get_mut(block as usize) = NONE;
        self.order.remove(log);
        self.unused.push(log);
        Some(log)
    }
}

/// The log blocks that all logical blocks share.
#[derive(Clone)]
struct Random {
    /// The log blocks in use; the one that was opened first is in front.
    order: List<u32>,
    unused: Vec<u32>,
    /// By the number of the log block, whether it is for hot pages.
    is_hot: Vec<bool>,
    /// The log blocks that are being filled: first that for cold pages, then that for hot pages.
    current: [Option<u32>; 2],
    /// Number of pages written to shared log blocks so far.
    writes: u64,
    /// For each page of the die, the value of `writes` at its last write to a shared log block; 0 if there was
    /// none.
    last_write: LazyTable<Same<u64>>,
    hot_window: u64,
}

archived!(Random { order, unused, is_hot, current, writes, last_write } fixed { hot_window });

impl Random {
    /// Counts a write of the page at `index`, and returns whether the page is hot.
    #[inline]
    fn is_hot(&mut self, index: usize) -> bool {
        self.writes += 1;
        let last = core::mem::replace(self.last_write.get_mut(index), self.writes);
        last > 0 && self.writes - last <= self.hot_window
    }
}

/// Number of page writes by the kind of log block.
#[derive(Clone, Default)]
struct Written {
    sequential: u64,
    hot: u64,
    cold: u64,
}

archived!(Written {
    sequential,
    hot,
    cold
});

/// One die.
#[derive(Clone)]
pub(super) struct Last {
    store: Logged,
    sequential: Sequential,
    random: Random,
    long_pages: u32,
    written: Written,
}

archived!(Last { store, sequential, random, written } fixed { long_pages });

impl Last {
    fn new(config: &FtlConfig<'_>, parameters: &Parameters, number: u32, logical: u32) -> Self {
        let pages = config.geometry.data_pages();
        let logs = parameters.log_blocks;
        let share = u64::from(logs) * parameters.seq_log_percent / 100;
        let bound = (share as u32).clamp(1, logs - 1);
        let random_pages = u64::from(logs - bound) * u64::from(pages);
        let mut store = Logged::new(config, &parameters.logs, number, logical, logs);
        store.log = store.log.with_owners();
        Self {
            store,
            sequential: Sequential {
                log_of: LazyTable::new(logical as usize, Same(NONE)),
                order: List::new(bound),
                unused: (0..bound).rev().collect(),
            },
            random: Random {
                order: List::new(logs),
                unused: (bound..logs).rev().collect(),
                is_hot: vec![false; logs as usize],
                current: [None; 2],
                writes: 0,
                last_write: LazyTable::new(logical as usize * pages as usize, Same(0)),
                hot_window: random_pages * parameters.hot_window_percent / 100,
            },
            long_pages: parameters.seq_pages,
            written: Written::default(),
        }
    }

    /// Returns the log block that is bound to `block`, with a free page; merges a log block first if needed.
    fn sequential_log(&mut self, block: u32, operations: &mut Operations) -> Result<u32, NoSpace> {
        let own = self.sequential.log_of(block);
        if let Some(log) = own.filter(|log| self.store.log.has_room(*log)) {
            return Ok(log);
        }
        if own.is_some() {
            self.merge_sequential(block, MergeCause::OwnLog, operations)?;
        } else if self.sequential.unused.is_empty()
            && let Some(oldest) = self.sequential.order.front()
            && let Some(owner) = self.store.log.first_block(oldest)
        {
            self.merge_sequential(owner, MergeCause::Room, operations)?;
        }
        let log = *self
            .sequential
            .unused
            .last()
            .expect("one was unused or has been merged");
        self.store.open(log, block, operations)?;
        self.sequential.unused.pop();
        *self.sequential.log_of.get_mut(block as usize) = log;
        self.sequential.order.push_back(log);
        Ok(log)
    }

    /// Merges the log block that is bound to `block`.
    fn merge_sequential(
        &mut self,
        block: u32,
        cause: MergeCause,
        operations: &mut Operations,
    ) -> Result<(), NoSpace> {
        if let Some(log) = self.sequential.log_of(block) {
            self.store.merge_log(log, cause, operations)?;
            self.sequential.unbind(block);
            self.store.level_wear(operations);
        }
        Ok(())
    }

    /// Returns a shared log block with a free page, for hot pages or for cold pages.
    #[inline]
    fn random_log(&mut self, is_hot: bool, operations: &mut Operations) -> Result<u32, NoSpace> {
        let current = self.random.current[usize::from(is_hot)];
        match current.filter(|log| self.store.log.has_room(*log)) {
            Some(log) => Ok(log),
            None => self.open_random(is_hot, operations),
        }
    }

    fn open_random(&mut self, is_hot: bool, operations: &mut Operations) -> Result<u32, NoSpace> {
        if self.random.unused.is_empty() {
            self.reclaim(operations)?;
        }
        let log = *self
            .random
            .unused
            .last()
            .expect("one was unused or has been reclaimed");
        self.store.open(log, log, operations)?;
        self.random.unused.pop();
        self.random.order.push_back(log);
        self.random.is_hot[log as usize] = is_hot;
        self.random.current[usize::from(is_hot)] = Some(log);
        Ok(log)
    }

    /// Reclaims a shared log block. The order is decided, in this sequence, by these preferences: a log block without
    /// needed pages, a full log block over one with free pages, a cold log block over a hot one, a log block that needs
    /// fewer merges, and an older log block.
    fn reclaim(&mut self, operations: &mut Operations) -> Result<(), NoSpace> {
        let log = &self.store.log;
        let cost = |victim: &u32| {
            (
                log.live(*victim) > 0,
                log.has_room(*victim),
                self.random.is_hot[*victim as usize],
                log.owners(*victim),
            )
        };
        let victim = self.random.order.iter().min_by_key(cost);
        let victim = victim.expect("all log blocks are in use");
        let sequential = &mut self.sequential;
        let bound = |block| sequential.unbind(block);
        self.store
            .reclaim(victim, MergeCause::Room, bound, operations)?;
        self.random.order.remove(victim);
        self.random.unused.push(victim);
        for current in &mut self.random.current {
            *current = current.filter(|log| *log != victim);
        }
        self.store.level_wear(operations);
        Ok(())
    }
}

impl Die for Last {
    left_to_store!();

    fn write(
        &mut self,
        page: LogicalPage,
        write: PageWrite,
        operations: &mut Operations,
    ) -> Result<(), NoSpace> {
        let cause = write.cause;
        if self.store.write_to_data(page, cause, operations)? {
            return Ok(());
        }
        if write.is_long {
            let log = self.sequential_log(page.block, operations)?;
            let purpose = Purpose::owned(Role::SequentialLog, page.block);
            self.store.append(log, page, purpose, cause, operations);
            self.written.sequential += 1;
            return Ok(());
        }
        let pages = self.store.blocks.pages();
        let index = page.block as usize * pages as usize + page.offset as usize;
        let is_hot = self.random.is_hot(index);
        let log = self.random_log(is_hot, operations)?;
        let purpose = Purpose::shared(Role::Log);
        self.store.append(log, page, purpose, cause, operations);
        self.written.hot += u64::from(is_hot);
        self.written.cold += u64::from(!is_hot);
        Ok(())
    }

    fn long_write_pages(&self) -> Option<u32> {
        Some(self.long_pages)
    }

    fn trim(&mut self, page: LogicalPage, operations: &mut Operations) {
        self.store.trim(page);
        if let Some(log) = self.sequential.log_of(page.block)
            && self.store.log.live(log) == 0
        {
            self.sequential.unbind(page.block);
            self.store.discard(log, operations);
        }
        self.store.release_empty(page.block);
    }

    fn trims_freely(&self, block: u32) -> bool {
        self.sequential.log_of(block).is_none()
    }

    /// 4 bytes for each logical block and each page of a log block.
    fn map_bytes(&self) -> u64 {
        self.store.map_bytes(self.store.log.len())
    }

    fn report(&self, emit: &mut dyn FnMut(&'static str, f64)) {
        self.store.report(emit);
        emit("sequential_writes", self.written.sequential as f64);
        emit("hot_writes", self.written.hot as f64);
        emit("cold_writes", self.written.cold as f64);
    }

    fn reset_figures(&mut self) {
        self.store.reset_figures();
        self.written = Written::default();
    }
}
