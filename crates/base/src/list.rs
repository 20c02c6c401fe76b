//! Doubly linked lists over numbered things, without a node allocation.
//!
//! An item with a number (a slot, a cluster, a block) has the node of that number. So finding a node is
//! an array access, and a thing is in at most one list. A node leaves its list without anyone knowing which
//! list that is, because every list is a ring and a ring has no ends to test for.
//!
//! | type | holds |
//! | --- | --- |
//! | [`Links`] | rings of nodes; the owner remembers one node of each ring |
//! | [`Lists`] | a fixed number of lists, each a ring through a node of its own |
//! | [`List`] | one list |
//!
//! ```text
//!   lists  0   1 |  things  0   1   2   3        list 0: 2 0      list 1: empty
//!          |   ^--- a ring of one                thing 1 and 3 are in no list
//!          +-> thing 2 -> thing 0 -> back to the node of list 0
//! ```
//!
//! Cost: Each call is O(1); a node takes 8 bytes and the data that the owner stores with its links.

use alloc::vec::Vec;

use crate::table;

/// Stands in the link of a node that is in no ring.
const UNLINKED: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Node<V> {
    prev: u32,
    next: u32,
    value: V,
}

/// Rings of nodes, a value beside the links of each; a node is in at most one ring.
#[derive(Clone)]
pub struct Links<V> {
    /// By number, as far as numbers have been used.
    nodes: Vec<Node<V>>,
}

impl<V> Default for Links<V> {
    fn default() -> Self {
        Self { nodes: Vec::new() }
    }
}

impl<V: Copy + Default> Links<V> {
    /// No rings, with memory set aside for `expected` nodes, or for as many as [`table::prepared`] allows.
    #[must_use]
    pub fn new(expected: u32) -> Self {
        Self {
            nodes: Vec::with_capacity(table::prepared(expected)),
        }
    }

    /// Whether `node` is in a ring.
    #[inline]
    #[must_use]
    pub fn is_linked(&self, node: u32) -> bool {
        let node = self.nodes.get(node as usize);
        node.is_some_and(|node| node.next != UNLINKED)
    }

    /// The data stored with the links of `node`.
    #[inline]
    #[must_use]
    pub fn get(&self, node: u32) -> Option<V> {
        let node = self.nodes.get(node as usize)?;
        (node.next != UNLINKED).then_some(node.value)
    }

    /// Puts `node`, which is in no ring, into a ring of its own.
    #[inline]
    pub fn begin(&mut self, node: u32, value: V) {
        self.set(node, node, node, value);
    }

    /// Puts `node`, which is in no ring, before `behind`, which is in one, into the same ring.
    #[inline(always)]
    pub fn insert_before(&mut self, behind: u32, node: u32, value: V) {
        let prev = self.nodes[behind as usize].prev;
        self.insert_between(prev, behind, node, value);
    }

    /// Puts `node`, which is in no ring, after `ahead`, which is in one, into the same ring.
    #[inline(always)]
    pub fn insert_after(&mut self, ahead: u32, node: u32, value: V) {
        let next = self.nodes[ahead as usize].next;
        self.insert_between(ahead, next, node, value);
    }

    /// Takes `node` out of its ring.
    ///
    /// # Panics
    /// If it is in no ring.
    #[inline(always)]
    pub fn remove(&mut self, node: u32) -> V {
        let Node { prev, next, value } = self.nodes[node as usize];
        assert!(next != UNLINKED, "{node} is in no list");
        self.nodes[prev as usize].next = next;
        self.nodes[next as usize].prev = prev;
        self.nodes[node as usize].next = UNLINKED;
        value
    }

    /// Moves `node`, which is in a ring, behind `ahead`, another node in one.
    ///
    /// # Panics
    /// If `node` is in no ring.
    #[inline(always)]
    pub fn move_after(&mut self, ahead: u32, node: u32) {
        let Node { prev, next, .. } = self.nodes[node as usize];
        assert!(next != UNLINKED, "{node} is in no list");
        if prev == ahead {
            return;
        }
        self.nodes[prev as usize].next = next;
        self.nodes[next as usize].prev = prev;
        let behind = core::mem::replace(&mut self.nodes[ahead as usize].next, node);
        self.nodes[behind as usize].prev = node;
        let moved = &mut self.nodes[node as usize];
        (moved.prev, moved.next) = (ahead, behind);
    }

