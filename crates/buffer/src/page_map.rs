//! The map from pages to slots. Every page request needs this lookup.
//!
//! No two pages have the same slot. The page numbers are therefore stored by slot, and the hash table holds only slot
//! numbers, four bytes per entry. The table has to be small, because the cost of a lookup is mainly that of its cache
//! misses. The tables of a buffer of 64 Ki pages just fit in a second-level cache.
//!
//! The table uses open addressing over buckets of eight entries. A lookup probes one bucket after the other. The hash
//! is computed from the number of a *group* of eight consecutive pages, so a group is in one bucket. The slots of
//! eight consecutive pages then need only half a cache line, while unrelated pages are still spread evenly.
//!
//! Each bucket also has a word of eight tags, one byte per entry. A lookup compares all eight tags in a few
//! instructions without a branch. This is the method of Swiss tables, in 64-bit arithmetic. When pages are evicted,
//! most lookups are for absent pages. An absent page is usually recognised from the tags alone. At most half of the
//! entries are occupied, so a bucket rarely overflows.
//!
//! Each bucket counts the entries that were placed in a later bucket because this one was full. A removal decrements
//! the counts of the same buckets. The length of a probe therefore depends only on the present contents, and no entry
//! ever has to move. The counts need one byte per bucket and stay in the first-level cache.

use alloc::vec;
use alloc::vec::Vec;

use destage_base::{Lpn, Ticks, table};

/// The logarithm of the number of pages in a group. A bucket has as many entries, and a word as many tags, as a group
/// has pages: eight.
const GROUP_BITS: u32 = 3;
const BUCKET: usize = 1 << GROUP_BITS;
const OFFSET_MASK: u64 = BUCKET as u64 - 1;
/// The smallest number of buckets with which the hash shift stays below 64.
const MIN_BUCKETS: usize = 2;
/// 2^64 divided by the golden ratio, an odd number. It spreads consecutive groups (Knuth, volume 3, 6.4).
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// A one in every byte of a word.
const ONES: u64 = 0x0101_0101_0101_0101;
/// The highest bit of every byte. It is set in the tag of an occupied entry.
const TAKEN: u64 = 0x8080_8080_8080_8080;
/// A count that has reached this value does not change again. It then says only that entries may be in later buckets.
const UNCOUNTED: u8 = u8::MAX;
/// Means "no slot". All slot numbers are smaller.
const NO_SLOT: u64 = u64::MAX;
/// Means "no vacant entry found yet".
const NOWHERE: usize = usize::MAX;

/// The index of a page's entry in the table, or of the vacant entry where the page would be inserted. A position is
/// valid until another page is set. It remains valid when a page is removed.
#[derive(Clone, Copy, Debug)]
pub struct Position(usize);

/// The page of a slot, and a time stamp of the map's owner. Code that needs one of the two soon needs the other one,
/// so both share a cache line.
#[derive(Clone, Copy)]
struct Row<Stamp> {
    page: Lpn,
    stamp: Stamp,
}

/// A one-to-one map from pages to slots.
///
/// The map also serves other sparse numbers, such as those of logical blocks that have numbered clusters. An owner
/// that needs no time stamps uses `()` as the stamp.
#[derive(Clone)]
pub struct PageMap<Stamp = Ticks> {
    tags: Vec<u64>,
    /// By bucket: the number of entries that belong to this bucket or to an earlier one, found this bucket full, and
    /// were placed in a later bucket.
    passed: Vec<u8>,
    /// The slot of each entry, eight for each word of tags. Only the slots of occupied entries have a meaning.
    slots: Vec<u32>,
    /// By slot: the page for which the slot was last set, even if that page has been removed since.
    rows: Vec<Row<Stamp>>,
    /// The number of bits by which a hash is shifted right to get a bucket number.
    shift: u32,
    len: usize,
}

impl<Stamp: Copy> PageMap<Stamp> {
    /// Creates a map that can hold `pages` pages without growing.
    #[must_use]
    pub fn with_capacity(pages: usize) -> Self {
        let buckets = (pages * 2)
            .div_ceil(BUCKET)
            .next_power_of_two()
            .max(MIN_BUCKETS);
        Self {
            rows: Vec::with_capacity(pages),
            ..Self::with_buckets(buckets)
        }
    }

