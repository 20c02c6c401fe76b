//! How many blocks are erased in a store, so that a mount finds enough of them.

use alloc::vec;
use alloc::vec::Vec;

use crate::geometry::Geometry;

/// The blocks among which a layer looks for its next free block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pools {
    /// Number of pools of a die. All pools have the same number of consecutive blocks.
    pub per_die: u32,
    /// Number of blocks that the layer always uses and erases together, as one zone: consecutive blocks of a die, if
    /// blocks are counted with one block on each plane in turn. More than 1 only with one pool per die.
    pub zone_blocks: u32,
    /// Number of zones of each pool that have to be erased when a mount begins.
    pub least_erased: u32,
}

impl Pools {
    /// One pool per die, in which a mount needs one erased block.
    pub const DIES: Self = Self {
        per_die: 1,
        zone_blocks: 1,
        least_erased: 1,
    };
}

/// Counts the erased zones in each pool of a device.
#[derive(Clone, Debug)]
pub(super) struct Erased {
    planes: u32,
    blocks_per_die: u32,
    pools: Pools,
    /// For each zone, its number of blocks that are not erased.
    used: Vec<u32>,
    /// For each pool, its number of zones of which all blocks are erased.
    whole: Vec<u32>,
}

impl Erased {
    /// A device of this `geometry` on which all blocks are erased.
    pub fn new(geometry: &Geometry, pools: Pools) -> Self {
        let zones = geometry.dies * (geometry.blocks_per_die() / pools.zone_blocks);
        let count = geometry.dies * pools.per_die;
        Self {
            planes: geometry.planes,
            blocks_per_die: geometry.blocks_per_die(),
            pools,
            used: vec![0; zones as usize],
            whole: vec![zones / count; count as usize],
        }
    }

    /// Notes that all blocks are erased.
    pub fn reset(&mut self) {
        let whole = (self.used.len() / self.whole.len()) as u32;
        self.used.fill(0);
        self.whole.fill(whole);
    }

    /// The number of the pool that contains `block` of `die`.
    pub fn pool_of(&self, die: u32, block: u32) -> usize {
        let per_die = self.pools.per_die;
        (die * per_die + block / (self.blocks_per_die / per_die)) as usize
    }

    fn zone_of(&self, die: u32, block: u32) -> usize {
        let per_plane = self.blocks_per_die / self.planes;
        let (plane, row) = (block / per_plane, block % per_plane);
        let zone = (row * self.planes + plane) / self.pools.zone_blocks;
        (die * (self.blocks_per_die / self.pools.zone_blocks) + zone) as usize
    }

    /// Notes that `block` of `die` is not erased any more.
    pub fn remove(&mut self, die: u32, block: u32) {
        let zone = self.zone_of(die, block);
        self.used[zone] += 1;
        if self.used[zone] == 1 {
            let pool = self.pool_of(die, block);
            self.whole[pool] -= 1;
        }
    }

    /// Notes that `block` of `die`, which was not erased, is erased.
    pub fn insert(&mut self, die: u32, block: u32) {
        let zone = self.zone_of(die, block);
        self.used[zone] -= 1;
        if self.used[zone] == 0 {
            let pool = self.pool_of(die, block);
            self.whole[pool] += 1;
        }
    }

    /// Whether the pool of `block` of `die` has enough erased zones for a mount without the zone of this block.
    pub fn has_enough_without(&self, die: u32, block: u32) -> bool {
        let itself = u32::from(self.used[self.zone_of(die, block)] == 0);
        self.whole[self.pool_of(die, block)] >= self.pools.least_erased + itself
    }
}

#[cfg(test)]
mod tests {
    use super::{Erased, Pools};
    use crate::geometry::Geometry;

    const GEOMETRY: Geometry = Geometry {
        dies: 2,
        planes: 2,
        blocks_per_plane: 4,
        pages_per_block: 8,
        summary_page: false,
        page_bytes: 4096,
    };

    fn erased(per_die: u32, zone_blocks: u32) -> Erased {
        let pools = Pools {
            per_die,
            zone_blocks,
            ..Pools::DIES
        };
        Erased::new(&GEOMETRY, pools)
    }

    #[test]
    fn each_pool_needs_an_erased_block() {
        let mut erased = erased(2, 1);
        for block in 0..3 {
            assert!(erased.has_enough_without(1, block));
            erased.remove(1, block);
        }
        assert!(!erased.has_enough_without(1, 3) && erased.has_enough_without(1, 2));
        assert!(erased.has_enough_without(1, 4) && erased.has_enough_without(0, 3));
        erased.insert(1, 0);
        assert!(erased.has_enough_without(1, 3));
    }

    #[test]
    fn a_zone_counts_if_all_its_blocks_are_erased() {
        let mut erased = erased(1, 4);
        // Blocks 0, 1, 4 and 5 of a die are its first zone.
        erased.remove(0, 4);
        assert!(erased.has_enough_without(0, 0) && !erased.has_enough_without(0, 2));
        erased.remove(0, 1);
        erased.insert(0, 4);
        assert!(!erased.has_enough_without(0, 2));
        erased.insert(0, 1);
        assert!(erased.has_enough_without(0, 2) && erased.has_enough_without(0, 0));
    }
}
