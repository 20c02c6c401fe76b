//! A first-in, first-out queue that is mostly empty or short. Its newest entry can be read and removed as well.
//!
//! The entries are the end of a vector. Removed entries stay at the front of the vector for a while, so that no index
//! has to wrap round.

/// A queue of `T`; see the [module](self).
pub(crate) struct Queue<T> {
    /// The entries before `first` were removed already. Once all entries are removed, the vector is cleared.
    items: Vec<T>,
    first: usize,
}

/// Up to this number of removed entries may stay in the vector, however short the queue is.
const PAST: usize = 1024;

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            first: 0,
        }
    }
}

impl<T: Copy> Queue<T> {
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    #[inline(always)]
    pub fn push(&mut self, item: T) {
        self.items.push(item);
    }

    /// The oldest entry.
    #[inline(always)]
    pub fn first(&self) -> Option<&T> {
        self.items.get(self.first)
    }

    /// The newest entry.
    #[inline(always)]
    pub fn last(&self) -> Option<&T> {
        self.items.last()
    }

    /// The only entry; `None` if there are none or several.
    #[inline(always)]
    pub fn only(&self) -> Option<T> {
        match self.items.len() == self.first + 1 {
            true => self.items.last().copied(),
            false => None,
        }
    }

    /// Removes and returns the oldest entry.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<T> {
        let item = *self.first()?;
        self.first += 1;
        self.forget();
        Some(item)
    }

    /// Removes and returns the newest entry.
    #[inline(always)]
    pub fn pop_last(&mut self) -> Option<T> {
        let item = self.items.pop()?;
        self.forget();
        Some(item)
    }

    /// Removes and returns the oldest entry for which `wanted` holds.
    pub fn take(&mut self, wanted: impl FnMut(&T) -> bool) -> Option<T> {
        let offset = self.items[self.first..].iter().position(wanted)?;
        let place = self.first + offset;
        let item = self.items[place];
        // Either the entries before the gap or the entries behind it are moved, whichever are fewer.
        if offset < self.items.len() - place {
            self.items.copy_within(self.first..place, self.first + 1);
            self.first += 1;
        } else {
            self.items.remove(place);
        }
        self.forget();
        Some(item)
    }

    #[inline(always)]
    pub fn clear(&mut self) {
        self.items.clear();
        self.first = 0;
    }

    /// Frees the space of removed entries, if there are many.
    #[inline(always)]
    fn forget(&mut self) {
        if self.first == self.items.len() {
            self.clear();
        } else if self.first > PAST {
            self.forget_most();
        }
    }

    #[cold]
    fn forget_most(&mut self) {
        if 2 * self.first >= self.items.len() {
            self.items.drain(..self.first);
            self.first = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    #[test]
    fn it_is_a_queue_however_long_it_is_never_empty() {
        let mut random = destage_base::Random::new(5);
        let (mut queue, mut model) = (Queue::default(), VecDeque::new());
        for number in 0..60_000 {
            let grows = number / 6000 % 2 == 0;
            match random.below(20) {
                0 => assert_eq!(queue.pop_last(), model.pop_back()),
                1 => {
                    let wanted = |item: &i32| item % 7 == number % 7;
                    let place = model.iter().position(wanted);
                    let expected = place.and_then(|place| model.remove(place));
                    assert_eq!(queue.take(wanted), expected);
                }
                chance if chance < if grows { 14 } else { 6 } => {
                    queue.push(number);
                    model.push_back(number);
                }
                _ => assert_eq!(queue.pop(), model.pop_front()),
            }
            assert_eq!(queue.is_empty(), model.is_empty());
            assert_eq!((queue.first(), queue.last()), (model.front(), model.back()));
            let only = (model.len() == 1).then(|| model[0]);
            assert_eq!(queue.only(), only);
            assert!(queue.items.len() <= 2 * model.len() + PAST + 1);
        }
        queue.clear();
        assert_eq!(queue.pop(), None);
    }
}
