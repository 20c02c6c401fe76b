//! `wiscsee`: block events that the WiscSee simulator recorded.

use super::byte_range;
use crate::cursor::{Column, Cursor, Problem};
use crate::decode::{Layout, State, decode, request};
use crate::format::{Encoding, Format, TimeUnit};
use crate::request::{Operation, Request};

pub(crate) const FORMAT: Format = Format {
    name: "wiscsee",
    extensions: &["wiscsee"],
    about: "WiscSee block events: D (dispatch) lines are the requests, C (completion) lines are checked and left out; one volume.",
    columns: "8 columns: process, D or C, read, write or discard, byte offset, bytes, time in s, latency, True or False",
    example: "1446 D write 136314880 4096 0.437444011 2.8108e-05 True",
    time_unit: TimeUnit::Seconds,
    ..Format::of(Encoding::Text(decode::<WiscSee>))
};

const PROCESS: Column = Column::new("process", "a whole number");
const EVENT: Column = Column::new("event", "D or C");
const OPERATION: Column = Column::new("operation", "read, write or discard");
const OFFSET: Column = Column::new("offset", "a whole number of bytes");
const BYTES: Column = Column::new("size", "a whole number of bytes below 2^41");
const TIME: Column = Column::new("time", "a decimal number of seconds such as 0.437444011");
const LATENCY: Column = Column::new("latency", "a decimal number such as 2.8108e-05");
const SYNC: Column = Column::new("sync", "True or False");

struct WiscSee;

impl Layout for WiscSee {
    #[inline(always)]
    fn line(cursor: &mut Cursor<'_>, state: &mut State) -> Result<Option<Request>, Problem> {
        cursor.number(&PROCESS)?;
        cursor.blanks(&PROCESS)?;
        let dispatch = match cursor.word(b' ') {
            b"D" => true,
            b"C" => false,
            _ => return Err(cursor.unknown_word(&EVENT)),
        };
        cursor.blanks(&EVENT)?;
        let operation = match cursor.word(b' ') {
            b"read" => Operation::Read,
            b"write" => Operation::Write,
            b"discard" => Operation::Trim,
            _ => return Err(cursor.unknown_word(&OPERATION)),
        };
        cursor.blanks(&OPERATION)?;
        let offset = cursor.number(&OFFSET)?;
        cursor.blanks(&OFFSET)?;
        let bytes = cursor.number(&BYTES)?;
        let range = byte_range(cursor, offset, bytes, &BYTES)?;
        cursor.blanks(&BYTES)?;
        let arrival = state.time(cursor, &TIME)?;
        cursor.blanks(&TIME)?;
        cursor.ignored_decimal(&LATENCY)?;
        cursor.blanks(&LATENCY)?;
        // The kernel's sync flag asks for a quick response, not for durability, so it is not FUA.
        if !matches!(cursor.word(b' '), b"True" | b"False") {
            return Err(cursor.unknown_word(&SYNC));
        }
        cursor.end(&SYNC)?;
        if !dispatch {
            return Ok(None);
        }
        request(state, arrival, 0, range, operation)
    }
}
