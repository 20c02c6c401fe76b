//! When flash commands of dies that share channels are done: phases on resources, booked when a command is issued.
//!
//! A pure function of its timelines: a command is given with the time of its issue and is answered at once with its
//! end. Nothing is revised later, so commands are to come in the order of their issue.
//!
//! | resource | held by |
//! | --- | --- |
//! | channel ([`bus`]) | command and address, one page of data, status; each a phase of fixed length |
//! | array of a die, or of each plane ([`Gate`]) | the cells' part of a read, program or erase |
//! | register of a die | with FEMU's cache read: the page that was read, until its data have left |
//! | cache register of a plane ([`Registers`]) | a page that was read, until its data have left; pages to be programmed together, until the cells take them |
//!
//! The rules are those of FEMU's media layer, which is public and has published examples (docs/SPEC.md, "Shared channels").

pub mod bus;
mod cells;
pub mod dispatch;
mod registers;

use alloc::vec;
use alloc::vec::Vec;

use destage_base::Ticks;

use self::bus::Channel;
pub use self::cells::{Cells, Tiers};
pub use self::registers::{Cached, Registers};
use crate::operation::Kind;

/// What of a die one command at a time may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gate {
    /// The whole die.
    Die,
    /// Each plane by itself.
    Plane,
    /// The die and the plane: as the die, and a plane also waits for its own.
    Both,
}

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
    /// One program or erase is interrupted so often; further reads wait for its end.
    pub limit: u32,
    /// [`Media::change_done`] moves by what the interruptions take; else the answer given at the issue stands, and only
    /// the array is in use for longer.
    pub moves_end: bool,
}

/// What the media are, and what they can do.
#[derive(Clone, Debug)]
pub struct MediaConfig {
    /// Channels.
    pub channels: u32,
    /// Dies of a channel.
    pub dies_per_channel: u32,
    /// Planes of a die.
    pub planes: u32,
    /// What an array phase needs.
    pub gate: Gate,
    /// Times of the cells.
    pub cells: Cells,
    /// Phases on the channel; without them data take no time.
    pub bus: Option<BusTimes>,
    /// A read of one plane interrupts a program or an erase.
    pub suspend: Option<Suspend>,
    /// Pauses of commands on several planes.
    pub gaps: PlaneGaps,
    /// A die may read the next page so long after the start of a read, while the page that was read leaves the
    /// register; 0 stands for the time of the read. Needs `bus`.
    pub cache_read: Option<Ticks>,
    /// A plane has a cache register. Needs `bus`, and the gate of a die.
    pub registers: Option<Registers>,
}

/// Where a command goes: a plane and how often its block was erased.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Target {
    /// Plane of the die.
    pub plane: u32,
    /// Erases of the block.
    pub erases: u32,
}

/// A command.
#[derive(Clone, Copy, Debug)]
pub struct Command<'a> {
    /// What it does.
    pub kind: Kind,
    /// The die, counted through the dies of a channel, then the channels.
    pub die: u32,
    /// One plane or several, ascending.
    pub targets: &'a [Target],
    /// Type of the page within its cell, from 0; of no meaning for erases.
    pub page_type: u32,
    /// Seconds since the page was written, for reads.
    pub age_s: u64,
    /// Ticks for which the data of one plane are on the channel; none if the command is half of a copy inside its die,
    /// of which nothing is on the channel.
    pub data: Option<Ticks>,
}

/// Copyback: a page goes from one place to another of a channel, and does not cross it.
#[derive(Clone, Copy, Debug)]
pub struct Copyback {
    /// Die and place that are read.
    pub from: (u32, Target),
    /// Die and place that are programmed.
    pub to: (u32, Target),
    /// Type of both pages within their cells.
    pub page_type: u32,
    /// Seconds since the page was written.
    pub age_s: u64,
}

/// When a command is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answer {
    /// The host has its data, or the change is done.
    pub done: Ticks,
    /// The array of the (first, destination) place is free.
    pub array_free: Ticks,
}

