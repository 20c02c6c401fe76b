//! One connection of the server, of a client or of an operator.

use std::time::Instant;

use super::buffers::{Input, Moved, Output};
use super::stream::Stream;
use crate::protocol::Session;

/// Requests of a connection that are under way, at most; further ones stay in its socket.
pub(super) const IN_FLIGHT_MAX: usize = 128;
/// Bytes that a connection has asked for and not accepted, beyond which nothing more is read from it.
pub(super) const BACKLOG_MAX: usize = 1 << 22;

/// The purpose of a connection.
pub(super) enum Role {
    /// Speaks NBD.
    Client(Session),
    /// Speaks to the control socket; whether an order is under way.
    Operator { waits: bool },
}

/// Which connection: its place, and how often that was given away before.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct PeerId {
    pub place: usize,
    pub generation: u64,
}

/// A socket, and its known state. It is reported when its state changes, and not again while the state stays.
pub(super) struct Socket {
    pub stream: Stream,
    /// Since it was reported the last time, it has not refused to be read, or written.
    pub can_read: bool,
    pub can_write: bool,
    /// The system has reported that the other side sends no more: after the bytes that can be read comes the end, and no further report.
    pub is_ending: bool,
}

/// The requests of a connection in the device.
#[derive(Clone, Copy, Default)]
pub(super) struct UnderWay {
    pub requests: usize,
    /// Bytes of writes.
    pub bytes_in: usize,
    /// Bytes that reads will put out.
    pub bytes_out: usize,
}

/// Memory that is set aside for a long message while it is coming.
#[derive(Clone, Copy)]
pub(super) struct SetAside {
    pub bytes: usize,
    pub since: Instant,
}

/// A connection.
pub(super) struct Peer {
    pub socket: Socket,
    pub role: Role,
    pub input: Input,
    pub output: Output,
    pub generation: u64,
    /// Bytes of the message that is coming, at least.
    pub needed: usize,
    pub set_aside: Option<SetAside>,
    pub under_way: UnderWay,
    /// It takes no more commands, and ends when everything is answered.
    pub leaving: bool,
    /// It ends at this time if it has not got further.
    pub deadline: Option<Instant>,
    /// It is among the connections whose turn comes.
    pub queued: bool,
    /// It is among the connections that wait for memory.
    pub waits_for_memory: bool,
    /// Bytes of memory that were counted for it.
    pub held: usize,
}

impl Peer {
    pub fn new(stream: Stream, role: Role, generation: u64) -> Self {
        Self {
            socket: Socket {
                stream,
                can_read: true,
                can_write: true,
                is_ending: false,
            },
            role,
            input: Input::default(),
            output: Output::default(),
            generation,
            needed: 1,
            set_aside: None,
            under_way: UnderWay::default(),
            leaving: false,
            deadline: None,
            queued: false,
            waits_for_memory: false,
            held: 0,
        }
    }

    /// Whether it may have another command taken.
    pub fn has_room(&self) -> bool {
        self.under_way.requests < IN_FLIGHT_MAX
            && self.output.len() + self.under_way.bytes_out < BACKLOG_MAX
    }

    /// Whether the client has no command under way, and every answer to it was sent.
    pub fn is_done(&self) -> bool {
        self.under_way.requests == 0 && self.output.is_empty()
    }

    /// Reads once; whether it is still there.
    pub fn read(&mut self) -> bool {
        match self.input.fill(&mut self.socket.stream, self.needed) {
            Moved::All => true,
            Moved::Some => {
                self.socket.can_read = self.socket.is_ending;
                true
            }
            Moved::Nothing => {
                self.socket.can_read = false;
                true
            }
            Moved::End => false,
        }
    }

    /// Sends as much as possible; returns whether the connection is still there.
    pub fn send(&mut self) -> bool {
        while self.socket.can_write && !self.output.is_empty() {
            match self.output.send(&mut self.socket.stream) {
                Moved::All => {}
                Moved::Some | Moved::Nothing => self.socket.can_write = false,
                Moved::End => return false,
            }
        }
        if self.output.is_empty() {
            self.output.since = None;
        } else {
            self.output.since.get_or_insert_with(Instant::now);
        }
        true
    }

    /// The first `count` bytes that have come are understood, up to the end of a message.
    pub fn take(&mut self, count: usize) {
        self.input.consume(count);
        self.set_aside = None;
    }

    /// Frees memory for messages, except that of a long one that is arriving.
    pub fn shrink(&mut self) {
        if self.set_aside.is_none() {
            self.input.shrink();
        }
    }

    /// Bytes of memory for the message that is coming.
    pub fn incoming(&self) -> usize {
        let set_aside = self.set_aside.map_or(0, |set_aside| set_aside.bytes);
        self.input.memory().max(set_aside)
    }

    /// Bytes of memory that it has, or will have.
    pub fn memory(&self) -> usize {
        self.incoming() + self.under_way.bytes_in + self.under_way.bytes_out + self.output.memory()
    }
}
