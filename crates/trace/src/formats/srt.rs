//! `srt`: the traces of HP Labs (hplajw, snake, cello 92 and 99), as DiskSim reads them.
//!
//! All numbers have 32 bits, highest byte first. A file may begin with a text that ends with a form feed. A
//! record contains its length, its version and type, the time of the request (s and us), the start and the end
//! of its service, the number of bytes, the first sector, device, driver, cylinder, flags (lowest bit: read)
//! and origin. A record of version 4 also contains the length of the queue. A suspect record also contains the
//! reason why HP's tools doubted it. Suspect records are checked and skipped; DiskSim skips them too. The
//! volume is bits 8 to 15 of the device.
//!
//! A sector of the disk need not have 512 bytes: `trace.block_bytes` is its size.

use crate::cursor::{Column, Problem};
use crate::decode::State;
use crate::error::Fault;
use crate::format::{Encoding, Format, TimeUnit};
use crate::records::{Binary, Records, Step, bad_field, be32, request};
use crate::request::{Operation, Request, sectors_touched};

pub(crate) const FORMAT: Format = Format {
    name: "srt",
    extensions: &["srt"],
    about: "HP Labs SRT, binary (hplajw, snake, cello): times in us from the start of the trace, sorted within a window; trace.block_bytes is the disk's sector, 256 for hplajw.",
    columns: "records of 13 to 15 numbers of 32 bits: length, version and type, s, us, start, stop, bytes, sector, device, driver, cylinder, flags, origin",
    example: "00000038 00040001 0000000c 0003d090 00000064 00002710 00002000 00001f40 00000100 00000000 00000010 00000000 00000000 00000001",
    time_unit: TimeUnit::Microseconds,
    sorted: false,
    ..Format::of(Encoding::Binary(Binary::of::<Srt>(begins)))
};

const HEADER: Column = Column::new(
    "header",
    "text of at most 65536 bytes that a form feed ends",
);
const LENGTH: Column = Column::new(
    "record length",
    "52 bytes, 4 more in version 4, and 4 more of a suspect request",
);
const TYPE: Column = Column::new(
    "record type",
    "version 1 to 4, and type 1 (short request) or 4 (suspect request)",
);
const TIME: Column = Column::new("time", "less than 2^64 ticks of 0.1 ns");
const BYTES: Column = Column::new(
    "size",
    "sectors of trace.block_bytes that end below 2^55 sectors of 512",
);

const HEADER_BYTES_MAX: usize = 1 << 16;
const SUSPECT: u32 = 4;
const READ: u32 = 1;
const MICROSECONDS_PER_SECOND: u64 = 1_000_000;

/// The length in bytes of a record with `id`, which contains version and type; `None` if the version or the
/// type is unknown.
fn length_of(id: u32) -> Option<u32> {
    let (version, kind) = (id >> 16, id & 0xFFFF);
    if !(1..=4).contains(&version) || !matches!(kind, 1 | SUSPECT) {
        return None;
    }
    Some(52 + 4 * u32::from(version == 4) + 4 * u32::from(kind == SUSPECT))
}

/// The length of the text at the beginning, with its form feed; `None` if the form feed is not found.
fn header_length(bytes: &[u8]) -> Option<usize> {
    let shown = &bytes[..bytes.len().min(HEADER_BYTES_MAX)];
    memchr::memchr(0x0C, shown).map(|end| end + 1)
}

fn is_text(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~')
}

fn begins(bytes: &[u8]) -> bool {
    let start = match bytes.first() {
        Some(first) if is_text(*first) => match header_length(bytes) {
            Some(length) => length,
            None => return false,
        },
        _ => 0,
    };
    let record = &bytes[start..];
    record.len() >= 8 && length_of(be32(record, 4)) == Some(be32(record, 0))
}

struct Srt;

impl Records for Srt {
    #[inline(always)]
    fn record(bytes: &[u8], state: &mut State, batch: &mut Vec<Request>) -> Result<Step, Problem> {
        if state.kind == 0 {
            if is_text(bytes[0]) {
                return header(bytes, state);
            }
            state.kind = 1;
        }
        if bytes.len() < 8 {
            return Ok(Step::Incomplete);
        }
        let (size, id) = (be32(bytes, 0), be32(bytes, 4));
        let Some(expected) = length_of(id) else {
            return Err(Problem {
                record: None,
                ..bad_field(Fault::UnknownWord(TYPE.name), &TYPE, 4, 4, 0)
            });
        };
        if size != expected {
            return Err(Problem {
                record: None,
                ..bad_field(Fault::UnknownWord(LENGTH.name), &LENGTH, 0, 4, 0)
            });
        }
        let length = size as usize;
        if bytes.len() < length {
            return Ok(Step::Incomplete);
        }
        let done = Ok(Step::Done {
            bytes: length,
            count: 1,
        });
        if id & 0xFFFF == SUSPECT {
            return done;
        }
        let time = u64::from(be32(bytes, 8)) * MICROSECONDS_PER_SECOND + u64::from(be32(bytes, 12));
        let Some(arrival) = time.checked_mul(state.unit.ticks) else {
            return Err(bad_field(Fault::TooLarge(TIME.name), &TIME, 8, 8, length));
        };
        let offset = u64::from(be32(bytes, 28)) * state.choices.block_bytes;
        let Some(range) = sectors_touched(offset, u64::from(be32(bytes, 24))) else {
            return Err(bad_field(
                Fault::TooLarge(BYTES.name),
                &BYTES,
                24,
                4,
                length,
            ));
        };
        let operation = if be32(bytes, 44) & READ == 0 {
            Operation::Write
        } else {
            Operation::Read
        };
        let volume = be32(bytes, 32) >> 8 & 0xFF;
        batch.push(request(state, arrival, volume, range, operation, length)?);
        done
    }
}

#[cold]
fn header(bytes: &[u8], state: &mut State) -> Result<Step, Problem> {
    match header_length(bytes) {
        Some(length) => {
            state.kind = 1;
            Ok(Step::Done {
                bytes: length,
                count: 0,
            })
        }
        None if bytes.len() < HEADER_BYTES_MAX => Ok(Step::Incomplete),
        None => Err(Problem {
            record: None,
            ..bad_field(Fault::TooLarge(HEADER.name), &HEADER, 0, 16, 0)
        }),
    }
}