/// Until when an array is in use, and by what.
#[derive(Clone, Copy, Default)]
struct Array {
    busy_until: Ticks,
    /// End of the last program or erase.
    change_ends: Ticks,
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

/// The timelines. See the [module](self).
#[derive(Clone)]
pub struct Media {
    config: MediaConfig,
    channels: Vec<Channel>,
    dies: Vec<Array>,
    /// Die by die.
    planes: Vec<Array>,
    /// When the register of each die is free.
    register_free: Vec<Ticks>,
    /// The same of the cache register of each plane.
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
            planes: vec![Array::default(); dies * config.planes as usize],
            register_free: vec![0; dies],
            cache_free: vec![0; dies * config.planes as usize],
            config,
        }
    }

    /// Until when the channel of `die` is held; later phases may be booked on it before that.
    #[must_use]
    pub fn channel_held_until(&self, die: u32) -> Ticks {
        self.channels[self.channel_of(die)].held_until()
    }

    /// When the cells of this place are free, as far as is known.
    #[must_use]
    pub fn free_from(&self, die: u32, plane: u32) -> Ticks {
        self.busy_until(die, plane)
    }

    /// When the last program or erase of one plane is done, after the interruptions so far.
    #[must_use]
    pub fn change_done(&self, die: u32, plane: u32) -> Ticks {
        self.watched(die, plane).change_done
    }

    /// Whether a read issued at `now` would interrupt a program or an erase, as far as the channel lets it.
    #[must_use]
    pub fn takes_read(&self, now: Ticks, die: u32, plane: u32) -> bool {
        let ready = now + self.config.bus.map_or(0, |bus| bus.command);
        self.interruption(die, plane, ready).is_some()
    }

    /// Carries out `command`, issued at `now`.
    pub fn operate(&mut self, now: Ticks, command: &Command<'_>) -> Answer {
        match command.targets {
            [target] => match command.kind {
                Kind::Read => self.read(now, command, *target, true),
                Kind::Program | Kind::Erase => self.change(now, command, *target),
            },
            _ => self.on_planes(now, command),
        }
    }

    /// Carries out the read `command` of one plane, issued at `now`, behind everything that the die has begun.
    pub fn read_behind(&mut self, now: Ticks, command: &Command<'_>, target: Target) -> Answer {
        self.read(now, command, target, false)
    }

    /// Data of a page for which a later command programs the cells come to `plane` of `die`, from `now` on; when they are
    /// there.
    pub fn load(&mut self, now: Ticks, die: u32, plane: u32, data: Ticks) -> Ticks {
        let command = self.config.bus.map_or(0, |bus| bus.command);
        let ready = self.hold(die, now, now, command);
        let free = self.cache_free[self.plane_index(die, plane)];
        self.hold(die, now, ready.max(free), data)
    }

    /// Carries out `copy`, issued at `now`. It has no phase on the channel, and interrupts nothing.
    pub fn copy_back(&mut self, now: Ticks, copy: &Copyback) -> Answer {
        let (cells, page_type) = (&self.config.cells, copy.page_type);
        let read = cells.read(page_type, copy.from.1.erases, copy.age_s);
        let program = cells.program(page_type);
        let mut end = now;
        for ((die, target), time) in [(copy.from, read), (copy.to, program)] {
            end = end.max(self.busy_until(die, target.plane)) + time;
            self.occupy(die, target.plane, end);
            // Both halves count as a change, which a read may interrupt.
            self.note_end(die, target.plane, Kind::Program, end);
        }
        let (die, target) = copy.to;
        Answer {
            done: end,
            array_free: self.busy_until(die, target.plane),
        }
    }

    /// A read of one plane; whether it may interrupt.
    fn read(
        &mut self,
        now: Ticks,
        command: &Command<'_>,
        target: Target,
        interrupts: bool,
    ) -> Answer {
        let (die, plane) = (command.die, target.plane);
        let time = self
            .config
            .cells
            .read(command.page_type, target.erases, command.age_s);
        let (bus, data) = self.on_bus(command);
        let ready = self.hold(die, now, now, bus.command);
        let interrupts = self.interruption(die, plane, ready).filter(|_| interrupts);
        let start = match interrupts {
            Some(suspend) => self.interrupt(die, plane, (now, ready), time, suspend),
            None => ready.max(self.busy_until(die, plane)),
        };
        let end = start + time;
        if interrupts.is_none() {
            self.occupy(die, plane, end);
            self.note_end(die, plane, Kind::Read, end);
            if let (Some(early), Some(_)) = (self.config.cache_read, self.config.bus) {
                let early = if early == 0 { time } else { early };
                self.dies[die as usize].busy_until = start + early;
            }
        }
        let mut leaves = end;
        let caches = self.config.cache_read.is_some() && self.config.bus.is_some();
        if caches {
            leaves = leaves.max(self.register_free[die as usize]);
        }
        leaves = leaves.max(self.cache_free[self.plane_index(die, plane)]);
        let left = self.book(die, now, leaves, data);
        self.note_left(die, plane, left);
        if caches {
            self.register_free[die as usize] = left;
        }
        Answer {
            done: self.book(die, now, left, bus.status),
            array_free: self.busy_until(die, plane),
        }
    }

    /// A program or an erase of one plane.
    fn change(&mut self, now: Ticks, command: &Command<'_>, target: Target) -> Answer {
        let (die, plane) = (command.die, target.plane);
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
        let busy = self.busy_until(die, plane);
        let end = ready.max(busy) + time;
        self.occupy(die, plane, end);
        self.note_end(die, plane, command.kind, end);
        // It may be interrupted while its data come, but not while the cells work on something else.
        self.note_begin(die, plane, if busy > ready { busy } else { 0 });
        // Nobody waits for the status of a program; an erase ends with it.
        let done = match command.kind {
            Kind::Program => end,
            Kind::Read | Kind::Erase => self.book(die, now, end, bus.status),
        };
        let array = self.watched_mut(die, plane);
        array.change_done = done;
        array.status = (end.max(done.saturating_sub(bus.status)), done);
        Answer {
            done,
            array_free: self.busy_until(die, plane),
        }
    }

    /// A command on several planes: one array phase for all.
    fn on_planes(&mut self, now: Ticks, command: &Command<'_>) -> Answer {
        let die = command.die;
        let (bus, data) = self.on_bus(command);
        let gaps = &self.config.gaps;
        let gap = match command.kind {
            Kind::Read => gaps.read,
            Kind::Program => gaps.program,
            Kind::Erase => gaps.erase,
        };
        let mut ready = now;
        for index in 0..command.targets.len() {
            if index > 0 {
                ready += gap;
            }
            ready = self.hold(die, now, ready, bus.command);
            if command.kind == Kind::Program {
                ready = self.hold(die, now, ready, data);
            }
        }
        let cells = &self.config.cells;
        let times = command.targets.iter().map(|target| match command.kind {
            Kind::Read => cells.read(command.page_type, target.erases, command.age_s),
            Kind::Program => cells.program(command.page_type),
            Kind::Erase => cells.erase,
        });
        let time = times.max().unwrap_or(0);
        let busy = command.targets.iter();
        let busy = busy.map(|target| self.busy_until(die, target.plane)).max();
        let end = ready.max(busy.unwrap_or(0)) + time;
        for target in command.targets {
            self.occupy(die, target.plane, end);
            self.note_end(die, target.plane, command.kind, end);
        }
        let mut done = self.book(die, now, end, bus.status);
        if command.kind == Kind::Read {
            for _ in command.targets {
                done = self.book(die, now, done, bus.command);
                done = self.book(die, now, done, data);
            }
        }
        let first = command.targets.first().map_or(0, |target| target.plane);
        Answer {
            done,
            array_free: self.busy_until(die, first),
        }
    }

    /// How a read that is ready at `ready` interrupts what this place does, if it does.
    fn interruption(&self, die: u32, plane: u32, ready: Ticks) -> Option<Suspend> {
        let watched = self.watched(die, plane);
        let busy_until = self.busy_until(die, plane);
        // The cells work on it, and nothing waits behind it.
        let is_alone = self.config.registers.is_none()
            || (watched.change_begins <= ready && watched.change_ends == busy_until);
        self.config.suspend.filter(|suspend| {
            is_alone
                && ready < busy_until
                && ready < watched.change_ends
                && (watched.read_ends > ready || watched.interruptions < suspend.limit)
        })
    }

    /// Puts a read of `time`, issued and ready at `(issued, ready)`, before the end of the program or erase of this
    /// place; its start.
    fn interrupt(
        &mut self,
        die: u32,
        plane: u32,
        (issued, ready): (Ticks, Ticks),
        time: Ticks,
        suspend: Suspend,
    ) -> Ticks {
        let watched = self.watched_mut(die, plane);
        let (start, shift) = if watched.read_ends > ready {
            // It joins the reads of a suspension under way.
            (watched.read_ends, time)
        } else {
            watched.interruptions += 1;
            (ready + suspend.cost, time + suspend.cost)
        };
        watched.change_ends += shift;
        watched.read_ends = start + time;
        for array in self.gated_mut(die, plane) {
            if array.busy_until > ready {
                array.busy_until += shift;
            }
        }
        if suspend.moves_end {
            self.move_end(die, plane, issued);
        }
        start
    }

    /// The last program or erase of this place ends later: so does its status.
    fn move_end(&mut self, die: u32, plane: u32, issued: Ticks) {
        let Array {
            change_ends,
            status: (begin, end),
            ..
        } = *self.watched(die, plane);
        let channel = self.channel_of(die);
        self.channels[channel].cancel(begin, end);
        let done = self.book(die, issued, change_ends, end - begin);
        let array = self.watched_mut(die, plane);
        array.change_done = done;
        array.status = (done - (end - begin), done);
    }

    /// The phases of `command` on the channel; of length 0 if it is not modelled.
    fn on_bus(&self, command: &Command<'_>) -> (BusTimes, Ticks) {
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

    /// The arrays that a phase at this place needs.
    fn gated_mut(&mut self, die: u32, plane: u32) -> impl Iterator<Item = &mut Array> {
        let plane = self.plane_index(die, plane);
        let gate = self.config.gate;
        let die = (gate != Gate::Plane).then_some(&mut self.dies[die as usize]);
        let plane = (gate != Gate::Die).then_some(&mut self.planes[plane]);
        die.into_iter().chain(plane)
    }

    /// Until when they are busy.
    fn busy_until(&self, die: u32, plane: u32) -> Ticks {
        let of_die = self.dies[die as usize].busy_until;
        let of_plane = self.planes[self.plane_index(die, plane)].busy_until;
        match self.config.gate {
            Gate::Die => of_die,
            Gate::Plane => of_plane,
            Gate::Both => of_die.max(of_plane),
        }
    }

    fn occupy(&mut self, die: u32, plane: u32, until: Ticks) {
        for array in self.gated_mut(die, plane) {
            array.busy_until = until;
        }
    }

    /// The array whose last read and change decide about interruptions.
    fn watched(&self, die: u32, plane: u32) -> &Array {
        match self.config.gate {
            Gate::Plane => &self.planes[self.plane_index(die, plane)],
            Gate::Die | Gate::Both => &self.dies[die as usize],
        }
    }

    fn watched_mut(&mut self, die: u32, plane: u32) -> &mut Array {
        let index = self.plane_index(die, plane);
        match self.config.gate {
            Gate::Plane => &mut self.planes[index],
            Gate::Die | Gate::Both => &mut self.dies[die as usize],
        }
    }

    fn note_end(&mut self, die: u32, plane: u32, kind: Kind, end: Ticks) {
        let array = self.watched_mut(die, plane);
        if kind == Kind::Read {
            array.read_ends = end.max(array.read_ends);
        } else {
            array.change_ends = end.max(array.change_ends);
            array.interruptions = 0;
        }
    }
}
