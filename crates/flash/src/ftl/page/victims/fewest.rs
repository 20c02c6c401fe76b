//! Which sealed block comes first: the one with the fewest valid pages.

use alloc::vec;
use alloc::vec::Vec;

use destage_base::archive::{Archive, Archived, Damaged};
use destage_base::archived;

/// Blocks per group: a group's keys fill two cache lines.
const GROUP: usize = 64;

/// What candidates are ordered by.
pub trait Key: Copy + Ord {
    /// Of a block that is no candidate: open, free or worn out.
    const NO_CANDIDATE: Self;
    /// The key of the same block with one valid page less.
    fn lowered(self) -> Self;
}

/// The valid pages alone: half a cache line holds 16 blocks.
impl Key for u16 {
    const NO_CANDIDATE: Self = Self::MAX;
    fn lowered(self) -> Self {
        self - 1
    }
}

/// Valid pages first, then when the block was closed, so that no two keys are equal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Closed(u64);

/// Bits of a [`Closed`] that say when the block was closed.
const CLOSED_BITS: u32 = 48;

impl Closed {
    /// Of the block that was closed as number `closing` of its die, with `valid` valid pages.
    pub fn new(valid: u16, closing: u64) -> Self {
        Self(u64::from(valid) << CLOSED_BITS | closing)
    }
}

impl Archived for Closed {
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<(), Damaged> {
        self.0.archive(archive)
    }
}

impl Key for Closed {
    const NO_CANDIDATE: Self = Self(u64::MAX);
    fn lowered(self) -> Self {
        Self(self.0 - (1 << CLOSED_BITS))
    }
}

/// The keys of all candidate blocks of a die, with the smallest of each group of 64.
///
/// Garbage collection asks for the smallest of a plane, every overwrite lowers one key. A full scan per garbage collection
/// would grow with the device; a heap would cost every overwrite. Two levels cost an overwrite one
/// comparison, and a plane of 32,768 blocks a scan of 512 + 64 adjacent numbers.
#[derive(Clone)]
pub struct Fewest<K> {
    keys: Vec<K>,
    minima: Vec<K>,
    blocks_per_plane: usize,
    groups_per_plane: usize,
}

archived!([K: Key + Archived] Fewest<K> { keys, minima } fixed { blocks_per_plane, groups_per_plane });

impl<K: Key> Fewest<K> {
    /// No candidates yet, in `planes` planes of `blocks_per_plane` blocks.
    pub fn none(planes: u32, blocks_per_plane: u32) -> Self {
        let blocks_per_plane = blocks_per_plane as usize;
        let groups_per_plane = blocks_per_plane.div_ceil(GROUP);
        Self {
            keys: vec![K::NO_CANDIDATE; planes as usize * blocks_per_plane],
            minima: vec![K::NO_CANDIDATE; planes as usize * groups_per_plane],
            blocks_per_plane,
            groups_per_plane,
        }
    }

    /// `block` became a candidate.
    pub fn insert(&mut self, block: u32, key: K) {
        self.keys[block as usize] = key;
        let group = self.group_of(block);
        self.minima[group] = self.minima[group].min(key);
    }

    /// The candidate `block`, if it is one, lost a valid page.
    #[inline]
    pub fn lower(&mut self, block: u32) {
        let key = &mut self.keys[block as usize];
        if *key == K::NO_CANDIDATE {
            return;
        }
        *key = key.lowered();
        let key = *key;
        let group = self.group_of(block);
        let minimum = &mut self.minima[group];
        if key < *minimum {
            *minimum = key;
        }
    }

    /// `block` is no candidate any more; gives its key.
    pub fn remove(&mut self, block: u32) -> K {
        let key = core::mem::replace(&mut self.keys[block as usize], K::NO_CANDIDATE);
        let group = self.group_of(block);
        let plane_end = (block as usize / self.blocks_per_plane + 1) * self.blocks_per_plane;
        let start = self.first_block_of(group);
        let end = (start + GROUP).min(plane_end);
        self.minima[group] = self.keys[start..end]
            .iter()
            .copied()
            .min()
            .unwrap_or(K::NO_CANDIDATE);
        key
    }

    /// Whether `block` is a candidate.
    pub fn contains(&self, block: u32) -> bool {
        self.keys[block as usize] != K::NO_CANDIDATE
    }

