//! When flash commands of dies that share channels are done: phases on resources, booked when a command is issued.
//!
//! A pure function of its timelines: a command is given with the time of its issue and is answered at once with its
//! end. Nothing is revised later, so commands are to come in the order of their issue.
//!
//! | resource | held by |
//! | --- | --- |
//! | channel (`bus`) | command and address, one page of data, status; each a phase of fixed length |
//! | array of a die | the cells' part of a read, program or erase |
//! | cache register of a plane ([`Registers`]) | a page that was read, until its data have left; pages to be programmed together, until the cells take them |
//!
//! The rules are those of FEMU's media layer, which is public and has published examples (docs/SPEC.md, "Shared channels").

mod bus;
mod cells;
pub mod dispatch;
mod registers;

use alloc::vec;
use alloc::vec::Vec;

use destage_base::Ticks;

use self::bus::Channel;
pub use self::cells::Cells;
pub use self::registers::{Cached, Registers};
use crate::operation::Kind;

/// Lengths of the phases on a channel whose length does not depend on the command, in ticks. A phase of length 0 takes no
/// part.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct BusTimes {
    /// Command and address.
    pub command: Ticks,
    /// Status.
    pub status: Ticks,
}

/// Pauses between the planes of a command on several, in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PlaneGaps {
    /// Of a read.
    pub read: Ticks,
    /// Of a program.
    pub program: Ticks,
    /// Of an erase.
    pub erase: Ticks,
}

/// How a program or an erase is interrupted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Suspend {
    /// Ticks it takes.
    pub cost: Ticks,
    /// Most interruptions of one program or erase; further reads wait for its end.
    pub limit: u32,
    /// Cells work in pulses of this many ticks, counted back from the end of the program or erase, and stop only between two of them; 0: they stop at
    /// any time.
    pub pulse: Ticks,
    /// A program that has no more than this left is not interrupted.
    pub tail: Ticks,
    /// [`Media::change_done`] moves by the time of the interruptions; otherwise the answer given at the issue stands, and only the array is in use
    /// for longer.
    pub moves_end: bool,
}

/// The structure of the media, and their abilities.
#[derive(Clone, Debug)]
pub struct MediaConfig {
    /// Channels.
    pub channels: u32,
    /// Dies of a channel.
    pub dies_per_channel: u32,
    /// Planes of a die.
    pub planes: u32,
    /// Times of the cells.
    pub cells: Cells,
    /// Phases on the channel; without them data take no time.
    pub bus: Option<BusTimes>,
    /// A read of one plane interrupts a program or an erase.
    pub suspend: Option<Suspend>,
    /// A plane has a cache register. Needs `bus`.
    pub registers: Option<Registers>,
}

/// A command on one plane.
#[derive(Clone, Copy, Debug)]
pub struct Command {
    /// What it does.
    pub kind: Kind,
    /// The die, counted through the dies of a channel, then the channels.
    pub die: u32,
    /// Plane of the die.
    pub plane: u32,
    /// Type of the page within its cell, from 0; of no meaning for erases.
    pub page_type: u32,
    /// Ticks for which its data are on the channel; `None` if the command is half of a copy inside its die,
    /// of which nothing is on the channel.
    pub data: Option<Ticks>,
}

/// Until when the array of a die is in use, and by which operation.
#[derive(Clone, Copy, Default)]
struct Array {
    busy_until: Ticks,
    /// End of the last program or erase.
    change_ends: Ticks,
    /// Whether that is a program.
    is_program: bool,
    /// End of the last read.
    read_ends: Ticks,
    /// When the last program or erase is done.
    change_done: Ticks,
    /// The status of the last erase, where it was booked.
    status: (Ticks, Ticks),
    /// How often the last program or erase was interrupted.
    interruptions: u32,
    /// With cache registers: before, the cells do not work on the last program or erase.
    change_begins: Ticks,
}

impl Array {
    /// The rest of the pulse under way at `ready`, before the end of the last program or erase.
    fn pulse_left(&self, ready: Ticks, suspend: &Suspend) -> Ticks {
        let left = self.change_ends - ready;
        left.checked_rem(suspend.pulse).unwrap_or(0)
    }

