//! Doubly linked lists over slots, without a node allocation: the order of every page-level scheme.
//!
//! A node belongs to a slot, so that finding a page's node is an array access and a page is in at
//! most one list. Each list is a ring through a node of its own; a ring has no ends to test for,
//! and a node leaves its list without anyone knowing which list that is.
//!
//! [`SlotLists`] holds several lists over the same slots (a queue per die, a list per set);
//! [`SlotList`] is the case of one.

use alloc::vec::Vec;

use destage_base::Lpn;

use crate::destage::Slot;
use crate::scheme::Entry;

/// Stands in both links of a node that is in no list.
const UNLINKED: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Node {
    prev: u32,
    next: u32,
    /// Kept beside the links: whoever takes an entry off a list wants its page.
    page: Lpn,
}

const FREE_NODE: Node = Node {
    prev: UNLINKED,
    next: UNLINKED,
    page: Lpn(0),
};

/// Several lists over the same slots; a slot is in at most one of them.
pub struct SlotLists {
    /// First one ring node per list, then the nodes of the slots; the latter grow as slots appear.
    nodes: Vec<Node>,
    lists: u32,
    len: usize,
}

impl SlotLists {
    /// `lists` empty lists, with memory set aside for `slots` slots.
    #[must_use]
    pub fn new(lists: u32, slots: u32) -> Self {
        let mut nodes = Vec::with_capacity(lists as usize + slots as usize);
        nodes.extend((0..lists).map(|list| Node {
            prev: list,
            next: list,
            page: Lpn(0),
        }));
        Self {
            nodes,
            lists,
            len: 0,
        }
    }

    /// How many entries all lists have together.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether all lists are empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether `list` has no entries.
    #[must_use]
    pub fn is_list_empty(&self, list: u32) -> bool {
        self.ring(list).next == list
    }

    /// Puts `entry`, which is in no list, at the front of `list`.
    #[inline]
    pub fn push_front(&mut self, list: u32, entry: Entry) {
        let next = self.ring(list).next;
        self.link_between(list, next, entry);
    }

    /// Puts `entry`, which is in no list, at the back of `list`.
    #[inline]
    pub fn push_back(&mut self, list: u32, entry: Entry) {
        let prev = self.ring(list).prev;
        self.link_between(prev, list, entry);
    }

    /// Puts `entry`, which is in no list, before that of `behind`, into the same list.
    pub fn insert_before(&mut self, behind: Slot, entry: Entry) {
        let index = self.lists + behind.0;
        let prev = self.nodes[index as usize].prev;
        assert!(
            self.nodes[index as usize].next != UNLINKED,
            "slot {} is in no list",
            behind.0
        );
        self.link_between(prev, index, entry);
    }

    /// The entry behind that of `slot`, which is in some list.
    #[must_use]
    pub fn behind(&self, slot: Slot) -> Option<Entry> {
        let next = self.nodes[(self.lists + slot.0) as usize].next;
        assert!(next != UNLINKED, "slot {} is in no list", slot.0);
        self.entry(next)
    }

    /// Moves the entry of `slot`, which is in some list, to the front of `list`.
    #[inline]
    pub fn move_to_front(&mut self, list: u32, slot: Slot) {
        let entry = self.remove(slot);
        self.push_front(list, entry);
    }

    /// Moves the entry of `slot`, which is in some list, to the back of `list`.
    #[inline]
    pub fn move_to_back(&mut self, list: u32, slot: Slot) {
        let entry = self.remove(slot);
        self.push_back(list, entry);
    }

    /// Takes the entry of `slot` out of the list it is in.
    ///
    /// # Panics
    /// If it is in no list.
    #[inline(always)]
    pub fn remove(&mut self, slot: Slot) -> Entry {
        let index = self.lists + slot.0;
        let node = self.nodes[index as usize];
        assert!(node.next != UNLINKED, "slot {} is in no list", slot.0);
        self.nodes[node.prev as usize].next = node.next;
        self.nodes[node.next as usize].prev = node.prev;
        self.nodes[index as usize].next = UNLINKED;
        self.len -= 1;
        Entry {
            page: node.page,
            slot,
        }
    }

