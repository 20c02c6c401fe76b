//! Clusters by how many pages they have: the largest, and among equals the one put in first.
//!
//! ```text
//!   size 1: ring  E D       oldest first
//!   size 2: ring  C
//!   size 3: ring  (empty)
//!   size 4: ring  B A   <-- the largest is B        shrunk: (2, since before C) -> F
//! ```
//!
//! A ring per size, filled at one end, is in the order of putting by itself, so everything is O(1) as
//! long as a cluster that changes its size is put in anew. A cluster that shrinks without being
//! written (a trim) keeps its age and would belong somewhere in the middle of a ring. Such clusters are
//! rare and stand apart in an ordered map until they are put in anew.
//!
//! Cost: O(1) per call and one bit per size to find the largest (64 sizes to a word); O(log n) for
//! clusters that shrank. 20 bytes per cluster.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::{ClusterId, Rings};

/// Rank of a cluster that shrank: larger ranks leave first.
type Rank = (u32, Reverse<u64>);

/// Clusters in buckets by size.
pub struct BySize {
    /// A ring per size, the list's number; back: put in first.
    rings: Rings,
    /// A bit per size: whether its ring may have clusters. Cleared when found wrong.
    filled: Vec<u64>,
    /// By cluster: when it was put in, in calls of `put`.
    ages: Vec<u64>,
    /// By cluster: its size.
    sizes: Vec<u32>,
    shrunk: BTreeMap<Rank, ClusterId>,
    puts: u64,
}

impl BySize {
    /// Empty, for clusters of at most `pages` pages.
    #[must_use]
    pub fn new(pages: u32) -> Self {
        Self {
            rings: Rings::new(pages + 1),
            filled: vec![0; pages as usize / 64 + 1],
            ages: Vec::new(),
            sizes: Vec::new(),
            shrunk: BTreeMap::new(),
            puts: 0,
        }
    }

