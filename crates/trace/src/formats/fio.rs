//! `fio`: the log of requests that fio writes and replays, versions 2 and 3.
//!
//! In version 3, each line has a time. A log of version 2 has no times, only waits. Each request arrives at the
//! sum of the waits before it. In a log without waits, all requests arrive at the same time. Each file is a
//! volume; files are numbered in the order in which their names first appear. Lines about files (add, open,
//! close) are checked, but are not requests. `sync`, `datasync` and `sync_file_range` are flushes; `trim` is a
//! trim.

use super::byte_range;
use crate::cursor::{Column, Cursor, Problem};
use crate::decode::{Layout, State, decode, request};
use crate::error::Fault;
use crate::format::{Encoding, Format, TimeUnit};
use crate::request::{Operation, Request};

pub(crate) const FORMAT: Format = Format {
    name: "fio",
    extensions: &["fio", "iolog"],
    about: "fio iolog, version 2 (times are sums of its waits) or 3 (times in us; early releases counted ms: trace.time_unit); a volume for each file.",
    columns: "4 columns, in version 3 after a time in us: file, action, byte offset, bytes",
    header: Some("fio version 3 iolog"),
    example: "1200 /dev/sdb write 4194304 8192",
    time_unit: TimeUnit::Microseconds,
    ..Format::of(Encoding::Text(decode::<Fio>))
};

const VERSION: Column = Column::new("first line", "fio version 2 iolog, or fio version 3 iolog");
const TIME: Column = Column::new("time", "a whole number of microseconds");
const FILE: Column = Column::new("file", "a name, and fewer than 2^32 of them");
const ACTION: Column = Column::new(
    "action",
    "add, open, close, wait, read, write, sync, datasync, sync_file_range or trim",
);
const OFFSET: Column = Column::new("offset", "a whole number of bytes");
const BYTES: Column = Column::new("length", "a whole number of bytes below 2^41");
const WAIT: Column = Column::new(
    "wait",
    "a whole number of microseconds that together stay below 2^64 ticks of 0.1 ns",
);

struct Fio;

impl Layout for Fio {
    #[inline(always)]
    fn line(cursor: &mut Cursor<'_>, state: &mut State) -> Result<Option<Request>, Problem> {
        if state.line == 1 {
            return version(cursor, state);
        }
        let arrival = match state.kind {
            2 => state.clock,
            3 => {
                let time = state.time(cursor, &TIME)?;
                cursor.blanks(&TIME)?;
                time
            }
            _ => return Err(Problem::line(Fault::UnknownVersion)),
        };
        let file = cursor.word(b' ');
        if file.is_empty() {
            return Err(cursor.unknown_word(&FILE));
        }
        let Some(volume) = state.names.number(file) else {
            return Err(cursor.bad_field(Fault::TooLarge(FILE.name), &FILE));
        };
        cursor.blanks(&FILE)?;
        let operation = match cursor.word(b' ') {
            b"read" => Operation::Read,
            b"write" => Operation::Write,
            b"trim" => Operation::Trim,
            b"sync" | b"datasync" | b"sync_file_range" => Operation::Flush,
            b"wait" => return wait(cursor, state),
            b"add" | b"open" | b"close" => {
                cursor.end(&ACTION)?;
                return Ok(None);
            }
            _ => return Err(cursor.unknown_word(&ACTION)),
        };
        cursor.blanks(&ACTION)?;
        let offset = cursor.number(&OFFSET)?;
        cursor.blanks(&OFFSET)?;
        let bytes = cursor.number(&BYTES)?;
        let range = byte_range(cursor, offset, bytes, &BYTES)?;
        cursor.end(&BYTES)?;
        if operation == Operation::Flush {
            return request(state, arrival, volume, (0, 0), operation);
        }
        request(state, arrival, volume, range, operation)
    }
}

#[cold]
fn version(cursor: &mut Cursor<'_>, state: &mut State) -> Result<Option<Request>, Problem> {
    state.kind = match cursor.word(b'\n').trim_ascii_end() {
        b"fio version 2 iolog" => 2,
        b"fio version 3 iolog" => 3,
        _ => return Err(cursor.bad_field(Fault::UnknownVersion, &VERSION)),
    };
    cursor.end(&VERSION)?;
    Ok(None)
}

/// Reads a `wait`, which has a time in place of an offset. A length may follow; it is ignored.
fn wait(cursor: &mut Cursor<'_>, state: &mut State) -> Result<Option<Request>, Problem> {
    cursor.blanks(&ACTION)?;
    let time = cursor.number(&WAIT)?;
    let clock = time
        .checked_mul(state.unit.ticks)
        .and_then(|ticks| ticks.checked_add(state.clock));
    let Some(clock) = clock else {
        return Err(cursor.bad_field(Fault::TooLarge(WAIT.name), &WAIT));
    };
    if matches!(cursor.peek(), b' ' | b'\t') {
        cursor.skip_blanks();
        if cursor.peek().is_ascii_digit() {
            cursor.number(&BYTES)?;
        }
    }
    cursor.end(&WAIT)?;
    state.clock = clock;
    Ok(None)
}