    /// Puts `entry`, which is in no list, where that of `slot` is, and takes the latter out.
    ///
    /// # Panics
    /// If the entry of `slot` is in no list.
    pub fn replace(&mut self, slot: Slot, entry: Entry) {
        let next = self.nodes[(self.lists + slot.0) as usize].next;
        self.remove(slot);
        self.link_between(self.nodes[next as usize].prev, next, entry);
    }

    /// The first entry of `list`.
    #[must_use]
    pub fn front(&self, list: u32) -> Option<Entry> {
        self.entry(self.ring(list).next)
    }

    /// The last entry of `list`.
    #[must_use]
    pub fn back(&self, list: u32) -> Option<Entry> {
        self.entry(self.ring(list).prev)
    }

    /// Takes the last entry off `list`.
    #[inline(always)]
    pub fn pop_back(&mut self, list: u32) -> Option<Entry> {
        let entry = self.back(list)?;
        Some(self.remove(entry.slot))
    }

    /// Takes the first entry off `list`.
    #[inline]
    pub fn pop_front(&mut self, list: u32) -> Option<Entry> {
        let entry = self.front(list)?;
        Some(self.remove(entry.slot))
    }

    /// The entries of `list`, front to back.
    pub fn iter(&self, list: u32) -> impl Iterator<Item = Entry> + '_ {
        self.follow(self.ring(list).next, |node| node.next)
    }

    /// The entries of `list`, back to front.
    pub fn iter_back(&self, list: u32) -> impl Iterator<Item = Entry> + '_ {
        self.follow(self.ring(list).prev, |node| node.prev)
    }

    fn follow(&self, first: u32, step: fn(&Node) -> u32) -> impl Iterator<Item = Entry> + '_ {
        let mut index = first;
        core::iter::from_fn(move || {
            let entry = self.entry(index)?;
            index = step(&self.nodes[index as usize]);
            Some(entry)
        })
    }

    #[inline]
    fn ring(&self, list: u32) -> &Node {
        debug_assert!(list < self.lists, "list {list} of {}", self.lists);
        &self.nodes[list as usize]
    }

    /// The entry at node `index`, unless that is a ring node.
    #[inline]
    fn entry(&self, index: u32) -> Option<Entry> {
        let slot = Slot(index.checked_sub(self.lists)?);
        Some(Entry {
            page: self.nodes[index as usize].page,
            slot,
        })
    }

    #[inline(always)]
    fn link_between(&mut self, prev: u32, next: u32, entry: Entry) {
        let index = self.lists + entry.slot.0;
        if index as usize >= self.nodes.len() {
            self.nodes.resize(index as usize + 1, FREE_NODE);
        }
        debug_assert!(
            self.nodes[index as usize].next == UNLINKED,
            "{entry:?} is already in a list"
        );
        self.nodes[index as usize] = Node {
            prev,
            next,
            page: entry.page,
        };
        self.nodes[prev as usize].next = index;
        self.nodes[next as usize].prev = index;
        self.len += 1;
    }
}

/// One list over slots.
pub struct SlotList(SlotLists);

impl SlotList {
    /// An empty list, with memory set aside for `slots` slots.
    #[must_use]
    pub fn new(slots: u32) -> Self {
        Self(SlotLists::new(1, slots))
    }

    /// How many entries the list has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the list has no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Puts `entry`, which is not in the list, at the front.
    #[inline]
    pub fn push_front(&mut self, entry: Entry) {
        self.0.push_front(0, entry);
    }

    /// Puts `entry`, which is not in the list, at the back.
    #[inline]
    pub fn push_back(&mut self, entry: Entry) {
        self.0.push_back(0, entry);
    }

