//! What cannot be joined.

use super::die::Telling;
use super::gc::Policy;
use super::parameters::{AllocationPool, PageConfig};
use crate::ftl::{BuildError, Fixed, Own};

impl PageConfig {
    /// Refuses what steps of garbage collection, and writes that are told apart, cannot be joined with.
    ///
    /// # Errors
    /// What does not fit together.
    pub(super) fn check_streams(&self) -> Result<(), BuildError> {
        let is_told = self.telling != Telling::Nothing;
        let own = match (is_told, self.step_pages > 0) {
            (true, _) => Own::Streams,
            (_, true) => Own::Steps,
            _ if self.journal.is_some() => Own::Journal,
            _ => return Ok(()),
        };
        let other = if self.copy_back && self.parallel_units > 1 {
            Fixed::ParallelUnits(self.parallel_units)
        } else if self.reference_ties || self.gc == Policy::WearAware || self.migrates {
            Fixed::Victims
        } else if own != Own::Steps && self.dynamic {
            Fixed::Placement
        } else {
            let least = self.least_floor();
            return match self.step_pages > 0 && (1..least).contains(&self.floor) {
                true => Err(BuildError::Floor {
                    floor: self.floor,
                    least,
                }),
                false => Ok(()),
            };
        };
        Err(BuildError::Apart(own, other))
    }

    /// Refuses what page by page placement cannot be joined with.
    ///
    /// # Errors
    /// What does not fit together.
    pub(super) fn check_placement(&self) -> Result<(), BuildError> {
        if !self.dynamic {
            return Ok(());
        }
        let fixed = if self.stride > 1 {
            Fixed::Stride(self.stride)
        } else if self.copy_back && self.parallel_units > 1 {
            Fixed::ParallelUnits(self.parallel_units)
        } else if self.allocation_pool == AllocationPool::Plane {
            Fixed::Plane
        } else {
            return Ok(());
        };
        Err(BuildError::Placement(fixed))
    }
}
