//! `systor`: the virtual desktop traces of SYSTOR 2017, as published by SNIA.

use super::byte_range;
use crate::cursor::{Column, Cursor, Problem};
use crate::decode::{Layout, State, decode, request};
use crate::format::{Encoding, Format, TimeUnit};
use crate::request::{Operation, Request};

pub(crate) const FORMAT: Format = Format {
    name: "systor",
    extensions: &["systor"],
    about: "SYSTOR 2017: Unix times in s with decimals, not sorted, made relative to the earliest request; a header line may come first.",
    columns: "6 comma-separated fields: time in s, response time, R or W, unit, byte offset, bytes",
    example: "1456095145.133076000,0.000806000,R,0,899056122368,131072",
    time_unit: TimeUnit::Seconds,
    sorted: false,
    epoch: true,
    as_table: Some("time,-,op,volume,offset,bytes"),
    ..Format::of(Encoding::Text(decode::<Systor>))
};

const TIME: Column = Column::new(
    "time",
    "a decimal number of seconds such as 1456095145.133076000",
);
const RESPONSE: Column = Column::new("response time", "a decimal number, or nothing");
const TYPE: Column = Column::new("type", "R or W");
const UNIT: Column = Column::new("unit", "a whole number below 2^32");
const OFFSET: Column = Column::new("offset", "a whole number of bytes");
const BYTES: Column = Column::new("size", "a whole number of bytes below 2^41");

struct Systor;

impl Layout for Systor {
    const HEADER: Option<&'static [u8]> = Some(b"Timestamp,Response,IOType,LUN,Offset,Size");

    #[inline(always)]
    fn line(cursor: &mut Cursor<'_>, state: &mut State) -> Result<Option<Request>, Problem> {
        let arrival = state.epoch_time(cursor, &TIME)?;
        cursor.separator(b',', &TIME)?;
        // The field is empty if the tracer saw no response.
        if cursor.peek() != b',' {
            cursor.ignored_decimal(&RESPONSE)?;
        }
        cursor.separator(b',', &RESPONSE)?;
        let operation = match cursor.word(b',') {
            b"R" => Operation::Read,
            b"W" => Operation::Write,
            _ => return Err(cursor.unknown_word(&TYPE)),
        };
        cursor.separator(b',', &TYPE)?;
        let unit = cursor.number32(&UNIT)?;
        cursor.separator(b',', &UNIT)?;
        let offset = cursor.number(&OFFSET)?;
        cursor.separator(b',', &OFFSET)?;
        let bytes = cursor.number(&BYTES)?;
        let range = byte_range(cursor, offset, bytes, &BYTES)?;
        cursor.end(&BYTES)?;
        request(state, arrival, unit, range, operation)
    }
}
