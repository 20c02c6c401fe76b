//! What is due, and how often a message passes through the event list before it is heard.
//!
//! A message between host, controller and device takes no time, but what is already due at that instant
//! goes first. The numbers of passes are those of the reference simulator.

use super::front::{Place, Visit};

/// Passes through the event list before a request sent on an arrival reaches the device.
pub(super) const PASSES_SEND_ON_ARRIVAL: u8 = 2;
/// The same for a request sent on a completion.
pub(super) const PASSES_SEND_ON_COMPLETION: u8 = 3;
/// Before a write's data starts over the host bus.
pub(super) const PASSES_BEFORE_WRITE_DATA: u8 = 7;
/// Before a read's data starts over the host bus.
pub(super) const PASSES_BEFORE_READ_DATA: u8 = 2;
/// From the device to the host with the news of completion.
pub(super) const PASSES_COMPLETION: u8 = 4;
/// From the host back to the device, which may use the channel again.
pub(super) const PASSES_RELEASE: u8 = 1;

/// What is due.
#[derive(Clone, Copy, Default, Debug)]
pub(super) enum Event {
    /// The next request of the trace arrives.
    #[default]
    Arrival,
    /// A message about a request is on its way through the event list.
    Message {
        message: Message,
        /// Passes to go.
        passes: u8,
        /// About which request.
        request: u32,
    },
    /// A write's data is in the device.
    WriteDataIn(u32),
    /// A read's data is at the host.
    ReadDataOut(u32),
    /// The command in service at this die has ended.
    DieDone(u32),
    /// A phase of the command at this die, by the media's number, has ended.
    Phase { phase: Phase, die: u32 },
    /// The step of this die, whose commands waited in queues, has ended.
    StepDone(u32),
    /// A command of a read in the midst of the step of this die has ended.
    ReadDone { die: u32, number: u32 },
    /// The step of this die goes on by itself, and the next may begin.
    DieFree(u32),
    /// The page operation of this number, whose die may have begun others, has ended.
    CachedDone(u32),
    /// The operation at this position of the batch in service at this die has ended.
    BatchedDone { position: u16, die: u32 },
    /// Somebody has been served on the way between host and buffer.
    Front {
        place: Place,
        visit: Visit,
        request: u32,
    },
    /// The device asked to be woken now.
    Alarm(u32),
}

/// The part of a flash command that has ended, as in [`End`](destage_flash::media::dispatch::End).
#[derive(Clone, Copy, Debug)]
pub(super) enum Phase {
    Command,
    Cells,
    Data,
}

/// What a message says.
#[derive(Clone, Copy, Debug)]
pub(super) enum Message {
    /// The host sends the request to the device.
    Send,
    /// The channel is ready for the write's data.
    StartWriteData,
    /// The channel is ready for the read's data.
    StartReadData,
    /// The request is complete.
    Complete,
    /// The channel is free; about no request.
    Release,
}

impl Message {
    /// The event of this message about `request`, `passes` passes before it is heard.
    pub(super) fn about(self, request: u32, passes: u8) -> Event {
        Event::Message {
            message: self,
            passes,
            request,
        }
    }
}
