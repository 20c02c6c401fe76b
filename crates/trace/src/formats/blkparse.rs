//! `blkparse`: the events of the Linux block layer, as text in the default form of the tool `blkparse`.
//!
//! The YCSB/RocksDB trace of SNIA has this form too. Each event of the kind that `trace.event` selects is a
//! request. The default is D (issue), because the events D are the requests that the device receives, after
//! merging and splitting. All other events are ignored, and so are messages, SCSI commands without sectors, and
//! the summary at the end of the text. A request that is requeued and issued again counts each time it is
//! issued.
//!
//! The letters after the action give the operation. An F in front of the operation means that a flush precedes
//! the request. This flush becomes a separate request with the same arrival. An F after the R or W means forced
//! unit access.

use crate::cursor::{Column, Cursor, Problem};
use crate::decode::{Layout, State, decode, request};
use crate::error::Fault;
use crate::format::{Encoding, Format, TimeUnit};
use crate::options::Event;
use crate::request::{Operation, Request};

pub(crate) const FORMAT: Format = Format {
    name: "blkparse",
    extensions: &["blkparse", "ycsb"],
    about: "Linux blktrace as blkparse prints it, and the YCSB traces of SNIA: trace.event says which event is the request; flushes, FUA and discards are kept; volume is the device number.",
    columns: "8 columns: major,minor, processor, number, time in s, process, action, operation, and first sector + sectors",
    example: "  8,0    3        1     0.000107515   697  D   W 223490 + 8 [kjournald]",
    time_unit: TimeUnit::Seconds,
    filters_events: true,
    ..Format::of(Encoding::Text(decode::<BlkParse>))
};

const DEVICE: Column = Column::new(
    "device",
    "major,minor as two whole numbers, the first below 2^12 and the second below 2^20",
);
const PROCESSOR: Column = Column::new("processor", "a whole number");
const NUMBER: Column = Column::new("sequence number", "a whole number");
const TIME: Column = Column::new("time", "a decimal number of seconds such as 0.000107515");
const PROCESS: Column = Column::new("process", "a whole number");
const ACTION: Column = Column::new("action", "one of Q M F G S R D C P U UT I X B A m N");
const OPERATION: Column = Column::new("operation", "letters such as R, WS, FWFS, D or FN");
const SECTOR: Column = Column::new("first sector", "a whole number of 512-byte sectors");
const SECTORS: Column = Column::new("sector count", "a plus sign and a whole number below 2^32");

/// The value of [`State::kind`] after the summary has begun.
const SUMMARY: u32 = 1;

struct BlkParse;

impl Layout for BlkParse {
    // Blank lines surround the summary.
    const BLANKS: bool = true;