    /// The node before `node`, which is in a ring; itself if it is alone.
    #[inline]
    #[must_use]
    pub fn prev(&self, node: u32) -> u32 {
        self.nodes[node as usize].prev
    }

    /// The node after `node`, which is in a ring; itself if it is alone.
    #[inline]
    #[must_use]
    pub fn next(&self, node: u32) -> u32 {
        self.nodes[node as usize].next
    }

    /// The nodes of a ring with their stored data, from `first` on.
    pub fn ring(&self, first: u32) -> impl Iterator<Item = (u32, V)> + '_ {
        let mut next = Some(first);
        core::iter::from_fn(move || {
            let index = next?;
            let node = &self.nodes[index as usize];
            next = (node.next != first).then_some(node.next);
            Some((index, node.value))
        })
    }

    /// Dissolves the ring of `first`, which has `nodes` nodes, and shows `visit` each of them, from `first` on. The owner's count says where the ring
    /// ends: the processor goes on while nodes are fetched.
    #[inline]
    pub fn take_ring(&mut self, first: u32, nodes: u32, mut visit: impl FnMut(u32, V)) {
        let mut index = first;
        for _ in 0..nodes {
            let node = &mut self.nodes[index as usize];
            let next = core::mem::replace(&mut node.next, UNLINKED);
            visit(index, node.value);
            index = next;
        }
        debug_assert!(index == first, "the ring of {first} has not {nodes} nodes");
    }

    #[inline(always)]
    fn insert_between(&mut self, prev: u32, next: u32, node: u32, value: V) {
        self.set(node, prev, next, value);
        self.nodes[prev as usize].next = node;
        self.nodes[next as usize].prev = node;
    }

    #[inline(always)]
    fn set(&mut self, node: u32, prev: u32, next: u32, value: V) {
        debug_assert!(!self.is_linked(node), "{node} is in a list already");
        debug_assert!(next != UNLINKED, "{prev} is in no list");
        let unlinked = Node {
            prev: UNLINKED,
            next: UNLINKED,
            value: V::default(),
        };
        *table::at(&mut self.nodes, node as usize, unlinked) = Node { prev, next, value };
    }
}

/// An item of a list: a key that has a number, and data stored with the links.
pub trait Item: Copy {
    /// Says which item it is.
    type Key: Copy;
    /// Data stored with the links, for the caller that takes the item off a list.
    type Value: Copy + Default;
    /// The number of `key`.
    fn number(key: Self::Key) -> u32;
    /// The number of this item, and the data to store.
    fn split(self) -> (u32, Self::Value);
    /// The item of which this is the number, and that was kept.
    fn join(number: u32, value: Self::Value) -> Self;
}

impl Item for u32 {
    type Key = u32;
    type Value = ();

    #[inline]
    fn number(key: u32) -> u32 {
        key
    }

    #[inline]
    fn split(self) -> (u32, ()) {
        (self, ())
    }

    #[inline]
    fn join(number: u32, (): ()) -> Self {
        number
    }
}

/// Several lists over the same items; an item is in at most one of the lists.
#[derive(Clone)]
pub struct Lists<I: Item> {
    /// First a node for each list, then those of the items.
    links: Links<I::Value>,
    lists: u32,
    len: usize,
}

impl<I: Item> Lists<I> {
    /// `lists` empty lists, with memory set aside for `expected` items, or for as many as
    /// [`table::prepared`] allows.
    #[must_use]
    pub fn new(lists: u32, expected: u32) -> Self {
        let mut links = Links {
            nodes: Vec::with_capacity(lists as usize + table::prepared(expected)),
        };
        for list in 0..lists {
            links.begin(list, I::Value::default());
        }
        Self {
            links,
            lists,
            len: 0,
        }
    }

    /// How many items all lists have together.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether all lists are empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether `list` has no items.
    #[inline]
    #[must_use]
    pub fn is_list_empty(&self, list: u32) -> bool {
        self.head(list).next == list
    }

