//! `compact`: the interchange format of this project, written by [`crate::writers::compact`]. It is small, fast
//! and lossless.
//!
//! A file consists of the mark `destage` with a version byte, of blocks of up to 4096 requests, and of an end
//! mark with the total number of requests. The file is always compressed with zstd, as one or more frames with
//! a checksum. So damage is detected, and `zstd -d` can decompress the file. The lowest byte of each number is
//! stored first.
//!
//! ```text
//! file   = "destage" version:u8 block* end
//! block  = count:u32 first_arrival:u64 first_end:u64 column{5}
//! column = width:u8 base:u64 scale:u64 number[count] of `width` bytes (0 to 8)
//! end    = 0:u32 total:u64
//! ```
//!
//! A value is `base + scale * number`, in wrapping 64-bit arithmetic. The columns are:
//!
//! * the arrival, as the difference to the request before it (for the first one, to `first_arrival`), in ticks
//!   of 0.1 ns;
//! * the first sector, as the difference to the end of the request before it (for the first one, to
//!   `first_end`), with the sign in the lowest bit;
//! * the number of sectors;
//! * the volume;
//! * the operation (0 read, 1 write, 2 flush, 3 trim), plus 4 for force unit access, plus 8 times the stream.
//!
//! Each block can be decoded without the other blocks.

use crate::cursor::{Column, Problem};
use crate::decode::State;
use crate::error::Fault;
use crate::format::{Encoding, Format, TimeUnit};
use crate::records::{Binary, Records, Step, bad_field, le32, le64};
use crate::request::{Operation, Request, SECTORS_MAX};

pub(crate) const FORMAT: Format = Format {
    name: "compact",
    extensions: &["compact"],
    about: "The format in which `destage trace convert` keeps traces: all that a request has, times to the tick, checksummed, the fastest to read.",
    columns: "a block of requests in five columns: arrival, first sector, sectors, volume, operation",
    header: Some("64657374616765 01"),
    example: "01000000 a086010000000000 00 00000000000000 00 0000000000000000 0100000000000000 00 1027000000000000 0100000000000000 00 0800000000000000 0100000000000000 00 0000000000000000 0100000000000000 00 0100000000000000 0100000000000000",
    time_unit: TimeUnit::Ticks,
    ..Format::of(Encoding::Binary(Binary {
        ended: |state| state.kind == ENDED,
        ..Binary::of::<Compact>(begins)
    }))
};

/// The first bytes of every file; the version follows them.
pub(crate) const MARK: &[u8; 7] = b"destage";
/// The only version.
pub(crate) const VERSION: u8 = 1;
/// The largest number of requests in a block.
pub(crate) const BLOCK: usize = 4096;
/// Number of columns in a block.
pub(crate) const COLUMNS: usize = 5;
/// Length in bytes of the header of a block, of the header of a column, and of the end mark.
const BLOCK_HEADER_BYTES: usize = 20;
const COLUMN_HEADER_BYTES: usize = 17;
const END_BYTES: usize = 12;

/// Values of [`State::kind`]: the mark at the beginning was read; the end mark was read.
const BEGUN: u32 = 1;
const ENDED: u32 = 2;

const FIRST_BYTES: Column = Column::new(
    "format version",
    "the bytes destage and version 1; a newer program reads newer versions",
);
const COUNT: Column = Column::new(
    "count of requests",
    "1 to 4096 in a block, or 0 and the total at the end",
);
const WIDTH: Column = Column::new("width of a column", "0 to 8 bytes");
const VALUES: Column = Column::new(
    "block",
    "requests of known operations that end below 2^55 sectors",
);

fn begins(bytes: &[u8]) -> bool {
    bytes.starts_with(MARK)
}

/// A column of the block that is being decoded.
#[derive(Clone, Copy, Default)]
struct Packed {
    at: usize,
    width: usize,
    base: u64,
    scale: u64,
}

/// The number of requests that are decoded at once. It is small, so that their values stay in the first-level
/// cache.
const RUN: usize = 256;

impl Packed {
    /// Fills `values` with the values of the column from index `first` on.
    #[inline(always)]
    fn unpack(&self, block: &[u8], first: usize, values: &mut [u64]) {
        let start = self.at + first * self.width;
        let bytes = &block[start..start + values.len() * self.width];
        match self.width {
            0 => values.fill(self.base),
            1 => self.unpack_as::<1>(bytes, values),
            2 => self.unpack_as::<2>(bytes, values),
            3 => self.unpack_as::<3>(bytes, values),
            4 => self.unpack_as::<4>(bytes, values),
            5 => self.unpack_as::<5>(bytes, values),
            6 => self.unpack_as::<6>(bytes, values),
            7 => self.unpack_as::<7>(bytes, values),
            _ => self.unpack_as::<8>(bytes, values),
        }
    }

