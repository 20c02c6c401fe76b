//! Where a request of some volume lands in the one address space downstream.

use crate::error::Fault;
use crate::request::{Operation, Request, SECTORS_MAX};
use std::collections::BTreeMap;

/// Starts of concatenated volumes are multiples of this many sectors, 4 KiB.
const ALIGNMENT: u64 = 8;

/// The shift, then the volume's place.
#[derive(Debug)]
pub(crate) struct Addresses {
    pub shift: i64,
    pub placement: Placement,
}

/// Where volumes start.
#[derive(Debug)]
pub(crate) enum Placement {
    /// All at 0.
    Ignore,
    /// At multiples of this many sectors.
    Separate(u64),
    /// Wherever a first pass put them.
    Concatenate(BTreeMap<u32, u64>),
}

impl Addresses {
    /// Whether every request stays where it is.
    pub fn is_identity(&self) -> bool {
        self.shift == 0 && matches!(self.placement, Placement::Ignore)
    }

    /// Moves `request`.
    pub fn place(&self, request: &mut Request) -> Result<(), Fault> {
        if request.operation == Operation::Flush {
            return Ok(());
        }
        let sector = i128::from(request.sector) - i128::from(self.shift);
        if sector < 0 {
            return Err(Fault::BelowZero);
        }
        let sector = u64::try_from(sector).map_err(|_| Fault::BeyondAddressSpace)?;
        let sectors = u64::from(request.sectors);
        let start = match &self.placement {
            Placement::Ignore => 0,
            Placement::Separate(stride) => {
                if sector.checked_add(sectors).is_none_or(|end| end > *stride) {
                    return Err(Fault::CrossesStride);
                }
                u64::from(request.volume)
                    .checked_mul(*stride)
                    .ok_or(Fault::BeyondAddressSpace)?
            }
            // The first pass saw this very request.
            Placement::Concatenate(starts) => starts.get(&request.volume).copied().unwrap_or(0),
        };
        request.sector = start
            .checked_add(sector)
            .filter(|sector| *sector <= SECTORS_MAX - sectors)
            .ok_or(Fault::BeyondAddressSpace)?;
        Ok(())
    }
}

/// Starts of volumes one after the other in ascending number, from the end of each.
///
/// `None` if they do not fit in the address space.
pub(crate) fn concatenated(ends: &BTreeMap<u32, u64>) -> Option<BTreeMap<u32, u64>> {
    let mut next = 0u64;
    let mut starts = BTreeMap::new();
    for (volume, end) in ends {
        starts.insert(*volume, next);
        next = next.checked_add(end.checked_next_multiple_of(ALIGNMENT)?)?;
    }
    (next <= SECTORS_MAX).then_some(starts)
}
