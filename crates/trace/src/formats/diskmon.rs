//! `diskmon`: the log that DiskMon, a tool for Windows, saves.

use super::read_or_write;
use crate::cursor::{Column, Cursor, Problem};
use crate::decode::{Layout, State, decode, request};
use crate::format::{Encoding, Format, TimeUnit};
use crate::request::Request;

pub(crate) const FORMAT: Format = Format {
    name: "diskmon",
    extensions: &["diskmon"],
    about: "DiskMon of Windows, saved or exported with tabs, commas or blanks, with a header line or without; times in s; most such disks need trace.lba_shift=63 to undo the partition's offset.",
    columns: "7 fields separated by tabs, commas or blanks: number, time in s, duration in s, disk, Read or Write, first sector, sectors",
    example: "0\t4.656875\t0.00003815\t0\tWrite\t6194591\t32",
    time_unit: TimeUnit::Seconds,
    as_table: Some("-,time,-,volume,op,sector,sectors"),
    ..Format::of(Encoding::Text(decode::<DiskMon>))
};

const NUMBER: Column = Column::new("sequence number", "a whole number");
const TIME: Column = Column::new("time", "a decimal number of seconds such as 4.656875");
const DURATION: Column = Column::new("duration", "a decimal number of seconds such as 0.00003815");
const DISK: Column = Column::new("disk", "a whole number below 2^32");
const REQUEST: Column = Column::new("request", "Read or Write");
const SECTOR: Column = Column::new("first sector", "a whole number of 512-byte sectors");
const SECTORS: Column = Column::new("sector count", "a whole number below 2^32");

struct DiskMon;

impl Layout for DiskMon {
    const HEADER: Option<&'static [u8]> =
        Some(b"#\tTime\tDuration (s)\tDisk\tRequest\tSector\tLength");

    #[inline(always)]
    fn line(cursor: &mut Cursor<'_>, state: &mut State) -> Result<Option<Request>, Problem> {
        cursor.number(&NUMBER)?;
        // The separator after the first field separates all fields of the line.
        let separator = match cursor.peek() {
            other @ (b',' | b' ') => other,
            _ => b'\t',
        };
        let next = |cursor: &mut Cursor<'_>, column| {
            cursor.separator(separator, column)?;
            if separator == b' ' {
                cursor.skip_spaces();
            }
            Ok(())
        };
        next(cursor, &NUMBER)?;
        let arrival = state.time(cursor, &TIME)?;
        next(cursor, &TIME)?;
        cursor.ignored_decimal(&DURATION)?;
        next(cursor, &DURATION)?;
        let disk = cursor.number32(&DISK)?;
        next(cursor, &DISK)?;
        let operation = read_or_write(cursor, separator, &REQUEST)?;
        if separator == b' ' {
            cursor.skip_spaces();
        }
        let sector = cursor.number(&SECTOR)?;
        next(cursor, &SECTOR)?;
        let sectors = cursor.number32(&SECTORS)?;
        cursor.end(&SECTORS)?;
        request(state, arrival, disk, (sector, sectors), operation)
    }
}
