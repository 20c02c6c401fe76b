//! The front end between host and buffer, in addition to the bus: queues, and servers that requests visit on their
//! way (link, cores, DRAM).
//!
//! A server begins visits in the order in which they arrive. It serves a fixed number of visits at a time. When a
//! visit is over, first its request moves on, then the next visit begins.

use std::collections::VecDeque;

use destage_base::Ticks;
use destage_trace::Operation;

use super::event::{Event, Packed};
use super::front_side::NOBODY;
use super::link::Active;
use super::load::Load;
use crate::events::EventList;
use crate::host::Scheduler;
use crate::queues::{QueueBy, Queues};
use crate::wire::{COMPLETION, Carried, DOORBELL, ENTRY, Wire};
use destage_trace::request::SECTOR_BYTES;

/// The times of requests on a core of the firmware.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Firmware {
    /// Number of cores that work in parallel; at least 1.
    pub cores: u32,
    /// Ticks for each request except reads.
    pub command: Ticks,
    /// Ticks for each read.
    pub read: Ticks,
    /// Ticks for each page that is read or written, in addition.
    pub page: Ticks,
    /// Ticks for each program unit that the written pages complete, in addition.
    pub program: Ticks,
    /// Pages of a program unit; at least 1.
    pub unit_pages: u64,
}

/// The times of the DRAM.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dram {
    /// Ticks for moving a page into the DRAM or out of it.
    pub page: Ticks,
    /// Ticks for each program of a page or a unit.
    pub program: Ticks,
}

/// The configuration of the front end between host and buffer.
#[derive(Clone, PartialEq, Debug)]
pub struct FrontConfig {
    /// Weights of the queues; at least one queue.
    pub weights: Vec<u32>,
    /// Number of requests in the turn of a queue, for each unit of the queue's weight.
    pub burst: u32,
    /// The rule that assigns requests to queues.
    pub by: QueueBy,
    /// Maximum number of requests of one queue that the host has sent and that are not complete.
    pub requests_of_queue: u32,
    /// Maximum number of commands that the device holds at a time.
    pub command_slots: u32,
    /// The link to the host; without one, requests use the host bus.
    pub link: Option<Wire>,
    /// The cores of the firmware; `None` if cores are not simulated.
    pub firmware: Option<Firmware>,
    /// The times of the DRAM; `None` if DRAM is not simulated.
    pub dram: Option<Dram>,
    /// The load of the drive; `None` if nothing depends on it.
    pub load: Option<Load>,
}

/// A server of the front end: cores, DRAM, or one direction of the link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    Core,
    Dram,
    ToDevice,
    ToHost,
}

/// The purpose of a visit to a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Visit {
    /// A core processes the request.
    Command,
    /// The pages of a write move into the DRAM (`In`), or the pages of a read out of it (`Out`).
    In,
    Out,
    /// A page of a die moves into the DRAM or out of it; belongs to no request.
    Flash,
    /// Messages on the link to the device: the doorbell for a new request, the queue entry of the request, the data
    /// of a write, and the confirmation of a completion.
    Doorbell,
    Entry,
    WriteData,
    Seen,
    /// Messages on the link to the host: the request for a queue entry, the request for data, the data of a read, and
    /// a completion.
    AskEntry,
    AskData,
    ReadData,
    Completion,
}

impl Place {
    /// The server with this number.
    #[inline]
    pub fn of(number: u8) -> Self {
        match number {
            0 => Self::Core,
            1 => Self::Dram,
            2 => Self::ToDevice,
            _ => Self::ToHost,
        }
    }
}

impl Visit {
    /// The purpose with this number.
    pub fn of(number: u8) -> Self {
        const ALL: [Visit; 11] = [
            Visit::Command,
            Visit::In,
            Visit::Out,
            Visit::Flash,
            Visit::Doorbell,
            Visit::Entry,
            Visit::WriteData,
            Visit::Seen,
            Visit::AskEntry,
            Visit::AskData,
            Visit::ReadData,
        ];
        ALL.get(usize::from(number))
            .copied()
            .unwrap_or(Self::Completion)
    }

    /// Whether the visit is a part of the path of its request.
    pub fn is_of_request(self) -> bool {
        !matches!(self, Self::Flash | Self::Seen)
    }
}

/// The work of a server.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Usage {
    /// Number of visits that have arrived.
    pub visits: u64,
    /// Total amount of these visits: bytes for a link, pages for the DRAM, requests for the cores.
    pub amount: u64,
    /// Ticks of service, summed over the visits that the server serves in parallel.
    pub busy: u128,
    /// Waiting time in ticks, summed over the visits.
    pub waited: u128,
}

