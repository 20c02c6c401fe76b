//! Models when the device accepts requests: after messages over a link, or at once.

use std::collections::VecDeque;

use destage_sim::engine::Replay;
use destage_trace::{Operation, Request};

use super::DirectConfig;
use super::pcie::Link;

/// The host and its connection to the device.
pub(super) enum Host {
    AtOnce(AtOnce),
    Linked(Link),
}

/// A host whose messages take no time. At each instant, the device handles all flash events first and then
/// accepts the requests that are due. It accepts reads before writes, because the data of a write need one more
/// exchange of messages.
pub(super) struct AtOnce {
    /// Whether each request is a read.
    reads: Vec<bool>,
    /// The most requests in the device at a time; `None`: all that have arrived.
    depth: Option<u32>,
    in_device: u32,
    arrived: u32,
    /// The number of requests that are accepted or due.
    sent: u32,
    due_reads: VecDeque<u32>,
    due_writes: VecDeque<u32>,
}

impl AtOnce {
    pub fn new(config: &DirectConfig, requests: &[Request]) -> Self {
        let reads = requests.iter();
        Self {
            reads: reads
                .map(|request| request.operation == Operation::Read)
                .collect(),
            depth: match config.replay {
                Replay::Closed => Some(config.queue_depth),
                Replay::Trace => None,
            },
            in_device: 0,
            arrived: 0,
            sent: 0,
            due_reads: VecDeque::new(),
            due_writes: VecDeque::new(),
        }
    }

    /// The next request arrives.
    pub fn arrived(&mut self) {
        self.arrived += 1;
        self.send();
    }

    /// A request completes.
    pub fn completed(&mut self) {
        self.in_device -= 1;
        self.send();
    }

    /// Makes the next request due, if this request has arrived and the queue depth allows it.
    fn send(&mut self) {
        if self.sent < self.arrived && self.depth.is_none_or(|depth| self.in_device < depth) {
            match self.reads.get(self.sent as usize) {
                Some(true) => self.due_reads.push_back(self.sent),
                _ => self.due_writes.push_back(self.sent),
            }
            self.sent += 1;
            self.in_device += 1;
        }
    }

    /// Removes and returns the next request to accept at this instant, or `None`.
    pub fn take_due(&mut self) -> Option<u32> {
        self.due_reads
            .pop_front()
            .or_else(|| self.due_writes.pop_front())
    }
}
