//! Reads that interrupt a program or an erase: its cells wait until they have been read, and then go on.
//!
//! If a read is next at a die whose cells program or erase, it begins as soon as the channel is free. When its command is on the die, the cells stop,
//! which takes the time of [`Suspension`]; the next reads follow at once when its pages have left. A page that
//! is just being programmed is read when it is there.

use alloc::vec::Vec;

use destage_base::Ticks;

use super::queue::Operation;
use super::{Clock, Dispatcher, End, Suspension};
use crate::operation::Kind;

/// The operation that reads of a die interrupt.
#[derive(Clone, Default)]
pub(super) struct Interrupted {
    /// The program or erase that was interrupted; empty while there is none.
    command: Vec<Operation>,
    /// The remaining work of its cells; `None` while they work in parallel to the command of the first read.
    left: Option<Ticks>,
    /// The cells of the command of the die program or erase, and are done then if nothing interrupts them.
    ends: Option<Ticks>,
    /// How often that was interrupted.
    times: u32,
    /// Planned ends of these cells that do not hold any more.
    outdated: u32,
}

impl Dispatcher {
    /// The cells of `die` begin to program or erase, for this time.
    pub(super) fn note_change<C: Clock>(&mut self, die: u32, length: Ticks, clock: &C) {
        if let Some(interrupted) = self.interrupted.get_mut(die as usize) {
            interrupted.ends = Some(clock.now().saturating_add(length));
            interrupted.times = 0;
        }
    }

    /// Whether the next command of `die` is a read that goes before the remaining work of the cells.
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

    /// `die` begins its next command: the interrupted operation stops. Whether an operation is interrupted.
    pub(super) fn give_way(&mut self, die: u32) -> bool {
        let state = &mut self.dies[die as usize];
        let interrupted = &mut self.interrupted[die as usize];
        if !state.command.is_empty() {
            core::mem::swap(&mut state.command, &mut interrupted.command);
        }
        !interrupted.command.is_empty()
    }

    /// The command of `die` has arrived: how long its cells wait for the interrupted work to stop, if there is any.
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
            // The operations stop by themselves, now.
            return Some(0);
        }
        interrupted.left = Some(ends - clock.now());
        interrupted.times += 1;
        interrupted.outdated += 1;
        Some(suspension.cost)
    }

    /// The cells of `die` would be done now: whether that is all that is to be done about it. The cells were interrupted, or their work has ended
    /// while a read is under way.
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
            // The remaining work follows when the read is done.
            interrupted.left = Some(0);
            return true;
        }
        for operation in interrupted.command.drain(..) {
            clock.done(&operation);
        }
        clock.idle(die, kind);
        true
    }

    /// A command of `die` is over: the interrupted work continues, unless another read follows.
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
            clock.begins(End::Cells(die), left);
        }
    }
}

impl Suspension {
    /// Whether `read` is of a page that `change` programs or erases.
    fn is_of(&self, change: &Operation, read: &Operation) -> bool {
        let unit = |page: u32| page / self.unit_pages;
        (change.plane, change.block) == (read.plane, read.block)
            && (change.kind == Kind::Erase || unit(change.page) == unit(read.page))
    }
}
