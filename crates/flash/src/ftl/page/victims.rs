//! Which sealed block has the fewest valid pages?

use alloc::vec;
use alloc::vec::Vec;

/// Blocks per group: a group's keys fill two cache lines.
const GROUP: usize = 64;
/// The key of a block that is no candidate: open, free or worn out.
const NO_CANDIDATE: u16 = u16::MAX;

/// The valid-page counts of all candidate blocks of an element, with the smallest of each group of 64.
///
/// Cleaning asks for the smallest of a plane, every overwrite lowers one count. A full scan per cleaning
/// would grow with the device; a heap would cost every overwrite. Two levels cost an overwrite one
/// comparison, and a plane of 32,768 blocks a scan of 512 + 64 adjacent numbers.
pub struct Victims {
    keys: Vec<u16>,
    minima: Vec<u16>,
    blocks_per_plane: usize,
    groups_per_plane: usize,
}

impl Victims {
    /// No candidates yet, in `planes` planes of `blocks_per_plane` blocks.
    pub fn none(planes: u32, blocks_per_plane: u32) -> Self {
        let blocks_per_plane = blocks_per_plane as usize;
        let groups_per_plane = blocks_per_plane.div_ceil(GROUP);
        Self {
            keys: vec![NO_CANDIDATE; planes as usize * blocks_per_plane],
            minima: vec![NO_CANDIDATE; planes as usize * groups_per_plane],
            blocks_per_plane,
            groups_per_plane,
        }
    }

    /// Makes the first `blocks` blocks of each plane candidates with `valid` valid pages.
    pub fn fill(&mut self, blocks: u32, valid: u16) {
        let groups = (blocks as usize).div_ceil(GROUP);
        for keys in self.keys.chunks_mut(self.blocks_per_plane) {
            keys[..blocks as usize].fill(valid);
        }
        for minima in self.minima.chunks_mut(self.groups_per_plane) {
            minima[..groups].fill(valid);
        }
    }

    /// `block` became a candidate with `valid` valid pages.
    pub fn insert(&mut self, block: u32, valid: u16) {
        self.keys[block as usize] = valid;
        let group = self.group_of(block);
        self.minima[group] = self.minima[group].min(valid);
    }

    /// The candidate `block`, if it is one, lost a valid page and now has `valid`.
    #[inline]
    pub fn lower(&mut self, block: u32, valid: u16) {
        let key = &mut self.keys[block as usize];
        if *key == NO_CANDIDATE {
            return;
        }
        *key = valid;
        let group = self.group_of(block);
        let minimum = &mut self.minima[group];
        if valid < *minimum {
            *minimum = valid;
        }
    }

    /// `block` is no candidate any more.
    pub fn remove(&mut self, block: u32) {
        self.keys[block as usize] = NO_CANDIDATE;
        let group = self.group_of(block);
        let plane_end = (block as usize / self.blocks_per_plane + 1) * self.blocks_per_plane;
        let start = self.first_block_of(group);
        let end = (start + GROUP).min(plane_end);
        self.minima[group] = self.keys[start..end]
            .iter()
            .copied()
            .min()
            .unwrap_or(NO_CANDIDATE);
    }

    /// Whether `block` is a candidate.
    pub fn contains(&self, block: u32) -> bool {
        self.keys[block as usize] != NO_CANDIDATE
    }

    /// The candidate of `plane` with the fewest valid pages; of equals the highest block.
    pub fn fewest_valid(&self, plane: u32) -> Option<u32> {
        let first = plane as usize * self.groups_per_plane;
        let minima = &self.minima[first..first + self.groups_per_plane];
        let fewest = *minima.iter().min()?;
        if fewest == NO_CANDIDATE {
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

    /// The candidate of all planes with the fewest valid pages; of equals the lowest block number, which
    /// counts across planes first. With that count and number.
    pub fn fewest_valid_of_all(&self) -> Option<(u16, u32, u32)> {
        let fewest = *self.minima.iter().min()?;
        if fewest == NO_CANDIDATE {
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

#[cfg(test)]
mod tests {
    use super::Victims;

    #[test]
    fn finds_what_a_scan_finds() {
        for blocks_per_plane in [1u32, 5, 64, 100, 128] {
            let mut random = destage_base::Random::new(u64::from(blocks_per_plane));
            let mut victims = Victims::none(3, blocks_per_plane);
            victims.fill(blocks_per_plane / 2, 7);
            let mut model: alloc::vec::Vec<Option<u16>> = (0..3 * blocks_per_plane)
                .map(|block| (block % blocks_per_plane < blocks_per_plane / 2).then_some(7))
                .collect();
            for _ in 0..5_000 {
                let block = random.below(u64::from(3 * blocks_per_plane)) as u32;
                match (random.below(4), model[block as usize]) {
                    (0, Some(_)) => {
                        victims.remove(block);
                        model[block as usize] = None;
                    }
                    (_, Some(valid)) if valid > 0 => {
                        victims.lower(block, valid - 1);
                        model[block as usize] = Some(valid - 1);
                    }
                    (_, None) => {
                        let valid = random.below(64) as u16;
                        victims.insert(block, valid);
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
                assert_eq!(victims.fewest_valid(plane), expected);
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
