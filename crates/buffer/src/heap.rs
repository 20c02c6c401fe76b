//! Heaps over slots. They order slots by a key, such as a frequency, for which a list is not sufficient.
//!
//! As in [`order`](crate::order), an array access finds the node of a slot, and a slot is in at most one heap. Each
//! node has four children. Such a heap has half as many levels as a binary heap, and the children of a node are
//! adjacent in memory.

use alloc::vec::Vec;

use destage_base::table;

use crate::destage::Slot;

/// The number of children of a node.
const ARITY: usize = 4;
/// The position of a slot that is in no heap.
const ABSENT: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Node<K> {
    key: K,
    slot: u32,
}

/// Several heaps over the same slots. The smallest key of each heap comes first. The order of equal keys is
/// undefined. A caller whose keys can be equal adds a tie-breaker to the keys.
pub struct SlotHeaps<K> {
    heaps: Vec<Vec<Node<K>>>,
    /// The position of each slot in its heap. Slots above the highest slot used have no entry.
    positions: Vec<u32>,
}

impl<K: Copy + Ord> SlotHeaps<K> {
    /// Makes `heaps` empty heaps.
    #[must_use]
    pub fn new(heaps: u32) -> Self {
        Self {
            heaps: (0..heaps).map(|_| Vec::new()).collect(),
            positions: Vec::new(),
        }
    }

    /// Puts `slot`, which must be in no heap, into `heap`.
    pub fn push(&mut self, heap: u32, slot: Slot, key: K) {
        let Slot(slot) = slot;
        let held = *table::at(&mut self.positions, slot as usize, ABSENT);
        debug_assert!(held == ABSENT, "slot {slot} is already in a heap");
        let nodes = &mut self.heaps[heap as usize];
        let position = nodes.len();
        nodes.push(Node { key, slot });
        rise(nodes, &mut self.positions, position, Node { key, slot });
    }

    /// Gives `slot`, which must be in `heap`, a new key.
    pub fn change(&mut self, heap: u32, slot: Slot, key: K) {
        let position = self.position(slot);
        let nodes = &mut self.heaps[heap as usize];
        settle(
            nodes,
            &mut self.positions,
            position,
            Node { key, slot: slot.0 },
        );
    }

    /// Removes `slot` from `heap`.
    ///
    /// # Panics
    /// If the slot is in no heap.
    pub fn remove(&mut self, heap: u32, slot: Slot) {
        let position = self.position(slot);
        let nodes = &mut self.heaps[heap as usize];
        debug_assert!(
            nodes[position].slot == slot.0,
            "slot {} is in another heap",
            slot.0
        );
        self.positions[slot.0 as usize] = ABSENT;
        if let Some(last) = nodes.pop()
            && position < nodes.len()
        {
            settle(nodes, &mut self.positions, position, last);
        }
    }

    /// All slots in `heap` with their keys, in ascending order of keys.
    #[must_use]
    pub fn sorted(&self, heap: u32) -> Vec<(K, Slot)> {
        let nodes = self.heaps[heap as usize].iter();
        let mut sorted: Vec<_> = nodes.map(|node| (node.key, Slot(node.slot))).collect();
        sorted.sort_unstable();
        sorted
    }

    /// Removes the slot with the smallest key of `heap` and returns it; `None` if the heap is empty.
    pub fn pop(&mut self, heap: u32) -> Option<Slot> {
        let slot = Slot(self.heaps[heap as usize].first()?.slot);
        self.remove(heap, slot);
        Some(slot)
    }

    fn position(&self, slot: Slot) -> usize {
        let position = self.positions[slot.0 as usize];
        assert!(position != ABSENT, "slot {} is in no heap", slot.0);
        position as usize
    }
}

/// Puts `node` at the position that its key requires. The search begins at `position`. The node there is overwritten.
fn settle<K: Copy + Ord>(
    nodes: &mut [Node<K>],
    positions: &mut [u32],
    position: usize,
    node: Node<K>,
) {
    if position > 0 && node.key < nodes[(position - 1) / ARITY].key {
        rise(nodes, positions, position, node);
    } else {
        sink(nodes, positions, position, node);
    }
}

fn rise<K: Copy + Ord>(
    nodes: &mut [Node<K>],
    positions: &mut [u32],
    mut position: usize,
    node: Node<K>,
) {
    while position > 0 {
        let parent = (position - 1) / ARITY;
        if nodes[parent].key <= node.key {
            break;
        }
        put(nodes, positions, position, nodes[parent]);
        position = parent;
    }
    put(nodes, positions, position, node);
}

fn sink<K: Copy + Ord>(
    nodes: &mut [Node<K>],
    positions: &mut [u32],
    mut position: usize,
    node: Node<K>,
) {
    loop {
        let first = position * ARITY + 1;
        let children = first..(first + ARITY).min(nodes.len());
        let Some(least) = children.min_by_key(|child| nodes[*child].key) else {
            break;
        };
        if node.key <= nodes[least].key {
            break;
        }
        put(nodes, positions, position, nodes[least]);
        position = least;
    }
    put(nodes, positions, position, node);
}

#[inline]
fn put<K>(nodes: &mut [Node<K>], positions: &mut [u32], position: usize, node: Node<K>) {
    positions[node.slot as usize] = position as u32;
    nodes[position] = node;
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use destage_base::Random;

    use super::*;

    #[test]
    fn agrees_with_a_search_for_the_smallest() {
        let mut random = Random::new(5);
        let mut heaps = SlotHeaps::new(2);
        // By slot: the heap of the slot, and its key.
        let mut model: Vec<Option<(u32, (u64, u64))>> = vec![None; 200];
        for step in 0..200_000 {
            let index = random.below(200) as usize;
            let slot = Slot(index as u32);
            let key = (random.below(50), step);
            let heap = random.below(2) as u32;
            match (random.below(4), model[index]) {
                (0, _) => {
                    let held =
                        (0..200).filter(|slot| model[*slot].is_some_and(|held| held.0 == heap));
                    let first = held.min_by_key(|slot| model[*slot].map(|held| held.1));
                    assert_eq!(heaps.pop(heap), first.map(|slot| Slot(slot as u32)));
                    first.into_iter().for_each(|slot| model[slot] = None);
                }
                (_, None) => {
                    heaps.push(heap, slot, key);
                    model[index] = Some((heap, key));
                }
                (1, Some((home, _))) => {
                    heaps.remove(home, slot);
                    model[index] = None;
                }
                (_, Some((home, _))) => {
                    heaps.change(home, slot, key);
                    model[index] = Some((home, key));
                }
            }
            if step % 1000 == 0 {
                let slots = model.iter().zip(0..).filter_map(|(held, slot)| {
                    let (home, key) = (*held)?;
                    (home == heap).then_some((key, Slot(slot)))
                });
                let mut expected: Vec<_> = slots.collect();
                expected.sort();
                assert_eq!(heaps.sorted(heap), expected);
            }
        }
    }
}
