//! `xperf`: disk events of Windows, as `xperf -a dumper` prints them. The Microsoft Enterprise and Production
//! Server traces of SNIA are such dumps.
//!
//! The lines from `BeginHeader` to `EndHeader` name the columns of every kind of event. The events follow; only
//! `DiskRead`, `DiskWrite` and `DiskFlush` are requests. Newer versions of xperf print the processor before the
//! address of the IRP. The reader recognises the address by its 0x, and not by the header. So it can also read
//! lines that were cut out of a dump. If the dump has a header, the header must name the columns that the
//! reader uses.
//!
//! Windows logs such an event when the request completes. The event contains the time from the start of the
//! request to its completion (Microsoft's documentation of `DiskIo_TypeGroup1` and `DiskIo_TypeGroup2`). So
//! `TimeStamp` is the time of the completion, and the request was issued `ElapsedTime` earlier. Windows can log
//! the start as well, as an event of another class (Init). The Init rows contain no further information, and no
//! address. Init rows are skipped, because a completion without an Init row could be matched with the Init row
//! of another request. Times count from the start of the log, so a request that was issued before the start of
//! the log arrives at 0.
//!
//! `IrpFlags` has no bit that asks for durability, so no write is FUA.

use super::{byte_range, padded_comma};
use crate::cursor::{Column, Cursor, Problem};
use crate::decode::{Layout, State, decode, request};
use crate::format::{Encoding, Format, TimeUnit};
use crate::options::Event;
use crate::request::{Operation, Request};

pub(crate) const FORMAT: Format = Format {
    name: "xperf",
    extensions: &["xperf"],
    about: "Windows event traces as xperf -a dumper prints them, and the Microsoft Enterprise and Production Server traces of SNIA: trace.event says whether a request arrives when it is issued or when it is done; volume is the disk.",
    columns: "comma-separated fields: DiskRead or DiskWrite, time in us, process (number), thread, perhaps processor, 0xIRP, 0xbyte offset, 0xbytes, elapsed us, disk, 0xflags, and more; DiskFlush without offset and bytes",
    header: Some(
        "BeginHeader\n\
         DiskRead, TimeStamp, Process Name ( PID), ThreadID, IrpPtr, ByteOffset, IOSize, ElapsedTime, DiskNum, IrpFlags, DiskSvcTime, I/O Pri, VolSnap, FileObject, FileName\n\
         DiskWrite, TimeStamp, Process Name ( PID), ThreadID, IrpPtr, ByteOffset, IOSize, ElapsedTime, DiskNum, IrpFlags, DiskSvcTime, I/O Pri, VolSnap, FileObject, FileName\n\
         DiskFlush, TimeStamp, Process Name ( PID), ThreadID, IrpPtr, ElapsedTime, DiskNum, IrpFlags, DiskSvcTime, I/O Pri\n\
         EndHeader",
    ),
    example: "DiskWrite, 2664955, p1 ( 980), 6852, 0xfffffade6b0a2010, 0x6c80556e00, 0x00010000, 183, 3, 0x000043, 183, 0, Unknown, 0xfffffade72165e40, \"Disk5:\\s71\\s72\"",
    time_unit: TimeUnit::Microseconds,
    // Events are in the order in which requests completed.
    sorted: false,
    ..Format::of(Encoding::Text(decode::<Xperf>))
};

const EVENT: Column = Column::new(
    "event",
    "BeginHeader, or a disk event such as DiskRead or DiskWrite",
);
const NAME: Column = Column::new(
    "column name",
    "TimeStamp, Process Name ( PID), ThreadID, perhaps CPU, IrpPtr, ByteOffset, IOSize (neither for a flush), ElapsedTime, DiskNum, IrpFlags",
);
const TIME: Column = Column::new("time", "a whole number of microseconds");
const PROCESS: Column = Column::new("process", "a name and a number in brackets");
const THREAD: Column = Column::new("thread", "a whole number");
const PROCESSOR: Column = Column::new("processor", "a whole number, or none before the IRP's 0x");
const IRP: Column = Column::new("IRP", "an address such as 0xfffffade6b0a2010");
const OFFSET: Column = Column::new("byte offset", "a number of bytes such as 0x6c80556e00");
const BYTES: Column = Column::new("size", "a number of bytes such as 0x00010000, below 2^41");
const ELAPSED: Column = Column::new("elapsed time", "a whole number of microseconds");
const DISK: Column = Column::new("disk", "a whole number below 2^32");
const FLAGS: Column = Column::new("flags", "a number such as 0x000043, and more fields");

/// The value of [`State::kind`] while the header names columns.
const HEADER: u32 = 1;
/// The value of [`State::kind`] after the header. Any event may follow then.
const EVENTS: u32 = 2;

