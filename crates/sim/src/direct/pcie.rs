//! The link between host and device: messages one after the other in each direction, as long as their packets take.

use std::collections::VecDeque;

use destage_base::Ticks;
use destage_base::time::TICKS_PER_NS;
use destage_trace::request::SECTOR_BYTES;
use destage_trace::{Operation, Request};

use super::{DirectConfig, Event};
use crate::engine::Replay;
use crate::events::EventList;

/// Lanes of the link.
const LANES: u64 = 4;
/// Most payload of a packet, and what comes with it, in bytes.
const PAYLOAD: u64 = 128;
const HEADER: u64 = 28;
/// A packet that asks for something, in bytes.
const ASKING: u64 = 32;
/// Payloads in bytes: the news that an entry waits or was taken, the entry, its completion.
const DOORBELL: u64 = 2;
const ENTRY: u64 = 72;
const COMPLETION: u64 = 16;
/// Requests in the device at a time where requests arrive by their times.
const OPEN_DEPTH: u32 = 512;

/// How fast the link is.
#[derive(Clone, Copy, Debug)]
pub struct Pcie {
    /// GB/s of each lane; infinite: messages take no time, and pass through the event list all the same.
    pub lane_gb_per_s: f64,
}

impl Pcie {
    /// Ticks of a message of `bytes` in packets: whole nanoseconds.
    fn time(self, bytes: u64) -> Ticks {
        let nanoseconds = bytes.div_ceil(LANES) as f64 / self.lane_gb_per_s;
        nanoseconds as u64 * TICKS_PER_NS
    }
}

/// Which way messages go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Direction {
    ToDevice,
    ToHost,
}

/// What a message says.
#[derive(Clone, Copy, Debug)]
enum Message {
    /// An entry waits.
    Doorbell,
    /// The device asks for the next entry.
    AskEntry,
    /// That entry.
    Entry(u32),
    /// The device asks for the data of a write.
    AskData(u32),
    /// Those data.
    WriteData(u32),
    /// Data of a read.
    ReadData(u32),
    /// A request is complete.
    Completion(u32),
    /// The host has seen a completion.
    Seen,
}

/// What a message means outside the link.
pub(super) enum Heard {
    Nothing,
    /// The device takes in this request.
    Accepted(u32),
    /// The host learns that this request is complete.
    Complete(u32),
}

#[derive(Default)]
struct Way {
    under_way: Option<Message>,
    waiting: VecDeque<Message>,
}

/// A link with its two ends.
pub(super) struct Link {
    pcie: Pcie,
    to_device: Way,
    to_host: Way,
    /// Whether each request is a read, and its bytes.
    requests: Vec<(bool, u64)>,
    depth: u32,
    in_device: u32,
    /// Entries that the device knows of, and has not asked for.
    entries: u32,
    /// Entries it has got.
    fetched: u32,
}

impl Link {
    pub fn new(pcie: Pcie, config: &DirectConfig, requests: &[Request]) -> Self {
        let requests = requests.iter();
        Self {
            pcie,
            to_device: Way::default(),
            to_host: Way::default(),
            requests: requests
                .map(|request| {
                    let is_read = request.operation == Operation::Read;
                    (is_read, u64::from(request.sectors) * SECTOR_BYTES)
                })
                .collect(),
            depth: match config.replay {
                Replay::Closed => config.queue_depth,
                Replay::Trace => OPEN_DEPTH,
            },
            in_device: 0,
            entries: 0,
            fetched: 0,
        }
    }

    /// The next request arrives at the host.
    pub fn arrived(&mut self, events: &mut EventList<Event>) {
        self.send(Direction::ToDevice, Message::Doorbell, events);
    }

    /// The last page of request `id` is done.
    pub fn completed(&mut self, id: u32, events: &mut EventList<Event>) {
        self.in_device -= 1;
        let (is_read, _) = self.requests[id as usize];
        if is_read {
            self.send(Direction::ToHost, Message::ReadData(id), events);
        }
        self.fetch(events);
        self.send(Direction::ToHost, Message::Completion(id), events);
    }

    /// The message under way in `direction` is over the link. [`Link::go_on`] is to be called when it was heard.
    pub fn deliver(&mut self, direction: Direction, events: &mut EventList<Event>) -> Heard {
        let Some(message) = self.way(direction).under_way else {
            return Heard::Nothing;
        };
        match message {
            Message::Doorbell => {
                self.entries += 1;
                self.fetch(events);
            }
            Message::AskEntry => {
                let id = self.fetched;
                self.fetched += 1;
                self.send(Direction::ToDevice, Message::Entry(id), events);
            }
            Message::Entry(id) => {
                let (is_read, _) = self.requests[id as usize];
                if is_read {
                    return Heard::Accepted(id);
                }
                self.send(Direction::ToHost, Message::AskData(id), events);
            }
            Message::AskData(id) => {
                self.send(Direction::ToDevice, Message::WriteData(id), events);
            }
            Message::WriteData(id) => return Heard::Accepted(id),
            Message::Completion(id) => {
                self.send(Direction::ToDevice, Message::Seen, events);
                return Heard::Complete(id);
            }
            Message::ReadData(_) | Message::Seen => {}
        }
        Heard::Nothing
    }

    /// The next message of `direction` starts.
    pub fn go_on(&mut self, direction: Direction, events: &mut EventList<Event>) {
        let next = self.way(direction).waiting.pop_front();
        self.way(direction).under_way = None;
        if let Some(message) = next {
            self.send(direction, message, events);
        }
    }

    /// The device asks for one entry, if one waits and there is room.
    fn fetch(&mut self, events: &mut EventList<Event>) {
        if self.entries > 0 && self.in_device < self.depth {
            self.entries -= 1;
            self.in_device += 1;
            self.send(Direction::ToHost, Message::AskEntry, events);
        }
    }

    fn send(&mut self, direction: Direction, message: Message, events: &mut EventList<Event>) {
        if self.way(direction).under_way.is_some() {
            self.way(direction).waiting.push_back(message);
            return;
        }
        self.way(direction).under_way = Some(message);
        events.after(
            self.pcie.time(self.bytes(message)),
            Event::Delivered(direction),
        );
    }

    /// Bytes of `message` on the link.
    fn bytes(&self, message: Message) -> u64 {
        let data = |id: u32| self.requests[id as usize].1;
        let payload = match message {
            Message::AskEntry | Message::AskData(_) => return ASKING,
            Message::Doorbell | Message::Seen => DOORBELL,
            Message::Entry(_) => ENTRY,
            Message::Completion(_) => COMPLETION,
            Message::WriteData(id) | Message::ReadData(id) => data(id),
        };
        let rest = payload % PAYLOAD;
        let part = if rest > 0 { rest + HEADER } else { 0 };
        payload / PAYLOAD * (PAYLOAD + HEADER) + part
    }

    fn way(&mut self, direction: Direction) -> &mut Way {
        match direction {
            Direction::ToDevice => &mut self.to_device,
            Direction::ToHost => &mut self.to_host,
        }
    }
}
