//! Tells whether the requests of a trace begin on multiples of 4 KiB, and which shift of the addresses would align
//! them. Addresses that count from the beginning of a disk, and not of its partition, are a common cause.

use std::fmt;

use crate::request::Operation;

/// 4 KiB in sectors.
const UNIT: u64 = 8;
/// A trace with fewer reads and writes is not judged.
const REQUESTS_MIN: u64 = 16;

/// Counts where the requests of a trace begin, before their addresses are changed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alignment {
    /// The number of reads and writes, by their first sector modulo 8, and then the number of flushes and trims. One
    /// array for all operations, because each request of a trace is counted without a branch.
    starts: [u64; 2 * UNIT as usize],
    /// The lowest first sector of a request with an address; `u64::MAX` if no request has an address.
    lowest: u64,
}

impl Default for Alignment {
    fn default() -> Self {
        Self {
            starts: [0; 2 * UNIT as usize],
            lowest: u64::MAX,
        }
    }
}

/// Most requests of a trace begin at the same distance from a multiple of 4 KiB.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Misaligned {
    /// The share of reads and writes that begin on a multiple of 4 KiB.
    pub aligned: f64,
    /// The value of `trace.lba_shift` with which most of them would, in sectors.
    pub lba_shift: i64,
    /// The share of reads and writes that would begin on a multiple of 4 KiB then: above one half.
    pub shifted: f64,
}

impl Alignment {
    #[inline]
    pub(crate) fn see(&mut self, operation: Operation, sector: u64) {
        let has_data = matches!(operation, Operation::Read | Operation::Write);
        let place = sector % UNIT + if has_data { 0 } else { UNIT };
        self.starts[place as usize] += 1;
        let address = match operation {
            Operation::Flush => u64::MAX,
            _ => sector,
        };
        self.lowest = self.lowest.min(address);
    }

    /// The number of requests of all kinds.
    pub(crate) fn requests(&self) -> u64 {
        self.starts.iter().sum()
    }

    /// How the requests are misaligned if they are read with the shift `present`. `None` if most of them begin on a
    /// multiple of 4 KiB, or if no shift would align most of them.
    ///
    /// A classic partition begins at sector 63, so 63 is preferred if it aligns the same requests. If a shift would
    /// move a request below sector 0, the shift is negative, which moves addresses up.
    pub(crate) fn misaligned(&self, present: i64) -> Option<Misaligned> {
        let starts = &self.starts[..UNIT as usize];
        let all: u64 = starts.iter().sum();
        let now = present.rem_euclid(UNIT as i64) as u64;
        let counts = (0..UNIT).zip(starts.iter().copied());
        let (offset, most) = counts.max_by_key(|(_, count)| *count)?;
        if all < REQUESTS_MIN || offset == now || 2 * most <= all {
            return None;
        }
        let lowest = self.lowest;
        let lba_shift = match offset {
            7 if lowest >= 63 => 63,
            _ if lowest >= offset => offset as i64,
            _ => offset as i64 - UNIT as i64,
        };
        let share = |part: u64| part as f64 / all as f64;
        Some(Misaligned {
            aligned: share(starts[now as usize]),
            lba_shift,
            shifted: share(most),
        })
    }
}

impl fmt::Display for Misaligned {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [now, then] = [self.aligned, self.shifted].map(|share| (100.0 * share).round());
        write!(
            out,
            "{now} % of reads and writes begin on a multiple of 4 KiB; with trace.lba_shift={}, {then} % would",
            self.lba_shift
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn misaligned(sectors: impl Iterator<Item = u64>, present: i64) -> Option<(i64, f64)> {
        let mut alignment = Alignment::default();
        sectors.for_each(|sector| alignment.see(Operation::Write, sector));
        let found = alignment.misaligned(present)?;
        Some((found.lba_shift, found.shifted))
    }

    #[test]
    fn a_shift_that_aligns_most_requests_is_found() {
        let from = |start: u64| (0..20).map(move |number| start + 8 * number);
        assert_eq!(misaligned(from(0), 0), None);
        assert_eq!(misaligned(from(63), 0), Some((63, 1.0)));
        assert_eq!(misaligned(from(3), 0), Some((3, 1.0)));
        // The shift with which the requests are read may be wrong, or right.
        assert_eq!(misaligned(from(63), 56), Some((63, 1.0)));
        assert_eq!(misaligned(from(0), 3), Some((0, 1.0)));
        assert_eq!(misaligned(from(63), 63), None);
        // Sector 0 is used, so addresses can only be moved up.
        let with_first = std::iter::once(0).chain((0..19).map(|number| 7 + 8 * number));
        assert_eq!(misaligned(with_first, 0), Some((-1, 0.95)));
        // No shift aligns most requests, or there are too few requests to tell.
        assert_eq!(misaligned(0..24, 0), None);
        assert_eq!(misaligned(from(63).take(15), 0), None);
    }

    /// A trim or a read that the run leaves out is shifted as well, and must not fall below sector 0.
    #[test]
    fn every_address_counts_for_the_lowest() {
        let mut alignment = Alignment::default();
        (0..20).for_each(|number| alignment.see(Operation::Write, 63 + 8 * number));
        alignment.see(Operation::Flush, 0);
        assert_eq!(alignment.misaligned(0).map(|it| it.lba_shift), Some(63));
        alignment.see(Operation::Trim, 0);
        assert_eq!(alignment.misaligned(0).map(|it| it.lba_shift), Some(-1));
    }
}
