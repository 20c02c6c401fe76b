//! Garbage collection: how many pages are moved and when, and what has to be done at a die before the next write
//! there.
//!
//! Garbage collection keeps the room, that is, the number of pages that free and open superblocks can still hold,
//! at a goal. A running collection counts as room in proportion to its progress. Each written page uses one page
//! of room. Each moved page gains (S - V) / V pages of room, where S is the number of pages of a superblock, and V
//! is the number of valid pages that the collected superblock had when it was chosen. While the room is less than
//! the goal, each die moves a unit before it serves its next operation. So moves keep pace with writes, and writes
//! wait for no other garbage collection.
//!
//! If the power may fail, a free superblock that is not erased yet may have needed pages again after a power loss,
//! since the trims and writes that made them invalid are lost. So the layer keeps one free superblock as a reserve. It
//! is erased as soon as it becomes free, and is opened only if no other superblock is free. No further collection
//! begins before the reserve is erased. So a mount finds the reserve free, and garbage collection can move pages into
//! it.

use alloc::vec::Vec;

use destage_base::archived;

use super::shape::NONE;
use super::{Pace, Striped};
use destage_nand::array::Ppn;
use destage_nand::operation::{Cause, Operations, Transfer};

/// A superblock that is being collected.
#[derive(Clone)]
pub(super) struct Victim {
    pub row: u32,
    /// Number of valid pages when the superblock was chosen.
    pub valid: u32,
    /// The page with which the search for valid pages continues: its die, its plane, and its number in the block.
    next: (u32, u32, u32),
}

archived!(Victim { row, valid, next } vacant Victim { row: NONE, valid: 0, next: (0, 0, 0) });

impl Striped {
    /// Whether garbage collection has to move pages now.
    fn wants_moves(&self) -> bool {
        self.space() < self.rules.target
            || self.rows.free() <= self.rules.bottom
            || (self.rules.pace == Pace::Whole && !self.victims.is_empty())
            || self.is_bursting
    }

    /// If garbage is collected in bursts: begins a burst when the room is less than the goal, and ends the burst
    /// when it has gained the room of a burst.
    pub(super) fn begin_or_end_burst(&mut self) {
        if self.rules.pace == Pace::Burst {
            let goal = match self.is_bursting {
                true => self.rules.target + self.rules.burst,
                false => self.rules.target,
            };
            self.is_bursting = self.space() < goal;
        }
    }

    /// Whether a superblock is being collected, or the collection of one would gain room.
    fn has_victim(&self) -> bool {
        !self.victims.is_empty() || self.best().is_some()
    }

    /// The superblock with the fewest valid pages, if its collection gains room.
    pub(super) fn best(&self) -> Option<u32> {
        let row = self.rows.first()?;
        (self.rows.valid(row) < self.shape.row_pages()).then_some(row)
    }

    /// Whether moved pages can be programmed at `die` now.
    fn may_move(&self, die: u32) -> bool {
        let moves = &self.streams[self.moves()];
        match moves.rows.get(moves.index(die, self.shape.part())) {
            None => false,
            Some(&NONE) => self.rows.free() > self.spare_for_moves(die),
            Some(_) => true,
        }
    }

    /// Number of superblocks that must stay free when a superblock is opened for moved pages at `die`. It is 0 if
    /// this would be the first open superblock of the stream, since otherwise no die could receive moved pages.
    fn spare_for_moves(&self, die: u32) -> u32 {
        match self.streams[self.moves()].index(die, self.shape.part()) {
            0 => 0,
            _ => self.rules.bottom,
        }
    }

    /// A stream with a write that waits at `die` and cannot be served. The second value is true if the reason is
    /// that no superblock may be opened, and false if `die` has filled both open superblocks of the stream.
    fn blocked(&self, die: u32) -> Option<(usize, bool)> {
        let waits = |stream: &usize| self.streams[*stream].coming[die as usize] > 0;
        (0..self.moves()).filter(waits).find_map(|stream| {
            let state = &self.streams[stream];
            match state.rows.get(state.index(die, self.shape.part())) {
                None => Some((stream, false)),
                Some(&NONE) if self.rows.free() <= self.rules.bottom => Some((stream, true)),
                Some(_) => None,
            }
        })
    }

