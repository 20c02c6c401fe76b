//! `msr`: block traces of Microsoft Research Cambridge, as published by SNIA.

use super::{byte_range, read_or_write};
use crate::cursor::{Column, Cursor, Problem};
use crate::decode::{Layout, State, decode, request};
use crate::error::Fault;
use crate::format::{Encoding, Format, TimeUnit};
use crate::request::Request;

pub(crate) const FORMAT: Format = Format {
    name: "msr",
    extensions: &["msr"],
    about: "MSR Cambridge: times in 100 ns since 1601, made relative to the first request; volume is the disk, plus 65536 n for the n-th further host; a header line may come first.",
    columns: "7 comma-separated fields: time in 100 ns, host, disk, Read or Write, byte offset, bytes, response time",
    example: "128166385295514663,hm,0,Write,9056014336,2048,2833",
    time_unit: TimeUnit::HundredNanoseconds,
    epoch: true,
    as_table: Some("time,-,volume,op,offset,bytes,-"),
    ..Format::of(Encoding::Text(decode::<Msr>))
};

const TIME: Column = Column::new("time", "a whole number such as 128166385295514663");
const HOST: Column = Column::new("host", "a name");
const DISK: Column = Column::new(
    "disk",
    "a whole number below 2^32, below 2^16 with several hosts",
);
const TYPE: Column = Column::new("type", "Read or Write");
const OFFSET: Column = Column::new("offset", "a whole number of bytes");
const BYTES: Column = Column::new("size", "a whole number of bytes below 2^41");
const RESPONSE: Column = Column::new("response time", "a whole number");

struct Msr;

impl Layout for Msr {
    const HEADER: Option<&'static [u8]> =
        Some(b"Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime");

    #[inline(always)]
    fn line(cursor: &mut Cursor<'_>, state: &mut State) -> Result<Option<Request>, Problem> {
        let arrival = state.epoch_time(cursor, &TIME)?;
        cursor.separator(b',', &TIME)?;
        let host = cursor.word(b',');
        cursor.separator(b',', &HOST)?;
        let disk = cursor.number32(&DISK)?;
        let Some(volume) = state.names.volume_of_host(host, disk) else {
            return Err(cursor.bad_field(Fault::TooLarge(DISK.name), &DISK));
        };
        cursor.separator(b',', &DISK)?;
        let operation = read_or_write(cursor, b',', &TYPE)?;
        let offset = cursor.number(&OFFSET)?;
        cursor.separator(b',', &OFFSET)?;
        let bytes = cursor.number(&BYTES)?;
        let range = byte_range(cursor, offset, bytes, &BYTES)?;
        cursor.separator(b',', &BYTES)?;
        cursor.number(&RESPONSE)?;
        cursor.end(&RESPONSE)?;
        request(state, arrival, volume, range, operation)
    }
}
