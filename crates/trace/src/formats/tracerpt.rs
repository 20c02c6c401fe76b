//! `tracerpt`: the table that tracerpt and tracedmp make of an event log of Windows, such as one that TraceView
//! recorded.
//!
//! The first line names the columns: `Event Name, Type, TID, Clock-Time, ...` in old releases. In new releases
//! the table has twenty columns. This reader uses `Type`, `Clock-Time` and the columns from `User Data` on,
//! wherever they are. Events of `DiskIo` called `Read`, `Write` and `FlushBuffers` are requests. The data of a
//! read or a write are the properties of the class `DiskIo_TypeGroup1` in the order that Microsoft documents:
//! disk, flags, bytes, a reserved field, byte offset, file object, and since Vista the IRP. The data of a flush
//! are the properties of `DiskIo_TypeGroup3`: disk, flags, response time, IRP.
//!
//! Windows logs such an event when the request completes. The event contains the duration of the request in
//! ticks of a counter, but the table does not reliably contain the frequency of this counter. So the duration
//! is not used. If the log has an Init event of the same IRP (`EVENT_TRACE_FLAG_DISK_IO_INIT`), the request
//! arrives at the time of the Init event, and otherwise when it completes. The flags have no bit that asks for
//! durability, so no write is FUA.

use super::{byte_range, padded_comma};
use crate::cursor::{Column, Cursor, Problem};
use crate::decode::{Layout, State, decode, request};
use crate::error::Fault;
use crate::format::{Encoding, Format, TimeUnit};
use crate::options::Event;
use crate::request::{Operation, Request};

pub(crate) const FORMAT: Format = Format {
    name: "tracerpt",
    extensions: &["tracerpt", "tracedmp"],
    about: "Windows event logs (of TraceView, logman, xperf) as tracerpt or tracedmp dumps them to CSV: times in 100 ns since 1601, made relative to the earliest request; with trace.event=issue a request arrives at its Init event, where the log has those; volume is the disk.",
    columns: "comma-separated columns that the first line names, among them Event Name, Type, Clock-Time in 100 ns and User Data, which is disk, flags, bytes, reserved, byte offset, file object, IRP",
    header: Some("Event Name, Type, TID, Clock-Time, Kernel(ms), User(ms), User Data"),
    example: "DiskIo, Write, 0x0A3C, 128166372003061629, 15, 30, 0, 0x00000043, 8192, 0, 3014656, 0x84E3F028, 0x85A1B008, 5120",
    time_unit: TimeUnit::HundredNanoseconds,
    // Events are in the order in which requests completed.
    sorted: false,
    epoch: true,
    ..Format::of(Encoding::Text(decode::<Tracerpt>))
};

const NAMES: Column = Column::new(
    "first line",
    "names of columns, first Event Name, then Type, Clock-Time and last User Data",
);
const IGNORED: Column = Column::new("ignored field", "a field");
const TIME: Column = Column::new("time", "a whole number such as 128166372003061629");
const DISK: Column = Column::new("disk", "a whole number below 2^32");
const FLAGS: Column = Column::new("flags", "a number such as 0x00000043");
const BYTES: Column = Column::new("size", "a whole number of bytes below 2^41");
const RESERVED: Column = Column::new("reserved field", "a whole number");
const OFFSET: Column = Column::new("byte offset", "a whole number of bytes");
const RESPONSE: Column = Column::new("response time", "a whole number");
const IRP: Column = Column::new("IRP", "an address such as 0x85A1B008");

/// The largest number of requests whose Init events are remembered at a time. The Init event of any further
/// request is ignored, so that request arrives when it completes. Without this limit, a log that lost events
/// could fill the memory.
const UNDER_WAY_MAX: usize = 1 << 16;

/// The indices of the columns that are used. [`State::kind`] stores these indices, and is 0 until they are
/// known.
#[derive(Clone, Copy)]
struct Places {
    kind: usize,
    time: usize,
    data: usize,
}

impl Places {
    #[inline(always)]
    fn of(state: &State) -> Self {
        let [kind, time, data, _] = state.kind.to_le_bytes().map(usize::from);
        Self { kind, time, data }
    }
}

struct Tracerpt;

impl Layout for Tracerpt {
    const BLANKS: bool = true;

