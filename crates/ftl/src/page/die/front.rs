//! The pools of a die by how much room they have, as far as the choice of one needs it.

use super::Pool;

/// Levels that are kept apart: the most room, and this many pages less.
const LEVELS: usize = 3;

/// The pools with the most room, and those that will be next. Pages go round the pools, so that all pools are within a page or two of each other, or
/// pages fill the pool in which a block was erased: nearly always nothing has to be compared.
#[derive(Clone, Default)]
pub(super) struct Front {
    /// A bit for each pool: pools with the most room, with a page less, with two. The first is empty where that is not
    /// known, as of more pools than there are bits.
    levels: [u64; LEVELS],
    /// The most room.
    most: u32,
    /// The pools in no level have less room than this.
    below: u32,
}

impl Front {
    /// The pools with the most room, a bit each; none if they are not known.
    #[inline(always)]
    pub fn pools(&self) -> u64 {
        self.levels[0]
    }

    /// It is not known any more which these are: a pool has more room than before.
    pub fn forget(&mut self) {
        self.levels[0] = 0;
        self.below = u32::MAX;
    }

    /// `pool`, one of [those with the most room](Front::pools), has a page less.
    #[inline(always)]
    pub fn lower_first(&mut self, pool: u32) {
        self.levels[0] &= !(1 << pool);
        self.levels[1] |= 1 << pool;
    }

    /// `pool` has a page less.
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

    /// Determines again which of `pools` have the most room, when the last of the pools with the most has lost a page or all were forgotten. A block has
    /// `pages_per_block` pages. Returns `false` if there are too many pools for this.
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
