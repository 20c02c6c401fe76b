//! `alibaba`: the block traces of Alibaba Cloud, as published in 2020.

use super::byte_range;
use crate::cursor::{Column, Cursor, Problem};
use crate::decode::{Layout, State, decode, request};
use crate::format::{Encoding, Format, TimeUnit};
use crate::request::{Operation, Request};

pub(crate) const FORMAT: Format = Format {
    name: "alibaba",
    extensions: &["alibaba"],
    about: "Alibaba cloud block storage: Unix times in us, sorted within a window, made relative to the earliest request; a header line may come first.",
    columns: "5 comma-separated fields: device, R or W, byte offset, bytes, time in us",
    example: "419,W,8792731648,16384,1577808144360767",
    time_unit: TimeUnit::Microseconds,
    sorted: false,
    epoch: true,
    as_table: Some("volume,op,offset,bytes,time"),
    ..Format::of(Encoding::Text(decode::<Alibaba>))
};

const DEVICE: Column = Column::new("device", "a whole number below 2^32");
const OPCODE: Column = Column::new("opcode", "R or W");
const OFFSET: Column = Column::new("offset", "a whole number of bytes");
const BYTES: Column = Column::new("length", "a whole number of bytes below 2^41");
const TIME: Column = Column::new("time", "a number of microseconds such as 1577808144360767");

struct Alibaba;

impl Layout for Alibaba {
    const HEADER: Option<&'static [u8]> = Some(b"device_id,opcode,offset,length,timestamp");

    #[inline(always)]
    fn line(cursor: &mut Cursor<'_>, state: &mut State) -> Result<Option<Request>, Problem> {
        let device = cursor.number32(&DEVICE)?;
        cursor.separator(b',', &DEVICE)?;
        let operation = match cursor.word(b',') {
            b"R" => Operation::Read,
            b"W" => Operation::Write,
            _ => return Err(cursor.unknown_word(&OPCODE)),
        };
        cursor.separator(b',', &OPCODE)?;
        let offset = cursor.number(&OFFSET)?;
        cursor.separator(b',', &OFFSET)?;
        let bytes = cursor.number(&BYTES)?;
        let range = byte_range(cursor, offset, bytes, &BYTES)?;
        cursor.separator(b',', &BYTES)?;
        let arrival = state.epoch_time(cursor, &TIME)?;
        cursor.end(&TIME)?;
        request(state, arrival, device, range, operation)
    }
}
