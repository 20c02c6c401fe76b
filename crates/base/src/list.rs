//! Doubly linked lists of numbered items, without an allocation per node.
//!
//! Each item (a slot, a cluster, a block) has a number, and this number is the index of the item's node in an array.
//! So an array access finds the node, and an item is in at most one list. Every list is a ring. A ring has no ends
//! that would need special treatment, so a node can be removed without knowing its list.
//!
//! | type | holds |
//! | --- | --- |
//! | [`Links`] | rings of nodes; the owner remembers one node of each ring |
//! | [`Lists`] | a fixed number of lists; each list is a ring of its items and one node that represents the list |
//! | [`List`] | one list |
//!
//! ```text
//!   lists  0   1 |  things  0   1   2   3        list 0: 2 0      list 1: empty
//!          |   ^--- a ring of one                thing 1 and 3 are in no list
//!          +-> thing 2 -> thing 0 -> back to the node of list 0
//! ```
//!
//! Every call is O(1), except the calls that visit all items of a list. A node occupies 8 bytes plus the value that
//! the owner stores with the links of the node.

use alloc::vec::Vec;

use crate::table;

/// The value of `next` in a node that is in no ring.
const UNLINKED: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Node<V> {
    prev: u32,
    next: u32,
    value: V,
}

/// Rings of nodes. Each node has two links and a value, and is in at most one ring.
#[derive(Clone)]
pub struct Links<V> {
    /// Nodes in the order of their numbers, up to the largest number that was used.
    nodes: Vec<Node<V>>,
}

impl<V> Default for Links<V> {
    fn default() -> Self {
        Self { nodes: Vec::new() }
    }
}

impl<V: Copy + Default> Links<V> {
    /// An empty set of rings. Memory is reserved for `expected` nodes, but at most for as many as [`table::prepared`]
    /// allows.
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

    /// The value stored with the links of `node`, or `None` if the node is in no ring.
    #[inline]
    #[must_use]
    pub fn get(&self, node: u32) -> Option<V> {
        let node = self.nodes.get(node as usize)?;
        (node.next != UNLINKED).then_some(node.value)
    }

    /// Makes `node`, which is in no ring, a new ring of one node.
    #[inline]
    pub fn begin(&mut self, node: u32, value: V) {
        self.set(node, node, node, value);
    }

    /// Inserts `node`, which is in no ring, directly before the node `behind`.
    #[inline(always)]
    pub fn insert_before(&mut self, behind: u32, node: u32, value: V) {
        let prev = self.nodes[behind as usize].prev;
        self.insert_between(prev, behind, node, value);
    }

    /// Inserts `node`, which is in no ring, directly after the node `ahead`.
    #[inline(always)]
    pub fn insert_after(&mut self, ahead: u32, node: u32, value: V) {
        let next = self.nodes[ahead as usize].next;
        self.insert_between(ahead, next, node, value);
    }

    /// Removes `node` from its ring and returns its value.
    ///
    /// # Panics
    /// If `node` is in no ring.
    #[inline(always)]
    pub fn remove(&mut self, node: u32) -> V {
        let Node { prev, next, value } = self.nodes[node as usize];
        assert!(next != UNLINKED, "{node} is in no list");
        self.nodes[prev as usize].next = next;
        self.nodes[next as usize].prev = prev;
        self.nodes[node as usize].next = UNLINKED;
        value
    }

    /// Removes `node` from its ring, and inserts it directly after `ahead`, which is another node.
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

    /// The node before `node`, which is in a ring. A node that is alone in its ring precedes itself.
    #[inline]
    #[must_use]
    pub fn prev(&self, node: u32) -> u32 {
        self.nodes[node as usize].prev
    }

    /// The node after `node`, which is in a ring. A node that is alone in its ring follows itself.
    #[inline]
    #[must_use]
    pub fn next(&self, node: u32) -> u32 {
        self.nodes[node as usize].next
    }

    /// The nodes of the ring of `first` with their values, beginning with `first`.
    pub fn ring(&self, first: u32) -> impl Iterator<Item = (u32, V)> + '_ {
        let mut next = Some(first);
        core::iter::from_fn(move || {
            let index = next?;
            let node = &self.nodes[index as usize];
            next = (node.next != first).then_some(node.next);
            Some((index, node.value))
        })
    }

    /// Dissolves the ring of `first`, which has `nodes` nodes, and calls `visit` with each node and its value,
    /// beginning with `first`. Because `nodes` is given, the end of the loop does not depend on the links. So the
    /// processor can execute the following steps while it still fetches a node.
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

/// An item of a list: a key that has a number, and a value that is stored with the links.
pub trait Item: Copy {
    /// Identifies the item.
    type Key: Copy;
    /// The value stored with the links. The removal of an item from a list returns the value.
    type Value: Copy + Default;
    /// The number of `key`.
    fn number(key: Self::Key) -> u32;
    /// The number of this item, and the value to store with the links.
    fn split(self) -> (u32, Self::Value);
    /// The item with this number and this stored value.
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

/// Several lists over the same items. An item is in at most one of the lists.
#[derive(Clone)]
pub struct Lists<I: Item> {
    /// The first nodes represent the lists, one node per list. The nodes of the items follow.
    links: Links<I::Value>,
    lists: u32,
    len: usize,
}

impl<I: Item> Lists<I> {
    /// `lists` empty lists. Memory is reserved for `expected` items, but at most for as many as [`table::prepared`]
    /// allows.
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

    /// The number of items in all lists together.
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

