//! Cache registers. With a cache register, a plane reads a page while the data of the previous page are sent to the
//! controller, or programs a page while the data of the next page arrive.

use destage_base::Ticks;

use super::{Command, Media};
use crate::operation::Kind;

/// The use of cache registers: the ticks that a page needs to move between page register and cache register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Registers {
    /// Ticks of the move for a read (tRCBSY); `None` if reads do not use the cache register.
    pub read: Option<Ticks>,
    /// Ticks of the move for a program (tPCBSY); `None` if programs do not use the cache register.
    pub program: Option<Ticks>,
}

/// The times of a command that uses a cache register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cached {
    /// The end of the command: the data of a read are at the controller, or the program is done.
    pub done: Ticks,
    /// The time from which the next command of the die may be issued. It is not after `done`.
    pub next: Ticks,
    /// Begin and end of two waits: for the cells, and for the cache register, which an earlier command uses.
    pub waited: [(Ticks, Ticks); 2],
}

impl Media {
    /// Carries out `command`, issued at `now`, with the cache register of its plane. If a command of this kind uses
    /// no cache register, the method does nothing and returns `None`.
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
            let next = begins.saturating_add(time);
            let moves = next.max(free);
            let moved = moves.saturating_add(busy);
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
        let next = moves.saturating_add(busy);
        let done = next.saturating_add(time);
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

    /// If planes have cache registers, notes that the cache register of this plane is in use until `until`.
    pub(super) fn note_left(&mut self, die: u32, plane: u32, until: Ticks) {
        if self.config.registers.is_some() {
            let index = self.plane_index(die, plane);
            self.cache_free[index] = until;
        }
    }
}