    /// Whether the cells can be stopped by a read that is ready at `ready`, before the end of the last program or erase.
    fn stops(&self, ready: Ticks, suspend: &Suspend) -> bool {
        let behind = self.change_ends - ready - self.pulse_left(ready, suspend);
        behind > if self.is_program { suspend.tail } else { 0 }
    }
}

/// The timelines. See the [module](self).
#[derive(Clone)]
pub struct Media {
    config: MediaConfig,
    channels: Vec<Channel>,
    dies: Vec<Array>,
    /// When the cache register of each plane is free, die by die.
    cache_free: Vec<Ticks>,
}

impl Media {
    /// Idle media.
    #[must_use]
    pub fn new(config: MediaConfig) -> Self {
        let dies = (config.channels * config.dies_per_channel) as usize;
        Self {
            channels: vec![Channel::default(); config.channels as usize],
            dies: vec![Array::default(); dies],
            cache_free: vec![0; dies * config.planes as usize],
            config,
        }
    }

    /// When the cells of `die` are free, as far as is known.
    #[must_use]
    pub fn free_from(&self, die: u32) -> Ticks {
        self.dies[die as usize].busy_until
    }

    /// When the last program or erase of `die` is done, after the interruptions so far.
    #[must_use]
    pub fn change_done(&self, die: u32) -> Ticks {
        self.dies[die as usize].change_done
    }

    /// Whether a read issued at `now` would interrupt a program or an erase, as far as the channel lets it.
    #[must_use]
    pub fn takes_read(&self, now: Ticks, die: u32) -> bool {
        let ready = now + self.config.bus.map_or(0, |bus| bus.command);
        self.interruption(die, ready).is_some()
    }

    /// Carries out `command`, issued at `now`; when it is over: the host has its data, or the change is done.
    pub fn operate(&mut self, now: Ticks, command: &Command) -> Ticks {
        match command.kind {
            Kind::Read => self.read(now, command, true),
            Kind::Program | Kind::Erase => self.change(now, command),
        }
    }

    /// Carries out the read `command`, issued at `now`, behind everything that the die has begun.
    pub fn read_behind(&mut self, now: Ticks, command: &Command) -> Ticks {
        self.read(now, command, false)
    }

    /// Data of a page for which a later command programs the cells come to `plane` of `die`, from `now` on; when they are
    /// there.
    pub fn load(&mut self, now: Ticks, die: u32, plane: u32, data: Ticks) -> Ticks {
        let command = self.config.bus.map_or(0, |bus| bus.command);
        let ready = self.hold(die, now, now, command);
        let free = self.cache_free[self.plane_index(die, plane)];
        self.hold(die, now, ready.max(free), data)
    }

    /// A read; whether it may interrupt.
    fn read(&mut self, now: Ticks, command: &Command, interrupts: bool) -> Ticks {
        let (die, plane) = (command.die, command.plane);
        let time = self.config.cells.read(command.page_type);
        let (bus, data) = self.on_bus(command);
        let ready = self.hold(die, now, now, bus.command);
        let interrupts = self.interruption(die, ready).filter(|_| interrupts);
        let start = match interrupts {
            Some(suspend) => self.interrupt(die, (now, ready), time, suspend),
            None => ready.max(self.free_from(die)),
        };
        let end = start + time;
        if interrupts.is_none() {
            self.dies[die as usize].busy_until = end;
            self.note_end(die, Kind::Read, end);
        }
        let leaves = end.max(self.cache_free[self.plane_index(die, plane)]);
        let left = self.book(die, now, leaves, data);
        self.note_left(die, plane, left);
        self.book(die, now, left, bus.status)
    }

