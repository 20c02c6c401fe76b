//! One connection of the server, of a client or of an operator.

use std::time::Instant;

use super::buffers::{Input, Moved, Output};
use super::stream::Stream;
use crate::protocol::Session;

/// Requests of a connection that are under way, at most; further ones stay in its socket.
pub(super) const IN_FLIGHT_MAX: usize = 128;
/// Bytes that a connection has asked for and not taken, beyond which it is asked for nothing more.
pub(super) const BACKLOG_MAX: usize = 1 << 22;

/// What a connection is for.
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

/// A connection.
pub(super) struct Peer {
    pub stream: Stream,
    pub role: Role,
    pub input: Input,
    pub output: Output,
    pub generation: u64,
    /// Since it said so the last time, the socket has not refused to be read, or written.
    pub can_read: bool,
    pub can_write: bool,
    /// Bytes of the message that is coming, at least.
    pub needed: usize,
    pub in_flight: usize,
    /// Bytes that reads under way will put out.
    pub coming_out: usize,
    /// It takes no more commands, and ends when everything is answered.
    pub leaving: bool,
    /// It ends at this time if it has not got further.
    pub deadline: Option<Instant>,
    /// It is among those whose turn comes.
    pub queued: bool,
    /// Bytes of memory that were counted for it.
    pub held: usize,
    /// Since when the long message that is coming is coming.
    pub long_since: Instant,
}

impl Peer {
    pub fn new(stream: Stream, role: Role, generation: u64, now: Instant) -> Self {
        Self {
            stream,
            role,
            input: Input::default(),
            output: Output::default(),
            generation,
            can_read: true,
            can_write: true,
            needed: 1,
            in_flight: 0,
            coming_out: 0,
            leaving: false,
            deadline: None,
            queued: false,
            held: 0,
            long_since: now,
        }
    }

    /// Whether it may have another command taken.
    pub fn has_room(&self) -> bool {
        self.in_flight < IN_FLIGHT_MAX && self.output.len() + self.coming_out < BACKLOG_MAX
    }

    /// Whether it has nothing under way, and everything it was told is gone.
    pub fn is_done(&self) -> bool {
        self.in_flight == 0 && self.output.is_empty()
    }

    /// Reads once; whether it is still there.
    pub fn read(&mut self) -> bool {
        match self.input.fill(&mut self.stream, self.needed) {
            Moved::All => true,
            Moved::Some | Moved::Nothing => {
                self.can_read = false;
                true
            }
            Moved::End => false,
        }
    }

    /// Sends what can be sent; whether it is still there.
    pub fn send(&mut self) -> bool {
        while self.can_write && !self.output.is_empty() {
            match self.output.send(&mut self.stream) {
                Moved::All => {}
                Moved::Some | Moved::Nothing => self.can_write = false,
                Moved::End => return false,
            }
        }
        true
    }

    /// Bytes of memory that it has, or will have.
    pub fn memory(&self) -> usize {
        self.input.memory() + self.output.len() + self.coming_out
    }
}
