//! `spc`: the format of the Storage Performance Council, used by the UMass Trace Repository.

use super::byte_range;
use crate::cursor::{Column, Cursor, Problem};
use crate::decode::{Layout, State, decode, request};
use crate::format::{Encoding, Format, TimeUnit};
use crate::request::{Operation, Request};

pub(crate) const FORMAT: Format = Format {
    name: "spc",
    extensions: &["spc"],
    about: "Storage Performance Council: volume is the application storage unit; further fields are allowed and ignored.",
    columns: "5 or more comma-separated fields: storage unit, first sector, bytes, r or w, time in s",
    example: "0,20941264,8192,W,0.551706",
    time_unit: TimeUnit::Seconds,
    as_table: Some("volume,sector,bytes,op,time"),
    ..Format::of(Encoding::Text(decode::<Spc>))
};

const UNIT: Column = Column::new("storage unit", "a whole number below 2^32");
const SECTOR: Column = Column::new("first sector", "a whole number of 512-byte sectors");
const BYTES: Column = Column::new("size", "a whole number of bytes below 2^41");
const OPCODE: Column = Column::new("opcode", "r or w");
const TIME: Column = Column::new("time", "a decimal number of seconds such as 0.551706");

struct Spc;

impl Layout for Spc {
    #[inline(always)]
    fn line(cursor: &mut Cursor<'_>, state: &mut State) -> Result<Option<Request>, Problem> {
        let unit = cursor.number32(&UNIT)?;
        cursor.separator(b',', &UNIT)?;
        let sector = cursor.number(&SECTOR)?;
        cursor.separator(b',', &SECTOR)?;
        let bytes = cursor.number(&BYTES)?;
        let (_, sectors) = byte_range(cursor, 0, bytes, &BYTES)?;
        cursor.separator(b',', &BYTES)?;
        let operation = match cursor.word(b',') {
            b"r" | b"R" => Operation::Read,
            b"w" | b"W" => Operation::Write,
            _ => return Err(cursor.unknown_word(&OPCODE)),
        };
        cursor.separator(b',', &OPCODE)?;
        let arrival = state.time(cursor, &TIME)?;
        if cursor.peek() == b',' {
            cursor.rest_of_line();
        } else {
            cursor.end(&TIME)?;
        }
        request(state, arrival, unit, (sector, sectors), operation)
    }
}