    #[inline(always)]
    fn unpack_as<const WIDTH: usize>(&self, bytes: &[u8], values: &mut [u64]) {
        for (packed, value) in bytes.chunks_exact(WIDTH).zip(values) {
            let mut number = [0; 8];
            number[..WIDTH].copy_from_slice(packed);
            let number = u64::from_le_bytes(number);
            *value = self.base.wrapping_add(self.scale.wrapping_mul(number));
        }
    }
}

struct Compact;

impl Records for Compact {
    fn record(bytes: &[u8], state: &mut State, batch: &mut Vec<Request>) -> Result<Step, Problem> {
        let bad = |fault, column, field, width| Problem {
            record: None,
            ..bad_field(fault, column, field, width, 0)
        };
        match state.kind {
            BEGUN => {}
            ENDED => return Err(bad(Fault::AfterEnd, &COUNT, 0, 4)),
            _ => return header(bytes, state),
        }
        if bytes.len() < 4 {
            return Ok(Step::Incomplete);
        }
        let count = le32(bytes, 0) as usize;
        if count == 0 {
            return end(bytes, state);
        }
        if count > BLOCK {
            return Err(bad(Fault::TooLarge(COUNT.name), &COUNT, 0, 4));
        }
        let mut columns = [Packed::default(); COLUMNS];
        let mut at = BLOCK_HEADER_BYTES;
        for column in &mut columns {
            if bytes.len() < at + COLUMN_HEADER_BYTES {
                return Ok(Step::Incomplete);
            }
            let width = usize::from(bytes[at]);
            if width > 8 {
                return Err(bad(Fault::TooLarge(WIDTH.name), &WIDTH, at, 1));
            }
            *column = Packed {
                at: at + COLUMN_HEADER_BYTES,
                width,
                base: le64(bytes, at + 1),
                scale: le64(bytes, at + 9),
            };
            at += COLUMN_HEADER_BYTES + count * width;
        }
        let length = at;
        let Some(block) = bytes.get(..length) else {
            return Ok(Step::Incomplete);
        };
        if !requests(block, count, &columns, state, batch) {
            return Err(Problem {
                record: Some(length),
                ..bad(Fault::UnknownWord(VALUES.name), &VALUES, 0, 20)
            });
        }
        Ok(Step::Done {
            bytes: length,
            count: count as u64,
        })
    }
}

/// Adds the requests of a block to `batch`. Returns whether all of them are valid.
#[inline(always)]
fn requests(
    block: &[u8],
    count: usize,
    columns: &[Packed; COLUMNS],
    state: &State,
    batch: &mut Vec<Request>,
) -> bool {
    let (mut arrival, mut end) = (le64(block, 4), le64(block, 12));
    let mut values = [[0; RUN]; COLUMNS];
    let mut sound = true;
    for first in (0..count).step_by(RUN) {
        let run = RUN.min(count - first);
        for (column, values) in columns.iter().zip(&mut values) {
            column.unpack(block, first, &mut values[..run]);
        }
        let [arrivals, starts, lengths, volumes, kinds] = &values;
        batch.extend((0..run).map(|index| {
            let (start, length, volume, kind) =
                (starts[index], lengths[index], volumes[index], kinds[index]);
            arrival = arrival.wrapping_add(arrivals[index]);
            let sector = end.wrapping_add((start >> 1) ^ (start & 1).wrapping_neg());
            sound &= length <= u64::from(u32::MAX)
                && volume <= u64::from(u32::MAX)
                && kind < 8 << 16
                // A flush has no length, no force unit access and no stream.
                && (kind & 3 != 2 || length == 0 && kind == 2)
                && sector <= SECTORS_MAX - (length & u64::from(u32::MAX));
            end = sector.wrapping_add(length);
            let line = state.line + (first + index) as u64;
            Request {
                arrival,
                sector,
                sectors: length as u32,
                volume: volume as u32,
                line: u32::try_from(line).unwrap_or(u32::MAX),
                operation: Operation::ALL[(kind & 3) as usize],
                fua: kind & 4 != 0,
                stream: (kind >> 3) as u16,
            }
        }));
    }
    sound
}

#[cold]
fn header(bytes: &[u8], state: &mut State) -> Result<Step, Problem> {
    let length = MARK.len() + 1;
    if bytes.len() < length {
        return Ok(Step::Incomplete);
    }
    if !bytes.starts_with(MARK) || bytes[MARK.len()] != VERSION {
        return Err(Problem {
            record: None,
            ..bad_field(Fault::UnknownVersion, &FIRST_BYTES, 0, length, 0)
        });
    }
    state.kind = BEGUN;
    Ok(Step::Done {
        bytes: length,
        count: 0,
    })
}

#[cold]
fn end(bytes: &[u8], state: &mut State) -> Result<Step, Problem> {
    if bytes.len() < END_BYTES {
        return Ok(Step::Incomplete);
    }
    if le64(bytes, 4) != state.line - 1 {
        return Err(Problem {
            record: None,
            ..bad_field(Fault::UnknownWord(COUNT.name), &COUNT, 4, 8, 0)
        });
    }
    state.kind = ENDED;
    Ok(Step::Done {
        bytes: END_BYTES,
        count: 0,
    })
}
