//! Events, and the number of times that a message passes through the event list before it is delivered.
//!
//! A message between host, controller and device takes no time, but it is delivered after the events that are already
//! due at the same instant. For this purpose, the message passes through the event list several times. The numbers of
//! passes are those of the reference simulator.

use destage_nand::media::dispatch::Phase;

use super::front::{Place, Visit};

/// Passes of a request through the event list before it reaches the device, if it was sent because a request arrived.
pub(super) const PASSES_SEND_ON_ARRIVAL: u8 = 2;
/// Passes of a request through the event list before it reaches the device, if it was sent because another request
/// completed.
pub(super) const PASSES_SEND_ON_COMPLETION: u8 = 3;
/// Passes before a write's data starts to move over the host bus.
pub(super) const PASSES_BEFORE_WRITE_DATA: u8 = 7;
/// Passes before a read's data starts to move over the host bus.
pub(super) const PASSES_BEFORE_READ_DATA: u8 = 2;
/// Passes of the message from device to host that a request is complete.
pub(super) const PASSES_COMPLETION: u8 = 4;
/// Passes of the message from host to device that the host bus is free again.
pub(super) const PASSES_RELEASE: u8 = 1;

/// An event of the engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Event {
    /// The next request of the trace arrives.
    Arrival,
    /// A message about a request is on its way through the event list.
    Message {
        message: Message,
        /// Remaining passes through the event list.
        passes: u8,
        /// Number of the request.
        request: u32,
    },
    /// The data of this write has arrived in the device.
    WriteDataIn(u32),
    /// The data of this read has arrived at the host.
    ReadDataOut(u32),
    /// The transaction with this token number has ended; its time was known when it began.
    Done(u32),
    /// The command in service at this die has ended.
    CommandDone(u32),
    /// A phase of the command at this die, numbered as in the media, has ended.
    Phase { phase: Phase, die: u32 },
    /// The step of this die, whose commands waited in queues, has ended.
    StepDone(u32),
    /// A command of the read with this token number has ended; the read runs during a step of its die.
    ReadDone(u32),
    /// The die may begin its next command or step, while its latest command continues with the cache register.
    DieFree(u32),
    /// The step with this number has ended. The step used a cache register, so its die may have begun other steps
    /// since.
    CachedDone(u32),
    /// A visit to a server of the front end, between host and buffer, is over.
    Front {
        place: Place,
        visit: Visit,
        request: u32,
    },
    /// The alarm with this number, which the device has set, is due.
    Alarm(u32),
    /// The host's thread collects the answer to this request, which was complete before.
    Collected(u32),
}

/// An [`Event`] in one machine word, for the event list. Every flash operation moves events through the list. An
/// event that is assembled byte by byte would need several times as long.
#[derive(Clone, Copy, Default)]
pub(super) struct Packed {
    /// The lowest byte is the kind. The next two bytes are message and passes, or the phase, or place and visit. The
    /// upper half is the number of a transaction, step, die, request or alarm.
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
const COLLECTED: u8 = 13;

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
            Event::Collected(id) => (COLLECTED, 0, id),
        };
        Self {
            word: u64::from(number) << 32 | u64::from(middle) << 8 | u64::from(kind),
        }
    }
}

impl Packed {
    /// The event, unpacked.
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
                phase: phase_of(middle),
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
            ALARM => Event::Alarm(number),
            _ => Event::Collected(number),
        }
    }

    /// Whether the event is an arrival.
    #[inline(always)]
    pub fn is_arrival(self) -> bool {
        self.word == u64::from(ARRIVAL)
    }

    /// The token number of the transaction that has ended, if the event is [`Event::Done`].
    #[inline(always)]
    pub fn ends(self) -> Option<u32> {
        (self.word as u32 == u32::from(DONE)).then_some((self.word >> 32) as u32)
    }

    /// The request that is complete, if the event is a completion message with any number of remaining passes.
    #[inline(always)]
    pub fn completes(self) -> Option<u32> {
        const NEWS: u64 = (Message::Complete as u64) << 8 | MESSAGE as u64;
        (self.word & 0xFFFF == NEWS).then_some((self.word >> 32) as u32)
    }
}

/// The phase of a flash command with this number.
#[inline]
fn phase_of(number: u16) -> Phase {
    match number {
        0 => Phase::Command,
        1 => Phase::Cells,
        2 => Phase::Data,
        3 => Phase::Register,
        _ => Phase::Between,
    }
}

/// The content of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Message {
    /// The host sends the request to the device.
    Send = 0,
    /// The host bus is ready for the write's data.
    StartWriteData = 1,
    /// The host bus is ready for the read's data.
    StartReadData = 2,
    /// The request is complete.
    Complete = 3,
    /// The host bus is free. The request number has no meaning.
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

    /// The event of this message about `request`, with `passes` remaining passes.
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
