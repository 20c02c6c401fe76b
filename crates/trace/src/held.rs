//! Requests that a caller holds: made of columns, and placed as a trace's would be.

use crate::address::{Addresses, Placement, concatenated};
use crate::decode::CALENDAR;
use crate::error::{Excerpt, Fault, TraceError};
use crate::options::{ReadOptions, Volumes};
use crate::request::{Operation, Request, sectors_touched};
use destage_base::Ticks;
use std::collections::BTreeMap;

/// Ticks of a nanosecond.
const TICKS_PER_NS: Ticks = 10;

/// Requests in columns of one length.
#[derive(Clone, Copy, Debug)]
pub struct Columns<'a> {
    /// When each arrives, in ns. From the year 1980 on they count from a day of the calendar, and become relative to the
    /// first, as those of a table in a file do.
    pub time_ns: &'a [i64],
    /// 0 read, 1 write, 2 flush, 3 trim.
    pub operation: &'a [u8],
    /// The first byte.
    pub offset: &'a [u64],
    /// How many bytes; of a flush it means nothing.
    pub bytes: &'a [u64],
    /// The number of the volume; 0 if there is none.
    pub volume: Option<&'a [u32]>,
}

impl Columns<'_> {
    /// The requests in order of arrival; those that arrive together stay as they stand. `name` stands for them in errors,
    /// which count rows from 1.
    ///
    /// # Errors
    /// The first row that is no request.
    pub fn requests(&self, name: &str) -> Result<Vec<Request>, TraceError> {
        let rows = self.time_ns.len();
        let volumes = self.volume.map_or(rows, <[u32]>::len);
        let lengths = [
            self.operation.len(),
            self.offset.len(),
            self.bytes.len(),
            volumes,
        ];
        if rows == 0 || lengths.iter().any(|length| *length != rows) {
            return Err(TraceError::Empty {
                file: name.to_owned(),
                lines: rows as u64,
                skipped: 0,
                expected: "at least one, in columns of one length",
            });
        }
        let earliest = self.time_ns.iter().copied().min().unwrap_or_default();
        let first = u64::try_from(self.time_ns[0]).unwrap_or_default();
        let epoch = match first >= CALENDAR / TICKS_PER_NS {
            true => earliest,
            false => 0,
        };
        let mut requests = Vec::with_capacity(rows);
        for row in 0..rows {
            let request = self
                .request(row, epoch)
                .map_err(|(fault, text)| TraceError::Row {
                    file: name.to_owned(),
                    row: row as u64 + 1,
                    fault,
                    text: Excerpt::new(text.as_bytes()),
                    expected: match fault {
                        Fault::ZeroLength => "at least one byte",
                        _ => fault.expected(LAYOUT),
                    },
                })?;
            requests.push(request);
        }
        if !requests.is_sorted_by_key(|request| request.arrival) {
            requests.sort_by_key(|request| request.arrival);
        }
        Ok(requests)
    }

    fn request(&self, row: usize, epoch: i64) -> Result<Request, (Fault, String)> {
        let (time, operation) = (self.time_ns[row], self.operation[row]);
        let (offset, bytes) = (self.offset[row], self.bytes[row]);
        let refused = |fault, value: &dyn std::fmt::Display| Err((fault, value.to_string()));
        let Some(operation) = Operation::ALL.get(usize::from(operation)).copied() else {
            return refused(Fault::UnknownWord("op"), &operation);
        };
        let Ok(since) = u64::try_from(i128::from(time) - i128::from(epoch)) else {
            return refused(Fault::Negative("time_ns"), &time);
        };
        let Some(arrival) = since.checked_mul(TICKS_PER_NS) else {
            return refused(Fault::TooLarge("time_ns"), &time);
        };
        let (sector, sectors) = match operation {
            Operation::Flush => (0, 0),
            _ if bytes == 0 => return refused(Fault::ZeroLength, &bytes),
            _ => match sectors_touched(offset, bytes) {
                Some(touched) => touched,
                None => return refused(Fault::BeyondAddressSpace, &format!("{offset}+{bytes}")),
            },
        };
        Ok(Request {
            arrival,
            sector,
            sectors,
            volume: self.volume.map_or(0, |volume| volume[row]),
            line: u32::try_from(row + 1).unwrap_or(u32::MAX),
            operation,
            fua: false,
            stream: 0,
        })
    }
}

/// What the columns have to hold.
const LAYOUT: &str =
    "time_ns from 0 on, op 0 (read), 1 (write), 2 (flush) or 3 (trim), offset and bytes in bytes";

/// `requests` where `options` put them by `trace.lba_shift` and `trace.volumes`, as a [`crate::Reader`] does; none if they stay
/// where they are. `name` stands for them in errors.
///
/// # Errors
/// The first request that would lie outside of the address space.
pub fn placed(
    name: &str,
    requests: &[Request],
    options: &ReadOptions,
) -> Result<Option<Vec<Request>>, TraceError> {
    let placement = match options.volumes {
        Volumes::Ignore => Placement::Ignore,
        Volumes::Separate => Placement::Separate(options.volume_stride),
        Volumes::Concatenate => {
            let shifted = Addresses {
                shift: options.lba_shift,
                placement: Placement::Ignore,
            };
            let mut ends = BTreeMap::new();
            for request in put(name, requests, &shifted)? {
                let end: &mut u64 = ends.entry(request.volume).or_insert(0);
                *end = request.end().max(*end);
            }
            Placement::Concatenate(concatenated(&ends).ok_or_else(|| TraceError::Option {
                name: "trace.volumes",
                value: "concatenate".to_owned(),
                expected: "volumes that together stay below 2^64 bytes".to_owned(),
            })?)
        }
    };
    let addresses = Addresses {
        shift: options.lba_shift,
        placement,
    };
    match addresses.is_identity() {
        true => Ok(None),
        false => put(name, requests, &addresses).map(Some),
    }
}

fn put(
    name: &str,
    requests: &[Request],
    addresses: &Addresses,
) -> Result<Vec<Request>, TraceError> {
    let mut all = requests.to_vec();
    for request in &mut all {
        addresses.place(request).map_err(|fault| TraceError::Row {
            file: name.to_owned(),
            row: u64::from(request.line),
            fault,
            text: crate::rows::shown(request),
            expected: fault.expected(LAYOUT),
        })?;
    }
    Ok(all)
}
