//! The fully associative sector translation (FAST): all logical blocks share the random log blocks, and one
//! further log block is for sequential writes.
//!
//! A write of a page at offset 0 restarts the sequential log block with that page. Pages that continue the
//! sequence are appended to the sequential log block. If a page of the same logical block does not continue the
//! sequence, `sw_mismatch` decides what happens. Pages of other logical blocks fill the random log blocks one
//! after the other. When all random log blocks are full, the layer merges every logical block that has pages in
//! the oldest one. (Lee et al., ACM Transactions on Embedded Computing Systems 6(3), 2007.)

use destage_base::archived;
use destage_base::{choices, parameters};

use super::blocks::LogicalPage;
use super::blocks::data::Copies;
use super::blocks::logged::{Logged, left_to_store};
use super::blocks::parameters::{self as shared, FirstWrite, Logs};
use super::blocks::striped::{self, Die};
use super::{FtlConfig, FtlRow, NoSpace, PageWrite};
use destage_nand::operation::{Cause, MergeCause, MergeKind, Operations, Purpose, Role};

const SOURCE: &str = "Lee et al., ACM TECS 6(3), 2007.";

choices! {
    /// Values of `sw_mismatch`.
    enum Mismatch {
        Merge = "merge",
        Rw = "rw",
    }
}

parameters! {
    /// The parameters of `fast`.
    struct Parameters {
        log_blocks: u32 as shared::TWO_LOG_BLOCKS;
        spare_blocks: u32 as shared::SPARE_BLOCKS;
        /// What happens to a page that does not continue the sequence of its logical block in the sequential log
        /// block: the logical block is merged together with the page, or the page goes to the random log blocks.
        sw_mismatch: Mismatch = "merge", "", SOURCE;
        partial: bool as shared::PARTIAL_MERGES;
        merge_copies: Copies as shared::MERGE_COPIES;
        first_write: FirstWrite as shared::FIRST_WRITE_LOG { default: "data", source: SOURCE };
        in_order: bool as shared::IN_ORDER;
        levelling: shared::Levelling;
    }
}

/// The registry row.
pub(super) const ROW: FtlRow = FtlRow {
    name: "fast",
    about: "Block mapping with log blocks shared by all logical blocks, and one for sequential writes.",
    source: SOURCE,
    fills_blocks_in_turn: true,
    has_merges: true,
    parameters: Parameters::ROWS,
    build: |config| {
        let parameters = Parameters::from_values(config.values);
        let (logs, spare) = (parameters.log_blocks, parameters.spare_blocks);
        striped::build(config, &parameters, Some(logs), spare, Fast::new)
    },
    ..FtlRow::BLANK
};

/// The number of the sequential log block; the random log blocks have higher numbers.
const SEQUENTIAL: u32 = 0;

/// One die.
#[derive(Clone)]
pub(super) struct Fast {
    store: Logged,
    /// The random log block that is being filled. The next random log block in rotation is the oldest.
    current: u32,
    merge_mismatch: bool,
}

archived!(Fast { store, current } fixed { merge_mismatch });

impl Fast {
    fn new(config: &FtlConfig<'_>, parameters: &Parameters, number: u32, logical: u32) -> Self {
        let logs = parameters.log_blocks;
        let rules = Logs {
            partial: parameters.partial,
            merge_copies: parameters.merge_copies,
            first_write: parameters.first_write,
            in_order: parameters.in_order,
            levelling: parameters.levelling.clone(),
        };
        Self {
            store: Logged::new(config, &rules, number, logical, logs),
            current: logs - 1,
            merge_mismatch: parameters.sw_mismatch == Mismatch::Merge,
        }
    }

    /// The logical block whose pages are in the sequential log block.
    #[inline]
    fn sequential_owner(&self) -> Option<u32> {
        self.store.log.first_block(SEQUENTIAL)
    }

    /// If the sequential log block is in use, merges the logical block whose pages it holds. Then opens the
    /// sequential log block for page 0 of `block`.
    fn restart_sequential(
        &mut self,
        block: u32,
        operations: &mut Operations,
    ) -> Result<(), NoSpace> {
        if let Some(owner) = self.sequential_owner() {
            let cause = if owner == block {
                MergeCause::OwnLog
            } else {
                MergeCause::Room
            };
            self.store.merge_log(SEQUENTIAL, cause, operations)?;
            self.store.level_wear(operations);
        }
        self.store.open(SEQUENTIAL, block, operations)
    }

    /// Merges the logical block whose pages are in the sequential log block. The merge also writes `page`, which
    /// belongs to that logical block but does not continue the sequence.
    fn merge_with(
        &mut self,
        page: LogicalPage,
        cause: Cause,
        operations: &mut Operations,
    ) -> Result<(), NoSpace> {
        let incoming = Some((page.offset, cause));
        let (copies, erases) = self.store.rewrite(page.block, incoming, operations)?;
        self.store.discard(SEQUENTIAL, operations);
        self.store.blocks.emit_merge(
            page.block,
            MergeKind::Full,
            MergeCause::OwnLog,
            copies,
            erases + 1,
            operations,
        );
        self.store.level_wear(operations);
        Ok(())
    }

    /// Returns a random log block with a free page; reclaims the oldest random log block first if needed.
    #[inline]
    fn random_log(&mut self, operations: &mut Operations) -> Result<u32, NoSpace> {
        if !self.store.log.has_room(self.current) {
            let next = match self.current + 1 {
                end if end == self.store.log.len() => SEQUENTIAL + 1,
                next => next,
            };
            if self.store.log.is_open(next) {
                let owner = self.sequential_owner();
                let bound = |block| (Some(block) == owner).then_some(SEQUENTIAL);
                self.store
                    .reclaim(next, MergeCause::Room, bound, operations)?;
                self.store.level_wear(operations);
            }
            self.store.open(next, next, operations)?;
            self.current = next;
        }
        Ok(self.current)
    }
}

impl Die for Fast {
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
        let log = if page.offset == 0 {
            self.restart_sequential(page.block, operations)?;
            SEQUENTIAL
        } else if self.sequential_owner() != Some(page.block) {
            self.random_log(operations)?
        } else if page.offset == self.store.log.programmed(SEQUENTIAL) {
            SEQUENTIAL
        } else if self.merge_mismatch {
            return self.merge_with(page, cause, operations);
        } else {
            self.random_log(operations)?
        };
        let purpose = if log == SEQUENTIAL {
            Purpose::owned(Role::SequentialLog, page.block)
        } else {
            Purpose::shared(Role::Log)
        };
        self.store.append(log, page, purpose, cause, operations);
        Ok(())
    }

    fn trim(&mut self, page: LogicalPage, operations: &mut Operations) {
        self.store.trim(page);
        if self.sequential_owner() == Some(page.block) && self.store.log.live(SEQUENTIAL) == 0 {
            self.store.discard(SEQUENTIAL, operations);
        }
        self.store.release_empty(page.block);
    }

    fn trims_freely(&self, block: u32) -> bool {
        self.sequential_owner() != Some(block)
    }

    const TAKES_UNITS: bool = true;

    fn follow_units(&mut self) {
        self.store.follow_units();
    }

    /// 4 bytes for each logical block and each page of a random log block, and 8 for the sequential log block.
    fn map_bytes(&self) -> u64 {
        self.store.map_bytes(self.store.log.len() - 1) + 8
    }

    fn report(&self, emit: &mut dyn FnMut(&'static str, f64)) {
        self.store.report(emit);
    }

    fn reset_figures(&mut self) {
        self.store.reset_figures();
    }
}