/// The work of the servers: cores, DRAM, link to the device, link to the host. `None` for a server that is off.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct FrontUsage(pub [Option<Usage>; 4]);

impl FrontUsage {
    /// The work since `earlier`.
    #[must_use]
    pub fn since(mut self, earlier: &Self) -> Self {
        for (now, then) in self.0.iter_mut().zip(earlier.0) {
            if let (Some(now), Some(then)) = (now, then) {
                now.visits -= then.visits;
                now.amount -= then.amount;
                now.busy -= then.busy;
                now.waited -= then.waited;
            }
        }
        self
    }
}

/// A visit that waits.
#[derive(Clone, Copy)]
struct Coming {
    visit: Visit,
    request: u32,
    time: Ticks,
}

/// One server. See the [module](self).
#[derive(Default)]
struct Server {
    side_by_side: u32,
    busy: u32,
    waiting: VecDeque<Coming>,
    usage: Usage,
    /// The time up to which `usage` is counted.
    counted: Ticks,
}

impl Server {
    fn count(&mut self, now: Ticks) {
        let passed = u128::from(now - self.counted);
        self.usage.busy += passed * u128::from(self.busy);
        self.usage.waited += passed * self.waiting.len() as u128;
        self.counted = now;
    }
}

/// The places for commands in the device. A command that the host has sent needs a slot until it is answered, and waits
/// for one in the order of sending.
struct Slots {
    free: u32,
    waiting: VecDeque<u32>,
}

/// The front end: queues, slots and servers. See the [module](self).
pub(super) struct Front {
    pub queues: Queues,
    by: QueueBy,
    depth: u32,
    /// The number of requests that the host has sent and that are not complete.
    in_device: u32,
    slots: Slots,
    pub link: Option<Wire>,
    firmware: Option<Firmware>,
    /// Pages that were written after the last complete program unit.
    unfinished: u64,
    dram: Option<Dram>,
    load: Option<Load>,
    servers: [Server; 4],
}

impl Front {
    /// An idle front end; the host has sent at most `depth` requests that are not complete.
    pub fn new(config: FrontConfig, depth: u32, scheduler: Scheduler) -> Self {
        let (weights, burst) = (&config.weights, config.burst);
        let mut servers: [Server; 4] = Default::default();
        for server in &mut servers {
            server.side_by_side = 1;
        }
        if let Some(firmware) = &config.firmware {
            servers[Place::Core as usize].side_by_side = firmware.cores;
        }
        Self {
            queues: Queues::new(weights, burst, config.requests_of_queue, scheduler),
            by: config.by,
            depth,
            in_device: 0,
            slots: Slots {
                free: config.command_slots,
                waiting: VecDeque::new(),
            },
            link: config.link,
            firmware: config.firmware,
            unfinished: 0,
            dram: config.dram,
            load: config.load,
            servers,
        }
    }

    /// The number of the queue that `active` belongs to.
    pub fn queue_of(&self, active: &Active) -> usize {
        let number = match self.by {
            QueueBy::Volume => u64::from(active.request.volume),
            QueueBy::RoundRobin => active.identity.index,
        };
        (number % self.queues.count()) as usize
    }

    /// Removes from its queue the request to send next, and returns it. `None` if no request waits, or if the host has
    /// sent as many requests as it may.
    pub fn next(&mut self) -> Option<u32> {
        if self.in_device >= self.depth {
            return None;
        }
        let id = self.queues.pop()?;
        self.in_device += 1;
        Some(id)
    }

    /// The host has sent command `id`. Returns whether the device has a slot for it; otherwise the command waits for a
    /// slot.
    pub fn takes_slot(&mut self, id: u32) -> bool {
        let slots = &mut self.slots;
        if slots.free == 0 {
            slots.waiting.push_back(id);
            return false;
        }
        slots.free -= 1;
        true
    }

    /// A request of `queue` has left the device. Returns the command that gets its slot, if a command waits.
    #[must_use]
    pub fn completed(&mut self, queue: usize) -> Option<u32> {
        self.queues.completed(queue);
        self.in_device -= 1;
        let next = self.slots.waiting.pop_front();
        self.slots.free += u32::from(next.is_none());
        next
    }

