//! A model of FEMU's media layer: operations on dies that share channels. When an operation is issued, the model
//! computes the end of this operation.
//!
//! The simulator's own dispatcher has other rules. This model has all rules of FEMU: gates by die and by plane,
//! groups of planes, copies within a channel, cache reads, worn and aged cells. The file `femu-media.md` in the
//! folder of the table describes these rules.

use destage_base::Ticks;
use destage_nand::Kind;
use destage_nand::media::{BusTimes, PlaneGaps};

/// The most windows that can be booked on a channel at a time. If so many are booked, a further phase holds the
/// channel until its end instead of booking a window.
const MOST_BOOKED: usize = 32;

/// One channel. Commands must be issued in the order of their times.
#[derive(Clone, Default)]
pub struct Channel {
    held_until: Ticks,
    /// Begin and end of each booked window. The windows are in ascending order and do not overlap.
    booked: Vec<(Ticks, Ticks)>,
}

impl Channel {
    /// The time before which no phase can begin.
    #[must_use]
    pub fn held_until(&self) -> Ticks {
        self.held_until
    }

    /// The first start for a phase of `length`, not before `earliest`, for a command issued at `issued`.
    fn place(&mut self, issued: Ticks, earliest: Ticks, length: Ticks) -> Ticks {
        let past = self.booked.iter().take_while(|(_, end)| *end <= issued);
        let past = past.count();
        if past > 0 {
            self.booked.drain(..past);
        }
        let mut start = earliest.max(self.held_until);
        for (begin, end) in &self.booked {
            if start + length <= *begin {
                break;
            }
            start = start.max(*end);
        }
        start
    }

    /// Runs a phase as soon as possible and holds the channel; returns the end.
    pub fn hold(&mut self, issued: Ticks, earliest: Ticks, length: Ticks) -> Ticks {
        if length == 0 {
            return earliest;
        }
        let end = self.place(issued, earliest, length) + length;
        self.held_until = end;
        end
    }

    /// Books a window for a phase, so that other phases may run before this window; returns the end of the phase.
    pub fn book(&mut self, issued: Ticks, earliest: Ticks, length: Ticks) -> Ticks {
        if length == 0 {
            return earliest;
        }
        let start = self.place(issued, earliest, length);
        let end = start + length;
        if self.booked.len() < MOST_BOOKED {
            let at = self.booked.partition_point(|(begin, _)| *begin < start);
            self.booked.insert(at, (start, end));
        } else {
            self.held_until = end;
        }
        end
    }
}

/// The rule by which reads become slower in steps, as blocks wear and data age.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Tiers {
    /// Ticks of each step.
    pub step: Ticks,
    /// Erases per step; 0 means that wear adds no steps.
    pub erases: u32,
    /// Seconds per step; 0 means that age adds no steps.
    pub age_s: u64,
    /// The largest number of steps.
    pub most: u64,
}

/// Times of the cells, in ticks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cells {
    /// Read times by type of page; the last one is for all further types.
    pub read: Vec<Ticks>,
    /// Program times by type of page; the last one is for all further types.
    pub program: Vec<Ticks>,
    /// Time to erase a block.
    pub erase: Ticks,
    /// How reads become slower.
    pub tiers: Tiers,
}

fn by_type(times: &[Ticks], page_type: u32) -> Ticks {
    let last = times.len().saturating_sub(1);
    times
        .get(last.min(page_type as usize))
        .copied()
        .unwrap_or(0)
}

impl Cells {
    /// Time to read a page of type `page_type` in a block with `erases` erases, written `age_s` seconds ago.
    #[must_use]
    pub fn read(&self, page_type: u32, erases: u32, age_s: u64) -> Ticks {
        let Tiers {
            step,
            erases: by_wear,
            age_s: by_age,
            most,
        } = self.tiers;
        let worn = u64::from(erases.checked_div(by_wear).unwrap_or(0));
        let aged = age_s.checked_div(by_age).unwrap_or(0);
        by_type(&self.read, page_type) + step * most.min(worn + aged)
    }

