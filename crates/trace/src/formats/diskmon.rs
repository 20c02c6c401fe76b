//! `diskmon`: the log that the DiskMon tool of Windows saves.

use super::read_or_write;
use crate::cursor::{Column, Cursor, Problem};
use crate::decode::{Layout, State, decode, request};
use crate::format::{Format, TimeUnit};
use crate::request::Request;

pub(crate) const FORMAT: Format = Format {
    name: "diskmon",
    extensions: &["diskmon"],
    about: "DiskMon of Windows: tab-separated, times in s; most such disks need trace.lba_shift=63 to undo the partition's offset.",
    columns: "7 tab-separated fields: number, time in s, duration in s, disk, Read or Write, first sector, sectors",
    example: "0\t4.656875\t0.00003815\t0\tWrite\t6194591\t32",
    time_unit: TimeUnit::Seconds,
    sorted: true,
    epoch: false,
    decode: decode::<DiskMon>,
};

const NUMBER: Column = Column {
    name: "sequence number",
    expected: "a whole number",
};
const TIME: Column = Column {
    name: "time",
    expected: "a decimal number of seconds such as 4.656875",
};
const DURATION: Column = Column {
    name: "duration",
    expected: "a decimal number of seconds such as 0.00003815",
};
const DISK: Column = Column {
    name: "disk",
    expected: "a whole number below 2^32",
};
const REQUEST: Column = Column {
    name: "request",
    expected: "Read or Write",
};
const SECTOR: Column = Column {
    name: "first sector",
    expected: "a whole number of 512-byte sectors",
};
const SECTORS: Column = Column {
    name: "sector count",
    expected: "a whole number below 2^32",
};

struct DiskMon;

impl Layout for DiskMon {
    #[inline(always)]
    fn line(cursor: &mut Cursor<'_>, state: &mut State) -> Result<Option<Request>, Problem> {
        cursor.number(&NUMBER)?;
        cursor.separator(b'\t', &NUMBER)?;
        let arrival = state.time(cursor, &TIME)?;
        cursor.separator(b'\t', &TIME)?;
        cursor.ignored_decimal(&DURATION)?;
        cursor.separator(b'\t', &DURATION)?;
        let disk = cursor.number32(&DISK)?;
        cursor.separator(b'\t', &DISK)?;
        let operation = read_or_write(cursor, b'\t', &REQUEST)?;
        let sector = cursor.number(&SECTOR)?;
        cursor.separator(b'\t', &SECTOR)?;
        let sectors = cursor.number32(&SECTORS)?;
        cursor.end(&SECTORS)?;
        request(state, arrival, disk, (sector, sectors), operation)
    }
}