    /// Inserts `item`, which is in no list, directly before the item of `behind`.
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

    /// The item after the item of `key` in its list, or `None` if that item is the last.
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
    /// If the item is in no list.
    #[inline]
    pub fn move_to_front(&mut self, list: u32, key: I::Key) {
        self.links.move_after(list, self.lists + I::number(key));
    }

    /// Moves the item of `key` to the back of `list`.
    ///
    /// # Panics
    /// If the item is in no list.
    #[inline]
    pub fn move_to_back(&mut self, list: u32, key: I::Key) {
        let node = self.lists + I::number(key);
        let last = self.links.prev(list);
        if last != node {
            self.links.move_after(last, node);
        }
    }

    /// Removes the item of `key` from its list and returns it.
    ///
    /// # Panics
    /// If the item is in no list.
    #[inline(always)]
    pub fn remove(&mut self, key: I::Key) -> I {
        let number = I::number(key);
        let value = self.links.remove(self.lists + number);
        self.len -= 1;
        I::join(number, value)
    }

    /// Replaces the item of `key` in its list by `item`, which is in no list.
    ///
    /// # Panics
    /// If the item of `key` is in no list.
    pub fn replace(&mut self, key: I::Key, item: I) {
        self.insert_before(key, item);
        self.remove(key);
    }

    /// The first item of `list`, or `None` if the list is empty.
    #[inline]
    #[must_use]
    pub fn front(&self, list: u32) -> Option<I> {
        self.item(self.head(list).next)
    }

    /// The last item of `list`, or `None` if the list is empty.
    #[inline]
    #[must_use]
    pub fn back(&self, list: u32) -> Option<I> {
        self.item(self.head(list).prev)
    }

    /// Removes and returns the first item of `list`, or returns `None` if the list is empty.
    #[inline]
    pub fn pop_front(&mut self, list: u32) -> Option<I> {
        self.pop(self.head(list).next)
    }

    /// Removes and returns the last item of `list`, or returns `None` if the list is empty.
    #[inline(always)]
    pub fn pop_back(&mut self, list: u32) -> Option<I> {
        self.pop(self.head(list).prev)
    }

    /// The items of `list`, from front to back.
    pub fn iter(&self, list: u32) -> impl Iterator<Item = I> + '_ {
        self.follow(self.head(list).next, |node| node.next)
    }

    /// The items of `list`, from back to front.
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

    /// The item of node `index`, or `None` if that node represents a list.
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
    /// Puts `item` at the front of `list`. If the item is in a list, it is removed from that list first.
    #[inline]
    pub fn bring_to_front(&mut self, list: u32, item: I) {
        let node = self.lists + I::number(item);
        // Most calls are for the item that was used last, which is already at the front.
        if self.head(list).next != node {
            if self.links.is_linked(node) {
                self.remove(item);
            }
            self.push_front(list, item);
        }
    }

    /// Puts `item` at the back of `list`. If the item is in a list, it is removed from that list first.
    #[inline]
    pub fn bring_to_back(&mut self, list: u32, item: I) {
        if self.contains(item) {
            self.remove(item);
        }
        self.push_back(list, item);
    }
}

/// A single list.
#[derive(Clone)]
pub struct List<I: Item>(Lists<I>);

impl<I: Item> List<I> {
    /// An empty list. Memory is reserved for `expected` items, but at most for as many as [`table::prepared`] allows.
    #[must_use]
    pub fn new(expected: u32) -> Self {
        Self(Lists::new(1, expected))
    }

    /// The number of items in the list.
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

    /// Moves the item of `key` to the front of the list.
    ///
    /// # Panics
    /// If the item is not in the list.
    #[inline]
    pub fn move_to_front(&mut self, key: I::Key) {
        self.0.move_to_front(0, key);
    }

    /// Moves the item of `key` to the back of the list.
    ///
    /// # Panics
    /// If the item is not in the list.
    #[inline]
    pub fn move_to_back(&mut self, key: I::Key) {
        self.0.move_to_back(0, key);
    }

    /// Removes the item of `key` from the list and returns it.
    ///
    /// # Panics
    /// If the item is not in the list.
    #[inline]
    pub fn remove(&mut self, key: I::Key) -> I {
        self.0.remove(key)
    }

    /// Replaces the item of `key` in the list by `item`, which is not in the list.
    ///
    /// # Panics
    /// If the item of `key` is not in the list.
    pub fn replace(&mut self, key: I::Key, item: I) {
        self.0.replace(key, item);
    }

    /// The first item, or `None` if the list is empty.
    #[must_use]
    pub fn front(&self) -> Option<I> {
        self.0.front(0)
    }

    /// The last item, or `None` if the list is empty.
    #[must_use]
    pub fn back(&self) -> Option<I> {
        self.0.back(0)
    }

    /// Removes and returns the first item, or returns `None` if the list is empty.
    #[inline]
    pub fn pop_front(&mut self) -> Option<I> {
        self.0.pop_front(0)
    }

    /// Removes and returns the last item, or returns `None` if the list is empty.
    #[inline]
    pub fn pop_back(&mut self) -> Option<I> {
        self.0.pop_back(0)
    }

    /// The items, from front to back.
    pub fn iter(&self) -> impl Iterator<Item = I> + '_ {
        self.0.iter(0)
    }

    /// The items, from back to front.
    pub fn iter_back(&self) -> impl Iterator<Item = I> + '_ {
        self.0.iter_back(0)
    }
}

#[cfg(test)]
mod tests;
