//! Levelling of wear: which free block is taken first, and when cold data moves into a worn block.

use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;

use destage_base::archived;

use super::die::Die;
use super::wear_aware::move_contents;
use crate::blocks::WearLevelling;
use destage_nand::array::Ppn;
use destage_nand::operation::{Cause, Operations};

/// The free blocks of each pool, least worn first; among equals the lowest number.
#[derive(Clone)]
pub(crate) struct ByWear {
    pools: Vec<BTreeSet<(u32, u32)>>,
    /// Erases of the die between two looks, and how much wear has to differ; `None` if data stays.
    levelling: Option<(u32, u32)>,
    erases_to_look: u32,
}

archived!(ByWear { pools, erases_to_look } fixed { levelling });

impl ByWear {
    /// No free blocks yet; `None` if wear plays no part.
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

    /// No block is free.
    pub fn clear(&mut self) {
        self.pools.iter_mut().for_each(BTreeSet::clear);
    }

    /// `block` of `pool`, erased `erases` times, is free, or not any more.
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

    /// All blocks count as never erased.
    pub fn reset(&mut self) {
        for pool in &mut self.pools {
            *pool = pool.iter().map(|(_, block)| (0, *block)).collect();
        }
    }

    /// A block was erased.
    pub fn count_erase(&mut self) {
        self.erases_to_look = self.erases_to_look.saturating_sub(1);
    }
}

/// In each pool, if a look is due: moves the data of the least worn block into the most worn free one, if they
/// differ enough.
pub(crate) fn level(die: &mut Die, operations: &mut Operations) {
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
        // As many blocks are free as before.
        die.erase_keeping(cold, 0);
        die.set_free(cold, true);
    }
}
