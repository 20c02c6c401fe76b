//! The choice of the pool (plane) for the next page.

use super::{Die, Old, Pool, Stream};

/// Bits for the rank of a pool. These bits are enough for the planes of a die, which has fewer than 2^32 pages.
const POOL_BITS: u32 = 28;

impl Die {
    /// Chooses the pool for the next write. The candidates are the pools whose active page was allocated after the
    /// present copy of `page`. The candidate with the most free pages is chosen; among equals, the first from the
    /// rotating pointer on.
    ///
    /// With `same_plane`, the page stays in its plane. A page without a copy then goes to the plane that it would
    /// have on a device filled in order, so that no plane gets more data than it can hold. If pages may be on any
    /// die, a page without a copy goes to the plane with the most free pages.
    ///
    /// `given` returns the number of writes that the current batch has already given to a pool (0 outside a
    /// batch).
    #[inline]
    pub fn choose_pool(
        &mut self,
        page: u32,
        old: Option<Old>,
        same_plane: bool,
        given: impl Fn(usize) -> u32,
    ) -> usize {
        let count = self.pools.len();
        if count == 1 {
            return 0;
        }
        let chosen = match old {
            Some(old) if same_plane => self.plane_of(old.block) as usize,
            Some(old) => self.roomiest_behind(old, &given).unwrap_or_else(|| {
                // No suitable pool has an active page that was allocated after the copy, since active blocks were
                // erased. The page may go to any pool, which then opens a new block.
                let home = self.plane_of(old.block) as usize;
                let fits = |index, pool: &Pool| {
                    pool.valid + given(index) < self.rules.most_valid || index == home
                };
                self.roomiest(&given, fits).unwrap_or(home)
            }),
            None if same_plane && self.shape.shared.is_none() => {
                (page / self.shape.data_pages % self.shape.planes) as usize
            }
            None => self
                .roomiest(&given, |index, pool| {
                    !self.limits_pools() || pool.valid + given(index) < self.rules.most_valid
                })
                .unwrap_or(0),
        };
        self.move_pointer_behind(chosen);
        chosen
    }

    /// The pool for a write of `page` that goes to `stream`. For the first stream, or with `same_plane`,
    /// [`Die::choose_pool`] chooses it. Otherwise it is the pool with the most free pages for the stream; among
    /// equals, the first from the rotating pointer on.
    pub fn pool_for(
        &mut self,
        stream: Stream,
        page: u32,
        old: Option<Old>,
        same_plane: bool,
    ) -> usize {
        if stream == Stream::Host || same_plane || self.pools.len() == 1 {
            return self.choose_pool(page, old, same_plane, |_| 0);
        }
        let home = old.map(|old| self.plane_of(old.block) as usize);
        let (count, start) = (self.pools.len(), self.search.pointer as usize);
        let room = |index: usize| {
            let left = self.shape.data_pages - self.open_page(index, stream).page;
            self.pools[index].free * self.shape.pages_per_block + left
        };
        let fits = |index: &usize| {
            home == Some(*index)
                || !self.limits_pools()
                || self.pools[*index].valid < self.rules.most_valid
        };
        let in_turn = (0..count).map(|step| (start + step) % count);
        let roomiest = in_turn.filter(fits).rev().max_by_key(|index| room(*index));
        let chosen = roomiest.or(home).unwrap_or(0);
        self.move_pointer_behind(chosen);
        chosen
    }

    /// Makes the same choice as [`Die::choose_pool`] outside a batch. It compares all pools only if none of the
    /// pools with the most room is suitable.
    pub fn next_pool(&mut self, page: u32, old: Option<Old>, same_plane: bool) -> usize {
        if let (Some(old), false) = (old, same_plane)
            && let Some(pool) = self.first_of_front(old)
        {
            self.move_pointer_behind(pool);
            return pool;
        }
        self.choose_pool(page, old, same_plane, |_| 0)
    }

    /// Among the pools with the most room, the first from the rotating pointer on whose active page was allocated
    /// after the copy `old`.
    #[inline]
    fn first_of_front(&mut self, old: Old) -> Option<usize> {
        let pages_per_block = self.shape.pages_per_block;
        if self.search.front.pools() == 0 && !self.search.front.find(&self.pools, pages_per_block) {
            return None;
        }
        let (pools, from_pointer) = (self.search.front.pools(), u64::MAX << self.search.pointer);
        for part in [pools & from_pointer, pools & !from_pointer] {
            let mut pools = part;
            while pools != 0 {
                let index = pools.trailing_zeros() as usize;
                let pool = &self.pools[index];
                if pool.is_behind(old)
                    && (pool.valid < self.rules.most_valid
                        || index as u32 == self.plane_of(old.block))
                {
                    return Some(index);
                }
                pools &= pools - 1;
            }
        }
        None
    }

    #[inline]
    pub(super) fn move_pointer_behind(&mut self, pool: usize) {
        self.search.before = self.search.pointer;
        self.search.pointer = if pool + 1 == self.pools.len() {
            0
        } else {
            pool as u32 + 1
        };
    }

    /// Makes the choice of [`Die::roomiest`] among the pools whose active page was allocated after `old`. Each
    /// pool is encoded as one number, with its room in the high bits and its rank in the low bits. So the loop has
    /// no branch that depends on the data.
    #[inline]
    fn roomiest_behind(&self, old: Old, given: impl Fn(usize) -> u32) -> Option<usize> {
        let (count, start) = (self.pools.len(), self.search.pointer as usize);
        let home = self.plane_of(old.block) as usize;
        let mut best = 0;
        for (index, pool) in self.pools.iter().enumerate() {
            // Of pools with equal room, the first from the pointer on is chosen. So the pool at the pointer has
            // the highest rank, `count`, and the pool before the pointer has the lowest rank, 1.
            let behind = start.wrapping_sub(index);
            let rank = if index < start {
                behind
            } else {
                behind.wrapping_add(count)
            };
            let room = pool.room(self.shape.pages_per_block);
            let given = given(index);
            let fits = (pool.valid + given < self.rules.most_valid) | (index == home);
            // The sum cannot be negative, although a batch may give a pool more writes than the pool has free
            // pages.
            let room_left = u64::from(u32::MAX) + u64::from(room) - u64::from(given);
            let score = room_left << POOL_BITS | rank as u64;
            let mask = 0_u64.wrapping_sub(u64::from(pool.is_behind(old) & fits));
            best = best.max(score & mask);
        }
        let rank = best as usize & ((1 << POOL_BITS) - 1);
        let index = start + count - rank;
        (best > 0).then_some(if index < count { index } else { index - count })
    }

    #[inline]
    fn roomiest(
        &self,
        given: impl Fn(usize) -> u32,
        eligible: impl Fn(usize, &Pool) -> bool,
    ) -> Option<usize> {
        let start = self.search.pointer as usize;
        // The best pool so far and its room. The initial room is smaller than the room of any pool.
        let mut best = (usize::MAX, i64::MIN);
        let (before, from) = self.pools.split_at(start);
        let after = from
            .iter()
            .enumerate()
            .map(|(step, pool)| (start + step, pool));
        for (index, pool) in after.chain(before.iter().enumerate()) {
            let room = i64::from(pool.room(self.shape.pages_per_block)) - i64::from(given(index));
            if eligible(index, pool) && room > best.1 {
                best = (index, room);
            }
        }
        (best.0 != usize::MAX).then_some(best.0)
    }
}
