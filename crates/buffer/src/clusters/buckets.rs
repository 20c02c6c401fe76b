//! Clusters in buckets. Finds the cluster with the smallest key in the highest bucket that is not empty.
//!
//! [`BySize`](super::BySize) requires that the clusters of one size are in the order of insertion. This structure is
//! for schemes in which a cluster keeps its age when its size changes. Such a cluster belongs somewhere in the middle
//! of the order. Each bucket is a *pairing heap*: a tree, made of links only, in which no cluster has a smaller key
//! than its parent.
//!
//! ```text
//!   bucket 4:  3             first child, and on to its siblings
//!              +- 9 - 5 - 7
//!                     +- 6
//! ```
//!
//! Inserting a cluster needs one comparison with the root. Removing a cluster without children only unlinks the
//! cluster. When a cluster with children is removed, the children are first melded in pairs. The pairs are then
//! melded into one tree.
//!
//! Cost: O(1) to insert and to find, O(log n) amortised to remove. Memory: 16 bytes and a key per cluster.

use alloc::vec;
use alloc::vec::Vec;

use destage_base::table;

use super::ClusterId;

/// Means "no cluster" in a link. It is also the bucket of a cluster that is in no bucket.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Node<Key> {
    key: Key,
    bucket: u32,
    /// The first child.
    child: u32,
    /// The next sibling.
    next: u32,
    /// The previous sibling, or the parent if this is the first child.
    prev: u32,
}

/// Clusters ordered by bucket, then by key. A cluster is in at most one bucket.
pub struct Buckets<Key = u64> {
    /// By cluster.
    nodes: Vec<Node<Key>>,
    /// By bucket: the root of the bucket's tree.
    roots: Vec<u32>,
    /// One bit per bucket: whether the bucket may have clusters. If a bit is set for an empty bucket, it is cleared
    /// when a search finds the bucket empty.
    filled: Vec<u64>,
}

impl<Key: Copy + Ord> Buckets<Key> {
    /// Makes an empty structure with the buckets `0 .. buckets`.
    #[must_use]
    pub fn new(buckets: u32) -> Self {
        Self {
            nodes: Vec::new(),
            roots: vec![NONE; buckets as usize],
            filled: vec![0; buckets as usize / 64 + 1],
        }
    }

    /// The bucket of `cluster`; `None` if it is in no bucket.
    #[inline]
    #[must_use]
    pub fn bucket(&self, cluster: ClusterId) -> Option<u32> {
        let node = self.nodes.get(cluster.index())?;
        (node.bucket != NONE).then_some(node.bucket)
    }

    /// Puts `cluster` into `bucket` under `key`. If the cluster was in a bucket, it is removed from there first.
    #[inline]
    pub fn put(&mut self, cluster: ClusterId, bucket: u32, key: Key) {
        self.remove(cluster);
        let index = cluster.index();
        let node = Node {
            key,
            bucket,
            child: NONE,
            next: NONE,
            prev: NONE,
        };
        let outside = Node {
            bucket: NONE,
            ..node
        };
        *table::at(&mut self.nodes, index, outside) = node;
        let root = self.roots[bucket as usize];
        self.roots[bucket as usize] = self.meld(root, cluster.0);
        self.filled[bucket as usize / 64] |= 1 << (bucket % 64);
    }

    /// Removes `cluster`. Returns whether it was in a bucket.
    #[inline]
    pub fn remove(&mut self, cluster: ClusterId) -> bool {
        let Some(bucket) = self.bucket(cluster) else {
            return false;
        };
        let Node {
            child, next, prev, ..
        } = self.nodes[cluster.index()];
        self.nodes[cluster.index()].bucket = NONE;
        let orphans = self.meld_all(child);
        let bucket = bucket as usize;
        if self.roots[bucket] == cluster.0 {
            self.roots[bucket] = orphans;
            return true;
        }
        let before = &mut self.nodes[prev as usize];
        if before.child == cluster.0 {
            before.child = next;
        } else {
            before.next = next;
        }
        if next != NONE {
            self.nodes[next as usize].prev = prev;
        }
        self.roots[bucket] = self.meld(self.roots[bucket], orphans);
        true
    }