    /// `active` comes to a core. Returns the time that it needs there, in ticks; `None` if cores are not simulated.
    pub fn on_core(&mut self, active: &Active) -> Option<Ticks> {
        let firmware = self.firmware?;
        let pages = u64::from(active.asked.span.pages);
        let (command, pages, units) = match active.request.operation {
            Operation::Read => (firmware.read, pages, 0),
            Operation::Write => {
                self.unfinished += pages;
                let units = self.unfinished / firmware.unit_pages;
                self.unfinished %= firmware.unit_pages;
                (firmware.command, pages, units)
            }
            Operation::Flush | Operation::Trim => (firmware.command, 0, 0),
        };
        let of_pages = firmware.page.saturating_mul(pages);
        let of_units = firmware.program.saturating_mul(units);
        Some(command.saturating_add(of_pages).saturating_add(of_units))
    }

    /// The time that `pages` pages need to move into the DRAM or out of it, in ticks; `None` if DRAM is not
    /// simulated.
    pub fn in_dram(&self, pages: u32) -> Option<Ticks> {
        let dram = self.dram?;
        Some(dram.page.saturating_mul(pages.into()))
    }

    /// Programs begin at `count` pages or units. Each of them occupies the DRAM.
    pub fn program(&mut self, count: u32, events: &mut EventList<Packed>) {
        let time = self.dram.map_or(0, |dram| dram.program);
        if time > 0 {
            for _ in 0..count {
                self.come(Place::Dram, (Visit::Flash, NOBODY), 0, time, events);
            }
        }
    }

    /// The host writes `pages` pages now.
    pub fn count_load(&mut self, pages: u32, now: Ticks) {
        if let Some(load) = &mut self.load {
            load.count(pages, now);
        }
    }

    /// Whether the drive is loaded now.
    pub fn is_loaded(&mut self, now: Ticks) -> bool {
        self.load.as_mut().is_some_and(|load| load.is_high(now))
    }

    /// The content of the message `visit` about `active`.
    pub fn carried(visit: Visit, active: Option<&Active>) -> Carried {
        match visit {
            Visit::AskEntry | Visit::AskData => Carried::Question,
            Visit::Entry => ENTRY,
            Visit::Completion => COMPLETION,
            Visit::WriteData | Visit::ReadData => {
                let sectors = active.map_or(0, |active| active.request.sectors);
                Carried::Bytes(u64::from(sectors) * SECTOR_BYTES)
            }
            Visit::Doorbell
            | Visit::Seen
            | Visit::Command
            | Visit::In
            | Visit::Out
            | Visit::Flash => DOORBELL,
        }
    }

    /// `visit` of `request` arrives at the server `place` with `amount`, for `time` ticks of service. Returns whether
    /// the service begins at once.
    pub fn come(
        &mut self,
        place: Place,
        (visit, request): (Visit, u32),
        amount: u64,
        time: Ticks,
        events: &mut EventList<Packed>,
    ) -> bool {
        let server = &mut self.servers[place as usize];
        server.count(events.now());
        server.usage.visits += 1;
        server.usage.amount += amount;
        let begins = server.busy < server.side_by_side;
        if begins {
            server.busy += 1;
            let event = Event::Front {
                place,
                visit,
                request,
            };
            events.after(time, event);
        } else {
            server.waiting.push_back(Coming {
                visit,
                request,
                time,
            });
        }
        begins
    }

    /// A visit to the server `place` is over, and the next visit begins. Returns the request of the next visit, if
    /// the visit belongs to a request.
    pub fn go_on(&mut self, place: Place, events: &mut EventList<Packed>) -> Option<u32> {
        let server = &mut self.servers[place as usize];
        server.count(events.now());
        let Some(Coming {
            visit,
            request,
            time,
        }) = server.waiting.pop_front()
        else {
            server.busy -= 1;
            return None;
        };
        let event = Event::Front {
            place,
            visit,
            request,
        };
        events.after(time, event);
        visit.is_of_request().then_some(request)
    }

    /// The work of the servers up to `now`.
    pub fn usage(&mut self, now: Ticks) -> FrontUsage {
        let is_on = [
            self.firmware.is_some(),
            self.dram.is_some(),
            self.link.is_some(),
            self.link.is_some(),
        ];
        let mut usage = FrontUsage::default();
        let of = usage.0.iter_mut().zip(&mut self.servers).zip(is_on);
        for ((usage, server), is_on) in of {
            server.count(now);
            *usage = is_on.then_some(server.usage);
        }
        usage
    }
}