    fn with_buckets(buckets: usize) -> Self {
        Self {
            tags: vec![0; buckets],
            passed: vec![0; buckets],
            slots: vec![0; buckets * BUCKET],
            rows: Vec::new(),
            shift: u64::BITS - buckets.trailing_zeros(),
            len: 0,
        }
    }

    /// The number of pages in the map.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the map holds no page.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The slot of `page`.
    #[inline]
    #[must_use]
    pub fn get(&self, page: Lpn) -> Option<u32> {
        self.locate(page).1
    }

    /// The page for which `slot` was last set, whether or not that page is still in the map.
    #[inline]
    #[must_use]
    pub fn page_of(&self, slot: u32) -> Option<Lpn> {
        self.rows.get(slot as usize).map(|row| row.page)
    }

    /// The position of `page`, or the position where it would be inserted; and the slot of the page, if it has one.
    #[inline(always)]
    #[must_use]
    pub fn locate(&self, page: Lpn) -> (Position, Option<u32>) {
        self.probe(page, |slot| self.rows[slot as usize].page == page)
    }

    /// Sets the slot of `page` to `slot`. `position` is the position that [`locate`](Self::locate) returned for
    /// `page`. No other page may have that slot.
    #[inline(always)]
    pub fn set_at(&mut self, position: Position, page: Lpn, slot: u32, stamp: Stamp) {
        let Position(mut index) = position;
        if !self.is_taken(index) {
            if (self.len + 1) * 2 > self.slots.len() {
                self.grow();
                index = self.locate(page).0.0;
            }
            let hash = hash(page);
            self.set_tag(index, tag(page, hash));
            let mut bucket = self.home(hash);
            while bucket != index / BUCKET {
                self.passed[bucket] = self.passed[bucket].saturating_add(1);
                bucket = self.after(bucket);
            }
            self.len += 1;
        } else {
            debug_assert!(
                self.page_of(self.slots[index]) == Some(page),
                "a page was set since the position was found"
            );
        }
        self.slots[index] = slot;
        let row = Row { page, stamp };
        *table::at(&mut self.rows, slot as usize, row) = row;
    }

    /// The time stamp of `slot`.
    #[inline]
    #[must_use]
    pub fn stamp(&self, slot: u32) -> Stamp {
        self.rows[slot as usize].stamp
    }

    /// Changes the time stamp of `slot`.
    #[inline]
    pub fn set_stamp(&mut self, slot: u32, stamp: Stamp) {
        self.rows[slot as usize].stamp = stamp;
    }

    /// Removes `page`. Returns its slot if it had one.
    pub fn remove(&mut self, page: Lpn) -> Option<u32> {
        let (position, slot) = self.locate(page);
        if slot.is_some() {
            self.remove_at(position, page);
        }
        slot
    }

    /// Removes `page` if its slot is `slot`. Since then, `slot` must not have been set for another page. Returns
    /// whether `page` was removed.
    #[inline]
    pub fn remove_if(&mut self, page: Lpn, slot: u32) -> bool {
        debug_assert!(self.page_of(slot) == Some(page));
        // Slot numbers are unique, so the entry with this slot number is that of `page`. The page number need not be
        // read.
        let (position, found) = self.probe(page, |held| held == slot);
        if found.is_some() {
            self.remove_at(position, page);
        }
        found.is_some()
    }

    /// Searches the buckets in which `page` can be for a slot that `is_it` accepts. Returns the position of that
    /// slot, or the position where `page` would be inserted.
    ///
    /// This function is always inlined, because returning the result through memory would cost as much as the search.
    /// Nearly every page is found here, in its home bucket. The search in later buckets is a separate function,
    /// because inlining it would occupy registers of the caller.
    #[inline(always)]
    fn probe(&self, page: Lpn, is_it: impl Fn(u32) -> bool) -> (Position, Option<u32>) {
        let hash = hash(page);
        let wanted = u64::from(tag(page, hash)) * ONES;
        let home = self.home(hash);
        let tags = self.tags[home];
        if let Some((index, slot)) = self.find_among(home, tags ^ wanted, &is_it) {
            return (Position(index), Some(slot));
        }
        let place = vacancy(home, tags);
        if place != NOWHERE && self.passed[home] == 0 {
            return (Position(place), None);
        }
        let (index, found) = self.probe_on(home, wanted, place, is_it);
        (Position(index), u32::try_from(found).ok())
    }