    /// The cluster with the smallest key in `bucket`.
    #[inline]
    #[must_use]
    pub fn least(&self, bucket: u32) -> Option<ClusterId> {
        let root = self.roots[bucket as usize];
        (root != NONE).then_some(ClusterId(root))
    }

    /// The cluster with the smallest key in the highest bucket that is not empty, and the number of that bucket.
    #[inline]
    pub fn highest(&mut self) -> Option<(ClusterId, u32)> {
        for word in (0..self.filled.len()).rev() {
            while self.filled[word] != 0 {
                let bucket = word as u32 * 64 + self.filled[word].ilog2();
                let root = self.roots[bucket as usize];
                if root != NONE {
                    return Some((ClusterId(root), bucket));
                }
                self.filled[word] &= !(1 << (bucket % 64));
            }
        }
        None
    }

    /// Melds two trees into one tree. Neither root may have siblings.
    #[inline]
    fn meld(&mut self, one: u32, other: u32) -> u32 {
        if one == NONE {
            return other;
        }
        if other == NONE {
            return one;
        }
        let (parent, child) = if self.nodes[other as usize].key < self.nodes[one as usize].key {
            (other, one)
        } else {
            (one, other)
        };
        let sibling = self.nodes[parent as usize].child;
        self.nodes[parent as usize].child = child;
        self.nodes[child as usize].prev = parent;
        self.nodes[child as usize].next = sibling;
        if sibling != NONE {
            self.nodes[sibling as usize].prev = child;
        }
        parent
    }

    /// Melds `first` and its siblings into one tree. It first melds the siblings in pairs, and then all pairs from
    /// the last to the first.
    fn meld_all(&mut self, first: u32) -> u32 {
        let mut pairs = NONE;
        let mut rest = first;
        while rest != NONE {
            let one = rest;
            let other = self.cut(one);
            rest = if other == NONE { NONE } else { self.cut(other) };
            let pair = self.meld(one, other);
            self.nodes[pair as usize].next = pairs;
            pairs = pair;
        }
        let mut all = NONE;
        while pairs != NONE {
            let pair = pairs;
            pairs = self.cut(pair);
            all = self.meld(all, pair);
        }
        all
    }

    /// Separates `node` from the siblings after it. Returns the first of those siblings.
    #[inline]
    fn cut(&mut self, node: u32) -> u32 {
        core::mem::replace(&mut self.nodes[node as usize].next, NONE)
    }
}

#[cfg(test)]
mod tests {
    use destage_base::Random;

    use super::*;

    #[test]
    fn agrees_with_a_plain_list() {
        for (seed, buckets, clusters) in [(1, 1, 30), (2, 3, 200), (3, 200, 100)] {
            let mut random = Random::new(seed);
            let mut heaps = Buckets::new(buckets);
            let mut model: Vec<(u32, u64, ClusterId)> = Vec::new();
            for step in 0..100_000 {
                let cluster = ClusterId(random.below(clusters) as u32);
                let held = model.iter().position(|held| held.2 == cluster);
                assert_eq!(heaps.bucket(cluster), held.map(|held| model[held].0));
                match random.below(5) {
                    0..3 => {
                        let bucket = random.below(u64::from(buckets)) as u32;
                        // The keys are unique, and they do not always ascend.
                        let key = (random.below(2) * random.below(step + 1)) << 32 | step;
                        heaps.put(cluster, bucket, key);
                        model.retain(|held| held.2 != cluster);
                        model.push((bucket, key, cluster));
                    }
                    3 => {
                        assert_eq!(heaps.remove(cluster), held.is_some());
                        model.retain(|held| held.2 != cluster);
                    }
                    _ => {
                        let highest = model.iter().map(|held| held.0).max();
                        let in_highest = model.iter().filter(|held| Some(held.0) == highest);
                        let expected = in_highest.min().map(|held| (held.2, held.0));
                        assert_eq!(heaps.highest(), expected);
                        if let Some((cluster, bucket)) = expected {
                            assert_eq!(heaps.least(bucket), Some(cluster));
                        }
                        if let Some((cluster, _)) = expected {
                            heaps.remove(cluster);
                            model.retain(|held| held.2 != cluster);
                        }
                    }
                }
            }
        }
    }
}