    /// Moves the entry of `slot` to the front.
    #[inline]
    pub fn move_to_front(&mut self, slot: Slot) {
        self.0.move_to_front(0, slot);
    }

    /// Moves the entry of `slot` to the back.
    #[inline]
    pub fn move_to_back(&mut self, slot: Slot) {
        self.0.move_to_back(0, slot);
    }

    /// Takes the entry of `slot` out.
    ///
    /// # Panics
    /// If it is not in the list.
    #[inline]
    pub fn remove(&mut self, slot: Slot) -> Entry {
        self.0.remove(slot)
    }

    /// Puts `entry`, which is not in the list, where that of `slot` is, and takes the latter out.
    ///
    /// # Panics
    /// If the entry of `slot` is not in the list.
    pub fn replace(&mut self, slot: Slot, entry: Entry) {
        self.0.replace(slot, entry);
    }

    /// The first entry.
    #[must_use]
    pub fn front(&self) -> Option<Entry> {
        self.0.front(0)
    }

    /// The last entry.
    #[must_use]
    pub fn back(&self) -> Option<Entry> {
        self.0.back(0)
    }

    /// Takes the first entry off.
    #[inline]
    pub fn pop_front(&mut self) -> Option<Entry> {
        self.0.pop_front(0)
    }

    /// Takes the last entry off.
    #[inline]
    pub fn pop_back(&mut self) -> Option<Entry> {
        self.0.pop_back(0)
    }

    /// The entries, front to back.
    pub fn iter(&self) -> impl Iterator<Item = Entry> + '_ {
        self.0.iter(0)
    }

    /// The entries, back to front.
    pub fn iter_back(&self) -> impl Iterator<Item = Entry> + '_ {
        self.0.iter_back(0)
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
        let mut random = Random::new(5);
        let mut lists = SlotLists::new(3, 4);
        let mut model = vec![VecDeque::new(); 3];
        for step in 0..100_000 {
            let list = random.below(3) as usize;
            let slot = Slot(random.below(12) as u32);
            let entry = Entry {
                page: Lpn(step),
                slot,
            };
            let home = model
                .iter()
                .position(|queue| queue.iter().any(|held: &Entry| held.slot == slot));
            match (random.below(7), home) {
                (0, None) => {
                    lists.push_front(list as u32, entry);
                    model[list].push_front(entry);
                }
                (1, None) => {
                    lists.push_back(list as u32, entry);
                    model[list].push_back(entry);
                }
                (choice @ 0..=2, Some(home)) => {
                    let place = model[home]
                        .iter()
                        .position(|held| held.slot == slot)
                        .unwrap();
                    let held = model[home].remove(place).unwrap();
                    match choice {
                        0 => {
                            lists.move_to_front(list as u32, slot);
                            model[list].push_front(held);
                        }
                        1 => {
                            lists.move_to_back(list as u32, slot);
                            model[list].push_back(held);
                        }
                        _ => assert_eq!(lists.remove(slot), held),
                    }
                }
                (3, _) => assert_eq!(lists.pop_front(list as u32), model[list].pop_front()),
                (4, _) => assert_eq!(lists.pop_back(list as u32), model[list].pop_back()),
                (5, None) if !model[list].is_empty() => {
                    let place = random.below(model[list].len() as u64) as usize;
                    lists.replace(model[list][place].slot, entry);
                    model[list][place] = entry;
                }
                _ => {}
            }
            assert_eq!(lists.len(), model.iter().map(VecDeque::len).sum());
            for (list, queue) in model.iter().enumerate() {
                assert!(lists.iter(list as u32).eq(queue.iter().copied()));
                assert!(lists.iter_back(list as u32).eq(queue.iter().rev().copied()));
                assert_eq!(lists.is_list_empty(list as u32), queue.is_empty());
            }
        }
    }
}