    /// Time to program a page of type `page_type`.
    #[must_use]
    pub fn program(&self, page_type: u32) -> Ticks {
        by_type(&self.program, page_type)
    }
}

/// The part of a die that only one command at a time may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gate {
    /// The whole die.
    Die,
    /// Each plane by itself.
    Plane,
    /// Die and plane: a command needs the whole die, and waits also for the array of its plane.
    Both,
}

/// The structure and the abilities of the media.
#[derive(Clone, Debug)]
pub struct MediaConfig {
    /// Channels.
    pub channels: u32,
    /// Dies of a channel.
    pub dies_per_channel: u32,
    /// Planes of a die.
    pub planes: u32,
    /// The part of a die that an array phase needs.
    pub gate: Gate,
    /// Times of the cells.
    pub cells: Cells,
    /// Phases on the channel; without them data take no time.
    pub bus: Option<BusTimes>,
    /// The cost in ticks if a read of one plane interrupts a program or an erase; `None` if reads do not
    /// interrupt.
    pub suspend: Option<Ticks>,
    /// Pauses between the planes of a command on several planes.
    pub gaps: PlaneGaps,
    /// Cache read: ticks from the start of a read until the die may begin the next read, while the page of the
    /// first read is still being transferred from the register. 0 means the time of the read. `None` means no
    /// cache read. Needs `bus`.
    pub cache_read: Option<Ticks>,
}

/// The target of a command: a plane and the number of erases of its block.
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
    /// The kind of the command.
    pub kind: Kind,
    /// The number of the die. Dies are numbered channel by channel.
    pub die: u32,
    /// One or several planes, ascending.
    pub targets: &'a [Target],
    /// Type of the page within its cell, from 0; ignored for erases.
    pub page_type: u32,
    /// Seconds since the page was written, for reads.
    pub age_s: u64,
    /// Ticks for which the data of one plane use the channel.
    pub data: Ticks,
}

/// Copyback: moves a page to another place on the same channel without a transfer over the channel.
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

/// When a command ends, in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answer {
    /// The time at which the host has its data, or the program or erase is done.
    pub done: Ticks,
    /// The time at which the array of the first target, or of the destination of a copy, is free.
    pub array_free: Ticks,
}

/// The times until which an array is busy.
#[derive(Clone, Copy, Default)]
struct Array {
    busy_until: Ticks,
    /// End of the last program or erase.
    change_ends: Ticks,
    /// End of the last read.
    read_ends: Ticks,
}

