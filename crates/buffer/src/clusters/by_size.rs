//! Clusters ordered by their number of pages. Finds the largest cluster. Among clusters of equal size, finds the one
//! that was inserted first.
//!
//! ```text
//!   unranked: ring  G         latest first; not compared
//!   size 1:   ring  E D       latest first
//!   size 2:   ring  C
//!   size 3:   ring  (empty)
//!   size 4:   ring  B A   <-- the largest is A        shrunk: (size 2, older than C) -> F
//! ```
//!
//! There is a ring for each size. Clusters are inserted at one end, so a ring is always in the order of insertion.
//! Every call is O(1) as long as a cluster is inserted again when its size changes. A trim makes a cluster smaller
//! without a write. Such a cluster keeps its age, and so belongs somewhere in the middle of a ring. This case is
//! rare. These clusters are in an ordered map until they are inserted again.
//!
//! No cluster has 0 pages. The ring of size 0 is therefore used for the *unranked* clusters: a scheme excludes them
//! from the comparison by size. One pair of links per cluster suffices for both orders.
//!
//! Cost: O(1) per call. The search for the largest cluster also reads one bit per size, 64 sizes per word. Calls for
//! clusters that a trim made smaller are O(log n). Memory: 12 bytes per cluster.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use destage_base::table;

use super::{ClusterId, Rings};

/// The rank of a cluster, made of its size and its age. The cluster with the largest rank is evicted first.
type Rank = (u32, Reverse<u32>);

/// The number of the ring for unranked clusters. It is also the age of these clusters.
const UNRANKED: u32 = 0;

/// Clusters ordered by size.
pub struct BySize {
    /// One ring per size; the number of the ring is the size. The cluster that was inserted first is at the back.
    rings: Rings,
    /// The number of clusters in the ring [`UNRANKED`].
    unranked: usize,
    /// One bit per size: whether the ring of this size may have clusters. If a bit is set for an empty ring, it is
    /// cleared when a search finds the ring empty. The bit of [`UNRANKED`] is never set.
    filled: Vec<u64>,
    /// By cluster: the number of the call of `put` that inserted the cluster. Calls are counted from 1.
    ages: Vec<u32>,
    shrunk: BTreeMap<Rank, ClusterId>,
    /// The ranks of the clusters in `shrunk`.
    ranks: BTreeMap<ClusterId, Rank>,
    puts: u32,
}

impl BySize {
    /// Makes an empty structure for clusters of at most `pages` pages.
    #[must_use]
    pub fn new(pages: u32) -> Self {
        Self {
            rings: Rings::new(pages + 1, 0),
            unranked: 0,
            filled: vec![0; pages as usize / 64 + 1],
            ages: Vec::new(),
            shrunk: BTreeMap::new(),
            ranks: BTreeMap::new(),
            puts: 0,
        }
    }

