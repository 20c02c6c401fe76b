//! Reads that interrupt a program or an erase: the cells stop, do the reads, and then continue.
//!
//! If the next operation of a die is a read while the cells program or erase, the read command is sent as soon as the
//! channel is free. When the command has arrived at the die, the cells stop, and begin the read after the time given
//! by [`Suspension::cost`]. If another read follows, its command is sent when the data of the previous read have been
//! sent over the channel. A read of a page that is being programmed does not interrupt the program, but waits for its
//! end.

use alloc::vec::Vec;

use destage_base::Ticks;

use super::queue::Operation;
use super::{Clock, Dispatcher, Phase, Suspension};
use crate::operation::Kind;

/// The state of the program or erase of a die that reads interrupt.
#[derive(Clone, Default)]
pub(super) struct Interrupted {
    /// The interrupted program or erase; empty if no operation is interrupted.
    command: Vec<Operation>,
    /// Ticks that the cells still have to work on the interrupted operation. `None` while the cells still work: the
    /// command of the first read is on the channel.
    left: Option<Ticks>,
    /// The time at which the cells finish the program or erase in progress, if no read interrupts it. `None` if no
    /// program or erase is in progress.
    ends: Option<Ticks>,
    /// How often the program or erase was interrupted.
    times: u32,
    /// Number of announced ends of the cells' work that have become void because of an interruption.
    outdated: u32,
}

impl Dispatcher {
    /// Notes that the cells of `die` begin to program or erase, for `length` ticks.
    pub(super) fn note_change<C: Clock>(&mut self, die: u32, length: Ticks, clock: &C) {
        if let Some(interrupted) = self.interrupted.get_mut(die as usize) {
            interrupted.ends = Some(clock.now().saturating_add(length));
            interrupted.times = 0;
        }
    }

    /// Whether the next operation of `die` is a read that interrupts the cells, or that runs before an interrupted
    /// operation continues.
    pub(super) fn interrupts(&self, die: u32) -> bool {
        let (Some(interrupted), Some(suspension)) =
            (self.interrupted.get(die as usize), &self.config.suspension)
        else {
            return false;
        };
        let state = &self.dies[die as usize];
        let has_begun = !interrupted.command.is_empty();
        let change = match has_begun {
            true => &interrupted.command,
            false => &state.command,
        };
        let may = match has_begun {
            true => state.command.is_empty(),
            false => interrupted.ends.is_some() && interrupted.times < suspension.limit,
        };
        let next = state.queue.next(&self.config.rules);
        may && next.is_some_and(|next| {
            next.kind == Kind::Read && !change.iter().any(|of| suspension.is_of(of, next))
        })
    }

    /// Called when `die` begins a command. If a program or erase is in progress, it becomes the interrupted operation
    /// of the die. Returns whether the die has an interrupted operation.
    pub(super) fn give_way(&mut self, die: u32) -> bool {
        let state = &mut self.dies[die as usize];
        let interrupted = &mut self.interrupted[die as usize];
        if !state.command.is_empty() {
            core::mem::swap(&mut state.command, &mut interrupted.command);
        }
        !interrupted.command.is_empty()
    }

    /// Called when a command has arrived at `die`. If an operation is interrupted, the command is a read, and the
    /// result is the number of ticks until the cells have stopped. Otherwise the result is `None`.
    pub(super) fn stop_cells<C: Clock>(&mut self, die: u32, clock: &C) -> Option<Ticks> {
        let suspension = self.config.suspension?;
        let interrupted = &mut self.interrupted[die as usize];
        if interrupted.command.is_empty() {
            return None;
        }
        if interrupted.left.is_some() {
            return Some(0);
        }
        let ends = interrupted.ends.unwrap_or_default();
        if ends <= clock.now() {
            // The interrupted operation ends by itself at this moment.
            return Some(0);
        }
        interrupted.left = Some(ends - clock.now());
        interrupted.times += 1;
        interrupted.outdated += 1;
        Some(suspension.cost)
    }

    /// Handles an announced end of the cells' work of `die`. Returns `true` if the caller has nothing more to do.
    /// This is so if the end is void because the cells were interrupted, or if the interrupted operation has ended
    /// while the command of a read is still on the channel.
    pub(super) fn end_interrupted<C: Clock>(&mut self, die: u32, clock: &mut C) -> bool {
        let Some(interrupted) = self.interrupted.get_mut(die as usize) else {
            return false;
        };
        if interrupted.outdated > 0 {
            interrupted.outdated -= 1;
            return true;
        }
        interrupted.ends = None;
        let Some(kind) = interrupted.command.first().map(|first| first.kind) else {
            return false;
        };
        if self.config.has_more(Some(kind)) {
            // The cells have finished the erase, and its status is sent when the read that interrupted it is done.
            interrupted.left = Some(0);
            return true;
        }
        for operation in interrupted.command.drain(..) {
            clock.done(&operation);
        }
        clock.idle(die, kind);
        true
    }

    /// Called when a command of `die` is over. The interrupted operation continues, unless another read follows.
    pub(super) fn resume<C: Clock>(&mut self, die: u32, clock: &mut C) {
        let interrupted = &self.interrupted[die as usize];
        if interrupted.command.is_empty() || interrupted.left.is_some() && self.interrupts(die) {
            return;
        }
        let (state, interrupted) = (
            &mut self.dies[die as usize],
            &mut self.interrupted[die as usize],
        );
        core::mem::swap(&mut state.command, &mut interrupted.command);
        if let Some(left) = interrupted.left.take() {
            interrupted.ends = Some(clock.now().saturating_add(left));
            clock.begins(Phase::Cells, die, left);
        }
    }
}

impl Suspension {
    /// Whether `change` changes the page that `read` reads: `change` erases the block of this page, programs the
    /// page, or programs a page that is programmed together with it.
    fn is_of(&self, change: &Operation, read: &Operation) -> bool {
        let unit = |page: u32| page / self.unit_pages;
        (change.plane, change.block) == (read.plane, read.block)
            && (change.kind == Kind::Erase || unit(change.page) == unit(read.page))
    }
}
