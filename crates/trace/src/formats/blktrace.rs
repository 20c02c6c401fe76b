//! `blktrace`: the events of the Linux block layer, as the kernel writes them.
//!
//! A record has 48 bytes in the byte order of the traced machine, and further bytes of data, whose number is in
//! the record (`linux/blktrace_api.h`, version 7). As in `blkparse`, `trace.event` selects the events that are
//! requests, and a flush bit adds a separate flush before the request. The files of several processors can be
//! joined end to end. The events of such a file are not in order of time, so the requests are sorted within a
//! window.

use crate::cursor::{Column, Problem};
use crate::decode::State;
use crate::error::Fault;
use crate::format::{Encoding, Format, TimeUnit};
use crate::options::Event;
use crate::records::{Binary, Records, Step, bad_field, request};
use crate::request::{Operation, Request, sectors_touched};

pub(crate) const FORMAT: Format = Format {
    name: "blktrace",
    extensions: &["blktrace"],
    about: "Linux blktrace, binary, either byte order, one file or several end to end, sorted within a window: trace.event says which event is the request; flushes, FUA and discards are kept.",
    columns: "records of 48 bytes and more: magic, number, time in ns, first sector, bytes, action, process, device, processor, error, length of data",
    example: "07746165 01000000 fba3010000000000 0269030000000000 00100000 07004200 b9020000 00008000 03000000 0000 0000",
    time_unit: TimeUnit::Nanoseconds,
    sorted: false,
    filters_events: true,
    ..Format::of(Encoding::Binary(Binary::of::<BlkTrace>(begins)))
};

const MAGIC: Column = Column::new(
    "magic number",
    "0x65617407 in either byte order, which is version 7 of blktrace",
);
const BYTES: Column = Column::new("size", "sectors that end below 2^55");

/// Length of a record in bytes, without its data.
const HEADER_BYTES: usize = 48;
const LITTLE: [u8; 4] = [0x07, 0x74, 0x61, 0x65];
const BIG: [u8; 4] = [0x65, 0x61, 0x74, 0x07];

/// The low half of the action is the event.
const QUEUE: u32 = 1;
const ISSUE: u32 = 7;
const COMPLETE: u32 = 8;
/// A bit of the low half: the data begin with the number of a control group.
const CGROUP: u32 = 1 << 8;
/// Bits of the high half: the kind of request.
const WRITE: u32 = 1 << 17;
const FLUSH: u32 = 1 << 18;
const PASS_THROUGH: u32 = 1 << 25;
const NOTIFY: u32 = 1 << 26;
const DISCARD: u32 = 1 << 29;
const FUA: u32 = 1 << 31;

fn begins(bytes: &[u8]) -> bool {
    bytes.starts_with(&LITTLE) || bytes.starts_with(&BIG)
}

struct BlkTrace;

impl Records for BlkTrace {
    #[inline(always)]
    fn record(bytes: &[u8], state: &mut State, batch: &mut Vec<Request>) -> Result<Step, Problem> {
        let Some(header) = bytes.first_chunk::<HEADER_BYTES>() else {
            return Ok(Step::Incomplete);
        };
        let little = header.starts_with(&LITTLE);
        if !little && !header.starts_with(&BIG) {
            // Without a magic number, the start of the next record is unknown.
            return Err(Problem {
                record: None,
                ..bad_field(Fault::UnknownWord(MAGIC.name), &MAGIC, 0, 4, 0)
            });
        }
        let data = number::<2>(header, 46, little);
        let length = HEADER_BYTES + data as usize;
        if bytes.len() < length {
            return Ok(Step::Incomplete);
        }
        let done = Ok(Step::Done {
            bytes: length,
            count: 1,
        });
        let action = number::<4>(header, 28, little) as u32;
        let wanted = match state.choices.event {
            Event::Issue => ISSUE,
            Event::Queue => QUEUE,
            Event::Complete => COMPLETE,
        };
        if action & 0xFFFF & !CGROUP != wanted || action & (NOTIFY | PASS_THROUGH) != 0 {
            return done;
        }
        let time = number::<8>(header, 8, little);
        let Some(arrival) = time.checked_mul(state.unit.ticks) else {
            return Err(bad_field(Fault::TooLarge("time"), &TIME, 8, 8, length));
        };
        let sector = number::<8>(header, 16, little);
        let size = number::<4>(header, 24, little);
        let device = number::<4>(header, 36, little) as u32;
        let flush = action & FLUSH != 0;
        if size == 0 && flush {
            batch.push(request(
                state,
                arrival,
                device,
                (0, 0),
                Operation::Flush,
                length,
            )?);
            return done;
        }
        let operation = if action & DISCARD != 0 {
            Operation::Trim
        } else if action & WRITE != 0 {
            Operation::Write
        } else {
            Operation::Read
        };
        let Some((_, sectors)) = sectors_touched(0, size) else {
            return Err(bad_field(
                Fault::TooLarge(BYTES.name),
                &BYTES,
                24,
                4,
                length,
            ));
        };
        let mut made = request(state, arrival, device, (sector, sectors), operation, length)?;
        made.fua = action & FUA != 0 && operation == Operation::Write;
        if flush {
            batch.push(made.flush_of_volume());
        }
        batch.push(made);
        done
    }
}

const TIME: Column = Column::new("time", "a number of nanoseconds below 2^60");

/// Reads the number of `N` bytes at `at`.
#[inline(always)]
fn number<const N: usize>(header: &[u8; HEADER_BYTES], at: usize, little: bool) -> u64 {
    let mut bytes = [0; 8];
    if little {
        bytes[..N].copy_from_slice(&header[at..at + N]);
        u64::from_le_bytes(bytes)
    } else {
        bytes[8 - N..].copy_from_slice(&header[at..at + N]);
        u64::from_be_bytes(bytes)
    }
}
