//! Blocks in the order of their last use, each found by how many were used since.
//!
//! Each use takes the next slot of a line of slots, and a Fenwick tree counts the slots in use. When the line is full
//! it is closed up, so it is never more than twice as long as there are blocks.

/// What is used, most recent first.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    /// The item of each slot, oldest first.
    slots: Vec<Option<u32>>,
    /// Partial sums over the slots in use; the first is never used.
    sums: Vec<u32>,
    /// The slot of each item.
    slot_of: Vec<u32>,
}

/// An item that was never used.
const NOWHERE: u32 = u32::MAX;
const LEAST_SLOTS: usize = 64;

impl Order {
    /// How many items there are.
    pub(super) fn len(&self) -> usize {
        self.slot_of.len()
    }

    /// Uses `item`; a new one is the number of items so far.
    pub(super) fn touch(&mut self, item: u32) {
        if self.slots.len() + 1 >= self.sums.len() {
            self.close_up();
        }
        let slot = self.slots.len();
        self.slots.push(Some(item));
        let index = item as usize;
        if index == self.slot_of.len() {
            self.slot_of.push(NOWHERE);
        }
        let before = std::mem::replace(&mut self.slot_of[index], slot as u32);
        if before != NOWHERE {
            self.slots[before as usize] = None;
            self.add(before as usize, u32::MAX);
        }
        self.add(slot, 1);
    }

    /// How many others were used since `item` was.
    pub(super) fn depth(&self, item: u32) -> usize {
        let (mut index, mut older) = (self.slot_of[item as usize] as usize + 1, 0);
        while index > 0 {
            older += self.sums[index] as usize;
            index &= index - 1;
        }
        self.len() - older
    }

    /// The item that so many others were used since; `depth` must be below the number of items.
    pub(super) fn at(&self, depth: usize) -> u32 {
        let mut left = (self.len() - depth) as u32;
        let (mut index, mut step) = (0, self.sums.len().next_power_of_two() / 2);
        while step > 0 {
            if let Some(sum) = self.sums.get(index + step)
                && *sum < left
            {
                index += step;
                left -= sum;
            }
            step /= 2;
        }
        self.slots[index].unwrap_or(0)
    }

    fn add(&mut self, slot: usize, amount: u32) {
        let mut index = slot + 1;
        while let Some(sum) = self.sums.get_mut(index) {
            *sum = sum.wrapping_add(amount);
            index += index & index.wrapping_neg();
        }
    }

    /// Takes the unused slots out, and leaves room for as many uses as there are items.
    fn close_up(&mut self) {
        self.slots.retain(Option::is_some);
        let room = (self.slots.len() * 2).max(LEAST_SLOTS);
        self.sums.clear();
        self.sums.resize(room + 2, 0);
        for slot in 0..self.slots.len() {
            if let Some(item) = self.slots[slot] {
                self.slot_of[item as usize] = slot as u32;
            }
            self.add(slot, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use destage_base::Random;

    #[test]
    fn it_is_a_list_with_the_last_used_in_front() {
        let (mut order, mut list) = (Order::default(), Vec::new());
        let mut random = Random::new(5);
        for _ in 0..3000 {
            let item = random.below(list.len() as u64 + 1) as usize;
            let item = if random.below(9) > 0 && item < list.len() {
                list[item]
            } else {
                list.len() as u32
            };
            order.touch(item);
            list.retain(|other| *other != item);
            list.insert(0, item);
            let depth = random.below(list.len() as u64) as usize;
            assert_eq!(order.at(depth), list[depth]);
            assert_eq!(order.depth(list[depth]), depth);
            assert_eq!(order.len(), list.len());
        }
    }
}
