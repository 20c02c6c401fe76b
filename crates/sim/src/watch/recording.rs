//! The data that a watched run records.

use destage_base::{Lpn, Ticks};
use destage_buffer::destage::{DestageCause, Grouping, Pad};
use destage_buffer::shown::Frame;
use destage_nand::operation::{Cause, Kind, Merge};
use destage_trace::Operation;

use super::Splice;

/// The recorded beginning of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// Number of dies of the device.
    pub dies: u32,
    /// Requests in the order of their arrival, from the first one on.
    pub requests: Vec<Asked>,
    /// Events in the order in which they happened.
    pub events: Vec<Event>,
    /// Steps of dies in the order in which they began. If commands are timed one by one, these are single commands.
    pub intervals: Vec<Interval>,
    /// The reason why recording stopped before the end of the run; `None` if it did not stop early.
    pub stop: Option<Stop>,
}

impl Recording {
    /// An empty recording of a device with `dies` dies.
    #[must_use]
    pub fn new(dies: u32) -> Self {
        Self {
            dies,
            requests: Vec::new(),
            events: Vec::new(),
            intervals: Vec::new(),
            stop: None,
        }
    }
}

/// The reason why recording stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The number of requests reached its bound.
    Requests,
    /// The number of events reached its bound.
    Events,
    /// The changes of the buffer or the steps of dies reached their bound.
    Size,
    /// The buffer has more pages than can be watched; only for a buffer without a bound.
    Pages,
    /// The power failed.
    PowerLoss,
}

/// A recorded request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The operation.
    pub operation: Operation,
    /// Whether the request had to be durable before its answer (FUA).
    pub fua: bool,
    /// Number of the first page.
    pub first: u64,
    /// Number of pages; without meaning for a flush.
    pub pages: u32,
    /// Time at which the request arrived, in ticks.
    pub arrival: Ticks,
    /// Time from arrival to answer, in ticks; `None` if the recording ended before the answer.
    pub response: Option<Ticks>,
}

/// An event of the recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Time of the event, in ticks.
    pub time: Ticks,
    /// The kind of the event.
    pub what: What,
    /// The request that caused the event, as an index into [`Recording::requests`]; `None` if no request caused the
    /// event.
    pub request: Option<u32>,
    /// Number of pages in the buffer after the event.
    pub resident: u32,
    /// Number of slots in use after the event, including the slots of leaving pages.
    pub occupied: u32,
    /// The changes that the event makes to the tokens of the buffer.
    pub changes: Vec<Splice>,
}

/// The kind of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A request arrived.
    Arrival,
    /// A page was written to the buffer.
    Write {
        /// Number of the page.
        page: Lpn,
        /// Whether the page was in the buffer already.
        hit: bool,
    },
    /// A page was read.
    Read {
        /// Number of the page.
        page: Lpn,
        /// Whether the page was in RAM.
        hit: bool,
    },
    /// A page was written and bypassed the buffer.
    Bypass(Lpn),
    /// A page was trimmed.
    Trim(Lpn),
    /// A destage record was emitted: pages leave the buffer, or are written back and stay.
    Destage(WatchedRecord),
    /// The last program of a destage record has ended. The record was emitted by the event with this index.
    Ended(u32),
    /// Pages that were written back have become clean.
    Cleaned,
    /// A request was answered.
    Answer,
}

/// A destage record.
#[derive(Clone, Debug, PartialEq)]
pub struct WatchedRecord {
    /// The cause of the destage.
    pub cause: DestageCause,
    /// How the pages of the record belong together.
    pub grouping: Grouping,
    /// Whether the pages stay in the buffer and become clean.
    pub retain: bool,
    /// The dirty pages.
    pub pages: Vec<Lpn>,
    /// The padding pages that complete the cluster of the dirty pages.
    pub pads: Vec<Pad>,
}

/// A step of a die or, where commands are timed one by one, a command.
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    /// Number of the die.
    pub die: u32,
    /// Time at which the step begins, in ticks.
    pub begin: Ticks,
    /// Length of the step, in ticks. If the recording ended before the command, this is the planned length.
    pub time: Ticks,
    /// Index of the event with which the step began.
    pub event: u32,
    /// The purpose of the step, in a few words.
    pub work: &'static str,
    /// The pages that the step read or wrote for page operations; empty for garbage collection.
    pub pages: Vec<Lpn>,
    /// Index of the event that emitted the record of the step; `None` if the step belongs to no record.
    pub record: Option<u32>,
    /// Index of the request that the step served directly; `None` if the step served no request directly.
    pub request: Option<u32>,
    /// The flash operations of the step by kind and cause, in the order of the first operation of each kind and
    /// cause.
    pub parts: Vec<Part>,
    /// Merges that were part of the step.
    pub merges: Vec<Merge>,
}

/// The operations of a step that have the same kind and cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Kind of the operations.
    pub kind: Kind,
    /// Cause of the operations.
    pub cause: Cause,
    /// Number of the operations.
    pub count: u32,
    /// Time of the operations in ticks, if they run one after the other. If commands are timed one by one, this is
    /// the planned time of the command.
    pub time: Ticks,
}

/// The state of a resident page, compared with the flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Held {
    /// The flash has an older version of the page, or none.
    Dirty,
    /// The page is being programmed, and stays in the buffer.
    WritingBack,
    /// The flash has the same version.
    Clean,
}

/// An element of the sequence that describes all lists of a buffer. A list ends where the next list begins. A group
/// ends where the next group or list begins.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Token {
    /// A list begins. The values are its name, the meanings of its two ends, and a note.
    List(String, &'static str, &'static str, String),
    /// A group begins. The values are its label and its frame. The frame says how many page positions the group has.
    Group(String, Frame),
    /// A page. The values are its number, its state and its mark.
    Page(Lpn, Held, String),
}
