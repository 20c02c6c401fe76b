//! Wear levelling. It decides which free block is used first, and when cold data move into a worn block.

use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;

use destage_base::{Ticks, archived};

use super::die::Die;
use super::wear_aware::move_contents;
use crate::blocks::WearLevelling;
use destage_nand::array::Ppn;
use destage_nand::operation::{Cause, Operations};

/// The free blocks of each pool, the least worn first; among equals, the block with the lowest number.
#[derive(Clone)]
pub(crate) struct ByWear {
    pools: Vec<BTreeSet<(u32, u32)>>,
    /// Erases of the die between two checks, and the difference in erases above which data move; `None` if data
    /// do not move.
    levelling: Option<(u32, u32)>,
    erases_to_look: u32,
}

archived!(ByWear { pools, erases_to_look } fixed { levelling });

impl ByWear {
    /// Empty sets of free blocks for `pools` pools; `None` if there is no wear levelling.
    pub fn new(pools: u32, levelling: WearLevelling) -> Option<Self> {
        let levelling = match levelling {
            WearLevelling::None => return None,
            WearLevelling::Dynamic => None,
            WearLevelling::Static { period, gap } => Some((period, gap)),
        };
        Some(Self {
            pools: vec![BTreeSet::new(); pools as usize],
            levelling,
            erases_to_look: levelling.map_or(u32::MAX, |(period, _)| period),
        })
    }

    /// Removes all blocks from the sets.
    pub fn clear(&mut self) {
        self.pools.iter_mut().for_each(BTreeSet::clear);
    }

    /// Marks `block` of `pool`, which was erased `erases` times, as free or as used.
    pub fn set(&mut self, pool: usize, block: u32, erases: u32, free: bool) {
        if free {
            self.pools[pool].insert((erases, block));
        } else {
            self.pools[pool].remove(&(erases, block));
        }
    }

    /// The least worn free block of `pool`.
    pub fn least(&self, pool: usize) -> Option<u32> {
        self.pools[pool].first().map(|(_, block)| *block)
    }

    /// Sets the erase count of all free blocks to 0.
    pub fn reset(&mut self) {
        for pool in &mut self.pools {
            *pool = pool.iter().map(|(_, block)| (0, *block)).collect();
        }
    }

    /// Counts an erase of a block.
    pub fn count_erase(&mut self) {
        self.erases_to_look = self.erases_to_look.saturating_sub(1);
    }
}

/// If a check is due, compares in each pool the least worn full block with the most worn free block. If their
/// erase counts differ by more than the gap, moves the data of the full block into the free block. The date of the erase
/// is `now`.
pub(crate) fn level(die: &mut Die, now: Ticks, operations: &mut Operations) {
    let Some(by_wear) = &mut die.free.by_wear else {
        return;
    };
    let Some((period, gap)) = by_wear.levelling.filter(|_| by_wear.erases_to_look == 0) else {
        return;
    };
    by_wear.erases_to_look = period;
    for pool in 0..die.pools.len() {
        let most = die
            .free
            .by_wear
            .as_ref()
            .and_then(|by_wear| by_wear.pools[pool].last().copied());
        let Some((erases, worn)) = most else { continue };
        let state = die.pools[pool];
        let coldest = (state.first_block..state.first_block + state.blocks)
            .filter(|block| die.victims.contains(*block))
            .map(|block| (die.nand.block(block).erases, block))
            .min();
        let Some((fewest, cold)) = coldest else {
            continue;
        };
        if erases <= fewest.saturating_add(gap) {
            continue;
        }
        die.set_free(worn, false);
        move_contents(die, cold, worn, operations);
        let first = Ppn(cold << die.shape.page_bits);
        die.finish_units(operations);
        operations.push_erase(Cause::Wear, first);
        // The number of free blocks does not change: `worn` was free before, and `cold` is free now.
        die.erase_keeping(cold, now);
        die.set_free(cold, true);
    }
}
