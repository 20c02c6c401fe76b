//! Orders of clusters: several doubly linked lists over cluster numbers, a cluster in at most one.
//!
//! The idea of [`order`](crate::order), each list a ring through a node of its own, in eight bytes a
//! cluster: what a cluster is about is known elsewhere.

use alloc::vec::Vec;

use super::ClusterId;
use crate::table;

/// Stands in the link of a cluster that is in no list.
const UNLINKED: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Link {
    prev: u32,
    next: u32,
}

/// Several lists over the same clusters.
pub struct Rings {
    /// First one ring node per list, then the clusters; the latter grow as clusters appear.
    links: Vec<Link>,
    lists: u32,
    len: usize,
}

impl Rings {
    /// `lists` empty lists.
    #[must_use]
    pub fn new(lists: u32) -> Self {
        Self {
            links: (0..lists)
                .map(|list| Link {
                    prev: list,
                    next: list,
                })
                .collect(),
            lists,
            len: 0,
        }
    }

    /// How many clusters all lists have together.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether all lists are empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether `list` is empty.
    #[inline]
    #[must_use]
    pub fn is_list_empty(&self, list: u32) -> bool {
        self.links[list as usize].next == list
    }

    /// Whether `cluster` is in some list.
    #[inline]
    #[must_use]
    pub fn contains(&self, cluster: ClusterId) -> bool {
        let link = self.links.get((self.lists + cluster.0) as usize);
        link.is_some_and(|link| link.next != UNLINKED)
    }

    /// Puts `cluster`, which is in no list, at the front of `list`.
    #[inline]
    pub fn push_front(&mut self, list: u32, cluster: ClusterId) {
        let next = self.links[list as usize].next;
        self.link_between(list, next, cluster);
    }

    /// Puts `cluster`, which is in no list, at the back of `list`.
    #[inline]
    pub fn push_back(&mut self, list: u32, cluster: ClusterId) {
        let prev = self.links[list as usize].prev;
        self.link_between(prev, list, cluster);
    }

    /// Takes `cluster` out of the list it is in.
    ///
    /// # Panics
    /// If it is in no list.
    #[inline]
    pub fn remove(&mut self, cluster: ClusterId) {
        let index = (self.lists + cluster.0) as usize;
        let Link { prev, next } = self.links[index];
        assert!(next != UNLINKED, "{cluster:?} is in no list");
        self.links[prev as usize].next = next;
        self.links[next as usize].prev = prev;
        self.links[index].next = UNLINKED;
        self.len -= 1;
    }

    /// Puts `cluster`, in some list or none, at the front of `list`.
    #[inline]
    pub fn bring_to_front(&mut self, list: u32, cluster: ClusterId) {
        // Most writes go to the cluster written last.
        if self.front(list) != Some(cluster) {
            if self.contains(cluster) {
                self.remove(cluster);
            }
            self.push_front(list, cluster);
        }
    }

    /// Puts `cluster`, in some list or none, at the back of `list`.
    #[inline]
    pub fn bring_to_back(&mut self, list: u32, cluster: ClusterId) {
        if self.contains(cluster) {
            self.remove(cluster);
        }
        self.push_back(list, cluster);
    }

    /// The first of `list`.
    #[inline]
    #[must_use]
    pub fn front(&self, list: u32) -> Option<ClusterId> {
        self.cluster(self.links[list as usize].next)
    }

    /// The last of `list`.
    #[inline]
    #[must_use]
    pub fn back(&self, list: u32) -> Option<ClusterId> {
        self.cluster(self.links[list as usize].prev)
    }

    /// Takes the last off `list`.
    #[inline]
    pub fn pop_back(&mut self, list: u32) -> Option<ClusterId> {
        let cluster = self.back(list)?;
        self.remove(cluster);
        Some(cluster)
    }

    /// The clusters of `list`, front to back.
    pub fn iter(&self, list: u32) -> impl Iterator<Item = ClusterId> + '_ {
        self.follow(self.links[list as usize].next, |link| link.next)
    }

    /// The clusters of `list`, back to front.
    pub fn iter_back(&self, list: u32) -> impl Iterator<Item = ClusterId> + '_ {
        self.follow(self.links[list as usize].prev, |link| link.prev)
    }

    fn follow(&self, first: u32, step: fn(&Link) -> u32) -> impl Iterator<Item = ClusterId> + '_ {
        let mut index = first;
        core::iter::from_fn(move || {
            let cluster = self.cluster(index)?;
            index = step(&self.links[index as usize]);
            Some(cluster)
        })
    }

    /// The cluster at link `index`, unless that is a ring node.
    #[inline]
    fn cluster(&self, index: u32) -> Option<ClusterId> {
        index.checked_sub(self.lists).map(ClusterId)
    }

    #[inline]
    fn link_between(&mut self, prev: u32, next: u32, cluster: ClusterId) {
        let index = self.lists + cluster.0;
        debug_assert!(!self.contains(cluster), "{cluster:?} is already in a list");
        let unlinked = Link {
            prev: UNLINKED,
            next: UNLINKED,
        };
        *table::at(&mut self.links, index as usize, unlinked) = Link { prev, next };
        self.links[prev as usize].next = index;
        self.links[next as usize].prev = index;
        self.len += 1;
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::VecDeque;
    use alloc::vec;

    use destage_base::Random;

    use super::*;

    #[test]
    fn agrees_with_plain_queues() {
        let mut random = Random::new(7);
        let mut rings = Rings::new(3);
        let mut model = vec![VecDeque::new(); 3];
        for _ in 0..100_000 {
            let list = random.below(3) as usize;
            let cluster = ClusterId(random.below(12) as u32);
            let home = model.iter().position(|queue| queue.contains(&cluster));
            assert_eq!(rings.contains(cluster), home.is_some());
            let choice = random.below(6);
            if let (0..=2, Some(home)) = (choice, home) {
                model[home].retain(|held| *held != cluster);
            }
            match choice {
                0 => {
                    rings.bring_to_front(list as u32, cluster);
                    model[list].push_front(cluster);
                }
                1 => {
                    rings.bring_to_back(list as u32, cluster);
                    model[list].push_back(cluster);
                }
                2 if home.is_some() => rings.remove(cluster),
                3 => assert_eq!(rings.pop_back(list as u32), model[list].pop_back()),
                4 => assert_eq!(rings.back(list as u32), model[list].back().copied()),
                _ => assert_eq!(rings.front(list as u32), model[list].front().copied()),
            }
            assert_eq!(rings.len(), model.iter().map(VecDeque::len).sum());
            for (list, queue) in model.iter().enumerate() {
                assert!(rings.iter(list as u32).eq(queue.iter().copied()));
                assert!(rings.iter_back(list as u32).eq(queue.iter().rev().copied()));
                assert_eq!(rings.is_list_empty(list as u32), queue.is_empty());
            }
        }
    }
}
