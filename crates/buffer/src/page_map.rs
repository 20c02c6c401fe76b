//! The map from page number to slot: the one lookup every page request pays for.
//!
//! Open addressing with linear probing. The hash scatters *groups* of eight consecutive pages and
//! keeps the pages of a group side by side, so a run of pages walks along one cache line of keys
//! while unrelated pages still spread evenly. Deleting shifts later entries back instead of leaving
//! tombstones: how long a probe takes depends on what is in the map now, not on what once was.
//!
//! Keys and values are kept apart because a miss, the common case under eviction, reads keys only.

use alloc::vec;
use alloc::vec::Vec;

use destage_base::Lpn;

/// Eight keys of eight bytes fill one cache line.
const GROUP_BITS: u32 = 3;
const GROUP_MASK: u64 = (1 << GROUP_BITS) - 1;
/// Two groups: the smallest table whose hash shift stays below 64.
const MIN_ENTRIES: usize = 2 << GROUP_BITS;
/// Marks an entry without a page; no device has this page.
const VACANT: u64 = u64::MAX;
/// 2^64 divided by the golden ratio, odd: consecutive groups land far apart (Knuth, volume 3, 6.4).
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// Where a page is in the table, or where it would go. Valid until the map next changes.
#[derive(Clone, Copy, Debug)]
pub struct Position(usize);

/// A map from pages to small integers.
pub struct PageMap {
    keys: Vec<u64>,
    values: Vec<u32>,
    /// Moves the group's hash down to as many bits as there are groups.
    shift: u32,
    len: usize,
}

impl PageMap {
    /// A map that holds `pages` pages before it has to grow.
    #[must_use]
    pub fn with_capacity(pages: usize) -> Self {
        Self::with_entries((pages * 2).next_power_of_two().max(MIN_ENTRIES))
    }

    fn with_entries(entries: usize) -> Self {
        Self {
            keys: vec![VACANT; entries],
            values: vec![0; entries],
            shift: u64::BITS - (entries.trailing_zeros() - GROUP_BITS),
            len: 0,
        }
    }

    /// How many pages the map holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the map holds no page.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The value of `page`.
    #[inline]
    #[must_use]
    pub fn get(&self, page: Lpn) -> Option<u32> {
        self.locate(page).1
    }

    /// Where `page` is or would go, and its value if it is there.
    #[inline]
    #[must_use]
    pub fn locate(&self, page: Lpn) -> (Position, Option<u32>) {
        debug_assert!(page.0 != VACANT, "page {page} is reserved");
        let mask = self.keys.len() - 1;
        let mut index = self.home(page.0);
        // Ends: at most half of the entries are taken.
        loop {
            let key = self.keys[index];
            if key == page.0 {
                return (Position(index), Some(self.values[index]));
            }
            if key == VACANT {
                return (Position(index), None);
            }
            index = (index + 1) & mask;
        }
    }

    /// Gives `page` the value `value`, at the position [`locate`](Self::locate) just named for it.
    #[inline]
    pub fn set_at(&mut self, position: Position, page: Lpn, value: u32) {
        let Position(mut index) = position;
        if self.keys[index] != page.0 {
            debug_assert!(
                self.keys[index] == VACANT,
                "the map changed since the position was found"
            );
            if (self.len + 1) * 2 > self.keys.len() {
                self.grow();
                index = self.locate(page).0.0;
            }
            self.keys[index] = page.0;
            self.len += 1;
        }
        self.values[index] = value;
    }

    /// Gives `page` the value `value`.
    pub fn set(&mut self, page: Lpn, value: u32) {
        let (position, _) = self.locate(page);
        self.set_at(position, page, value);
    }

    /// Forgets `page`; its value if it was there.
    pub fn remove(&mut self, page: Lpn) -> Option<u32> {
        let (position, value) = self.locate(page);
        if value.is_some() {
            self.remove_at(position);
        }
        value
    }

    /// Forgets `page` if its value is `value`; whether it did.
    pub fn remove_if(&mut self, page: Lpn, value: u32) -> bool {
        let (position, found) = self.locate(page);
        let same = found == Some(value);
        if same {
            self.remove_at(position);
        }
        same
    }

    /// Closes the hole at `position` by moving back every later entry that may stand there.
    fn remove_at(&mut self, Position(mut hole): Position) {
        let mask = self.keys.len() - 1;
        let mut index = hole;
        loop {
            index = (index + 1) & mask;
            let key = self.keys[index];
            if key == VACANT {
                break;
            }
            // An entry may move only if the hole lies on its way from home to where it is now.
            let travelled = index.wrapping_sub(self.home(key)) & mask;
            if travelled >= (index.wrapping_sub(hole) & mask) {
                self.keys[hole] = key;
                self.values[hole] = self.values[index];
                hole = index;
            }
        }
        self.keys[hole] = VACANT;
        self.len -= 1;
    }

    #[inline]
    fn home(&self, page: u64) -> usize {
        let group = (page >> GROUP_BITS).wrapping_mul(MULTIPLIER) >> self.shift;
        ((group << GROUP_BITS) | (page & GROUP_MASK)) as usize
    }

    #[cold]
    fn grow(&mut self) {
        let mut larger = Self::with_entries(self.keys.len() * 2);
        for (key, value) in self.keys.iter().zip(&self.values) {
            if *key != VACANT {
                larger.set(Lpn(*key), *value);
            }
        }
        *self = larger;
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;

    use destage_base::Random;

    use super::*;

    /// Pages that collide: few groups, some far apart, in a table that starts small.
    fn page(random: &mut Random, spread: u64) -> Lpn {
        let group = random.below(spread);
        Lpn(group * 8 * (1 + random.below(2) * (1 << 40)) + random.below(8))
    }

    #[test]
    fn agrees_with_an_ordered_map() {
        for (seed, spread) in [(1, 4), (2, 40), (3, 4000)] {
            let mut random = Random::new(seed);
            let mut map = PageMap::with_capacity(0);
            let mut model = BTreeMap::new();
            for step in 0..200_000u32 {
                let page = page(&mut random, spread);
                match random.below(5) {
                    0 | 1 => {
                        map.set(page, step);
                        model.insert(page, step);
                    }
                    2 => assert_eq!(map.remove(page), model.remove(&page)),
                    3 => {
                        let value = model.get(&page).copied().unwrap_or(0);
                        assert_eq!(map.remove_if(page, value), model.remove(&page).is_some());
                        assert!(!map.remove_if(page, value));
                    }
                    _ => assert_eq!(map.get(page), model.get(&page).copied()),
                }
                assert_eq!(map.len(), model.len());
            }
            for (page, value) in &model {
                assert_eq!(map.get(*page), Some(*value));
            }
        }
    }

    #[test]
    fn stays_at_most_half_full() {
        let mut map = PageMap::with_capacity(64);
        let entries = map.keys.len();
        for page in 0..64 {
            map.set(Lpn(page), 0);
        }
        assert_eq!(map.keys.len(), entries);
        map.set(Lpn(64), 0);
        assert_eq!(map.keys.len(), 2 * entries);
    }

    #[test]
    fn a_run_of_pages_stands_in_neighbouring_entries() {
        let map = PageMap::with_capacity(1024);
        for first in [0, 8, 800, 8 << 30] {
            for offset in 1..8 {
                assert_eq!(map.home(first + offset), map.home(first) + offset as usize);
            }
        }
    }
}
