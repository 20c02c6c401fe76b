//! Decodes a block of bytes to a batch of requests, for binary formats.
//!
//! This module does for records what [`crate::decode`] does for lines: a format implements [`Records`] for one
//! record, and [`decode`] is compiled once for each format. A record may be a header without requests, or
//! contain many requests.

use crate::cursor::{Column, Problem};
use crate::decode::{Outcome, State};
use crate::error::Fault;
use crate::reader::sift::Sift;
use crate::request::{Operation, Request};
use destage_base::Ticks;

/// How a format stores requests as bytes.
pub(crate) trait Records {
    /// Reads the record at the beginning of `bytes`, and adds its requests to `batch`. If `bytes` end within
    /// the record, returns [`Step::Incomplete`] to ask for more bytes; in this case the call must not have
    /// changed anything.
    fn record(bytes: &[u8], state: &mut State, batch: &mut Vec<Request>) -> Result<Step, Problem>;
}

/// The result of reading a record.
pub(crate) enum Step {
    /// A record was read.
    Done {
        /// The length of the record in bytes.
        bytes: usize,
        /// The number that is added to [`State::line`]: 0 for a header, the number of requests for a record
        /// with several requests, and 1 for any other record.
        count: u64,
    },
    /// The bytes end within the record.
    Incomplete,
}

/// The functions of a format, compiled for it.
#[derive(Clone, Copy)]
pub(crate) struct Binary {
    /// Decodes a block; see [`crate::decode::Decode`]. Stops before an incomplete record.
    pub decode: fn(&[u8], &mut State, &mut Vec<Request>, usize) -> Outcome,
    /// Returns the position of the record with a given number.
    pub locate: fn(&[u8], &mut State, u64) -> usize,
    /// Whether a file with this beginning has this format. If files of the format do not begin with a mark,
    /// this test is stricter than the decoder.
    pub begins: fn(&[u8]) -> bool,
    /// Whether a file may end at this point, between two records.
    pub ended: fn(&State) -> bool,
    /// Counts records that are not wanted without decoding them, if the format can recognise them quickly.
    pub sift: Option<Sift>,
}

impl Binary {
    /// The functions for the format `R`.
    pub const fn of<R: Records>(begins: fn(&[u8]) -> bool) -> Self {
        Self {
            decode: decode::<R>,
            locate: locate::<R>,
            begins,
            ended: |_| true,
            sift: None,
        }
    }
}

fn decode<R: Records>(
    block: &[u8],
    state: &mut State,
    batch: &mut Vec<Request>,
    room: usize,
) -> Outcome {
    let mut at = 0;
    let mut problem = None;
    while at < block.len() && batch.len() < room {
        let whole = batch.len();
        match R::record(&block[at..], state, batch) {
            Ok(Step::Done { bytes, count }) => {
                at += bytes;
                state.line += count;
            }
            Ok(Step::Incomplete) => break,
            Err(found) => {
                batch.truncate(whole);
                problem = Some(found);
                break;
            }
        }
    }
    Outcome {
        consumed: at,
        problem,
    }
}

/// Finds the position of the record `number` in `block`. This function is used only for errors. It reads the
/// block again, and `state` must be the state at the beginning of the block.
fn locate<R: Records>(block: &[u8], state: &mut State, number: u64) -> usize {
    let (mut at, mut batch) = (0, Vec::new());
    while let Ok(Step::Done { bytes, count }) = R::record(&block[at..], state, &mut batch) {
        batch.clear();
        if state.line + count > number {
            break;
        }
        state.line += count;
        at += bytes;
    }
    at
}

/// The problem of a wrong field: the `width` bytes at position `field` of a record of `record` bytes.
#[cold]
pub(crate) fn bad_field(
    fault: Fault,
    column: &'static Column,
    field: usize,
    width: usize,
    record: usize,
) -> Problem {
    Problem {
        fault,
        field: Some(field),
        expected: Some(column.expected),
        width,
        record: Some(record),
    }
}

/// Calls [`State::request`] for a record, which is `record` bytes long.
#[inline(always)]
pub(crate) fn request(
    state: &State,
    arrival: Ticks,
    volume: u32,
    range: (u64, u32),
    operation: Operation,
    record: usize,
) -> Result<Request, Problem> {
    state
        .request(arrival, volume, range, operation)
        .ok_or_else(|| Problem {
            record: Some(record),
            ..Problem::line(Fault::BeyondAddressSpace)
        })
}

/// The number in the two bytes at `at`, lowest byte first.
#[inline(always)]
pub(crate) fn le16(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(array(bytes, at))
}

/// The number in the four bytes at `at`, lowest byte first.
#[inline(always)]
pub(crate) fn le32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(array(bytes, at))
}

/// The number in the eight bytes at `at`, lowest byte first.
#[inline(always)]
pub(crate) fn le64(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(array(bytes, at))
}

/// The number in the four bytes at `at`, highest byte first.
#[inline(always)]
pub(crate) fn be32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(array(bytes, at))
}

#[inline(always)]
fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    *bytes[at..]
        .first_chunk()
        .expect("the caller has seen that the record is whole")
}
