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
    /// Wherever a first pass put them, and as long as it saw them.
    Concatenate(BTreeMap<u32, Extent>),
}

/// A volume's part of the address space, in sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    start: u64,
    length: u64,
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
        let sector = u64::try_from(sector)
            .ok()
            .filter(|sector| *sector <= SECTORS_MAX)
            .ok_or(Fault::BeyondAddressSpace)?;
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
            Placement::Concatenate(extents) => match extents.get(&request.volume) {
                Some(extent) if sector + sectors <= extent.length => extent.start,
                _ => return Err(Fault::NotInFirstPass),
            },
        };
        request.sector = start
            .checked_add(sector)
            .filter(|sector| *sector <= SECTORS_MAX - sectors)
            .ok_or(Fault::BeyondAddressSpace)?;
        Ok(())
    }
}

/// Volumes one after the other in ascending number, from the end of each.
///
/// `None` if they do not fit in the address space.
pub(crate) fn concatenated(ends: &BTreeMap<u32, u64>) -> Option<BTreeMap<u32, Extent>> {
    let mut start = 0u64;
    let mut extents = BTreeMap::new();
    for (volume, end) in ends {
        let length = end.checked_next_multiple_of(ALIGNMENT)?;
        extents.insert(*volume, Extent { start, length });
        start = start.checked_add(length)?;
    }
    (start <= SECTORS_MAX).then_some(extents)
}