    /// The die at which something has to be done before the next write at `die` can be served; `die` itself if
    /// there is no such die.
    pub(super) fn first_to_collect(&self, die: u32) -> u32 {
        let dies = self.shape.dies;
        let mut in_turn = (1..=dies).map(|step| (die + step) % dies);
        let found = match self.blocked(die) {
            None => None,
            Some((stream, false)) => {
                let state = &self.streams[stream];
                let leaves =
                    |die: &u32| state.closing && state.next[*die as usize] < self.shape.part();
                in_turn.find(leaves)
            }
            Some((_, true)) if self.waits_for_reserve() => {
                in_turn.find(|die| self.reserve_to_erase(*die).is_some())
            }
            Some((_, true)) if self.has_victim() => in_turn.find(|die| self.may_move(*die)),
            Some((_, true)) => None,
        };
        found.unwrap_or(die)
    }

    /// Whether something has to be done at `die` before a write there.
    pub(super) fn is_due_before_writes(&self, die: u32) -> bool {
        let part = self.shape.part();
        let is_due = |stream: usize| {
            let state = &self.streams[stream];
            let leaves = state.closing && state.next[die as usize] < part;
            // The blocks that are filled next may have to be erased first.
            let is_new =
                state.coming[die as usize] > 0 && state.next[die as usize].is_multiple_of(part);
            leaves || is_new
        };
        (0..self.moves()).any(is_due)
            || self.blocked(die).is_some()
            || (self.rules.pace == Pace::Whole && self.wants_moves())
            || self.is_bursting
    }

    /// If `die` has filled both open superblocks of a stream and more writes of the stream wait at `die`, the
    /// first superblock is closed early. Dies without an incomplete unit in the first superblock leave it at once.
    /// The other dies leave it after they have completed that unit.
    pub(super) fn close_early(&mut self, die: u32) {
        while let Some((stream, false)) = self.blocked(die)
            && !self.streams[stream].closing
        {
            self.streams[stream].closing = true;
            for die in 0..self.shape.dies {
                if self.units_behind(stream, die) == 0 {
                    self.leave(stream, die);
                }
            }
            self.go_on(stream);
        }
    }

    /// Lets `die` leave the first superblock of `stream`: the remaining places of `die` in this superblock stay
    /// unused.
    pub(super) fn leave(&mut self, stream: usize, die: u32) {
        let part = self.shape.part();
        let state = &mut self.streams[stream];
        let next = &mut state.next[die as usize];
        if *next < part {
            let row = state.rows[0];
            self.room -= u64::from(self.shape.data_places(row, die, *next));
            *next = part;
            state.in_first -= 1;
        }
    }

    /// In superblocks that are closed early, completes the incomplete unit at `die`, and lets `die` leave the
    /// superblock. Returns whether an operation was emitted.
    pub(super) fn leave_early(&mut self, die: u32, operations: &mut Operations) -> bool {
        for stream in 0..self.moves() {
            let state = &self.streams[stream];
            if !state.closing || state.next[die as usize] >= self.shape.part() {
                continue;
            }
            let units = self.units_behind(stream, die);
            let before = operations.all().len();
            self.fill(stream, die, units, operations);
            if self.streams[stream].closing {
                self.leave(stream, die);
                self.go_on(stream);
            }
            if operations.all().len() > before {
                return true;
            }
        }
        false
    }

    /// The reserve, if the power may fail and the reserve still has to be erased at `die`.
    fn reserve_to_erase(&self, die: u32) -> Option<u32> {
        let row = self.rows.reserve().filter(|_| self.rules.power_may_fail)?;
        (!self.is_erased(row, die)).then_some(row)
    }

    /// Whether the reserve still has to be erased at some die.
    fn waits_for_reserve(&self) -> bool {
        self.rules.power_may_fail
            && (0..self.shape.dies).any(|die| self.reserve_to_erase(die).is_some())
    }

    /// Erases the blocks of the reserve at `die`, if they have to be erased. Returns whether a block was erased.
    pub(super) fn erase_reserve(&mut self, die: u32, operations: &mut Operations) -> bool {
        let row = self.reserve_to_erase(die);
        row.is_some_and(|row| self.erase(row, die, operations))
    }

    /// Opens the superblocks that waiting writes at `die` need. Returns whether blocks were erased for this.
    pub(super) fn prepare(&mut self, die: u32, operations: &mut Operations) -> bool {
        (0..self.moves()).any(|stream| {
            self.streams[stream].coming[die as usize] > 0
                && self.open(stream, die, self.rules.bottom)
                && self.erase_before(stream, die, operations)
        })
    }

