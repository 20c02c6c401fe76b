//! Clusters in buckets, each bucket by a key: the least key of the highest bucket.
//!
//! The structure behind [`BySize`](super::BySize) if the order within a size is not the order of insertion: a cluster that changes its size but not
//! its age belongs somewhere in the middle. Each bucket is a *pairing heap*, a tree in which no cluster has a smaller key than its parent, connected
//! by links only:
//!
//! ```text
//!   bucket 4:  3             first child, and on to its siblings
//!              +- 9 - 5 - 7
//!                     +- 6
//! ```
//!
//! Putting compares with the root and is done, taking out a cluster without children is unlinking, and
//! only a cluster with children costs more: these are melded in pairs, then all into one.
//!
//! Cost: O(1) to put and to look, O(log n) amortised to take out; 16 bytes and a key per cluster.

use alloc::vec;
use alloc::vec::Vec;

use destage_base::table;

use super::ClusterId;

/// Stands for no cluster in a link, and for the bucket of a cluster that is in none.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Node<Key> {
    key: Key,
    bucket: u32,
    /// The first of its children.
    child: u32,
    /// The sibling after it.
    next: u32,
    /// The sibling before it, or of the first child the parent.
    prev: u32,
}

/// Clusters by bucket, then key; a cluster is in at most one bucket.
pub struct Buckets<Key = u64> {
    /// By cluster.
    nodes: Vec<Node<Key>>,
    /// By bucket.
    roots: Vec<u32>,
    /// A bit per bucket: whether it may have clusters. A wrong bit is cleared when it is found.
    filled: Vec<u64>,
    len: usize,
}

impl<Key: Copy + Ord> Buckets<Key> {
    /// Empty, for buckets `0 .. buckets`.
    #[must_use]
    pub fn new(buckets: u32) -> Self {
        Self {
            nodes: Vec::new(),
            roots: vec![NONE; buckets as usize],
            filled: vec![0; buckets as usize / 64 + 1],
            len: 0,
        }
    }

    /// How many clusters there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no cluster.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bucket of `cluster`.
    #[inline]
    #[must_use]
    pub fn bucket(&self, cluster: ClusterId) -> Option<u32> {
        let node = self.nodes.get(cluster.index())?;
        (node.bucket != NONE).then_some(node.bucket)
    }

    /// Puts `cluster`, whether it is here or not, into `bucket` under `key`.
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
        self.len += 1;
    }

    /// Takes `cluster` out; whether it was here.
    #[inline]
    pub fn remove(&mut self, cluster: ClusterId) -> bool {
        let Some(bucket) = self.bucket(cluster) else {
            return false;
        };
        let Node {
            child, next, prev, ..
        } = self.nodes[cluster.index()];
        self.nodes[cluster.index()].bucket = NONE;
        self.len -= 1;
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

    /// The cluster of least key in `bucket`.
    #[inline]
    #[must_use]
    pub fn least(&self, bucket: u32) -> Option<ClusterId> {
        let root = self.roots[bucket as usize];
        (root != NONE).then_some(ClusterId(root))
    }

    /// The cluster of least key in the highest bucket that has any, and that bucket.
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

    /// One tree of two, neither of which has siblings.
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

    /// One tree of all siblings from `first` on: in pairs forward, then all together backward.
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

    /// Separates `node` from the siblings after it; returns the first of these.
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
                        // Unique, and as often ascending as not.
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
                assert_eq!(heaps.len(), model.len());
            }
        }
    }
}
