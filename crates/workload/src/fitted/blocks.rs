//! Numbers the blocks of a trace in the order in which they are first touched, and groups adjacent blocks into
//! extents.

use std::collections::HashMap;

use destage_trace::Request;

use super::profile::REGIONS;

/// Sectors in a page. Profiles use pages of 4 KiB, whatever the page size of the device.
pub(super) const PAGE_SECTORS: u64 = 8;
/// Sectors in a block. A block has 64 such pages.
pub(super) const BLOCK_SECTORS: u64 = 64 * PAGE_SECTORS;

/// A run of consecutive blocks, all of which the trace touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) blocks: u32,
    /// The region of the address space in which the extent begins. It is [`REGIONS`] for an extent that ends at the
    /// end of the address space.
    pub(super) region: u32,
}

/// The position of a block within its extent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The extent that contains the block. Extents are numbered in the order in which they are first touched.
    pub(super) extent: u32,
    /// The number of blocks between the start of the extent and this block.
    pub(super) offset: u32,
}

/// The number of blocks in an address space of `footprint_sectors` sectors. The last block may be incomplete.
pub(super) const fn blocks_of(footprint_sectors: u64) -> u64 {
    footprint_sectors.div_ceil(BLOCK_SECTORS)
}

/// Numbers blocks in the order in which they are first touched.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    numbers: HashMap<u64, u32>,
    /// The address of each numbered block, counted in blocks.
    addresses: Vec<u64>,
}

impl Blocks {
    /// Numbers the blocks of `request` that have no number yet. Returns the number of the request's first block, and
    /// the offset of the request from the start of that block in sectors.
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

    /// The extents of all blocks, and the position of each block, in an address space of `footprint_sectors` sectors.
    pub(super) fn finish(self, footprint_sectors: u64) -> (Vec<Extent>, Vec<Place>) {
        let blocks = blocks_of(footprint_sectors);
        let region_blocks = blocks.div_ceil(REGIONS as u64);
        let mut sorted = self.addresses.clone();
        sorted.sort_unstable();
        // For each block, the first address of its extent. For each first address, the length of the extent.
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