    #[inline(always)]
    fn line(cursor: &mut Cursor<'_>, state: &mut State) -> Result<Option<Request>, Problem> {
        cursor.skip_spaces();
        let event = cursor.word(b',').trim_ascii_end();
        if state.kind == 0 {
            return column_names(event, cursor, state);
        }
        if event != b"DiskIo" {
            cursor.rest_of_line();
            return Ok(None);
        }
        let places = Places::of(state);
        let mut kind: &[u8] = b"";
        let mut time = 0;
        for place in 1..places.data {
            padded_comma(cursor, &IGNORED)?;
            if place == places.time {
                time = state.epoch_time(cursor, &TIME)?;
                continue;
            }
            let word = cursor.word(b',').trim_ascii_end();
            if place == places.kind {
                kind = word;
            }
        }
        padded_comma(cursor, &TIME)?;
        let operation = match kind {
            b"Read" => Operation::Read,
            b"Write" => Operation::Write,
            b"FlushBuffers" => Operation::Flush,
            b"ReadInit" | b"WriteInit" | b"FlushInit" => {
                let irp = cursor.number_of_any_base(&IRP)?;
                if state.under_way.len() < UNDER_WAY_MAX || state.under_way.contains_key(&irp) {
                    state.under_way.insert(irp, time);
                }
                cursor.rest_of_line();
                return Ok(None);
            }
            // Other events of `DiskIo`, such as those of drivers, are not requests.
            _ => {
                cursor.rest_of_line();
                return Ok(None);
            }
        };
        let disk = cursor.number_of_any_base(&DISK)?;
        let disk =
            u32::try_from(disk).map_err(|_| cursor.bad_field(Fault::TooLarge(DISK.name), &DISK))?;
        padded_comma(cursor, &DISK)?;
        cursor.number_of_any_base(&FLAGS)?;
        padded_comma(cursor, &FLAGS)?;
        let range = if operation == Operation::Flush {
            cursor.number_of_any_base(&RESPONSE)?;
            (0, 0)
        } else {
            let bytes = cursor.number_of_any_base(&BYTES)?;
            padded_comma(cursor, &BYTES)?;
            cursor.number_of_any_base(&RESERVED)?;
            padded_comma(cursor, &RESERVED)?;
            let offset = cursor.number_of_any_base(&OFFSET)?;
            let range = byte_range(cursor, offset, bytes, &BYTES)?;
            // The file object follows, which is not used.
            if !ends(cursor, &OFFSET)? {
                cursor.word(b',');
            }
            range
        };
        let mut arrival = time;
        // Releases of Windows that log no Init events have another value in place of the IRP.
        if !state.under_way.is_empty() && !ends(cursor, &IGNORED)? {
            let began = state.under_way.remove(&cursor.number_of_any_base(&IRP)?);
            if state.choices.event != Event::Complete {
                arrival = began.unwrap_or(time);
            }
        }
        ends(cursor, &IRP)?;
        cursor.rest_of_line();
        request(state, arrival, disk, range, operation)
    }
}

/// Whether the line ends after the field that was just read in `column`. If not, skips the comma that must
/// follow.
#[inline(always)]
fn ends(cursor: &mut Cursor<'_>, column: &'static Column) -> Result<bool, Problem> {
    cursor.skip_spaces();
    if matches!(cursor.peek(), b'\n' | b'\r') {
        return Ok(true);
    }
    padded_comma(cursor, column)?;
    Ok(false)
}

/// Reads the indices of the columns from the first line.
#[cold]
fn column_names(
    first: &[u8],
    cursor: &mut Cursor<'_>,
    state: &mut State,
) -> Result<Option<Request>, Problem> {
    if first != b"Event Name" {
        return Err(cursor.unknown_word(&NAMES));
    }
    let (mut kind, mut time) = (None, None);
    for place in 1..=u8::MAX {
        padded_comma(cursor, &NAMES)?;
        match cursor.word(b',').trim_ascii_end() {
            b"Type" => kind = Some(place),
            b"Clock-Time" => time = Some(place),
            b"User Data" => {
                let (Some(kind), Some(time)) = (kind, time) else {
                    break;
                };
                state.kind = u32::from_le_bytes([kind, time, place, 0]);
                cursor.rest_of_line();
                return Ok(None);
            }
            _ => {}
        }
    }
    Err(cursor.unknown_word(&NAMES))
}
