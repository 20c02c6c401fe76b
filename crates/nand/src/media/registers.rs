//! Cache registers: a plane reads or programs a page while the data of the previous page leave, or those of the
//! next page arrive.

use destage_base::Ticks;

use super::{Command, Media};
use crate::operation::Kind;

/// The use of cache registers: the ticks that a page needs between page register and cache register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Registers {
    /// Time of a read (tRCBSY); `None` if reads do not use the cache register.
    pub read: Option<Ticks>,
    /// Time of a program (tPCBSY); `None` if programs do not use the cache register.
    pub program: Option<Ticks>,
}

/// The times at which a command that uses a cache register is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cached {
    /// The time at which the host has its data, or the change is done.
    pub done: Ticks,
    /// The time from which the next command of the die may be issued; not after `done`.
    pub next: Ticks,
    /// Two spans, each with its begin and end: the wait for the cells, and the wait for the cache register, which
    /// an earlier command used.
    pub waited: [(Ticks, Ticks); 2],
}

impl Media {
    /// Carries out `command` on one plane, issued at `now`, with the cache register of its plane. Returns `None`,
    /// without any effect, if such a command uses no cache register.
    pub fn operate_cached(&mut self, now: Ticks, command: &Command) -> Option<Cached> {
        let registers = self.config.registers?;
        let data = command.data?;
        let busy = match command.kind {
            Kind::Read => registers.read?,
            Kind::Program => registers.program?,
            Kind::Erase => return None,
        };
        let (die, plane) = (command.die, command.plane);
        let bus = self.config.bus.unwrap_or_default();
        let ready = self.hold(die, now, now, bus.command);
        let free = self.cache_free[self.plane_index(die, plane)];
        let cells = &self.config.cells;
        if command.kind == Kind::Read {
            let time = cells.read(command.page_type);
            let begins = ready.max(self.free_from(die));
            let next = begins + time;
            let moves = next.max(free);
            let moved = moves + busy;
            self.dies[die as usize].busy_until = moved;
            self.note_end(die, Kind::Read, next);
            let left = self.book(die, now, moved, data);
            self.note_left(die, plane, left);
            let done = self.book(die, now, left, bus.status);
            return Some(Cached {
                done,
                next,
                waited: [(ready, begins), (next, moves)],
            });
        }
        let time = cells.program(command.page_type);
        let comes = ready.max(free);
        let there = self.hold(die, now, comes, data);
        let moves = there.max(self.free_from(die));
        let next = moves + busy;
        let done = next + time;
        self.note_end(die, Kind::Program, done);
        let array = &mut self.dies[die as usize];
        array.busy_until = done;
        array.change_begins = next;
        (array.change_done, array.status) = (done, (done, done));
        self.note_left(die, plane, next);
        Some(Cached {
            done,
            next,
            waited: [(there, moves), (ready, comes)],
        })
    }

    /// Notes that the cache register of this plane, if it has one, is in use until `until`.
    pub(super) fn note_left(&mut self, die: u32, plane: u32, until: Ticks) {
        if self.config.registers.is_some() {
            let index = self.plane_index(die, plane);
            self.cache_free[index] = until;
        }
    }
}
