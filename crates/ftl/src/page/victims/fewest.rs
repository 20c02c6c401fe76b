//! The sealed block with the fewest valid pages.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use destage_base::archive::{Archive, Archived, Damaged};

/// Blocks per group. The 16-bit keys of a group fill two cache lines.
const GROUP: usize = 64;

/// The key by which candidates are ordered. A key is stored mirrored: the greatest value of its type minus the key. So
/// a block with a smaller key has a greater value. The value of a block that is no candidate is 0, so that memory for
/// blocks that were never touched is never accessed.
pub trait Key: Copy + Ord + Default {
    /// Mirrors a key: the greatest key minus this one.
    fn mirrored(self) -> Self;
    /// The mirrored key of the same block with one valid page less.
    fn sooner(self) -> Self;
}

/// The key is the number of valid pages alone, so half a cache line holds the keys of 16 blocks.
impl Key for u16 {
    fn mirrored(self) -> Self {
        !self
    }
    fn sooner(self) -> Self {
        self + 1
    }
}

/// The key is the number of valid pages, followed by the time when the block was closed. So no two keys are equal.
/// See [`closed`].
impl Key for u64 {
    fn mirrored(self) -> Self {
        !self
    }
    fn sooner(self) -> Self {
        self + (1 << CLOSED_BITS)
    }
}

/// Bits of a key for the time when the block was closed.
const CLOSED_BITS: u32 = 48;

/// The key of a block with `valid` valid pages that was closed as number `closing` on its die.
pub fn closed(valid: u16, closing: u64) -> u64 {
    u64::from(valid) << CLOSED_BITS | closing
}

/// The keys of all candidate blocks of a die, with the smallest key of each group of 64 blocks.
///
/// Garbage collection needs the smallest key of a plane, and every overwrite lowers one key. The time of a full
/// scan for each garbage collection would grow with the device, and a heap would slow down every overwrite. With
/// two levels, an overwrite needs one comparison, and a garbage collection in a plane of 32,768 blocks scans 512 +
/// 64 adjacent numbers.
#[derive(Clone)]
pub struct Fewest<K> {
    /// Mirrored keys; 0 for a block that is no candidate, because it is open, free or worn out.
    soon: Vec<K>,
    /// The greatest mirrored key of each group.
    soonest: Vec<K>,
    blocks_per_plane: usize,
    groups_per_plane: usize,
}

/// An archive holds the keys themselves, not mirrored; the greatest value means that the block is no candidate.
impl<K: Key + Archived> Archived for Fewest<K> {
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<(), Damaged> {
        let Self {
            soon,
            soonest,
            blocks_per_plane: _,
            groups_per_plane: _,
        } = self;
        for table in [soon, soonest] {
            let mirror = |key: &mut K| *key = key.mirrored();
            table.iter_mut().for_each(mirror);
            table.archive(archive)?;
            table.iter_mut().for_each(mirror);
        }
        Ok(())
    }
}

impl<K: Key> Fewest<K> {
    /// A table without candidates, for `planes` planes of `blocks_per_plane` blocks.
    pub fn none(planes: u32, blocks_per_plane: u32) -> Self {
        let blocks_per_plane = blocks_per_plane as usize;
        let groups_per_plane = blocks_per_plane.div_ceil(GROUP);
        Self {
            soon: vec![K::default(); planes as usize * blocks_per_plane],
            soonest: vec![K::default(); planes as usize * groups_per_plane],
            blocks_per_plane,
            groups_per_plane,
        }
    }

    /// Adds `blocks`, all of one plane, as candidates; `key` returns the key of a block from its position in the
    /// range.
    pub fn fill(&mut self, blocks: Range<u32>, key: impl Fn(u64) -> K) {
        let (mut block, end) = (blocks.start as usize, blocks.end as usize);
        let keys = &mut (0..).map(|index| key(index).mirrored());
        while block < end {
            let group = self.group_of(block as u32);
            let rest = (self.first_block_of(group) + GROUP).min(end);
            let mut soonest = self.soonest[group];
            for (soon, mirrored) in self.soon[block..rest].iter_mut().zip(&mut *keys) {
                *soon = mirrored;
                soonest = soonest.max(mirrored);
            }
            self.soonest[group] = soonest;
            block = rest;
        }
    }