    /// Moves pages to `die`, if garbage collection has to move pages now. Returns whether an operation was
    /// emitted.
    pub(super) fn move_some(&mut self, die: u32, operations: &mut Operations) -> bool {
        if !self.wants_moves()
            || !self.has_victim()
            || (self.victims.is_empty() && self.waits_for_reserve())
        {
            return false;
        }
        let moves = self.moves();
        if !self.open(moves, die, self.spare_for_moves(die)) {
            return false;
        }
        if self.erase_before(moves, die, operations) {
            return true;
        }
        // With two passes, a unit is only complete when later units of its part are programmed. After a step, the
        // sources of the moved pages may be erased at other dies. So if the power may fail, a step fills the rest
        // of the part with fillers.
        let fills_part = self.rules.power_may_fail && self.rules.passes == 2;
        let mut sources = Vec::new();
        for step in 0.. {
            // Pages for the next superblock are moved in another step.
            let is_new = self.streams[moves].next[die as usize].is_multiple_of(self.shape.part());
            let is_enough = step >= self.rules.step_units || !self.wants_moves();
            if step > 0 && (is_new || (is_enough && !fills_part)) {
                break;
            }
            sources.clear();
            self.gather(&mut sources);
            if sources.is_empty() {
                break;
            }
            let mut last = None;
            for source in sources.drain(..) {
                self.move_page(source, last, die, operations);
                last = Some(source);
            }
            let begun = self.streams[moves].next[die as usize] % self.shape.unit;
            if begun > 0 {
                self.fill(moves, die, 1, operations);
            }
        }
        if fills_part && !self.streams[moves].next[die as usize].is_multiple_of(self.shape.part()) {
            self.fill(moves, die, self.shape.part_units(), operations);
        }
        !operations.all().is_empty()
    }

    /// Puts the addresses of valid pages of victims into `sources`, as many as fill a unit. Chooses a further
    /// victim if needed.
    fn gather(&mut self, sources: &mut Vec<u32>) {
        let wanted = self.shape.unit as usize;
        for number in 0.. {
            if number == self.victims.len() {
                if self.waits_for_reserve() {
                    return;
                }
                let Some(row) = self.best() else { return };
                self.rows.withdraw(row);
                self.victims.push(Victim {
                    row,
                    valid: self.rows.valid(row),
                    next: (0, 0, 0),
                });
            }
            let Victim { row, next, .. } = self.victims[number];
            let (mut die, mut plane, mut page) = next;
            while die < self.shape.dies && sources.len() < wanted {
                let block = plane * self.shape.rows + row;
                let address = self
                    .shape
                    .address(die, Ppn(block << self.shape.page_bits | page));
                if self.page_at(address).is_some() {
                    sources.push(address);
                }
                page += 1;
                if page == self.shape.data_pages {
                    (plane, page) = (plane + 1, 0);
                }
                if plane == self.shape.planes {
                    (die, plane) = (die + 1, 0);
                }
            }
            self.victims[number].next = (die, plane, page);
            if sources.len() == wanted {
                return;
            }
        }
    }

    /// Moves the page at `source` to `die`. `last` is the page that was moved before. If both share a page of
    /// flash, that page of flash is not read again.
    fn move_page(&mut self, source: u32, last: Option<u32>, die: u32, operations: &mut Operations) {
        let moves = self.moves();
        let page = self.owner.get(source as usize);
        let target = self.next_page(moves, die, operations);
        let (home, from) = self.shape.split(source);
        // The addresses of a block begin at a multiple of a power of two that is at least the size of the block.
        let mask = (1 << self.shape.page_bits) - 1;
        let of_flash = |address: u32| {
            let within = address & mask;
            (address - within, within / self.rules.units_per_page)
        };
        let is_read = self.rules.units_per_page > 1
            && last.is_some_and(|last| of_flash(last) == of_flash(source));
        let purpose = self.purpose(moves);
        let source_die = (home != die).then_some(home);
        operations.push_move(
            (Cause::Copy, Transfer::TwoPages),
            (source_die, from),
            is_read,
            (target, purpose),
        );
        self.take_place(page, die, target);
        self.program(moves, die, target, operations);
        self.program_own(moves, die, false, operations);
        self.forget(source);
        if home != die {
            operations.leave(home, self.shape.block_of(from));
        }
    }
}
