//! What was recorded.

use destage_base::{Lpn, Ticks};
use destage_buffer::destage::{DestageCause, Grouping, Pad};
use destage_buffer::shown::Frame;
use destage_nand::operation::{Cause, Kind, Merge};
use destage_trace::Operation;

use super::Splice;

/// The beginning of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// Dies of the device.
    pub dies: u32,
    /// In the order of their arrival, from the first on.
    pub requests: Vec<Asked>,
    /// In the order in which they happened.
    pub events: Vec<Event>,
    /// The work of the dies, in the order in which it began.
    pub intervals: Vec<Interval>,
    /// Why recording stopped before the run did, if it did.
    pub stop: Option<Stop>,
}

impl Recording {
    /// Of nothing, on a device of `dies` dies.
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

/// Why recording stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Enough requests.
    Requests,
    /// Enough events.
    Events,
    /// Too much changed, or the dies did too much.
    Size,
    /// The buffer, one without a bound, has grown too large.
    Pages,
}

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// What was asked.
    pub operation: Operation,
    /// It had to last before it was answered.
    pub fua: bool,
    /// The first page.
    pub first: u64,
    /// How many pages; of a flush nothing.
    pub pages: u32,
    /// When it arrived.
    pub arrival: Ticks,
    /// From then to its answer; `None` if that came after the recording.
    pub response: Option<Ticks>,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// When.
    pub time: Ticks,
    /// What.
    pub what: What,
    /// For which request, by its place among [`Recording::requests`].
    pub request: Option<u32>,
    /// Pages that are buffered after it.
    pub resident: u32,
    /// Slots in use after it, including those of leaving pages.
    pub occupied: u32,
    /// Its changes to the buffer.
    pub changes: Vec<Splice>,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A request arrived.
    Arrival,
    /// A page was written to the buffer; `hit` if it was there.
    Write {
        /// Which.
        page: Lpn,
        /// It was buffered.
        hit: bool,
    },
    /// A page was read; `hit` if it was in RAM.
    Read {
        /// Which.
        page: Lpn,
        /// It was in RAM.
        hit: bool,
    },
    /// A page was written past the buffer.
    Bypass(Lpn),
    /// A page was trimmed.
    Trim(Lpn),
    /// Pages leave the buffer, or are written back.
    Destage(WatchedRecord),
    /// The last program of the record that was emitted by this event has ended.
    Ended(u32),
    /// Pages that were written back are clean.
    Cleaned,
    /// A request was answered.
    Answer,
}

/// A destage record.
#[derive(Clone, Debug, PartialEq)]
pub struct WatchedRecord {
    /// Why.
    pub cause: DestageCause,
    /// How its pages belong together.
    pub grouping: Grouping,
    /// Whether the pages stay, and become clean.
    pub retain: bool,
    /// The dirty pages.
    pub pages: Vec<Lpn>,
    /// What completes them.
    pub pads: Vec<Pad>,
}

/// A step of a die.
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    /// Which die.
    pub die: u32,
    /// When it began.
    pub begin: Ticks,
    /// How long it took.
    pub time: Ticks,
    /// The event with which it began.
    pub event: u32,
    /// Its purpose, in a word.
    pub work: &'static str,
    /// The pages it read or wrote for others; `None` of garbage collection.
    pub pages: Vec<Lpn>,
    /// The event that emitted the record it belongs to.
    pub record: Option<u32>,
    /// The request it was for, if it was for one directly.
    pub request: Option<u32>,
    /// The flash operations, in their order.
    pub parts: Vec<Part>,
    /// Merges that were part of it.
    pub merges: Vec<Merge>,
}

/// Equal operations of a step, the kinds in the order in which they first came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// What they do.
    pub kind: Kind,
    /// For what.
    pub cause: Cause,
    /// How many.
    pub count: u32,
    /// How long they take one after the other.
    pub time: Ticks,
}

/// How a resident page relates to the flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Held {
    /// The flash has an older version.
    Dirty,
    /// It is being programmed, and stays.
    WritingBack,
    /// The flash has it.
    Clean,
}

/// A piece of a buffer's lists. A list goes on to the next list, a group to the next group or list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Token {
    /// A list begins: its name, the meanings of its two ends, and a note.
    List(String, &'static str, &'static str, String),
    /// A group begins: its label, and how many places it has.
    Group(String, Frame),
    /// A page, how it relates to the flash, and its mark.
    Page(Lpn, Held, String),
}