    /// Whether the item of `key` is in some list.
    #[inline]
    #[must_use]
    pub fn contains(&self, key: I::Key) -> bool {
        self.links.is_linked(self.lists + I::number(key))
    }

    /// Puts `item`, which is in no list, at the front of `list`.
    #[inline]
    pub fn push_front(&mut self, list: u32, item: I) {
        let (number, value) = item.split();
        self.links.insert_after(list, self.lists + number, value);
        self.len += 1;
    }

    /// Puts `item`, which is in no list, at the back of `list`.
    #[inline]
    pub fn push_back(&mut self, list: u32, item: I) {
        let (number, value) = item.split();
        self.links.insert_before(list, self.lists + number, value);
        self.len += 1;
    }

    /// Puts `item`, which is in no list, before that of `behind`, into the same list.
    ///
    /// # Panics
    /// If the item of `behind` is in no list.
    pub fn insert_before(&mut self, behind: I::Key, item: I) {
        assert!(self.contains(behind), "{} is in no list", I::number(behind));
        let (number, value) = item.split();
        self.links
            .insert_before(self.lists + I::number(behind), self.lists + number, value);
        self.len += 1;
    }

    /// The item after that of `key`.
    ///
    /// # Panics
    /// If the item of `key` is in no list.
    #[must_use]
    pub fn behind(&self, key: I::Key) -> Option<I> {
        assert!(self.contains(key), "{} is in no list", I::number(key));
        self.item(self.links.next(self.lists + I::number(key)))
    }

    /// Moves the item of `key` to the front of `list`.
    ///
    /// # Panics
    /// If it is in no list.
    #[inline]
    pub fn move_to_front(&mut self, list: u32, key: I::Key) {
        self.links.move_after(list, self.lists + I::number(key));
    }

    /// Moves the item of `key` to the back of `list`.
    ///
    /// # Panics
    /// If it is in no list.
    #[inline]
    pub fn move_to_back(&mut self, list: u32, key: I::Key) {
        let node = self.lists + I::number(key);
        let last = self.links.prev(list);
        if last != node {
            self.links.move_after(last, node);
        }
    }

    /// Takes the item of `key` out of the list it is in.
    ///
    /// # Panics
    /// If it is in no list.
    #[inline(always)]
    pub fn remove(&mut self, key: I::Key) -> I {
        let number = I::number(key);
        let value = self.links.remove(self.lists + number);
        self.len -= 1;
        I::join(number, value)
    }

    /// Puts `item`, which is in no list, where that of `key` is, and takes the latter out.
    ///
    /// # Panics
    /// If the item of `key` is in no list.
    pub fn replace(&mut self, key: I::Key, item: I) {
        self.insert_before(key, item);
        self.remove(key);
    }

    /// The first item of `list`.
    #[inline]
    #[must_use]
    pub fn front(&self, list: u32) -> Option<I> {
        self.item(self.head(list).next)
    }

    /// The last item of `list`.
    #[inline]
    #[must_use]
    pub fn back(&self, list: u32) -> Option<I> {
        self.item(self.head(list).prev)
    }

    /// Takes the first item off `list`.
    #[inline]
    pub fn pop_front(&mut self, list: u32) -> Option<I> {
        self.pop(self.head(list).next)
    }

    /// Takes the last item off `list`.
    #[inline(always)]
    pub fn pop_back(&mut self, list: u32) -> Option<I> {
        self.pop(self.head(list).prev)
    }

