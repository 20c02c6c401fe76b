//! From a block of bytes to a batch of requests, for formats that are no text.
//!
//! The sibling of [`crate::decode`]: a format implements [`Records`] for one record, and [`decode`] is compiled
//! once per format around it. A record may be a header without requests or carry many.

use crate::cursor::{Column, Problem};
use crate::decode::{Outcome, State};
use crate::error::Fault;
use crate::reader::sift::Sift;
use crate::request::{Operation, Request};
use destage_base::Ticks;

/// How a format writes requests as bytes.
pub(crate) trait Records {
    /// Reads the record that `bytes` begin with, and adds its requests to `batch`. `bytes` may end within the
    /// record: [`Step::Incomplete`] asks for more, and must not have changed anything.
    fn record(bytes: &[u8], state: &mut State, batch: &mut Vec<Request>) -> Result<Step, Problem>;
}

/// The outcome of the bytes at hand.
pub(crate) enum Step {
    /// A record of that many bytes is done; its second number is the number of requests it counts as.
    Done {
        /// Its length in bytes.
        bytes: usize,
        /// How far the count of records goes on: 0 for a header.
        count: u64,
    },
    /// There are fewer bytes than the record has.
    Incomplete,
}

/// The functions of a format, compiled for it.
#[derive(Clone, Copy)]
pub(crate) struct Binary {
    /// As [`crate::decode::Decode`]; stops before an incomplete record.
    pub decode: fn(&[u8], &mut State, &mut Vec<Request>, usize) -> Outcome,
    /// Where the record starts that a number belongs to.
    pub locate: fn(&[u8], &mut State, u64) -> usize,
    /// Whether a file with this beginning is in this format. Stricter than reading where the format has no mark.
    pub begins: fn(&[u8]) -> bool,
    /// Whether a file may end here, between two records.
    pub ended: fn(&State) -> bool,
    /// Skips records that are not wanted, if the format can recognise them quickly.
    pub sift: Option<Sift>,
}

impl Binary {
    /// The functions of `R`.
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

/// Cold: walks the block again, from the state before it.
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

/// A problem with the `width` bytes at `field`, in a record of `record` bytes.
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

/// [`State::request`] of a record, which is `record` bytes long.
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

/// The number of two bytes at `at`, lowest first.
#[inline(always)]
pub(crate) fn le16(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(array(bytes, at))
}

/// The number of four bytes at `at`, lowest first.
#[inline(always)]
pub(crate) fn le32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(array(bytes, at))
}

/// The number of eight bytes at `at`, lowest first.
#[inline(always)]
pub(crate) fn le64(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(array(bytes, at))
}

/// The number of four bytes at `at`, highest first.
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