/// The timelines of channels, dies and planes. See the [module](self).
pub struct Media {
    config: MediaConfig,
    channels: Vec<Channel>,
    dies: Vec<Array>,
    /// All planes, die by die.
    planes: Vec<Array>,
    /// For each die, the time at which its register is free.
    register_free: Vec<Ticks>,
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
            config,
        }
    }

    /// The time until which the channel of `die` is held. Booked windows do not count.
    #[must_use]
    pub fn channel_held_until(&self, die: u32) -> Ticks {
        self.channels[self.channel_of(die)].held_until()
    }

    /// Carries out `command`, issued at `now`.
    pub fn operate(&mut self, now: Ticks, command: &Command<'_>) -> Answer {
        match command.targets {
            [target] => match command.kind {
                Kind::Read => self.read(now, command, *target),
                Kind::Program | Kind::Erase => self.change(now, command, *target),
            },
            _ => self.on_planes(now, command),
        }
    }

    /// Carries out `copy`, issued at `now`. The copy does not use the channel and interrupts no operation.
    pub fn copy_back(&mut self, now: Ticks, copy: &Copyback) -> Answer {
        let (cells, page_type) = (&self.config.cells, copy.page_type);
        let read = cells.read(page_type, copy.from.1.erases, copy.age_s);
        let program = cells.program(page_type);
        let mut end = now;
        for ((die, target), time) in [(copy.from, read), (copy.to, program)] {
            end = end.max(self.busy_until(die, target.plane)) + time;
            self.occupy(die, target.plane, end);
            // The read and the program of a copy both count as a program, which a read may interrupt.
            self.note_end(die, target.plane, Kind::Program, end);
        }
        let (die, target) = copy.to;
        Answer {
            done: end,
            array_free: self.busy_until(die, target.plane),
        }
    }

    /// A read of one plane.
    fn read(&mut self, now: Ticks, command: &Command<'_>, target: Target) -> Answer {
        let (die, plane) = (command.die, target.plane);
        let time = self
            .config
            .cells
            .read(command.page_type, target.erases, command.age_s);
        let (bus, data) = self.on_bus(command);
        let ready = self.hold(die, now, now, bus.command);
        let interrupts = self.interruption(die, plane, ready);
        let start = match interrupts {
            Some(cost) => self.interrupt(die, plane, ready, time, cost),
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
        let left = self.book(die, now, leaves, data);
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
            ready = self.hold(die, now, ready, data);
        }
        let end = ready.max(self.busy_until(die, plane)) + time;
        self.occupy(die, plane, end);
        self.note_end(die, plane, command.kind, end);
        // The host does not read the status of a program; an erase ends with its status.
        let done = match command.kind {
            Kind::Program => end,
            Kind::Read | Kind::Erase => self.book(die, now, end, bus.status),
        };
        Answer {
            done,
            array_free: self.busy_until(die, plane),
        }
    }

    /// A command on several planes, with one array phase for all planes.
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

    /// The cost in ticks if a read that is ready at `ready` interrupts a program or an erase at this place;
    /// `None` if the read does not interrupt.
    fn interruption(&self, die: u32, plane: u32, ready: Ticks) -> Option<Ticks> {
        let is_changing = ready < self.watched(die, plane).change_ends;
        let interrupts = is_changing && ready < self.busy_until(die, plane);
        self.config.suspend.filter(|_| interrupts)
    }

    /// Inserts a read of `time`, ready at `ready`, before the end of the program or erase at this place; returns the
    /// start of the read.
    fn interrupt(&mut self, die: u32, plane: u32, ready: Ticks, time: Ticks, cost: Ticks) -> Ticks {
        let watched = self.watched_mut(die, plane);
        let (start, shift) = if watched.read_ends > ready {
            // The read joins the reads of a running suspension.
            (watched.read_ends, time)
        } else {
            (ready + cost, time + cost)
        };
        watched.change_ends += shift;
        watched.read_ends = start + time;
        for array in self.gated_mut(die, plane) {
            if array.busy_until > ready {
                array.busy_until += shift;
            }
        }
        start
    }

    /// The phases of `command` on the channel; the lengths are 0 if the channel is not modelled.
    fn on_bus(&self, command: &Command<'_>) -> (BusTimes, Ticks) {
        self.config
            .bus
            .map(|bus| (bus, command.data))
            .unwrap_or_default()
    }

    fn channel_of(&self, die: u32) -> usize {
        (die / self.config.dies_per_channel) as usize
    }

    /// Runs a phase as soon as possible; returns the end.
    fn hold(&mut self, die: u32, issued: Ticks, earliest: Ticks, length: Ticks) -> Ticks {
        let channel = self.channel_of(die);
        self.channels[channel].hold(issued, earliest, length)
    }

    /// Books a later phase; returns the end.
    fn book(&mut self, die: u32, issued: Ticks, earliest: Ticks, length: Ticks) -> Ticks {
        let channel = self.channel_of(die);
        self.channels[channel].book(issued, earliest, length)
    }

    fn plane_index(&self, die: u32, plane: u32) -> usize {
        (die * self.config.planes + plane) as usize
    }

    /// The arrays that a phase at this place uses.
    fn gated_mut(&mut self, die: u32, plane: u32) -> impl Iterator<Item = &mut Array> {
        let plane = self.plane_index(die, plane);
        let gate = self.config.gate;
        let die = (gate != Gate::Plane).then_some(&mut self.dies[die as usize]);
        let plane = (gate != Gate::Die).then_some(&mut self.planes[plane]);
        die.into_iter().chain(plane)
    }

    /// The time until which the arrays of this place are busy.
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

    /// The array whose last read and last program or erase decide whether a read interrupts.
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
        }
    }
}