    /// The items of `list`, front to back.
    pub fn iter(&self, list: u32) -> impl Iterator<Item = I> + '_ {
        self.follow(self.head(list).next, |node| node.next)
    }

    /// The items of `list`, back to front.
    pub fn iter_back(&self, list: u32) -> impl Iterator<Item = I> + '_ {
        self.follow(self.head(list).prev, |node| node.prev)
    }

    fn follow(&self, first: u32, step: fn(&Node<I::Value>) -> u32) -> impl Iterator<Item = I> + '_ {
        let mut index = first;
        core::iter::from_fn(move || {
            let item = self.item(index)?;
            index = step(&self.links.nodes[index as usize]);
            Some(item)
        })
    }

    #[inline]
    fn head(&self, list: u32) -> &Node<I::Value> {
        debug_assert!(list < self.lists, "list {list} of {}", self.lists);
        &self.links.nodes[list as usize]
    }

    /// The item at node `index`, unless that is the node of a list.
    #[inline]
    fn item(&self, index: u32) -> Option<I> {
        let number = index.checked_sub(self.lists)?;
        Some(I::join(number, self.links.nodes[index as usize].value))
    }

    #[inline(always)]
    fn pop(&mut self, index: u32) -> Option<I> {
        let number = index.checked_sub(self.lists)?;
        let value = self.links.remove(index);
        self.len -= 1;
        Some(I::join(number, value))
    }
}

impl<I: Item<Key = I>> Lists<I> {
    /// Puts `item`, in some list or none, at the front of `list`.
    #[inline]
    pub fn bring_to_front(&mut self, list: u32, item: I) {
        let node = self.lists + I::number(item);
        // Most uses are of the item used last.
        if self.head(list).next != node {
            if self.links.is_linked(node) {
                self.remove(item);
            }
            self.push_front(list, item);
        }
    }

    /// Puts `item`, in some list or none, at the back of `list`.
    #[inline]
    pub fn bring_to_back(&mut self, list: u32, item: I) {
        if self.contains(item) {
            self.remove(item);
        }
        self.push_back(list, item);
    }
}

/// One list.
#[derive(Clone)]
pub struct List<I: Item>(Lists<I>);

impl<I: Item> List<I> {
    /// An empty list, with memory set aside for `expected` items, or for as many as [`table::prepared`]
    /// allows.
    #[must_use]
    pub fn new(expected: u32) -> Self {
        Self(Lists::new(1, expected))
    }

    /// How many items the list has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the list has no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the item of `key` is in the list.
    #[inline]
    #[must_use]
    pub fn contains(&self, key: I::Key) -> bool {
        self.0.contains(key)
    }

    /// Puts `item`, which is not in the list, at the front.
    #[inline]
    pub fn push_front(&mut self, item: I) {
        self.0.push_front(0, item);
    }

    /// Puts `item`, which is not in the list, at the back.
    #[inline]
    pub fn push_back(&mut self, item: I) {
        self.0.push_back(0, item);
    }

    /// Moves the item of `key` to the front.
    ///
    /// # Panics
    /// If it is not in the list.
    #[inline]
    pub fn move_to_front(&mut self, key: I::Key) {
        self.0.move_to_front(0, key);
    }

    /// Moves the item of `key` to the back.
    ///
    /// # Panics
    /// If it is not in the list.
    #[inline]
    pub fn move_to_back(&mut self, key: I::Key) {
        self.0.move_to_back(0, key);
    }

    /// Takes the item of `key` out.
    ///
    /// # Panics
    /// If it is not in the list.
    #[inline]
    pub fn remove(&mut self, key: I::Key) -> I {
        self.0.remove(key)
    }

    /// Puts `item`, which is not in the list, where that of `key` is, and takes the latter out.
    ///
    /// # Panics
    /// If the item of `key` is not in the list.
    pub fn replace(&mut self, key: I::Key, item: I) {
        self.0.replace(key, item);
    }

    /// The first item.
    #[must_use]
    pub fn front(&self) -> Option<I> {
        self.0.front(0)
    }

    /// The last item.
    #[must_use]
    pub fn back(&self) -> Option<I> {
        self.0.back(0)
    }

    /// Takes the first item off.
    #[inline]
    pub fn pop_front(&mut self) -> Option<I> {
        self.0.pop_front(0)
    }

    /// Takes the last item off.
    #[inline]
    pub fn pop_back(&mut self) -> Option<I> {
        self.0.pop_back(0)
    }

    /// The items, front to back.
    pub fn iter(&self) -> impl Iterator<Item = I> + '_ {
        self.0.iter(0)
    }

    /// The items, back to front.
    pub fn iter_back(&self) -> impl Iterator<Item = I> + '_ {
        self.0.iter_back(0)
    }
}

#[cfg(test)]
mod tests;