    /// A program or an erase.
    fn change(&mut self, now: Ticks, command: &Command) -> Ticks {
        let (die, plane) = (command.die, command.plane);
        let (bus, data) = self.on_bus(command);
        let mut ready = self.hold(die, now, now, bus.command);
        let cells = &self.config.cells;
        let time = match command.kind {
            Kind::Program => cells.program(command.page_type),
            Kind::Read | Kind::Erase => cells.erase,
        };
        if command.kind == Kind::Program {
            ready = ready.max(self.cache_free[self.plane_index(die, plane)]);
            ready = self.hold(die, now, ready, data);
        }
        let busy = self.free_from(die);
        let end = ready.max(busy) + time;
        self.dies[die as usize].busy_until = end;
        self.note_end(die, command.kind, end);
        // No operation waits for the status of a program; an erase ends with it.
        let done = match command.kind {
            Kind::Program => end,
            Kind::Read | Kind::Erase => self.book(die, now, end, bus.status),
        };
        let array = &mut self.dies[die as usize];
        // It may be interrupted while its data arrive, but not while the cells work on another operation.
        array.change_begins = if busy > ready { busy } else { 0 };
        array.change_done = done;
        array.status = (end.max(done.saturating_sub(bus.status)), done);
        done
    }

    /// How a read that is ready at `ready` interrupts the work of `die`, if it does.
    fn interruption(&self, die: u32, ready: Ticks) -> Option<Suspend> {
        let array = &self.dies[die as usize];
        // The cells work on it, and nothing waits behind it.
        let is_alone = self.config.registers.is_none()
            || (array.change_begins <= ready && array.change_ends == array.busy_until);
        self.config.suspend.filter(|suspend| {
            is_alone
                && ready < array.busy_until
                && ready < array.change_ends
                && (array.read_ends > ready
                    || (array.interruptions < suspend.limit && array.stops(ready, suspend)))
        })
    }

    /// Puts a read of `time`, issued and ready at `(issued, ready)`, before the end of the program or erase of `die`; its
    /// start.
    fn interrupt(
        &mut self,
        die: u32,
        (issued, ready): (Ticks, Ticks),
        time: Ticks,
        suspend: Suspend,
    ) -> Ticks {
        let array = &mut self.dies[die as usize];
        let (start, shift) = if array.read_ends > ready {
            // It joins the reads of a suspension under way.
            (array.read_ends, time)
        } else {
            array.interruptions += 1;
            let stopped = ready + array.pulse_left(ready, &suspend) + suspend.cost;
            (stopped, time + suspend.cost)
        };
        array.change_ends += shift;
        array.read_ends = start + time;
        array.busy_until += shift;
        if suspend.moves_end {
            self.move_end(die, issued);
        }
        start
    }

    /// The last program or erase of `die` ends later: so does its status.
    fn move_end(&mut self, die: u32, issued: Ticks) {
        let Array {
            change_ends,
            status: (begin, end),
            ..
        } = self.dies[die as usize];
        let channel = self.channel_of(die);
        self.channels[channel].cancel(begin, end);
        let done = self.book(die, issued, change_ends, end - begin);
        let array = &mut self.dies[die as usize];
        array.change_done = done;
        array.status = (done - (end - begin), done);
    }

    /// The phases of `command` on the channel; of length 0 if it is not modelled.
    fn on_bus(&self, command: &Command) -> (BusTimes, Ticks) {
        self.config.bus.zip(command.data).unwrap_or_default()
    }

    fn channel_of(&self, die: u32) -> usize {
        (die / self.config.dies_per_channel) as usize
    }

    /// A phase that runs as soon as it can; its end.
    fn hold(&mut self, die: u32, issued: Ticks, earliest: Ticks, length: Ticks) -> Ticks {
        let channel = self.channel_of(die);
        self.channels[channel].hold(issued, earliest, length)
    }

    /// A phase booked for later; its end.
    fn book(&mut self, die: u32, issued: Ticks, earliest: Ticks, length: Ticks) -> Ticks {
        let channel = self.channel_of(die);
        self.channels[channel].book(issued, earliest, length)
    }

    fn plane_index(&self, die: u32, plane: u32) -> usize {
        (die * self.config.planes + plane) as usize
    }

    fn note_end(&mut self, die: u32, kind: Kind, end: Ticks) {
        let array = &mut self.dies[die as usize];
        if kind == Kind::Read {
            array.read_ends = end.max(array.read_ends);
        } else {
            array.change_ends = end.max(array.change_ends);
            array.is_program = kind == Kind::Program;
            array.interruptions = 0;
        }
    }
}
