//! Makes requests from columns that a caller holds in memory, and moves requests to their addresses in the same
//! way as a reader does for a trace.

use crate::address::{Addresses, Placement, concatenated};
use crate::decode::CALENDAR;
use crate::error::{Excerpt, Fault, TraceError};
use crate::options::{ReadOptions, Volumes};
use crate::request::{Operation, Request, sectors_touched};
use destage_base::Ticks;
use std::collections::BTreeMap;

/// Ticks in a nanosecond.
const TICKS_PER_NS: Ticks = 10;

/// Requests as columns, which must all have the same length.
#[derive(Clone, Copy, Debug)]
pub struct Columns<'a> {
    /// The arrival of each request in ns. If the first arrival is ten years or more, all arrivals are calendar
    /// times. They are then made relative to the earliest arrival, as the times of a table in a file are.
    pub time_ns: &'a [i64],
    /// The operation: 0 read, 1 write, 2 flush, 3 trim.
    pub operation: &'a [u8],
    /// The first byte of each request.
    pub offset: &'a [u64],
    /// The length of each request in bytes; ignored for a flush.
    pub bytes: &'a [u64],
    /// The volume of each request; `None` means volume 0 for all.
    pub volume: Option<&'a [u32]>,
}

impl Columns<'_> {
    /// Returns the requests in order of arrival; requests with the same arrival keep their order. Error
    /// messages call the columns `name` and count rows from 1.
    ///
    /// # Errors
    /// If the columns are empty or of different lengths, or for the first row that is not a valid request.
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
            ..Request::BLANK
        })
    }
}

/// What the columns must contain, for error messages.
const LAYOUT: &str =
    "time_ns from 0 on, op 0 (read), 1 (write), 2 (flush) or 3 (trim), offset and bytes in bytes";

/// Moves `requests` to the addresses that follow from `trace.lba_shift` and `trace.volumes` in `options`, as a
/// [`crate::Reader`] does. `None` if no request is moved. Error messages call the requests `name`.
///
/// # Errors
/// For the first request that would be outside of the address space.
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

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: Columns<'static> = Columns {
        time_ns: &[30, 10, 20],
        operation: &[1, 0, 2],
        offset: &[4096, 700, 9],
        bytes: &[4096, 700, 0],
        volume: Some(&[2, 0, 2]),
    };

    #[test]
    fn rows_become_requests_in_order_of_arrival() {
        let all = ROWS.requests("arrays").unwrap();
        let arrivals: Vec<_> = all.iter().map(|request| request.arrival).collect();
        assert_eq!(arrivals, [100, 200, 300]);
        // A sector that is touched in part counts as a whole.
        assert_eq!((all[0].sector, all[0].sectors), (1, 2));
        assert_eq!((all[1].operation, all[1].sectors), (Operation::Flush, 0));
        assert_eq!((all[2].volume, all[2].line), (2, 1));
    }

    #[test]
    fn times_of_the_calendar_become_relative() {
        let since = 1_700_000_000_000_000_000;
        let late = Columns {
            time_ns: &[since + 30, since + 10, since + 20],
            ..ROWS
        };
        let all = late.requests("arrays").unwrap();
        assert_eq!((all[0].arrival, all[2].arrival), (0, 200));
    }

    #[test]
    fn volumes_are_laid_apart_as_asked() {
        let all = ROWS.requests("arrays").unwrap();
        let mut options = ReadOptions::default();
        assert_eq!(placed("arrays", &all, &options).unwrap(), None);
        options.volumes = Volumes::Concatenate;
        let apart = placed("arrays", &all, &options).unwrap().unwrap();
        // Volume 0 ends at sector 3. The next volume starts at the next multiple of 4 KiB, which is sector 8.
        assert_eq!((apart[0].sector, apart[2].sector), (1, 16));
        options.lba_shift = 2;
        let error = placed("arrays", &all, &options).unwrap_err().to_string();
        assert!(
            error.starts_with("arrays: request 2: the shifted request starts below sector 0"),
            "{error}"
        );
    }

    #[test]
    fn columns_of_other_lengths_are_refused() {
        let short = Columns {
            bytes: &[1, 2],
            ..ROWS
        };
        assert!(matches!(
            short.requests("arrays"),
            Err(TraceError::Empty { .. })
        ));
    }
}