    /// The part of [`PageMap::probe`] that searches the buckets after `home`. `place` is the first vacant entry of
    /// `home`, or [`NOWHERE`]. Returns an index, and the slot or [`NO_SLOT`]. Both are numbers that fit in registers.
    #[inline(never)]
    fn probe_on(
        &self,
        home: usize,
        wanted: u64,
        mut place: usize,
        is_it: impl Fn(u32) -> bool,
    ) -> (usize, u64) {
        let mut bucket = home;
        while self.passed[bucket] != 0 {
            bucket = self.after(bucket);
            if bucket == home {
                break;
            }
            let tags = self.tags[bucket];
            if let Some((index, slot)) = self.find_among(bucket, tags ^ wanted, &is_it) {
                return (index, u64::from(slot));
            }
            if place == NOWHERE {
                place = vacancy(bucket, tags);
            }
        }
        // The loop ends, because at most half of the entries are occupied.
        while place == NOWHERE {
            bucket = self.after(bucket);
            place = vacancy(bucket, self.tags[bucket]);
        }
        (place, NO_SLOT)
    }

    /// Among the entries of `bucket` whose byte in `differences` is zero, the one that `is_it` accepts. Returns the
    /// index and the slot of the entry.
    #[inline(always)]
    fn find_among(
        &self,
        bucket: usize,
        differences: u64,
        is_it: &impl Fn(u32) -> bool,
    ) -> Option<(usize, u32)> {
        let mut equal = bytes_that_are_zero(differences);
        while equal != 0 {
            let index = bucket * BUCKET + first_byte(equal);
            let slot = self.slots[index];
            if is_it(slot) {
                return Some((index, slot));
            }
            equal &= equal - 1;
        }
        None
    }

    /// Removes the entry of `page`, which is at `hole`.
    #[inline]
    fn remove_at(&mut self, Position(hole): Position, page: Lpn) {
        self.len -= 1;
        self.set_tag(hole, 0);
        let mut bucket = self.home(hash(page));
        while bucket != hole / BUCKET {
            if self.passed[bucket] != UNCOUNTED {
                self.passed[bucket] -= 1;
            }
            bucket = self.after(bucket);
        }
    }

    #[inline]
    fn is_taken(&self, index: usize) -> bool {
        self.tags[index / BUCKET] >> (index % BUCKET * 8) & 0x80 != 0
    }

    #[inline]
    fn set_tag(&mut self, index: usize, tag: u8) {
        let shift = index % BUCKET * 8;
        let tags = &mut self.tags[index / BUCKET];
        *tags = *tags & !(0xFF << shift) | u64::from(tag) << shift;
    }

    #[inline]
    fn home(&self, hash: u64) -> usize {
        (hash >> self.shift) as usize
    }

    #[inline]
    fn after(&self, bucket: usize) -> usize {
        (bucket + 1) & (self.tags.len() - 1)
    }

    #[cold]
    fn grow(&mut self) {
        let larger = Self::with_buckets(self.tags.len() * 2);
        let old = core::mem::replace(self, larger);
        self.rows = old.rows;
        for (index, slot) in old.slots.iter().enumerate() {
            if old.tags[index / BUCKET] >> (index % BUCKET * 8) & 0x80 != 0 {
                let Row { page, stamp } = self.rows[*slot as usize];
                self.set_at(self.locate(page).0, page, *slot, stamp);
            }
        }
    }
}

/// The hash of a page's group. Its highest bits depend on all bits of the group's number.
#[inline]
fn hash(page: Lpn) -> u64 {
    (page.0 >> GROUP_BITS).wrapping_mul(MULTIPLIER)
}

/// The tag of a page. It consists of a bit that says "occupied", four bits of the hash, and the page's number within
/// its group. The four bits are in no bucket number of a table that fits in memory. The page's number distinguishes
/// the pages of a group.
#[inline]
fn tag(page: Lpn, hash: u64) -> u8 {
    (0x80 | (hash >> 20 & 0xF) << GROUP_BITS | page.0 & OFFSET_MASK) as u8
}

/// For each byte of `word` that is zero, sets the highest bit of that byte in the result. A byte of value 1 above a
/// zero byte may be marked too, but never the byte of a vacant entry. The caller checks each marked entry anyway.
#[inline]
fn bytes_that_are_zero(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & TAKEN
}

