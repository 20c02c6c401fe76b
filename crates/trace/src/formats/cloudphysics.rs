//! `cloudphysics`: virtual disks traced by CloudPhysics, in the comma-separated form of libCacheSim.

use super::{SCSI_OPCODE, byte_range, scsi_operation};
use crate::cursor::{Column, Cursor, Problem};
use crate::decode::{Layout, State, decode, request};
use crate::format::{Encoding, Format, TimeUnit};
use crate::request::{Operation, Request};

pub(crate) const FORMAT: Format = Format {
    name: "cloudphysics",
    extensions: &["cloudphysics"],
    about: "CloudPhysics: SCSI opcodes in hex, times in whole s; a header line may come first; one volume.",
    columns: "5 comma-separated fields: version, time in s, SCSI opcode in hex, bytes, first sector",
    example: "1,5633898,2a,512,42932745",
    time_unit: TimeUnit::Seconds,
    ..Format::of(Encoding::Text(decode::<CloudPhysics>))
};

const VERSION: Column = Column::new("version", "a whole number");
const TIME: Column = Column::new("time", "a number of seconds such as 5633898");
const BYTES: Column = Column::new("size", "a whole number of bytes below 2^41");
const SECTOR: Column = Column::new("first sector", "a whole number of 512-byte sectors");

struct CloudPhysics;

impl Layout for CloudPhysics {
    const HEADER: Option<&'static [u8]> = Some(b"version,time,op,size,lbn");

    #[inline(always)]
    fn line(cursor: &mut Cursor<'_>, state: &mut State) -> Result<Option<Request>, Problem> {
        cursor.number(&VERSION)?;
        cursor.separator(b',', &VERSION)?;
        let arrival = state.time(cursor, &TIME)?;
        cursor.separator(b',', &TIME)?;
        let operation = match cursor.word(b',') {
            b"28" => Operation::Read,
            b"2a" => Operation::Write,
            other => std::str::from_utf8(other)
                .ok()
                .filter(|text| text.len() <= 2 && text.bytes().all(|byte| byte.is_ascii_hexdigit()))
                .and_then(|text| u64::from_str_radix(text, 16).ok())
                .and_then(scsi_operation)
                .ok_or_else(|| cursor.unknown_word(&SCSI_OPCODE))?,
        };
        cursor.separator(b',', &SCSI_OPCODE)?;
        let bytes = cursor.number(&BYTES)?;
        let (_, sectors) = byte_range(cursor, 0, bytes, &BYTES)?;
        cursor.separator(b',', &BYTES)?;
        let sector = cursor.number(&SECTOR)?;
        cursor.end(&SECTOR)?;
        if operation == Operation::Flush {
            // The command names a range, but a device may flush more, so the range is dropped.
            return request(state, arrival, 0, (0, 0), operation);
        }
        request(state, arrival, 0, (sector, sectors), operation)
    }
}
