//! The blocks of a trace, in the order in which they are first touched, and the extents they make.

use std::collections::HashMap;

use destage_trace::Request;

use super::profile::REGIONS;

/// Sectors of the page that a profile counts in.
pub(super) const PAGE_SECTORS: u64 = 8;
/// Sectors of its block.
pub(super) const BLOCK_SECTORS: u64 = 64 * PAGE_SECTORS;

/// Touched blocks in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) blocks: u32,
    /// The part of the address space that it begins in; [`REGIONS`] for an extent that the address space ends with.
    pub(super) region: u32,
}

/// Where a block lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Its extent, in the order in which extents are first touched.
    pub(super) extent: u32,
    /// How many blocks of the extent lie before it.
    pub(super) offset: u32,
}

/// Blocks of an address space of this many sectors, the last one perhaps not whole.
pub(super) const fn blocks_of(footprint_sectors: u64) -> u64 {
    footprint_sectors.div_ceil(BLOCK_SECTORS)
}

/// Numbers blocks as they are touched.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    numbers: HashMap<u64, u32>,
    /// The address of each, in blocks.
    addresses: Vec<u64>,
}

impl Blocks {
    /// Touches the blocks of `request`; returns the number of the first, and the sectors after the start of that block.
    pub(super) fn touch(&mut self, request: &Request) -> (u32, u32) {
        let first = request.sector / BLOCK_SECTORS;
        for address in first..request.end().div_ceil(BLOCK_SECTORS).max(first + 1) {
            let next = self.addresses.len() as u32;
            if *self.numbers.entry(address).or_insert(next) == next {
                self.addresses.push(address);
            }
        }
        let within = request.sector % BLOCK_SECTORS;
        (self.numbers[&first], within as u32)
    }

    /// The extents of all blocks, and the place of each block, in an address space of this many sectors.
    pub(super) fn finish(self, footprint_sectors: u64) -> (Vec<Extent>, Vec<Place>) {
        let blocks = blocks_of(footprint_sectors);
        let region_blocks = blocks.div_ceil(REGIONS as u64);
        let mut sorted = self.addresses.clone();
        sorted.sort_unstable();
        // The first address of the extent of each block, and the length of that extent.
        let mut first_of = HashMap::new();
        let mut lengths: HashMap<u64, u32> = HashMap::new();
        let mut first = 0;
        for (index, address) in sorted.iter().enumerate() {
            if index == 0 || sorted[index - 1] + 1 != *address {
                first = *address;
            }
            first_of.insert(*address, first);
            *lengths.entry(first).or_default() += 1;
        }
        let (mut extents, mut ids) = (Vec::new(), HashMap::new());
        let place = |address: &u64| {
            let first = first_of[address];
            let extent = *ids.entry(first).or_insert_with(|| {
                extents.push(Extent {
                    blocks: lengths[&first],
                    region: if first + u64::from(lengths[&first]) == blocks {
                        REGIONS as u32
                    } else {
                        (first / region_blocks) as u32
                    },
                });
                extents.len() as u32 - 1
            });
            Place {
                extent,
                offset: (address - first) as u32,
            }
        };
        let places = self.addresses.iter().map(place).collect();
        (extents, places)
    }
}
