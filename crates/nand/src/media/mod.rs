//! The end times of flash commands, for dies that share channels. When a command is issued, its phases are booked on
//! channels, dies and registers.
//!
//! The caller passes a command with the time of its issue, and the call returns the end of the command. A returned
//! end is final, so the caller has to pass commands in the order of their issue. There is one exception: if reads
//! interrupt a program or an erase, its end moves, and [`Media::change_done`] returns the new end.
//!
//! | resource | occupied by |
//! | --- | --- |
//! | channel (`bus`) | command and address, data of one page, status; each of these phases has a fixed length |
//! | array of a die | a read, program or erase, while the cells work |
//! | cache register of a plane ([`Registers`]) | a page that was read, until its data have been sent to the controller; a page to be programmed, until the cells begin to program it |
//!
//! The rules are those of the media layer of FEMU, whose code and examples are public (docs/SPEC.md, "Shared
//! channels").

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

/// Lengths, in ticks, of the channel phases that have the same length for every command. A phase of length 0 does not
/// use the channel.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct BusTimes {
    /// Ticks of command and address.
    pub command: Ticks,
    /// Ticks of the status.
    pub status: Ticks,
}

/// Pauses on the channel between the planes of a command on several planes, in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PlaneGaps {
    /// Ticks for a read.
    pub read: Ticks,
    /// Ticks for a program.
    pub program: Ticks,
    /// Ticks for an erase.
    pub erase: Ticks,
}

/// How reads interrupt a program or an erase.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Suspend {
    /// Ticks from the stop of the cells to the start of the read.
    pub cost: Ticks,
    /// The largest number of interruptions of one program or erase; further reads wait for its end.
    pub limit: u32,
    /// Length of a pulse, in ticks. The cells work in pulses, and stop only between two pulses. Pulse boundaries are
    /// counted back from the end of the program or erase. 0 means that the cells can stop at any time.
    pub pulse: Ticks,
    /// A program is not interrupted if at most this many ticks of its work would be left when the cells stop.
    pub tail: Ticks,
    /// Whether interruptions move the end of a program or erase ([`Media::change_done`]). If not, the end returned at
    /// the issue stays valid, and interruptions only lengthen the time for which the array is in use.
    pub moves_end: bool,
}

/// The structure and the features of the media.
#[derive(Clone, Debug)]
pub struct MediaConfig {
    /// Number of channels.
    pub channels: u32,
    /// Number of dies on a channel.
    pub dies_per_channel: u32,
    /// Number of planes of a die.
    pub planes: u32,
    /// Times of the cells.
    pub cells: Cells,
    /// Lengths of the phases on the channel; if `None`, command, data and status need no time.
    pub bus: Option<BusTimes>,
    /// How a read on one plane interrupts a program or an erase; `None` if reads do not interrupt.
    pub suspend: Option<Suspend>,
    /// The cache registers of the planes; `None` if planes have none. Cache registers need `bus`.
    pub registers: Option<Registers>,
}

/// A command on one plane.
#[derive(Clone, Copy, Debug)]
pub struct Command {
    /// The kind of operation.
    pub kind: Kind,
    /// The die. Dies are numbered channel by channel.
    pub die: u32,
    /// Plane of the die.
    pub plane: u32,
    /// Type of the page: which bit of its cells the page stores, from 0. The type has no meaning for an erase.
    pub page_type: u32,
    /// Ticks for which the data of the command occupy the channel. `None` if the command is the read or the program
    /// of a copy inside its die, which does not use the channel.
    pub data: Option<Ticks>,
}

/// The occupation of the cell array of a die: until when the array is busy, and with which operations.
#[derive(Clone, Copy, Default)]
struct Array {
    busy_until: Ticks,
    /// End of the cells' work on the last program or erase.
    change_ends: Ticks,
    /// Whether the last program or erase is a program.
    is_program: bool,
    /// End of the cells' work on the last read.
    read_ends: Ticks,
    /// The end of the last program or erase; for an erase, the end of its status.
    change_done: Ticks,
    /// Begin and end of the status of the last erase.
    status: (Ticks, Ticks),
    /// How often the last program or erase was interrupted.
    interruptions: u32,
    /// The time from which reads may interrupt the last program or erase: before, the cells work on an earlier
    /// operation. 0 if reads may interrupt at any time. Used only with cache registers.
    change_begins: Ticks,
}

impl Array {
    /// Ticks from `ready` to the end of the pulse in progress. `ready` is before the end of the last program or
    /// erase.
    fn pulse_left(&self, ready: Ticks, suspend: &Suspend) -> Ticks {
        let left = self.change_ends - ready;
        left.checked_rem(suspend.pulse).unwrap_or(0)
    }

    /// Whether a read whose command has arrived at `ready` can stop the cells. `ready` is before the end of the last
    /// program or erase.
    fn stops(&self, ready: Ticks, suspend: &Suspend) -> bool {
        let behind = self.change_ends - ready - self.pulse_left(ready, suspend);
        behind > if self.is_program { suspend.tail } else { 0 }
    }
}

/// The channels and dies with their bookings. See the [module](self).
#[derive(Clone)]
pub struct Media {
    config: MediaConfig,
    channels: Vec<Channel>,
    dies: Vec<Array>,
    /// For each plane, the time from which its cache register is free. The planes are listed die by die.
    cache_free: Vec<Ticks>,
}

