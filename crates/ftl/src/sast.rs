//! The set-associative sector translation (SAST): the logical blocks of a group share log blocks.
//!
//! Consecutive logical blocks form a group, and a group has a limited number of log blocks. A reclaimed log block
//! requires at most one merge for each logical block of the group. So SAST lies between BAST, where each log block
//! belongs to one logical block, and FAST, where all logical blocks share the log blocks. (Park et al., ACM
//! Transactions on Embedded Computing Systems 7(4), 2008.)

use alloc::vec::Vec;

use destage_base::archived;
use destage_base::lazy::{LazyTable, Same};
use destage_base::list::List;
use destage_base::parameter::Kind;
use destage_base::{choices, parameters};

use super::blocks::logged::{Logged, left_to_store};
use super::blocks::parameters as shared;
use super::blocks::striped::{self, Die};
use super::blocks::{LogicalPage, NONE};
use super::{FtlConfig, FtlRow, NoSpace, PageWrite};
use destage_nand::divide::Divider;
use destage_nand::operation::{MergeCause, Operations, Purpose, Role};

const SOURCE: &str = "Park et al., ACM TECS 7(4), 2008.";
const OURS: &str = "ours";

choices! {
    /// Values of `log_victim`.
    enum Victim {
        MostDead = "most_dead",
        Fifo = "fifo",
    }
}

parameters! {
    /// The parameters of `sast`.
    struct Parameters {
        log_blocks: u32 as shared::LOG_BLOCKS;
        /// Number of consecutive logical blocks of a die that share log blocks (N of N : N+K).
        group_blocks: u32 = "4" in Kind::Integer { min: 1, max: u32::MAX as u64 }, "blocks", SOURCE;
        /// Maximum number of log blocks of a group (K of N : N+K).
        group_log_blocks: u32 = "4" in Kind::Integer { min: 1, max: u32::MAX as u64 }, "blocks", SOURCE;
        spare_blocks: u32 as shared::SPARE_BLOCKS;
        /// Which log block of a group is reclaimed: the log block with the most dead pages (of several, the oldest), or
        /// the oldest log block.
        log_victim: Victim = "most_dead", "", OURS;
        logs: shared::Logs;
    }
}

/// The registry row.
pub(super) const ROW: FtlRow = FtlRow {
    name: "sast",
    about: "Block mapping with log blocks shared by the logical blocks of a group.",
    source: SOURCE,
    has_merges: true,
    parameters: Parameters::ROWS,
    build: |config| {
        let parameters = Parameters::from_values(config.values);
        let (logs, spare) = (parameters.log_blocks, parameters.spare_blocks);
        striped::build(config, &parameters, Some(logs), spare, Sast::new)
    },
    ..FtlRow::BLANK
};

/// A group that has log blocks.
#[derive(Clone, Default)]
struct Group {
    number: u32,
    /// The log blocks of the group, the oldest first; only the last may have room.
    logs: Vec<u32>,
}

archived!(Group { number, logs });

/// One die.
#[derive(Clone)]
pub(super) struct Sast {
    store: Logged,
    over_group: Divider,
    /// Maximum number of log blocks of a group.
    group_logs: usize,
    /// Group -> its position in `groups`.
    position_of: LazyTable<Same<u32>>,
    groups: Vec<Group>,
    /// Positions of groups with log blocks; the group that was written longest ago is in front.
    order: List<u32>,
    unused_positions: Vec<u32>,
    unused_logs: Vec<u32>,
    most_dead: bool,
}

archived!(Sast { store, position_of, groups, order, unused_positions, unused_logs } fixed { over_group, group_logs, most_dead });

impl Sast {
    fn new(config: &FtlConfig<'_>, parameters: &Parameters, number: u32, logical: u32) -> Self {
        let logs = parameters.log_blocks;
        let group_blocks = parameters.group_blocks;
        let groups = logical.div_ceil(group_blocks);
        Self {
            store: Logged::new(config, &parameters.logs, number, logical, logs),
            over_group: Divider::new(group_blocks),
            group_logs: parameters.group_log_blocks as usize,
            position_of: LazyTable::new(groups as usize, Same(NONE)),
            groups: (0..logs).map(|_| Group::default()).collect(),
            order: List::new(logs),
            unused_positions: (0..logs).rev().collect(),
            unused_logs: (0..logs).rev().collect(),
            most_dead: parameters.log_victim == Victim::MostDead,
        }
    }

