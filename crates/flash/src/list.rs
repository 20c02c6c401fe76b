//! An order over small numbers in which any of them can be taken out at once.

use alloc::vec::Vec;

const NONE: u32 = u32::MAX;

/// A doubly linked list of numbers below a bound, each at most once.
#[derive(Clone)]
pub struct List {
    /// Before and after each number; of a number that is not in the list, itself before.
    links: Vec<(u32, u32)>,
    front: u32,
    back: u32,
}

impl List {
    /// An empty list for numbers below `bound`.
    pub fn new(bound: u32) -> Self {
        Self {
            links: (0..bound).map(|number| (number, NONE)).collect(),
            front: NONE,
            back: NONE,
        }
    }

    /// Puts `number`, which is not in the list, at its end.
    pub fn push_back(&mut self, number: u32) {
        debug_assert!(!self.contains(number), "{number} is in the list");
        self.links[number as usize] = (self.back, NONE);
        match self.back {
            NONE => self.front = number,
            back => self.links[back as usize].1 = number,
        }
        self.back = number;
    }

    /// Takes `number`, which is in the list, out of it.
    pub fn remove(&mut self, number: u32) {
        debug_assert!(self.contains(number), "{number} is not in the list");
        let (before, after) = self.links[number as usize];
        match before {
            NONE => self.front = after,
            before => self.links[before as usize].1 = after,
        }
        match after {
            NONE => self.back = before,
            after => self.links[after as usize].0 = before,
        }
        self.links[number as usize] = (number, NONE);
    }

    /// Moves `number`, which is in the list, to its end.
    pub fn move_to_back(&mut self, number: u32) {
        if self.back != number {
            self.remove(number);
            self.push_back(number);
        }
    }

    /// Whether `number` is in the list.
    pub fn contains(&self, number: u32) -> bool {
        self.links[number as usize].0 != number
    }

    /// The first number.
    pub fn front(&self) -> Option<u32> {
        (self.front != NONE).then_some(self.front)
    }

    /// All numbers from the front on.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        core::iter::successors(self.front(), |number| {
            let after = self.links[*number as usize].1;
            (after != NONE).then_some(after)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn agrees_with_a_vector() {
        let mut random = destage_base::Random::new(4);
        let mut list = List::new(20);
        let mut model: Vec<u32> = vec![];
        for _ in 0..5_000 {
            let number = random.below(20) as u32;
            assert_eq!(list.contains(number), model.contains(&number));
            if !list.contains(number) {
                list.push_back(number);
                model.push(number);
            } else {
                model.retain(|other| *other != number);
                if random.below(2) == 0 {
                    list.remove(number);
                } else {
                    list.move_to_back(number);
                    model.push(number);
                }
            }
            assert_eq!(list.iter().collect::<Vec<_>>(), model);
            assert_eq!(list.front(), model.first().copied());
        }
    }
}