    /// The number of clusters, including the unranked ones.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rings.len() + self.shrunk.len()
    }

    /// Whether the structure has no cluster, including unranked clusters.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether `cluster` is in the structure, ranked or not.
    #[inline]
    #[must_use]
    pub fn contains(&self, cluster: ClusterId) -> bool {
        self.rings.contains(cluster) || self.ranks.contains_key(&cluster)
    }

    /// Inserts `cluster` with `size` pages as the newest cluster of this size. `size` must not be 0. If the cluster
    /// was in the structure, it is removed first.
    #[inline]
    pub fn put(&mut self, cluster: ClusterId, size: u32) {
        debug_assert!(size != UNRANKED, "{cluster:?} has no pages");
        self.remove(cluster);
        if self.puts == u32::MAX {
            self.renumber();
        }
        self.puts += 1;
        self.set_age(cluster, self.puts);
        self.rings.push_front(size, cluster);
        self.filled[size as usize / 64] |= 1 << (size % 64);
    }

    /// Inserts `cluster` as the latest unranked cluster. If it was in the structure, it is removed first. Nothing
    /// changes if it is already the latest unranked cluster.
    #[inline]
    pub fn put_unranked(&mut self, cluster: ClusterId) {
        // This test saves work, because most writes go to the cluster that was written last.
        if self.rings.front(UNRANKED) != Some(cluster) {
            self.remove(cluster);
            self.set_age(cluster, UNRANKED);
            self.rings.push_front(UNRANKED, cluster);
            self.unranked += 1;
        }
    }

    /// The number of unranked clusters.
    #[inline]
    #[must_use]
    pub fn unranked(&self) -> usize {
        self.unranked
    }

    /// Among the unranked clusters, the one that became unranked first.
    #[inline]
    #[must_use]
    pub fn oldest_unranked(&self) -> Option<ClusterId> {
        self.rings.back(UNRANKED)
    }

    /// Changes the size of `cluster` to `size` without changing its age. With a `size` of 0, removes the cluster. A
    /// cluster that is unranked remains unranked. If the cluster is not in the structure, the call has no effect.
    pub fn resize(&mut self, cluster: ClusterId, size: u32) {
        let is_unranked = self.rings.contains(cluster) && self.ages[cluster.index()] == UNRANKED;
        if is_unranked && size > 0 {
            return;
        }
        if self.remove(cluster) && size > 0 {
            self.shrink(cluster, size);
        }
    }

    /// Removes `cluster`. Returns whether it was in the structure.
    #[inline]
    pub fn remove(&mut self, cluster: ClusterId) -> bool {
        if self.rings.contains(cluster) {
            self.rings.remove(cluster);
            self.unranked -= usize::from(self.ages[cluster.index()] == UNRANKED);
            return true;
        }
        if self.ranks.is_empty() {
            return false;
        }
        let rank = self.ranks.remove(&cluster);
        rank.is_some_and(|rank| self.shrunk.remove(&rank).is_some())
    }

    /// The largest cluster. Among clusters of equal size, the one that was inserted first. Unranked clusters
    /// are not considered.
    #[inline]
    pub fn largest(&mut self) -> Option<ClusterId> {
        let in_rings = self.largest_in_rings();
        let Some((rank, shrunk)) = self.shrunk.last_key_value() else {
            return in_rings.map(|(cluster, _)| cluster);
        };
        match in_rings {
            Some((cluster, size)) if self.rank(cluster, size) > *rank => Some(cluster),
            _ => Some(*shrunk),
        }
    }

    /// The unranked clusters, from the latest to the oldest.
    pub fn iter_unranked(&self) -> impl Iterator<Item = ClusterId> + '_ {
        self.rings.iter(UNRANKED)
    }

    /// Shows `visit` all clusters, in the order in which they would be the largest, until `visit` returns `false`.
    /// The unranked clusters come last, from the oldest to the latest. Returns `false` if `visit` returned
    /// `false`.
    pub fn visit(&self, visit: &mut dyn FnMut(ClusterId) -> bool) -> bool {
        self.visit_ranked(visit) && self.rings.iter_back(UNRANKED).all(visit)
    }

    /// Does the same as [`visit`](Self::visit), but omits the unranked clusters.
    pub fn visit_ranked(&self, visit: &mut dyn FnMut(ClusterId) -> bool) -> bool {
        let sizes = (self.filled.len() * 64) as u32;
        let filled = |size: &u32| self.filled[*size as usize / 64] >> (size % 64) & 1 != 0;
        let mut shrunk = self.shrunk.iter().rev().peekable();
        for size in (0..sizes).rev().filter(filled) {
            for cluster in self.rings.iter_back(size) {
                let rank = self.rank(cluster, size);
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

    fn rank(&self, cluster: ClusterId, size: u32) -> Rank {
        (size, Reverse(self.ages[cluster.index()]))
    }

    fn shrink(&mut self, cluster: ClusterId, size: u32) {
        let rank = self.rank(cluster, size);
        self.shrunk.insert(rank, cluster);
        self.ranks.insert(cluster, rank);
    }

    #[inline]
    fn set_age(&mut self, cluster: ClusterId, age: u32) {
        *table::at(&mut self.ages, cluster.index(), UNRANKED) = age;
    }

    /// Renumbers the ages from 1 on, without changing the order of the clusters. This happens once in 2^32 calls of
    /// `put`.
    #[cold]
    fn renumber(&mut self) {
        let mut clusters = Vec::new();
        self.visit_ranked(&mut |cluster| {
            clusters.push(cluster);
            true
        });
        clusters.sort_unstable_by_key(|cluster| self.ages[cluster.index()]);
        self.puts = 0;
        for cluster in clusters {
            self.puts += 1;
            self.set_age(cluster, self.puts);
        }
        self.ranks.clear();
        for ((size, _), cluster) in core::mem::take(&mut self.shrunk) {
            self.shrink(cluster, size);
        }
    }

    #[inline]
    fn largest_in_rings(&mut self) -> Option<(ClusterId, u32)> {
        for word in (0..self.filled.len()).rev() {
            while self.filled[word] != 0 {
                let bit = self.filled[word].ilog2();
                let size = word as u32 * 64 + bit;
                if let Some(cluster) = self.rings.back(size) {
                    return Some((cluster, size));
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
            // In the order of insertion, the oldest first.
            let mut model: Vec<(ClusterId, u32)> = Vec::new();
            // In the order in which the clusters became unranked, the oldest first.
            let mut unranked: Vec<ClusterId> = Vec::new();
            for step in 0..100_000 {
                if step % 1000 == 0 {
                    by_size.puts = u32::MAX - 20;
                }
                let cluster = ClusterId(random.below(40) as u32);
                let size = random.below(u64::from(sizes) + 1) as u32;
                let home = model.iter().position(|held| held.0 == cluster);
                let is_unranked = unranked.contains(&cluster);
                assert_eq!(by_size.contains(cluster), home.is_some() || is_unranked);
                match random.below(9) {
                    0..3 => {
                        by_size.put(cluster, size.max(1));
                        unranked.retain(|held| *held != cluster);
                        model.retain(|held| held.0 != cluster);
                        model.push((cluster, size.max(1)));
                    }
                    3..5 => {
                        by_size.resize(cluster, size);
                        if let Some(home) = home {
                            model[home].1 = size;
                        }
                        model.retain(|held| held.1 > 0);
                        unranked.retain(|held| *held != cluster || size > 0);
                    }
                    5 => {
                        assert_eq!(by_size.remove(cluster), home.is_some() || is_unranked);
                        model.retain(|held| held.0 != cluster);
                        unranked.retain(|held| *held != cluster);
                    }
                    6 => {
                        by_size.put_unranked(cluster);
                        model.retain(|held| held.0 != cluster);
                        unranked.retain(|held| *held != cluster);
                        unranked.push(cluster);
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
                assert_eq!(by_size.len(), model.len() + unranked.len());
                assert_eq!(
                    (by_size.unranked(), by_size.oldest_unranked()),
                    (unranked.len(), unranked.first().copied())
                );
                let mut expected = model.clone();
                expected.sort_by_key(|held| Reverse(held.1));
                expected.extend(unranked.iter().map(|cluster| (*cluster, 0)));
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