struct Xperf;

impl Layout for Xperf {
    // Blank lines separate the header from the events.
    const BLANKS: bool = true;

    #[inline(always)]
    fn line(cursor: &mut Cursor<'_>, state: &mut State) -> Result<Option<Request>, Problem> {
        cursor.skip_spaces();
        let operation = match cursor.word(b',').trim_ascii_end() {
            b"DiskRead" => Operation::Read,
            b"DiskWrite" => Operation::Write,
            b"DiskFlush" => Operation::Flush,
            other => return no_request(other, cursor, state),
        };
        if state.kind == HEADER {
            return column_names(operation, cursor);
        }
        padded_comma(cursor, &EVENT)?;
        let done = state.time(cursor, &TIME)?;
        padded_comma(cursor, &TIME)?;
        process(cursor)?;
        padded_comma(cursor, &PROCESS)?;
        if cursor.word(b',').is_empty() {
            return Err(cursor.unknown_word(&THREAD));
        }
        padded_comma(cursor, &THREAD)?;
        if !cursor.bytes[cursor.at..].starts_with(b"0x") {
            cursor.number(&PROCESSOR)?;
            padded_comma(cursor, &PROCESSOR)?;
        }
        cursor.hexadecimal(&IRP)?;
        padded_comma(cursor, &IRP)?;
        let range = if operation == Operation::Flush {
            // The fields for offset and size can be present but empty.
            while cursor.peek() == b',' {
                padded_comma(cursor, &IRP)?;
            }
            (0, 0)
        } else {
            let offset = cursor.hexadecimal(&OFFSET)?;
            padded_comma(cursor, &OFFSET)?;
            let bytes = cursor.hexadecimal(&BYTES)?;
            let range = byte_range(cursor, offset, bytes, &BYTES)?;
            padded_comma(cursor, &BYTES)?;
            range
        };
        let elapsed = state.time(cursor, &ELAPSED)?;
        padded_comma(cursor, &ELAPSED)?;
        let disk = cursor.number32(&DISK)?;
        padded_comma(cursor, &DISK)?;
        cursor.hexadecimal(&FLAGS)?;
        padded_comma(cursor, &FLAGS)?;
        cursor.rest_of_line();
        let arrival = match state.choices.event {
            Event::Complete => done,
            Event::Issue | Event::Queue => done.saturating_sub(elapsed),
        };
        request(state, arrival, disk, range, operation)
    }
}

/// Skips the name of a process and its number in brackets. The name may contain commas.
#[inline(always)]
fn process(cursor: &mut Cursor<'_>) -> Result<(), Problem> {
    while !cursor.word(b',').trim_ascii_end().ends_with(b")") {
        cursor.separator(b',', &PROCESS)?;
    }
    Ok(())
}

/// Handles a line that does not begin with `DiskRead`, `DiskWrite` or `DiskFlush`: notes where the header
/// begins and ends, and skips other events. Without a header, an unknown first word is an error.
fn no_request(
    word: &[u8],
    cursor: &mut Cursor<'_>,
    state: &mut State,
) -> Result<Option<Request>, Problem> {
    match word {
        b"BeginHeader" => state.kind = HEADER,
        b"EndHeader" if state.kind == HEADER => state.kind = EVENTS,
        b"DiskReadInit" | b"DiskWriteInit" | b"DiskFlushInit" => {}
        _ if state.kind == HEADER || state.kind == EVENTS => {}
        _ => return Err(cursor.unknown_word(&EVENT)),
    }
    cursor.rest_of_line();
    Ok(None)
}

/// Checks the names of the columns of an event. The columns must be in the order in which the reader uses them.
#[cold]
fn column_names(operation: Operation, cursor: &mut Cursor<'_>) -> Result<Option<Request>, Problem> {
    let names: [&[u8]; 9] = [
        b"TimeStamp",
        b"Process Name ( PID)",
        b"ThreadID",
        b"IrpPtr",
        b"ByteOffset",
        b"IOSize",
        b"ElapsedTime",
        b"DiskNum",
        b"IrpFlags",
    ];
    for name in names {
        if operation == Operation::Flush && matches!(name, b"ByteOffset" | b"IOSize") {
            continue;
        }
        padded_comma(cursor, &NAME)?;
        let mut word = cursor.word(b',').trim_ascii_end();
        if name == b"IrpPtr" && word == b"CPU" {
            padded_comma(cursor, &NAME)?;
            word = cursor.word(b',').trim_ascii_end();
        }
        if word != name {
            return Err(cursor.unknown_word(&NAME));
        }
    }
    cursor.rest_of_line();
    Ok(None)
}
