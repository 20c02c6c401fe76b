//! What is due, and how often a message passes through the event list before it is heard.
//!
//! A message between host, controller and device takes no time, but what is already due at that instant
//! goes first. The numbers of passes are those of the reference simulator.

use super::front::{Place, Visit};

/// Passes through the event list before a request sent on an arrival reaches the device.
pub(super) const PASSES_SEND_ON_ARRIVAL: u8 = 2;
/// Passes before a request sent on a completion reaches the device.
pub(super) const PASSES_SEND_ON_COMPLETION: u8 = 3;
/// Passes before a write's data starts over the host bus.
pub(super) const PASSES_BEFORE_WRITE_DATA: u8 = 7;
/// Before a read's data starts over the host bus.
pub(super) const PASSES_BEFORE_READ_DATA: u8 = 2;
/// From the device to the host with the news of completion.
pub(super) const PASSES_COMPLETION: u8 = 4;
/// From the host back to the device, which may use the channel again.
pub(super) const PASSES_RELEASE: u8 = 1;

/// What is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Event {
    /// The next request of the trace arrives.
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
    /// The transaction of this number, whose time was known when it began, has ended.
    Done(u32),
    /// The command in service at this die has ended.
    CommandDone(u32),
    /// A phase of the command at this die, by the media's number, has ended.
    Phase { phase: Phase, die: u32 },
    /// The step of this die, whose commands waited in queues, has ended.
    StepDone(u32),
    /// A command of this read, by its token's number, in the midst of a step, has ended.
    ReadDone(u32),
    /// The step of this die goes on by itself, and the next may begin.
    DieFree(u32),
    /// The page operation of this number, whose die may have begun others, has ended.
    CachedDone(u32),
    /// Somebody has been served on the way between host and buffer.
    Front {
        place: Place,
        visit: Visit,
        request: u32,
    },
    /// The device asked to be woken now.
    Alarm(u32),
}

/// An [`Event`] in a machine word, as it stands in the event list: it is moved as often as flash does something, and put
/// together byte by byte an event takes several times as long.
#[derive(Clone, Copy, Default)]
pub(super) struct Packed {
    /// Kind in the lowest byte; message and passes, or phase in the next two; then transaction, die, request or alarm.
    word: u64,
}

const ARRIVAL: u8 = 0;
const MESSAGE: u8 = 1;
const WRITE_DATA_IN: u8 = 2;
const READ_DATA_OUT: u8 = 3;
const DONE: u8 = 4;
const PHASE: u8 = 5;
const STEP_DONE: u8 = 6;
const READ_DONE: u8 = 7;
const COMMAND_DONE: u8 = 8;
const DIE_FREE: u8 = 9;
const CACHED_DONE: u8 = 10;
const FRONT: u8 = 11;
const ALARM: u8 = 12;

impl From<Event> for Packed {
    #[inline(always)]
    fn from(event: Event) -> Self {
        let (kind, middle, number) = match event {
            Event::Arrival => (ARRIVAL, 0, 0),
            Event::Message {
                message,
                passes,
                request,
            } => (
                MESSAGE,
                u16::from_le_bytes([message as u8, passes]),
                request,
            ),
            Event::WriteDataIn(id) => (WRITE_DATA_IN, 0, id),
            Event::ReadDataOut(id) => (READ_DATA_OUT, 0, id),
            Event::Done(number) => (DONE, 0, number),
            Event::CommandDone(die) => (COMMAND_DONE, 0, die),
            Event::Phase { phase, die } => (PHASE, phase as u16, die),
            Event::StepDone(die) => (STEP_DONE, 0, die),
            Event::ReadDone(number) => (READ_DONE, 0, number),
            Event::DieFree(die) => (DIE_FREE, 0, die),
            Event::CachedDone(number) => (CACHED_DONE, 0, number),
            Event::Front {
                place,
                visit,
                request,
            } => (
                FRONT,
                u16::from_le_bytes([place as u8, visit as u8]),
                request,
            ),
            Event::Alarm(alarm) => (ALARM, 0, alarm),
        };
        Self {
            word: u64::from(number) << 32 | u64::from(middle) << 8 | u64::from(kind),
        }
    }
}

