//! Chooses an address for each extent of a profile. The address is random within the region of the extent, unless
//! other extents leave too little space there.

use destage_base::Random;

use super::blocks::blocks_of;
use super::profile::{Profile, REGIONS};

/// The address of each extent on the device, counted in blocks.
pub(super) fn lay_out(profile: &Profile, random: &mut Random) -> Vec<u64> {
    let blocks = blocks_of(profile.footprint_sectors);
    let region_blocks = blocks.div_ceil(REGIONS as u64);
    // Sorts the extents by address. Extents are in the order of their regions, and in random order within a region.
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
        // Each address is low enough that all later extents fit behind the extent. An extent with the region
        // [`REGIONS`] is placed at the end of the address space.
        let first = wanted.max(free).min(blocks.saturating_sub(rest));
        let length = u64::from(profile.extents[index].blocks);
        addresses[index] = first;
        free = first + length;
        rest -= length;
    }
    addresses
}
