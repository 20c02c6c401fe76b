//! The superblocks: the number of valid pages of each, which of them may be collected, and which are free.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use destage_base::archived;

/// Superblocks per group; the smallest key of each group is stored.
const GROUP: usize = 64;

/// The key of a superblock that may not be collected.
const NO_CANDIDATE: u64 = u64::MAX;

/// All superblocks. See the [module](self).
#[derive(Clone)]
pub(super) struct Rows {
    /// For each superblock, the number of pages that hold the newest copy of their logical page.
    valid: Vec<u32>,
    /// The key of each superblock. If the superblock may be collected, the upper 32 bits are its number of valid
    /// pages, and the lower 32 bits are its number in the order of closing. Otherwise the key is [`NO_CANDIDATE`].
    keys: Vec<u64>,
    /// The smallest key of each group.
    least: Vec<u64>,
    /// The free superblocks in the order in which they became free. They are erased when they are used again.
    free: VecDeque<u32>,
    closed: u32,
    retired: u32,
}

archived!(Rows {
    valid,
    keys,
    least,
    free,
    closed,
    retired
});

impl Rows {
    /// `rows` superblocks, of which the first `full` hold `pages` pages each.
    pub fn new(rows: u32, full: u32, pages: u32) -> Self {
        let mut made = Self {
            valid: vec![0; rows as usize],
            keys: vec![NO_CANDIDATE; rows as usize],
            least: vec![NO_CANDIDATE; (rows as usize).div_ceil(GROUP)],
            free: (full..rows).collect(),
            closed: 0,
            retired: 0,
        };
        for row in 0..full {
            made.valid[row as usize] = pages;
            made.offer(row);
        }
        made
    }

    /// Number of free superblocks.
    pub fn free(&self) -> u32 {
        self.free.len() as u32
    }

    /// Number of retired superblocks.
    pub fn retired(&self) -> u32 {
        self.retired
    }

    pub fn valid(&self, row: u32) -> u32 {
        self.valid[row as usize]
    }

    /// The free superblock that became free first. If the layer keeps a reserve, this superblock is the reserve, which
    /// is opened only if no other superblock is free.
    pub fn reserve(&self) -> Option<u32> {
        self.free.front().copied()
    }

    /// Removes the superblock that became free first and returns it. With `keeps_reserve`, the
    /// [reserve](Self::reserve) is only used if no other superblock is free.
    pub fn take(&mut self, keeps_reserve: bool) -> Option<u32> {
        match keeps_reserve && self.free.len() > 1 {
            true => self.free.remove(1),
            false => self.free.pop_front(),
        }
    }

    /// Makes `row` a candidate for collection. `row` counts as closed at this moment.
    pub fn offer(&mut self, row: u32) {
        if self.keys[row as usize] != NO_CANDIDATE {
            self.withdraw(row);
        }
        self.closed = self.closed.wrapping_add(1);
        let key = u64::from(self.valid(row)) << 32 | u64::from(self.closed);
        self.keys[row as usize] = key;
        let least = &mut self.least[row as usize / GROUP];
        *least = key.min(*least);
    }

    /// Removes `row` from the candidates for collection.
    pub fn withdraw(&mut self, row: u32) {
        self.keys[row as usize] = NO_CANDIDATE;
        let group = row as usize / GROUP;
        let end = self.keys.len().min((group + 1) * GROUP);
        let keys = self.keys[group * GROUP..end].iter();
        self.least[group] = keys.min().copied().unwrap_or(NO_CANDIDATE);
    }

    /// The candidate with the fewest valid pages; among equals, the one that was closed first.
    pub fn first(&self) -> Option<u32> {
        let (group, least) = (0..).zip(&self.least).min_by_key(|(_, least)| **least)?;
        if *least == NO_CANDIDATE {
            return None;
        }
        let of_group = (group * GROUP..).zip(&self.keys[group * GROUP..]);
        let mut found = of_group.filter(|(_, key)| **key == *least);
        found.next().map(|(row, _)| row as u32)
    }

    /// Notes that a page of `row` has become the newest copy.
    #[inline]
    pub fn gain(&mut self, row: u32) {
        self.valid[row as usize] += 1;
    }

    /// Notes that a page of `row` is not needed any more; returns the number of valid pages left.
    #[inline]
    pub fn lose(&mut self, row: u32) -> u32 {
        let valid = &mut self.valid[row as usize];
        *valid -= 1;
        let key = &mut self.keys[row as usize];
        if *key != NO_CANDIDATE {
            *key -= 1 << 32;
            let least = &mut self.least[row as usize / GROUP];
            *least = (*least).min(*key);
        }
        self.valid[row as usize]
    }

    /// Makes `row`, which holds no valid page, free, or retires it if it is worn.
    pub fn release(&mut self, row: u32, is_worn: bool) {
        self.withdraw(row);
        match is_worn {
            true => self.retired += 1,
            false => self.free.push_back(row),
        }
    }

    /// Notes that a mount has found `row` in use, with `valid` valid pages.
    pub fn found(&mut self, row: u32, valid: u32) {
        self.valid[row as usize] = valid;
        self.free.retain(|free| *free != row);
    }
}