    /// Adds `block` as a candidate with `key`.
    pub fn insert(&mut self, block: u32, key: K) {
        let soon = key.mirrored();
        self.soon[block as usize] = soon;
        let group = self.group_of(block);
        self.soonest[group] = self.soonest[group].max(soon);
    }

    /// Notes that `block` has one valid page less, if it is a candidate.
    #[inline(always)]
    pub fn lower(&mut self, block: u32) {
        let soon = &mut self.soon[block as usize];
        if *soon == K::default() {
            return;
        }
        *soon = soon.sooner();
        let soon = *soon;
        let group = self.group_of(block);
        let soonest = &mut self.soonest[group];
        if soon > *soonest {
            *soonest = soon;
        }
    }

    /// Removes `block` from the candidates, and returns its key.
    pub fn remove(&mut self, block: u32) -> K {
        let soon = core::mem::take(&mut self.soon[block as usize]);
        let group = self.group_of(block);
        let plane_end = (block as usize / self.blocks_per_plane + 1) * self.blocks_per_plane;
        let start = self.first_block_of(group);
        let end = (start + GROUP).min(plane_end);
        let of_group = self.soon[start..end].iter().copied();
        self.soonest[group] = of_group.max().unwrap_or_default();
        soon.mirrored()
    }

    /// Whether `block` is a candidate.
    pub fn contains(&self, block: u32) -> bool {
        self.soon[block as usize] != K::default()
    }

    /// The candidate of `plane` with the smallest key; among equals, the one with the highest block number.
    pub fn first(&self, plane: u32) -> Option<u32> {
        let first = plane as usize * self.groups_per_plane;
        let of_plane = &self.soonest[first..first + self.groups_per_plane];
        let soonest = *of_plane.iter().max()?;
        if soonest == K::default() {
            return None;
        }
        let group = first + of_plane.iter().rposition(|soon| *soon == soonest)?;
        let start = self.first_block_of(group);
        let end = (start + GROUP).min((plane as usize + 1) * self.blocks_per_plane);
        let offset = self.soon[start..end]
            .iter()
            .rposition(|soon| *soon == soonest)?;
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
    /// The candidate with the fewest valid pages of all planes, with the number of its valid pages and its block
    /// number. Blocks are numbered across the planes: one block of each plane in turn. Among equals, the candidate
    /// with the lowest number is returned.
    pub fn fewest_valid_of_all(&self) -> Option<(u16, u32, u32)> {
        let soonest = *self.soonest.iter().max()?;
        if soonest == 0 {
            return None;
        }
        let planes = self.soon.len() / self.blocks_per_plane;
        let first_of_plane = |plane: usize| {
            let groups = plane * self.groups_per_plane..(plane + 1) * self.groups_per_plane;
            let group = groups.start
                + self.soonest[groups]
                    .iter()
                    .position(|soon| *soon == soonest)?;
            let start = self.first_block_of(group);
            let end = (start + GROUP).min((plane + 1) * self.blocks_per_plane);
            let offset = self.soon[start..end]
                .iter()
                .position(|soon| *soon == soonest)?;
            let index = start + offset - plane * self.blocks_per_plane;
            Some(((index * planes + plane) as u32, (start + offset) as u32))
        };
        let (number, block) = (0..planes).filter_map(first_of_plane).min()?;
        Some((soonest.mirrored(), number, block))
    }
}

#[cfg(test)]
mod tests {
    use super::{Fewest, closed as key_of};

    #[test]
    fn finds_what_a_scan_finds() {
        for blocks_per_plane in [1u32, 5, 64, 100, 128] {
            let mut random = destage_base::Random::new(u64::from(blocks_per_plane));
            let mut victims = Fewest::<u16>::none(3, blocks_per_plane);
            let mut aged = Fewest::<u64>::none(1, 3 * blocks_per_plane);
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
                        aged.insert(block, key_of(valid, closed));
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
