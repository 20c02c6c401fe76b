//! `vscsi`: SCSI commands of virtual disks, in the binary format of the CloudPhysics traces, as libCacheSim
//! reads this format.
//!
//! A record has 32 bytes in version 1 and 40 bytes in version 2; each record contains the version. The lowest
//! byte of a number comes first. Times are in us since 1970, sizes in bytes, addresses in sectors of 512 bytes.

use super::{SCSI_OPCODE, scsi_operation};
use crate::cursor::{Column, Problem};
use crate::decode::State;
use crate::error::Fault;
use crate::format::{Encoding, Format, TimeUnit};
use crate::records::{Binary, Records, Step, bad_field, le16, le32, le64, request};
use crate::request::{Operation, Request, sectors_touched};

pub(crate) const FORMAT: Format = Format {
    name: "vscsi",
    extensions: &["vscsi"],
    about: "VMware vscsi, binary, versions 1 and 2 (CloudPhysics as libCacheSim ships it): times in us, sorted within a window, made relative to the earliest request; one volume.",
    columns: "records of 32 bytes (version 1: number, bytes, segments, opcode, version, sector, time) or 40 (version 2: opcode, version, number, bytes, segments, sector, time, response time)",
    example: "2a000002 01000000 00100000 01000000 2777100000000000 00c8b22a5ff30400 e803000000000000",
    time_unit: TimeUnit::Microseconds,
    sorted: false,
    epoch: true,
    ..Format::of(Encoding::Binary(Binary::of::<Vscsi>(begins)))
};

const VERSION: Column = Column::new(
    "version",
    "1 or 2 in the higher byte, and the same in all records",
);
const TIME: Column = Column::new(
    "time",
    "microseconds, not years apart from the first request",
);

/// The length of a record in bytes, and the positions of its fields, in one version.
struct Fields {
    length: usize,
    opcode: usize,
    version: usize,
    bytes: usize,
    sector: usize,
    time: usize,
}

const VERSIONS: [Fields; 2] = [
    Fields {
        length: 32,
        opcode: 12,
        version: 14,
        bytes: 4,
        sector: 16,
        time: 24,
    },
    Fields {
        length: 40,
        opcode: 0,
        version: 2,
        bytes: 8,
        sector: 16,
        time: 24,
    },
];

/// The version that the first two records contain. One record is not enough: the byte that contains the version
/// in one version is part of a count in the other version.
fn version_of(bytes: &[u8]) -> Option<u32> {
    let fits = |version: u16| {
        let fields = &VERSIONS[usize::from(version) - 1];
        let marked = |record: &[u8]| le16(record, fields.version) >> 8 == version;
        let mut records = bytes.chunks_exact(fields.length).take(2);
        records.len() > 0 && records.all(marked)
    };
    [2, 1]
        .into_iter()
        .find(|version| fits(*version))
        .map(u32::from)
}

fn begins(bytes: &[u8]) -> bool {
    let Some(version) = version_of(bytes) else {
        return false;
    };
    // The version is a small number, which files of other formats can also have at this position. So the
    // opcodes must be known as well.
    let fields = &VERSIONS[version as usize - 1];
    bytes.chunks_exact(fields.length).take(8).all(|record| {
        le16(record, fields.version) >> 8 == version as u16
            && scsi_operation(u64::from(le16(record, fields.opcode))).is_some()
    })
}

struct Vscsi;

impl Records for Vscsi {
    #[inline(always)]
    fn record(bytes: &[u8], state: &mut State, batch: &mut Vec<Request>) -> Result<Step, Problem> {
        if state.kind == 0 {
            if bytes.len() < VERSIONS[0].length {
                return Ok(Step::Incomplete);
            }
            state.kind = version_of(bytes).ok_or_else(|| Problem {
                record: None,
                ..bad_field(Fault::UnknownVersion, &VERSION, 0, 16, 0)
            })?;
        }
        let fields = &VERSIONS[state.kind as usize - 1];
        if bytes.len() < fields.length {
            return Ok(Step::Incomplete);
        }
        let bad =
            |fault, column, field, width| bad_field(fault, column, field, width, fields.length);
        if u32::from(le16(bytes, fields.version) >> 8) != state.kind {
            return Err(bad(Fault::UnknownVersion, &VERSION, fields.version, 2));
        }
        let Some(operation) = scsi_operation(u64::from(le16(bytes, fields.opcode))) else {
            return Err(bad(
                Fault::UnknownWord(SCSI_OPCODE.name),
                &SCSI_OPCODE,
                fields.opcode,
                2,
            ));
        };
        let Some(arrival) = state.whole_epoch_time(le64(bytes, fields.time)) else {
            return Err(bad(Fault::TooLarge(TIME.name), &TIME, fields.time, 8));
        };
        let range = match operation {
            Operation::Flush => (0, 0),
            _ => {
                let (_, sectors) = sectors_touched(0, u64::from(le32(bytes, fields.bytes)))
                    .expect("a length below 2^32 bytes is below 2^32 sectors");
                (le64(bytes, fields.sector), sectors)
            }
        };
        batch.push(request(state, arrival, 0, range, operation, fields.length)?);
        Ok(Step::Done {
            bytes: fields.length,
            count: 1,
        })
    }
}
