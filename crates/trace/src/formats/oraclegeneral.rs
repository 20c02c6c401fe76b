//! `oraclegeneral`: the common binary format of libCacheSim, which includes the next access of each object.
//!
//! A record has 24 bytes: the time in s, the number of an object, the number of bytes, and the number of the
//! next request for this object. The lowest byte of each number is stored first. The format contains neither
//! the operation of a request nor the unit of object numbers. The user has to give both as `trace.missing_op`
//! and `trace.block_bytes`. The next access is used only to recognise the format.

use crate::cursor::{Column, Problem};
use crate::decode::State;
use crate::error::Fault;
use crate::format::{Encoding, Format, TimeUnit};
use crate::reader::sift::{Passed, Sieve, Sifted};
use crate::records::{Binary, Records, Step, bad_field, le32, le64, request};
use crate::request::{Operation, Request, SECTORS_MAX, sectors_touched};
use destage_base::Ticks;

pub(crate) const FORMAT: Format = Format {
    name: "oraclegeneral",
    extensions: &["oraclegeneral", "oracleGeneral"],
    about: "libCacheSim oracleGeneral, binary: times in s, made relative to the first request; trace.missing_op gives the operation of all requests, trace.block_bytes the unit of object numbers.",
    columns: "records of 24 bytes: time in s, object, bytes, next access",
    example: "10270000 7b00000000000000 00100000 ffffffffffffffff",
    time_unit: TimeUnit::Seconds,
    epoch: true,
    ..Format::of(Encoding::Binary(Binary {
        sift: Some(sift),
        ..Binary::of::<OracleGeneral>(begins)
    }))
};

const TIME: Column = Column::new("time", "seconds, not before the first request");
const OBJECT: Column = Column::new(
    "object",
    "a number of blocks of trace.block_bytes that end below 2^64 bytes",
);

const RECORD_BYTES: usize = 24;

/// More requests than any trace has. Eight bytes of text, read as a number, are larger than this limit or
/// negative.
const REQUESTS_MAX: i64 = 1 << 48;

/// Whether the file can be in this format. The format has no mark, so three conditions are checked in the first
/// records: the time does not go back, the size is not 0, and the next access is that of a later request below
/// [`REQUESTS_MAX`].
fn begins(bytes: &[u8]) -> bool {
    let mut latest = 0;
    let mut number = 0;
    for record in bytes.chunks_exact(RECORD_BYTES).take(64) {
        number += 1;
        let (time, next) = (le32(record, 0), le64(record, 16) as i64);
        // -1, or the largest number, means that there is no next access.
        let ahead = matches!(next, -1 | i64::MAX) || (number..REQUESTS_MAX).contains(&next);
        if time < latest || le32(record, 12) == 0 || !ahead {
            return false;
        }
        latest = time;
    }
    number > 0
}

struct OracleGeneral;

impl Records for OracleGeneral {
    #[inline(always)]
    fn record(bytes: &[u8], state: &mut State, batch: &mut Vec<Request>) -> Result<Step, Problem> {
        // The array has the fixed length of a record, so the compiler omits all further checks of bounds.
        let Some(bytes) = bytes.first_chunk::<RECORD_BYTES>() else {
            return Ok(Step::Incomplete);
        };
        let bad =
            |fault, column, field, width| bad_field(fault, column, field, width, RECORD_BYTES);
        let Some(operation) = state.choices.missing_operation else {
            // All other records would fail for the same reason, so reading stops here.
            return Err(Problem::line(Fault::NoOperation));
        };
        let Some(arrival) = state.whole_epoch_time(u64::from(le32(bytes, 0))) else {
            return Err(bad(Fault::BackInTime, &TIME, 0, 4));
        };
        let range = le64(bytes, 4)
            .checked_mul(state.choices.block_bytes)
            .and_then(|offset| sectors_touched(offset, u64::from(le32(bytes, 12))));
        let Some(range) = range else {
            return Err(bad(Fault::TooLarge(OBJECT.name), &OBJECT, 4, 8));
        };
        batch.push(request(state, arrival, 0, range, operation, RECORD_BYTES)?);
        Ok(Step::Done {
            bytes: RECORD_BYTES,
            count: 1,
        })
    }
}

/// Counts the requests that `sieve` drops, without decoding them. In the trace of a page cache, most requests
/// are for a single block that is in no sample.
fn sift(
    block: &[u8],
    state: &mut State,
    sieve: &Sieve,
    mut latest: Ticks,
    batch: &mut Vec<Request>,
) -> Sifted {
    let mut passed = Passed {
        is_write: state.choices.missing_operation == Some(Operation::Write),
        ..Passed::default()
    };
    let (mut consumed, block_bytes) = (0, state.choices.block_bytes);
    for bytes in block.chunks_exact(RECORD_BYTES) {
        let length = le32(bytes, 12);
        let arrival = state.whole_epoch_time(u64::from(le32(bytes, 0)));
        let range = le64(bytes, 4)
            .checked_mul(block_bytes)
            .and_then(|offset| sectors_touched(offset, u64::from(length)));
        let (Some(arrival), Some((sector, sectors))) = (arrival, range) else {
            break;
        };
        if arrival < latest || length == 0 || sector > SECTORS_MAX - u64::from(sectors) {
            break;
        }
        if sieve.drops(sector, sectors) {
            passed.requests += 1;
            passed.sectors += u64::from(sectors);
        } else if !matches!(
            OracleGeneral::record(bytes, state, batch),
            Ok(Step::Done { .. })
        ) {
            break;
        }
        latest = arrival;
        state.line += 1;
        consumed += RECORD_BYTES;
    }
    Sifted {
        consumed,
        latest,
        passed,
    }
}