    #[inline(always)]
    fn line(cursor: &mut Cursor<'_>, state: &mut State) -> Result<Option<Request>, Problem> {
        cursor.skip_blanks();
        // No line of the summary begins with a digit. So a line after the summary that begins with a digit was appended
        // to the file, and holds an event.
        let in_summary = state.kind == SUMMARY && !cursor.peek().is_ascii_digit();
        if in_summary || matches!(cursor.peek(), b'C' | b'T') {
            return summary(cursor, state);
        }
        let major = cursor.number32(&DEVICE)?;
        cursor.separator(b',', &DEVICE)?;
        let minor = cursor.number32(&DEVICE)?;
        if major >= 1 << 12 || minor >= 1 << 20 {
            return Err(cursor.bad_field(Fault::TooLarge(DEVICE.name), &DEVICE));
        }
        cursor.blanks(&DEVICE)?;
        cursor.number(&PROCESSOR)?;
        cursor.blanks(&PROCESSOR)?;
        cursor.number(&NUMBER)?;
        cursor.blanks(&NUMBER)?;
        let arrival = state.time(cursor, &TIME)?;
        cursor.blanks(&TIME)?;
        cursor.number(&PROCESS)?;
        cursor.blanks(&PROCESS)?;
        let wanted = match (cursor.word(b' '), state.choices.event) {
            (b"D", event) => event == Event::Issue,
            (b"Q", event) => event == Event::Queue,
            (b"C", event) => event == Event::Complete,
            (
                b"M" | b"F" | b"G" | b"S" | b"R" | b"P" | b"U" | b"UT" | b"I" | b"X" | b"B" | b"A"
                | b"m" | b"N",
                _,
            ) => false,
            _ => return Err(cursor.unknown_word(&ACTION)),
        };
        cursor.blanks(&ACTION)?;
        if !wanted {
            cursor.rest_of_line();
            return Ok(None);
        }
        let Some(asked) = Asked::of(cursor.word(b' ')) else {
            return Err(cursor.unknown_word(&OPERATION));
        };
        let volume = major << 20 | minor;
        // An event without sectors is a flush, or it is not a request.
        let without_sectors = |state: &State| {
            if asked.flush {
                request(state, arrival, volume, (0, 0), Operation::Flush)
            } else {
                Ok(None)
            }
        };
        cursor.skip_blanks();
        // If the event has no sector, a process, a command or the end of the line follows here. Any other text
        // must be a sector.
        if matches!(cursor.peek(), b'[' | b'(' | b'\n' | b'\r') {
            cursor.rest_of_line();
            return without_sectors(state);
        }
        let sector = cursor.number(&SECTOR)?;
        cursor.blanks(&SECTOR)?;
        if matches!(cursor.peek(), b'(' | b'[') {
            // The number is not the first sector of a request. The number is the length of a command whose
            // bytes follow in brackets, or the sector of a completed flush.
            cursor.rest_of_line();
            return without_sectors(state);
        }
        cursor.separator(b'+', &SECTORS)?;
        cursor.skip_blanks();
        let sectors = cursor.number32(&SECTORS)?;
        match cursor.peek() {
            b' ' | b'\n' | b'\r' => cursor.rest_of_line(),
            _ => {
                return Err(cursor.bad_field(Fault::NotANumber(SECTORS.name), &SECTORS));
            }
        }
        let Some(operation) = asked.operation.filter(|_| sectors > 0 || !asked.flush) else {
            return without_sectors(state);
        };
        let mut made = request(state, arrival, volume, (sector, sectors), operation)?;
        if let Some(request) = &mut made {
            request.fua = asked.fua && operation == Operation::Write;
            if asked.flush {
                state.ahead = Some(request.flush_of_volume());
            }
        }
        Ok(made)
    }
}

/// Skips a line of the summary, which begins with `CPU0 (8,0):` or `Total (8,0):`.
#[cold]
fn summary(cursor: &mut Cursor<'_>, state: &mut State) -> Result<Option<Request>, Problem> {
    if state.kind != SUMMARY {
        let line = &cursor.bytes[cursor.at..];
        if !line.starts_with(b"CPU") && !line.starts_with(b"Total") {
            // This call fails, and returns the error.
            cursor.number(&DEVICE)?;
        }
        state.kind = SUMMARY;
    }
    cursor.rest_of_line();
    Ok(None)
}

/// The meaning of the letters after the action.
struct Asked {
    /// Whether a flush precedes the operation.
    flush: bool,
    /// The operation; `None` if the letters mean only a flush.
    operation: Option<Operation>,
    fua: bool,
}

impl Asked {
    #[inline(always)]
    fn of(letters: &[u8]) -> Option<Self> {
        let (flush, rest) = match letters {
            [b'F', rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        let (operation, rest) = match rest {
            [b'R', rest @ ..] => (Some(Operation::Read), rest),
            [b'W', rest @ ..] => (Some(Operation::Write), rest),
            [b'D', rest @ ..] => (Some(Operation::Trim), rest),
            [b'N' | b'F', rest @ ..] => (None, rest),
            [] if flush => (None, rest),
            _ => return None,
        };
        let mut fua = false;
        for letter in rest {
            match letter {
                b'F' => fua = true,
                // The letters for read-ahead, barrier, synchronous, metadata and secure erase, and the letters
                // U and V, do not change the request.
                b'A' | b'B' | b'S' | b'M' | b'E' | b'U' | b'V' => {}
                _ => return None,
            }
        }
        Some(Self {
            flush,
            operation,
            fua,
        })
    }
}
