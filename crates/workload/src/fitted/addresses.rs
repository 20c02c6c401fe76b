//! Chooses an address for each extent of a profile: a random one within its region, as far as its neighbours
//! permit.

use destage_base::Random;

use super::blocks::blocks_of;
use super::profile::{Profile, REGIONS};

/// The address of each extent on the device, in blocks.
pub(super) fn lay_out(profile: &Profile, random: &mut Random) -> Vec<u64> {
    let blocks = blocks_of(profile.footprint_sectors);
    let region_blocks = blocks.div_ceil(REGIONS as u64);
    // The order of extents by address: by region, and at random within a region.
    let mut order: Vec<(u64, usize)> = profile
        .extents
        .iter()
        .enumerate()
        .map(|(index, extent)| {
            let first = u64::from(extent.region) * region_blocks;
            (first + random.below(region_blocks), index)
        })
        .collect();
    order.sort_unstable();
    let lengths = profile.extents.iter();
    let mut rest: u64 = lengths.map(|extent| u64::from(extent.blocks)).sum();
    let mut addresses = vec![0; profile.extents.len()];
    let mut free = 0;
    for (wanted, index) in order {
        // Leaves enough room for all later extents. An extent whose region is beyond the last one ends at the
        // end of the address space.
        let first = wanted.max(free).min(blocks.saturating_sub(rest));
        let length = u64::from(profile.extents[index].blocks);
        addresses[index] = first;
        free = first + length;
        rest -= length;
    }
    addresses
}
