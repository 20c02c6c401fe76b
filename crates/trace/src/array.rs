//! The part of a trace that one member of a striped array of disks receives.
//!
//! The address space is cut into stripes. With N members, stripe s of the array is stripe s / N (rounded down)
//! of member s mod N. The stripes of a request that belong to one member are adjacent on that member, so the
//! member receives one request, or none. Every member receives every flush.

use crate::request::{Operation, Request};

/// A striped array of disks, and one member of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Array {
    /// The number of disks; with 1 the trace is not divided.
    pub members: u64,
    /// The number of the member, counted from 0.
    pub member: u64,
    /// The length of a stripe in sectors.
    pub stripe_sectors: u64,
}

impl Default for Array {
    fn default() -> Self {
        Self {
            members: 1,
            member: 0,
            stripe_sectors: 128,
        }
    }
}

impl Array {
    /// Whether requests are divided among several members.
    pub(crate) fn divides(&self) -> bool {
        self.members > 1
    }

    /// Replaces each request in `batch` by the part that the member receives, and removes requests without such
    /// a part.
    pub(crate) fn apply(&self, batch: &mut Vec<Request>) {
        batch.retain_mut(|request| match self.part(request) {
            Some(part) => {
                *request = part;
                true
            }
            None => false,
        });
    }

    /// The part of `request` that the member receives, at its address on the member; `None` if the member
    /// receives no part.
    pub(crate) fn part(&self, request: &Request) -> Option<Request> {
        if request.operation == Operation::Flush {
            return Some(*request);
        }
        let (start, end) = (self.below(request.sector), self.below(request.end()));
        (start < end).then(|| Request {
            sector: start,
            // The part is no longer than the request, so its length fits in 32 bits.
            sectors: (end - start) as u32,
            ..*request
        })
    }

    /// The number of sectors below `sector` that belong to the member.
    fn below(&self, sector: u64) -> u64 {
        let stripe = self.stripe_sectors;
        let (row, in_row) = (
            sector / (self.members * stripe),
            sector % (self.members * stripe),
        );
        row * stripe + in_row.saturating_sub(self.member * stripe).min(stripe)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use destage_base::Random;

    fn write(sector: u64, sectors: u32) -> Request {
        Request {
            arrival: 7,
            sector,
            sectors,
            volume: 3,
            line: 9,
            operation: Operation::Write,
            fua: true,
            stream: 2,
        }
    }

    fn array(members: u64, member: u64) -> Array {
        Array {
            members,
            member,
            stripe_sectors: 4,
        }
    }

    #[test]
    fn stripes_go_round_and_fold() {
        // Sectors 6 to 17 lie in stripes 1 (in part), 2, 3 and 4 (in part) of three members.
        let parts = [0, 1, 2].map(|member| {
            let part = array(3, member).part(&write(6, 12));
            part.map(|part| (part.sector, part.sectors))
        });
        assert_eq!(parts, [Some((4, 4)), Some((2, 4)), Some((0, 4))]);
        assert_eq!(array(3, 1).part(&write(8, 4)), None);
    }

    #[test]
    fn all_else_stays_and_a_flush_reaches_everyone() {
        let whole = write(8, 4);
        let expected = Request { sector: 0, ..whole };
        assert_eq!(array(3, 2).part(&whole), Some(expected));
        let flush = Request {
            operation: Operation::Flush,
            ..write(0, 0)
        };
        for member in 0..3 {
            assert_eq!(array(3, member).part(&flush), Some(flush));
        }
    }

    #[test]
    fn every_sector_is_one_members_own() {
        let mut random = Random::new(11);
        for _ in 0..300 {
            let request = write(random.below(1 << 40), 1 + random.below(60) as u32);
            let mut found = Vec::new();
            for member in 0..5 {
                if let Some(part) = array(5, member).part(&request) {
                    let sectors = part.sector..part.end();
                    found.extend(sectors.map(|sector| {
                        // Maps the member's sector back to the sector of the array.
                        (sector / 4 * 5 + member) * 4 + sector % 4
                    }));
                }
            }
            found.sort_unstable();
            assert!(found.into_iter().eq(request.sector..request.end()));
        }
    }
}