    /// The group of `block`, and the position of the group if it has log blocks.
    #[inline]
    fn group_of(&self, block: u32) -> (u32, Option<u32>) {
        let (group, _) = self.over_group.split(block);
        let position = self.position_of.get(group as usize);
        (group, (position != NONE).then_some(position))
    }

    /// Returns a log block of the group of `block` with a free page, and the position of the group.
    #[inline]
    fn log_with_room(
        &mut self,
        block: u32,
        operations: &mut Operations,
    ) -> Result<(u32, u32), NoSpace> {
        if let (_, Some(position)) = self.group_of(block)
            && let Some(log) = self.groups[position as usize].logs.last()
            && self.store.log.has_room(*log)
        {
            return Ok((*log, position));
        }
        self.open_log(block, operations)
    }

    /// Opens a log block for the group of `block`, which has no log block with a free page. Returns the log block
    /// and the position of the group.
    fn open_log(&mut self, block: u32, operations: &mut Operations) -> Result<(u32, u32), NoSpace> {
        let (group, position) = self.group_of(block);
        let is_full =
            |position: &u32| self.groups[*position as usize].logs.len() >= self.group_logs;
        if let Some(position) = position.filter(is_full) {
            self.reclaim(position, MergeCause::OwnLog, operations)?;
        } else if self.unused_logs.is_empty()
            && let Some(oldest) = self.order.front()
        {
            self.reclaim(oldest, MergeCause::Room, operations)?;
        }
        let log = *self
            .unused_logs
            .last()
            .expect("one was unused or has been reclaimed");
        self.store.open(log, block, operations)?;
        self.unused_logs.pop();
        // If the reclaim has removed the last log block of the group, the group has no position any more.
        let position = match self.group_of(block).1 {
            Some(position) => position,
            None => self.enter(group),
        };
        self.groups[position as usize].logs.push(log);
        Ok((log, position))
    }

    /// Gives `group` a position and returns it.
    fn enter(&mut self, group: u32) -> u32 {
        let position = self
            .unused_positions
            .pop()
            .expect("groups with log blocks are not more than log blocks");
        self.groups[position as usize].number = group;
        *self.position_of.get_mut(group as usize) = position;
        self.order.push_back(position);
        position
    }

    /// Reclaims a log block of the group at `position`.
    fn reclaim(
        &mut self,
        position: u32,
        cause: MergeCause,
        operations: &mut Operations,
    ) -> Result<(), NoSpace> {
        let logs = &self.groups[position as usize].logs;
        let victim = if self.most_dead {
            let dead = |log: &u32| self.store.log.programmed(*log) - self.store.log.live(*log);
            // `max_by_key` returns the last of equals, so the order is reversed to find the oldest.
            logs.iter().rev().copied().max_by_key(dead)
        } else {
            logs.first().copied()
        };
        let victim = victim.expect("a group with a position has log blocks");
        self.store.reclaim(victim, cause, |_| None, operations)?;
        self.give_back(position, victim);
        self.store.level_wear(operations);
        Ok(())
    }

    /// Removes the closed log block `log` from the group at `position`.
    fn give_back(&mut self, position: u32, log: u32) {
        let group = &mut self.groups[position as usize];
        group.logs.retain(|other| *other != log);
        self.unused_logs.push(log);
        if group.logs.is_empty() {
            *self.position_of.get_mut(group.number as usize) = NONE;
            self.order.remove(position);
            self.unused_positions.push(position);
        }
    }
}

impl Die for Sast {
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
        let (log, position) = self.log_with_room(page.block, operations)?;
        let purpose = Purpose::shared(Role::Log);
        self.store.append(log, page, purpose, cause, operations);
        self.order.move_to_back(position);
        Ok(())
    }

    fn trim(&mut self, page: LogicalPage, operations: &mut Operations) {
        let log = self.store.log.place(page).map(|(log, _)| log);
        self.store.trim(page);
        if let Some(log) = log.filter(|log| self.store.log.live(*log) == 0)
            && let (_, Some(position)) = self.group_of(page.block)
        {
            self.store.discard(log, operations);
            self.give_back(position, log);
        }
        self.store.release_empty(page.block);
    }

    fn trims_freely(&self, block: u32) -> bool {
        self.store.log.newest().count(block) == 0
    }

    /// 4 bytes for each logical block and each page of a log block.
    fn map_bytes(&self) -> u64 {
        self.store.map_bytes(self.store.log.len())
    }

    fn report(&self, emit: &mut dyn FnMut(&'static str, f64)) {
        self.store.report(emit);
    }

    fn reset_figures(&mut self) {
        self.store.reset_figures();
    }
}
