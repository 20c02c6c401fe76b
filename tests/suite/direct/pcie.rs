//! The link between host and device. Each direction carries one message at a time. A message occupies its
//! direction for the transfer time of its packets.

use std::collections::VecDeque;

use destage_sim::engine::Replay;
use destage_sim::wire::{COMPLETION, Carried, DOORBELL, ENTRY, Wire};
use destage_trace::request::SECTOR_BYTES;
use destage_trace::{Operation, Request};

use super::events::EventList;
use super::{DirectConfig, Event};

/// The most requests in the device at a time if requests arrive at the times of the trace.
const OPEN_DEPTH: u32 = 512;

/// The direction of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Direction {
    ToDevice,
    ToHost,
}

/// The contents of a message.
#[derive(Clone, Copy, Debug)]
enum Message {
    /// A new entry is in the queue.
    Doorbell,
    /// The device asks for the next entry.
    AskEntry,
    /// The entry of this request.
    Entry(u32),
    /// The device asks for the data of this write.
    AskData(u32),
    /// The data of this write.
    WriteData(u32),
    /// The data of this read.
    ReadData(u32),
    /// This request is complete.
    Completion(u32),
    /// The host has seen a completion.
    Seen,
}

/// The effect of a delivered message outside the link.
pub(super) enum Heard {
    Nothing,
    /// The device accepts this request.
    Accepted(u32),
    /// The host learns that this request is complete.
    Complete(u32),
}

#[derive(Default)]
struct Way {
    under_way: Option<Message>,
    waiting: VecDeque<Message>,
}

/// The link, with the state of host and device.
pub(super) struct Link {
    wire: Wire,
    to_device: Way,
    to_host: Way,
    /// Whether each request is a read, and its bytes.
    requests: Vec<(bool, u64)>,
    depth: u32,
    in_device: u32,
    /// The number of entries that a doorbell has announced to the device and that the device has not requested.
    entries: u32,
    /// The number of entries that the device has fetched.
    fetched: u32,
}

impl Link {
    pub fn new(wire: Wire, config: &DirectConfig, requests: &[Request]) -> Self {
        let requests = requests.iter();
        Self {
            wire,
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

    /// Delivers the message in flight in `direction`. The caller must call [`Link::go_on`] after it has handled the
    /// message.
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

    /// Starts the next message of `direction`, if one waits.
    pub fn go_on(&mut self, direction: Direction, events: &mut EventList<Event>) {
        let next = self.way(direction).waiting.pop_front();
        self.way(direction).under_way = None;
        if let Some(message) = next {
            self.send(direction, message, events);
        }
    }

    /// The device requests one entry, if an entry waits and the queue depth allows it.
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
            self.wire.time(self.carried(message)),
            Event::Delivered(direction),
        );
    }

    /// The contents of `message` on the wire.
    fn carried(&self, message: Message) -> Carried {
        let data = |id: u32| self.requests[id as usize].1;
        match message {
            Message::AskEntry | Message::AskData(_) => Carried::Question,
            Message::Doorbell | Message::Seen => DOORBELL,
            Message::Entry(_) => ENTRY,
            Message::Completion(_) => COMPLETION,
            Message::WriteData(id) | Message::ReadData(id) => Carried::Bytes(data(id)),
        }
    }

    fn way(&mut self, direction: Direction) -> &mut Way {
        match direction {
            Direction::ToDevice => &mut self.to_device,
            Direction::ToHost => &mut self.to_host,
        }
    }
}