/// The index of the first vacant entry of `bucket`, or [`NOWHERE`].
#[inline]
fn vacancy(bucket: usize, tags: u64) -> usize {
    match !tags & TAKEN {
        0 => NOWHERE,
        vacant => bucket * BUCKET + first_byte(vacant),
    }
}

/// The number of the byte that holds the lowest set bit of `bits`.
#[inline]
fn first_byte(bits: u64) -> usize {
    (bits.trailing_zeros() / 8) as usize
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;

    use destage_base::Random;

    use super::*;

    fn set(map: &mut PageMap, page: Lpn, slot: u32) {
        map.set_at(map.locate(page).0, page, slot, 0);
    }

    /// A random page of one of a few groups. Some groups are far apart, so pages collide in a table that starts
    /// small.
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
            let mut free: Vec<u32> = (0..100_000).collect();
            for _ in 0..200_000 {
                let page = page(&mut random, spread);
                let held = model.get(&page).copied();
                match random.below(5) {
                    0 | 1 => {
                        let slot = free.pop().unwrap();
                        set(&mut map, page, slot);
                        assert_eq!(map.page_of(slot), Some(page));
                        free.extend(model.insert(page, slot));
                    }
                    2 => {
                        assert_eq!(map.remove(page), held);
                        free.extend(model.remove(&page));
                    }
                    3 => {
                        if let Some(slot) = held {
                            assert!(map.remove_if(page, slot));
                            assert!(!map.remove_if(page, slot));
                            free.extend(model.remove(&page));
                        }
                    }
                    _ => assert_eq!(map.get(page), held),
                }
                assert_eq!(map.len(), model.len());
            }
            for (page, slot) in &model {
                assert_eq!(map.get(*page), Some(*slot));
            }
        }
    }

    #[test]
    fn stays_at_most_half_full() {
        let mut map = PageMap::with_capacity(64);
        let entries = map.slots.len();
        for page in 0..64 {
            set(&mut map, Lpn(page), page as u32);
        }
        assert_eq!(map.slots.len(), entries);
        set(&mut map, Lpn(64), 64);
        assert_eq!(map.slots.len(), 2 * entries);
    }

    #[test]
    fn a_full_group_fills_one_bucket() {
        let mut map = PageMap::with_capacity(1024);
        for first in [0, 8, 800, 8 << 30] {
            for offset in 0..8 {
                set(
                    &mut map,
                    Lpn(first + offset),
                    (first % 6000 + offset) as u32,
                );
            }
            assert_eq!(map.tags[map.home(hash(Lpn(first)))] & TAKEN, TAKEN);
        }
    }

    /// All pages of eight groups whose home in `map` is the same bucket.
    fn of_one_home(map: &PageMap) -> Vec<Lpn> {
        let home = |group: &u64| map.home(hash(Lpn(group * 8)));
        let groups = (0..).filter(|group| home(group) == home(&0)).take(8);
        groups
            .flat_map(|group| (0..8).map(move |offset| Lpn(group * 8 + offset)))
            .collect()
    }

    #[test]
    fn entries_that_overflowed_are_found_and_leave_no_trace() {
        let mut map = PageMap::with_capacity(64);
        let pages = of_one_home(&map);
        for (slot, page) in pages.iter().enumerate() {
            set(&mut map, *page, slot as u32);
        }
        assert_eq!(map.passed.iter().filter(|count| **count > 0).count(), 7);
        for (slot, page) in pages.iter().enumerate() {
            assert_eq!(map.get(*page), Some(slot as u32));
            assert_eq!(map.remove(*page), Some(slot as u32));
            assert_eq!(map.get(*page), None);
        }
        assert!(map.passed.iter().all(|count| *count == 0));
    }

    #[test]
    fn counts_that_ran_over_cost_time_only() {
        let mut map = PageMap::with_capacity(64);
        let pages = of_one_home(&map);
        map.passed.fill(UNCOUNTED);
        for (slot, page) in pages.iter().enumerate() {
            assert_eq!(map.get(*page), None);
            set(&mut map, *page, slot as u32);
        }
        for (slot, page) in pages.iter().enumerate() {
            assert_eq!(map.remove(*page), Some(slot as u32));
        }
        assert!(map.passed.iter().all(|count| *count == UNCOUNTED));
    }
}