impl Media {
    /// Media on which nothing is in progress.
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

    /// The time from which the cells of `die` are free, after all commands so far.
    #[must_use]
    pub fn free_from(&self, die: u32) -> Ticks {
        self.dies[die as usize].busy_until
    }

    /// The end of the last program or erase of `die`, with all interruptions so far.
    #[must_use]
    pub fn change_done(&self, die: u32) -> Ticks {
        self.dies[die as usize].change_done
    }

    /// Whether a read of `die` issued at `now` would interrupt a program or an erase, if the channel were free at
    /// `now`.
    #[must_use]
    pub fn takes_read(&self, now: Ticks, die: u32) -> bool {
        let command = self.config.bus.map_or(0, |bus| bus.command);
        let ready = now.saturating_add(command);
        self.interruption(die, ready).is_some()
    }

    /// Carries out `command`, issued at `now`. Returns its end: the time at which the controller has the data and the
    /// status of a read, or at which the program or erase is done.
    pub fn operate(&mut self, now: Ticks, command: &Command) -> Ticks {
        match command.kind {
            Kind::Read => self.read(now, command, true),
            Kind::Program | Kind::Erase => self.change(now, command),
        }
    }

    /// Carries out the read `command`, issued at `now`, after all earlier commands of the die: the read interrupts
    /// none of them. Returns the end of the read.
    pub fn read_behind(&mut self, now: Ticks, command: &Command) -> Ticks {
        self.read(now, command, false)
    }

    /// Transfers the data of a page to `plane` of `die`, from `now` on; a later command programs the page. Returns
    /// the time at which the data have arrived.
    pub fn load(&mut self, now: Ticks, die: u32, plane: u32, data: Ticks) -> Ticks {
        let command = self.config.bus.map_or(0, |bus| bus.command);
        let ready = self.hold(die, now, now, command);
        let free = self.cache_free[self.plane_index(die, plane)];
        self.hold(die, now, ready.max(free), data)
    }

    /// Carries out a read and returns its end. `interrupts` says whether the read may interrupt a program or an
    /// erase.
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
        let end = start.saturating_add(time);
        if interrupts.is_none() {
            self.dies[die as usize].busy_until = end;
            self.note_end(die, Kind::Read, end);
        }
        let leaves = end.max(self.cache_free[self.plane_index(die, plane)]);
        let left = self.book(die, now, leaves, data);
        self.note_left(die, plane, left);
        self.book(die, now, left, bus.status)
    }

    /// Carries out a program or an erase and returns its end.
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
        let end = ready.max(busy).saturating_add(time);
        self.dies[die as usize].busy_until = end;
        self.note_end(die, command.kind, end);
        // No operation waits for the status of a program; an erase is done only after its status.
        let done = match command.kind {
            Kind::Program => end,
            Kind::Read | Kind::Erase => self.book(die, now, end, bus.status),
        };
        let array = &mut self.dies[die as usize];
        // A read may interrupt this program or erase while its data arrive, but not while the cells still work on an
        // earlier operation.
        array.change_begins = if busy > ready { busy } else { 0 };
        array.change_done = done;
        array.status = (end.max(done.saturating_sub(bus.status)), done);
        done
    }

    /// How a read whose command has arrived at `ready` interrupts the program or erase of `die`; `None` if the read
    /// does not interrupt.
    fn interruption(&self, die: u32, ready: Ticks) -> Option<Suspend> {
        let array = &self.dies[die as usize];
        // The cells work on the program or erase, and no operation waits behind it.
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

    /// Lets a read interrupt the program or erase of `die`, and returns the start of the read. The read was issued at
    /// `issued`, its command has arrived at `ready`, and the cells read for `time` ticks.
    fn interrupt(
        &mut self,
        die: u32,
        (issued, ready): (Ticks, Ticks),
        time: Ticks,
        suspend: Suspend,
    ) -> Ticks {
        let array = &mut self.dies[die as usize];
        let (start, shift) = if array.read_ends > ready {
            // The program or erase is interrupted already. The read follows the reads that run during this
            // interruption.
            (array.read_ends, time)
        } else {
            array.interruptions += 1;
            let waits = array.pulse_left(ready, &suspend) + suspend.cost;
            (ready.saturating_add(waits), time + suspend.cost)
        };
        array.change_ends = array.change_ends.saturating_add(shift);
        array.read_ends = start.saturating_add(time);
        array.busy_until = array.busy_until.saturating_add(shift);
        if suspend.moves_end {
            self.move_end(die, issued);
        }
        start
    }

    /// Moves the end of the last program or erase of `die`, and moves its status to the new end.
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

    /// The phases of `command` on the channel. All phases have length 0 if the channel is not modelled, or if the
    /// command does not use the channel.
    fn on_bus(&self, command: &Command) -> (BusTimes, Ticks) {
        self.config.bus.zip(command.data).unwrap_or_default()
    }

    fn channel_of(&self, die: u32) -> usize {
        (die / self.config.dies_per_channel) as usize
    }

    /// Adds a channel phase that runs as soon as possible; returns its end.
    fn hold(&mut self, die: u32, issued: Ticks, earliest: Ticks, length: Ticks) -> Ticks {
        let channel = self.channel_of(die);
        self.channels[channel].hold(issued, earliest, length)
    }

    /// Books a channel phase for later; returns its end.
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