    /// How many clusters there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rings.len() + self.shrunk.len()
    }

    /// Whether there is no cluster.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether `cluster` is here.
    #[inline]
    #[must_use]
    pub fn contains(&self, cluster: ClusterId) -> bool {
        self.rings.contains(cluster) || self.is_shrunk(cluster)
    }

    /// Puts `cluster`, whether it was here or not, last among those of `size` pages.
    #[inline]
    pub fn put(&mut self, cluster: ClusterId, size: u32) {
        if self.rings.contains(cluster) {
            self.rings.remove(cluster);
        } else {
            self.forget_shrunk(cluster);
        }
        let index = cluster.index();
        if index >= self.ages.len() {
            self.ages.resize(index + 1, 0);
            self.sizes.resize(index + 1, 0);
        }
        self.puts += 1;
        self.ages[index] = self.puts;
        self.sizes[index] = size;
        self.rings.push_front(size, cluster);
        self.filled[size as usize / 64] |= 1 << (size % 64);
    }

    /// `cluster` now has `size` pages and is as old as before, or is gone if these are none; nothing if it
    /// is not here.
    pub fn resize(&mut self, cluster: ClusterId, size: u32) {
        if self.remove(cluster) && size > 0 {
            let age = self.ages[cluster.index()];
            self.sizes[cluster.index()] = size;
            self.shrunk.insert((size, Reverse(age)), cluster);
        }
    }

    /// Takes `cluster` out; whether it was here.
    #[inline]
    pub fn remove(&mut self, cluster: ClusterId) -> bool {
        if self.rings.contains(cluster) {
            self.rings.remove(cluster);
            return true;
        }
        self.forget_shrunk(cluster)
    }

    /// The largest, of these the one put in first.
    #[inline]
    pub fn largest(&mut self) -> Option<ClusterId> {
        let in_rings = self.largest_in_rings();
        if self.shrunk.is_empty() {
            return in_rings;
        }
        let shrunk = self.shrunk.last_key_value().map(|(_, cluster)| *cluster);
        match (in_rings, shrunk) {
            (Some(one), Some(other)) if self.rank(one) > self.rank(other) => Some(one),
            (one, None) => one,
            (_, other) => other,
        }
    }

    /// Shows `visit` all clusters, in the order they would be the largest, until it answers `false`.
    pub fn visit(&self, visit: &mut dyn FnMut(ClusterId) -> bool) -> bool {
        let sizes = (self.filled.len() * 64) as u32;
        let filled = |size: &u32| self.filled[*size as usize / 64] >> (size % 64) & 1 != 0;
        let mut shrunk = self.shrunk.iter().rev().peekable();
        for size in (0..sizes).rev().filter(filled) {
            for cluster in self.rings.iter_back(size) {
                let rank = self.rank(cluster);
                while let Some((_, older)) = shrunk.next_if(|(other, _)| **other > rank) {
                    if !visit(*older) {
                        return false;
                    }
                }
                if !visit(cluster) {
                    return false;
                }
            }
        }
        shrunk.all(|(_, cluster)| visit(*cluster))
    }

    fn rank(&self, cluster: ClusterId) -> Rank {
        let index = cluster.index();
        (self.sizes[index], Reverse(self.ages[index]))
    }

    fn is_shrunk(&self, cluster: ClusterId) -> bool {
        !self.shrunk.is_empty()
            && cluster.index() < self.ages.len()
            && self.shrunk.get(&self.rank(cluster)) == Some(&cluster)
    }

    fn forget_shrunk(&mut self, cluster: ClusterId) -> bool {
        self.is_shrunk(cluster) && self.shrunk.remove(&self.rank(cluster)).is_some()
    }

    #[inline]
    fn largest_in_rings(&mut self) -> Option<ClusterId> {
        for word in (0..self.filled.len()).rev() {
            while self.filled[word] != 0 {
                let bit = self.filled[word].ilog2();
                if let Some(cluster) = self.rings.back(word as u32 * 64 + bit) {
                    return Some(cluster);
                }
                self.filled[word] &= !(1 << bit);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use destage_base::Random;

    use super::*;

    #[test]
    fn agrees_with_a_plain_list() {
        for (seed, sizes) in [(1, 3), (2, 64), (3, 200)] {
            let mut random = Random::new(seed);
            let mut by_size = BySize::new(sizes);
            // Put in first stands first.
            let mut model: Vec<(ClusterId, u32)> = Vec::new();
            for _ in 0..100_000 {
                let cluster = ClusterId(random.below(40) as u32);
                let size = random.below(u64::from(sizes) + 1) as u32;
                let home = model.iter().position(|held| held.0 == cluster);
                assert_eq!(by_size.contains(cluster), home.is_some());
                match random.below(8) {
                    0..3 => {
                        by_size.put(cluster, size.max(1));
                        model.retain(|held| held.0 != cluster);
                        model.push((cluster, size.max(1)));
                    }
                    3..5 => {
                        by_size.resize(cluster, size);
                        if let Some(home) = home {
                            model[home].1 = size;
                        }
                        model.retain(|held| held.1 > 0);
                    }
                    5 => {
                        assert_eq!(by_size.remove(cluster), home.is_some());
                        model.retain(|held| held.0 != cluster);
                    }
                    _ => {
                        let largest = by_size.largest();
                        let size = model.iter().map(|held| held.1).max();
                        let expected = model.iter().find(|held| Some(held.1) == size);
                        assert_eq!(largest, expected.map(|held| held.0));
                        if let Some(largest) = largest {
                            by_size.remove(largest);
                            model.retain(|held| held.0 != largest);
                        }
                    }
                }
                assert_eq!(by_size.len(), model.len());
                let mut expected = model.clone();
                expected.sort_by_key(|held| Reverse(held.1));
                let mut shown = Vec::new();
                by_size.visit(&mut |cluster| {
                    shown.push(cluster);
                    true
                });
                assert!(shown.iter().eq(expected.iter().map(|held| &held.0)));
            }
        }
    }
}
