//! Keeps track of the pools with the most room, that is, with the most free pages. So a choice of a pool rarely
//! has to compare the pools.

use super::Pool;

/// Number of levels: the pools with the most room, those with one page less, and those with two pages less.
const LEVELS: usize = 3;

/// The pools with the most room, and those with at most two pages less. Usually writes go to the pools in turn, so
/// the rooms of all pools differ by at most two pages. After an erase, all writes go to the pool of the erased
/// block until it has no more room than the other pools. In both cases, the pools have to be compared only rarely.
#[derive(Clone, Default)]
pub(super) struct Front {
    /// For each level, the set of its pools, with one bit for each pool. The first level is empty if the pools
    /// with the most room are not known, for example because there are more pools than bits.
    levels: [u64; LEVELS],
    /// The room of the pools in the first level, in pages.
    most: u32,
    /// The pools that are in no level have less room than this, in pages.
    below: u32,
}

impl Front {
    /// The pools with the most room, one bit each; 0 if they are not known.
    #[inline(always)]
    pub fn pools(&self) -> u64 {
        self.levels[0]
    }

    /// Forgets the levels, because a pool has more room than before.
    pub fn forget(&mut self) {
        self.levels[0] = 0;
        self.below = u32::MAX;
    }

    /// Notes that `pool`, one of [those with the most room](Front::pools), has one free page less.
    #[inline(always)]
    pub fn lower_first(&mut self, pool: u32) {
        self.levels[0] &= !(1 << pool);
        self.levels[1] |= 1 << pool;
    }

    /// Notes that `pool` has one free page less.
    #[inline]
    pub fn lower(&mut self, pool: usize) {
        let bit = 1_u64.rotate_left(pool as u32);
        let [first, second, third] = self.levels.map(|level| level & bit);
        self.levels[0] ^= first;
        self.levels[1] ^= first | second;
        self.levels[2] ^= second | third;
        if third != 0 {
            self.below = self.below.max(self.most.saturating_sub(LEVELS as u32) + 1);
        }
    }

    /// Finds the pools with the most room again, after the first level became empty or the levels were forgotten.
    /// A block has `pages_per_block` pages. Returns `false` if the number of pools is 1 or more than 64.
    #[inline(always)]
    pub fn find(&mut self, pools: &[Pool], pages_per_block: u32) -> bool {
        if self.most > self.below && self.levels[1] != 0 {
            self.levels = [self.levels[1], self.levels[2], 0];
            self.most -= 1;
            return true;
        }
        self.compare(pools, pages_per_block)
    }

    #[cold]
    #[inline(never)]
    fn compare(&mut self, pools: &[Pool], pages_per_block: u32) -> bool {
        if !(2..=u64::BITS as usize).contains(&pools.len()) {
            return false;
        }
        let rooms = || pools.iter().map(|pool| pool.room(pages_per_block));
        self.most = rooms().max().unwrap_or_default();
        self.levels = [0; LEVELS];
        self.below = 0;
        for (pool, room) in rooms().enumerate() {
            match self.levels.get_mut((self.most - room) as usize) {
                Some(level) => *level |= 1 << pool,
                None => self.below = self.below.max(room + 1),
            }
        }
        true
    }
}
