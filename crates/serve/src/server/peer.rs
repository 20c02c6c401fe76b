//! A connection of the server, with a client or an operator.

use std::time::Instant;

use super::buffers::{Input, Moved, Output};
use super::stream::Stream;
use crate::control::LINE_MAX;
use crate::protocol::Session;

/// The largest number of requests of a connection in flight. Further requests stay in the socket.
pub(super) const IN_FLIGHT_MAX: usize = 128;
/// The server processes no more commands of a connection whose answers have this many bytes. This counts answers that
/// are in preparation, and answers that the client has not accepted.
pub(super) const BACKLOG_MAX: usize = 1 << 22;

/// The kind of program at the other side of a connection.
pub(super) enum Role {
    /// A client, which speaks NBD.
    Client(Session),
    /// An operator, which uses the control socket. `waits` is whether the server is carrying out an order of this
    /// operator.
    Operator { waits: bool },
}

/// Identifies a connection by its index and its generation. The index is reused after the connection is closed. No
/// two connections have the same generation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct PeerId {
    pub place: usize,
    pub generation: u64,
}

/// A socket and its last known state. The poll reports a change of state once, and does not repeat it.
pub(super) struct Socket {
    pub stream: Stream,
    /// Whether reading may succeed, and whether writing may succeed: since the last report, no attempt had to wait.
    pub can_read: bool,
    pub can_write: bool,
    /// Whether the system has reported that the other side sends no more bytes. The system does not report again when
    /// the remaining bytes have been read.
    pub is_ending: bool,
    /// Whether the other side neither sends nor receives any more.
    pub is_gone: bool,
}

/// The requests of a connection that are in the device.
#[derive(Clone, Copy, Default)]
pub(super) struct UnderWay {
    pub requests: usize,
    /// The number of bytes of writes.
    pub bytes_in: usize,
    /// The number of bytes that reads will return.
    pub bytes_out: usize,
}

/// Memory that is reserved for a long message while it arrives.
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
    /// The least number of bytes of the message that is arriving.
    pub needed: usize,
    pub set_aside: Option<SetAside>,
    pub under_way: UnderWay,
    /// Whether the connection accepts no more commands, and is closed when all requests are answered.
    pub leaving: bool,
    /// The time at which the connection is closed if its handshake, or its last answers, are not complete by then.
    pub deadline: Option<Instant>,
    /// Whether the connection waits for a turn.
    pub queued: bool,
    /// Whether the connection waits for memory.
    pub waits_for_memory: bool,
    /// Whether the next command waits for a part of an earlier request. See `Requests::have_rest_in`.
    pub waits_for_part: bool,
    /// The number of bytes that `Memory` counts for this connection.
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
                is_gone: false,
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
            waits_for_part: false,
            held: 0,
        }
    }

    /// Whether another command may be accepted. An operator has to accept answers before the server processes more
    /// orders, since answers can be longer than orders.
    pub fn has_room(&self) -> bool {
        let most = match self.role {
            Role::Client(_) => BACKLOG_MAX,
            Role::Operator { .. } => LINE_MAX,
        };
        self.under_way.requests < IN_FLIGHT_MAX
            && self.output.len() + self.under_way.bytes_out < most
    }

    /// Whether an order of the operator at the other end is being carried out.
    pub fn waits_for_order(&self) -> bool {
        matches!(self.role, Role::Operator { waits: true })
    }

    /// The length of the first complete order in the input of an operator. When the operator sends no more, the rest
    /// of the input is an order too, even if no newline ends it.
    pub fn order(&self) -> Option<usize> {
        let input = self.input.bytes();
        let line = input.iter().position(|byte| *byte == b'\n');
        let is_last = self.leaving && !input.trim_ascii().is_empty();
        line.or(is_last.then_some(input.len()))
    }

    /// Whether complete orders of an operator wait to be carried out, and none is being carried out.
    pub fn has_orders(&self) -> bool {
        matches!(self.role, Role::Operator { waits: false }) && self.order().is_some()
    }

    /// Whether nothing that the connection asked for is being carried out, and all answers were sent.
    pub fn is_done(&self) -> bool {
        self.under_way.requests == 0 && !self.waits_for_order() && self.output.is_empty()
    }

    /// Reads once. Returns whether the other side is still connected.
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

    /// Sends as much as possible. Returns whether the other side is still connected.
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

    /// Removes the first `count` bytes of input, which were processed, and ends the reservation of memory for a long
    /// message.
    pub fn take(&mut self, count: usize) {
        self.input.consume(count);
        self.set_aside = None;
    }

    /// Frees unused memory of the input buffer, unless memory is reserved for a long message.
    pub fn shrink(&mut self) {
        if self.set_aside.is_none() {
            self.input.shrink();
        }
    }

    /// The number of bytes of memory for the message that is arriving.
    pub fn incoming(&self) -> usize {
        let set_aside = self.set_aside.map_or(0, |set_aside| set_aside.bytes);
        self.input.memory().max(set_aside)
    }

    /// The number of bytes of memory that the connection has, or will need.
    pub fn memory(&self) -> usize {
        self.incoming() + self.under_way.bytes_in + self.under_way.bytes_out + self.output.memory()
    }
}