    /// The candidate of `plane` with the smallest key; of equals the highest block.
    pub fn first(&self, plane: u32) -> Option<u32> {
        let first = plane as usize * self.groups_per_plane;
        let minima = &self.minima[first..first + self.groups_per_plane];
        let fewest = *minima.iter().min()?;
        if fewest == K::NO_CANDIDATE {
            return None;
        }
        let group = first + minima.iter().rposition(|minimum| *minimum == fewest)?;
        let start = self.first_block_of(group);
        let end = (start + GROUP).min((plane as usize + 1) * self.blocks_per_plane);
        let offset = self.keys[start..end]
            .iter()
            .rposition(|key| *key == fewest)?;
        Some((start + offset) as u32)
    }

    #[inline]
    fn group_of(&self, block: u32) -> usize {
        if self.blocks_per_plane.is_multiple_of(GROUP) {
            return block as usize / GROUP;
        }
        let (plane, index) = (
            block as usize / self.blocks_per_plane,
            block as usize % self.blocks_per_plane,
        );
        plane * self.groups_per_plane + index / GROUP
    }

    fn first_block_of(&self, group: usize) -> usize {
        let (plane, index) = (group / self.groups_per_plane, group % self.groups_per_plane);
        plane * self.blocks_per_plane + index * GROUP
    }
}

impl Fewest<u16> {
    /// The candidate of all planes with the fewest valid pages; of equals the lowest block number, which
    /// counts across planes first. With that count and number.
    pub fn fewest_valid_of_all(&self) -> Option<(u16, u32, u32)> {
        let fewest = *self.minima.iter().min()?;
        if fewest == u16::NO_CANDIDATE {
            return None;
        }
        let planes = self.keys.len() / self.blocks_per_plane;
        let first_of_plane = |plane: usize| {
            let groups = plane * self.groups_per_plane..(plane + 1) * self.groups_per_plane;
            let group = groups.start
                + self.minima[groups]
                    .iter()
                    .position(|minimum| *minimum == fewest)?;
            let start = self.first_block_of(group);
            let end = (start + GROUP).min((plane + 1) * self.blocks_per_plane);
            let offset = self.keys[start..end]
                .iter()
                .position(|key| *key == fewest)?;
            let index = start + offset - plane * self.blocks_per_plane;
            Some(((index * planes + plane) as u32, (start + offset) as u32))
        };
        let (number, block) = (0..planes).filter_map(first_of_plane).min()?;
        Some((fewest, number, block))
    }
}

#[cfg(test)]
mod tests {
    use super::{Closed, Fewest};

    #[test]
    fn finds_what_a_scan_finds() {
        for blocks_per_plane in [1u32, 5, 64, 100, 128] {
            let mut random = destage_base::Random::new(u64::from(blocks_per_plane));
            let mut victims = Fewest::<u16>::none(3, blocks_per_plane);
            let mut aged = Fewest::<Closed>::none(1, 3 * blocks_per_plane);
            let mut closings = alloc::vec![0; 3 * blocks_per_plane as usize];
            let mut closed = 0;
            let mut model: alloc::vec::Vec<Option<u16>> =
                alloc::vec![None; 3 * blocks_per_plane as usize];
            for _ in 0..5_000 {
                let block = random.below(u64::from(3 * blocks_per_plane)) as u32;
                match (random.below(4), model[block as usize]) {
                    (0, Some(_)) => {
                        victims.remove(block);
                        aged.remove(block);
                        model[block as usize] = None;
                    }
                    (_, Some(valid)) if valid > 0 => {
                        victims.lower(block);
                        aged.lower(block);
                        model[block as usize] = Some(valid - 1);
                    }
                    (_, None) => {
                        let valid = random.below(64) as u16;
                        victims.insert(block, valid);
                        closed += 1;
                        closings[block as usize] = closed;
                        aged.insert(block, Closed::new(valid, closed));
                        model[block as usize] = Some(valid);
                    }
                    _ => {}
                }
                let plane = random.below(3) as u32;
                let range = plane * blocks_per_plane..(plane + 1) * blocks_per_plane;
                let expected = range
                    .filter_map(|block| Some((model[block as usize]?, block)))
                    .min_by_key(|(valid, block)| (*valid, core::cmp::Reverse(*block)))
                    .map(|(_, block)| block);
                assert_eq!(victims.first(plane), expected);
                let expected = (0..3 * blocks_per_plane)
                    .filter_map(|block| {
                        Some((model[block as usize]?, closings[block as usize], block))
                    })
                    .min()
                    .map(|(.., block)| block);
                assert_eq!(aged.first(0), expected);
                let expected = (0..3 * blocks_per_plane)
                    .filter_map(|block| {
                        let (plane, index) = (block / blocks_per_plane, block % blocks_per_plane);
                        Some((model[block as usize]?, index * 3 + plane, block))
                    })
                    .min();
                assert_eq!(victims.fewest_valid_of_all(), expected);
            }
        }
    }
}