impl Packed {
    /// What it is.
    #[inline(always)]
    pub fn event(self) -> Event {
        let (middle, number) = ((self.word >> 8) as u16, (self.word >> 32) as u32);
        match self.word as u8 {
            ARRIVAL => Event::Arrival,
            MESSAGE => {
                let [message, passes] = middle.to_le_bytes();
                Event::Message {
                    message: Message::of(message),
                    passes,
                    request: number,
                }
            }
            WRITE_DATA_IN => Event::WriteDataIn(number),
            READ_DATA_OUT => Event::ReadDataOut(number),
            DONE => Event::Done(number),
            COMMAND_DONE => Event::CommandDone(number),
            PHASE => Event::Phase {
                phase: Phase::of(middle),
                die: number,
            },
            STEP_DONE => Event::StepDone(number),
            READ_DONE => Event::ReadDone(number),
            DIE_FREE => Event::DieFree(number),
            CACHED_DONE => Event::CachedDone(number),
            FRONT => {
                let [place, visit] = middle.to_le_bytes();
                Event::Front {
                    place: Place::of(place),
                    visit: Visit::of(visit),
                    request: number,
                }
            }
            _ => Event::Alarm(number),
        }
    }

    /// Whether it is an arrival.
    #[inline(always)]
    pub fn is_arrival(self) -> bool {
        self.word == u64::from(ARRIVAL)
    }

    /// The number of the transaction that has ended, if it is that.
    #[inline(always)]
    pub fn ends(self) -> Option<u32> {
        (self.word as u32 == u32::from(DONE)).then_some((self.word >> 32) as u32)
    }

    /// The request of which this is the news that it is complete.
    #[inline(always)]
    pub fn completes(self) -> Option<u32> {
        const NEWS: u64 = (Message::Complete as u64) << 8 | MESSAGE as u64;
        (self.word & 0xFFFF == NEWS).then_some((self.word >> 32) as u32)
    }
}

/// The part of a flash command that has ended, as in [`End`](destage_nand::media::dispatch::End).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    Command = 0,
    Cells = 1,
    Data = 2,
    Register = 3,
    Between = 4,
}

impl Phase {
    #[inline]
    fn of(number: u16) -> Self {
        match number {
            0 => Self::Command,
            1 => Self::Cells,
            2 => Self::Data,
            3 => Self::Register,
            _ => Self::Between,
        }
    }
}

/// What a message says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Message {
    /// The host sends the request to the device.
    Send = 0,
    /// The channel is ready for the write's data.
    StartWriteData = 1,
    /// The channel is ready for the read's data.
    StartReadData = 2,
    /// The request is complete.
    Complete = 3,
    /// The channel is free; about no request.
    Release = 4,
}

impl Message {
    #[inline]
    fn of(number: u8) -> Self {
        match number {
            0 => Self::Send,
            1 => Self::StartWriteData,
            2 => Self::StartReadData,
            3 => Self::Complete,
            _ => Self::Release,
        }
    }

    /// The event of this message about `request`, `passes` passes before it is heard.
    pub(super) fn about(self, request: u32, passes: u8) -> Event {
        Event::Message {
            message: self,
            passes,
            request,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_loses_nothing() {
        let messages = [
            Message::Send,
            Message::StartWriteData,
            Message::StartReadData,
            Message::Complete,
            Message::Release,
        ];
        let messages = messages.map(|message| message.about(u32::MAX, u8::MAX));
        let phases = [
            Phase::Command,
            Phase::Cells,
            Phase::Data,
            Phase::Register,
            Phase::Between,
        ];
        let phases = phases.map(|phase| Event::Phase { phase, die: 7 });
        let others = [
            Event::Arrival,
            Event::WriteDataIn(u32::MAX),
            Event::ReadDataOut(3),
            Event::Done(u32::MAX),
            Event::CommandDone(6),
            Event::StepDone(5),
            Event::ReadDone(u32::MAX),
            Event::DieFree(4),
            Event::CachedDone(u32::MAX),
            Event::Alarm(u32::MAX),
        ];
        let visits = (0..12).flat_map(|visit| (0..4).map(move |place| (place, visit)));
        let visits = visits.map(|(place, visit)| Event::Front {
            place: Place::of(place),
            visit: Visit::of(visit),
            request: u32::MAX,
        });
        let others = others.into_iter().chain(visits);
        for event in messages.into_iter().chain(phases).chain(others) {
            let packed = Packed::from(event);
            assert_eq!(packed.event(), event);
            let is_news = event == Message::Complete.about(u32::MAX, u8::MAX);
            assert_eq!(packed.completes(), is_news.then_some(u32::MAX), "{event:?}");
            assert_eq!(packed.is_arrival(), event == Event::Arrival);
            let is_end = event == Event::Done(u32::MAX);
            assert_eq!(packed.ends(), is_end.then_some(u32::MAX), "{event:?}");
        }
    }
}
