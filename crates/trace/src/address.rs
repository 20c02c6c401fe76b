//! Maps a sector of a trace's volume to a sector of the one address space that the device sees.

use crate::error::Fault;
use crate::request::{Operation, Request, SECTORS_MAX};
use std::collections::BTreeMap;

/// The start of a concatenated volume is a multiple of this many sectors (4 KiB).
const ALIGNMENT: u64 = 8;

/// The shift that is subtracted from every address, and the rule for the start of each volume.
#[derive(Debug)]
pub(crate) struct Addresses {
    pub shift: i64,
    pub placement: Placement,
}

/// The rule that decides where each volume starts in the address space.
#[derive(Debug)]
pub(crate) enum Placement {
    /// Every volume starts at sector 0.
    Ignore,
    /// Volume n starts at the sector n times this number.
    Separate(u64),
    /// The start and length that a first pass over the trace found for each volume.
    Concatenate(BTreeMap<u32, Extent>),
}

/// The range of the address space that a volume occupies, in sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    start: u64,
    length: u64,
}

impl Addresses {
    /// Whether every request keeps its sector.
    pub fn is_identity(&self) -> bool {
        self.shift == 0 && matches!(self.placement, Placement::Ignore)
    }

    /// Moves `request` to its sector in the address space. A flush has no address and is not changed.
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

/// Places the volumes one after the other, in ascending order of their numbers. `ends` has the end of each
/// volume, in sectors.
///
/// Returns `None` if the volumes do not fit in the address space.
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
