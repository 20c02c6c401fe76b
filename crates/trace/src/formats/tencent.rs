//! `tencent`: the cloud block storage trace of Tencent, as published by SNIA.

use crate::cursor::{Column, Cursor, Problem};
use crate::decode::{Layout, State, decode, request};
use crate::error::Fault;
use crate::format::{Encoding, Format, TimeUnit};
use crate::request::{Operation, Request};

pub(crate) const FORMAT: Format = Format {
    name: "tencent",
    extensions: &["tencent"],
    about: "Tencent cloud block storage: Unix times in s, not sorted, made relative to the earliest request; thousands of volumes.",
    columns: "5 comma-separated fields: time in s, first sector, sectors, 0 for read or 1 for write, volume",
    example: "1538323200,4247200,128,1,1058",
    time_unit: TimeUnit::Seconds,
    sorted: false,
    epoch: true,
    as_table: Some("time,sector,sectors,write,volume"),
    ..Format::of(Encoding::Text(decode::<Tencent>))
};

const TIME: Column = Column::new("time", "a number of seconds such as 1538323200");
const SECTOR: Column = Column::new("first sector", "a whole number of 512-byte sectors");
const SECTORS: Column = Column::new("sector count", "a whole number below 2^32");
const TYPE: Column = Column::new("type", "0 for read or 1 for write");
const VOLUME: Column = Column::new("volume", "a whole number below 2^32");

struct Tencent;

impl Layout for Tencent {
    #[inline(always)]
    fn line(cursor: &mut Cursor<'_>, state: &mut State) -> Result<Option<Request>, Problem> {
        let arrival = state.epoch_time(cursor, &TIME)?;
        cursor.separator(b',', &TIME)?;
        let sector = cursor.number(&SECTOR)?;
        cursor.separator(b',', &SECTOR)?;
        let sectors = cursor.number32(&SECTORS)?;
        cursor.separator(b',', &SECTORS)?;
        let operation = match cursor.number(&TYPE)? {
            0 => Operation::Read,
            1 => Operation::Write,
            _ => return Err(cursor.bad_field(Fault::UnknownWord(TYPE.name), &TYPE)),
        };
        cursor.separator(b',', &TYPE)?;
        let volume = cursor.number32(&VOLUME)?;
        cursor.end(&VOLUME)?;
        request(state, arrival, volume, (sector, sectors), operation)
    }
}
