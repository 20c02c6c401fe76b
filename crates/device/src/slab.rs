//! A table of values that are identified by small numbers. The number of a removed value is reused.

use alloc::vec::Vec;
use core::ops::{Index, IndexMut};

/// A vector with free places. A freed place is used again for a later value. The old value remains in a free place,
/// so its memory can be reused.
pub struct Slab<T> {
    places: Vec<(bool, T)>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self {
            places: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<T> Slab<T> {
    /// Number of places in use.
    #[inline]
    pub fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Whether no place is in use.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Stores a value made by `make` in a free place, and returns the place. The value is constructed in the place,
    /// so that it need not be moved. `make` must have no side effects: it is called twice if no place is free.
    #[inline(always)]
    pub fn insert(&mut self, make: impl Fn() -> T) -> u32 {
        if self.free.is_empty() {
            self.free.push(self.places.len() as u32);
            self.places.push((false, make()));
        }
        match self.free.pop() {
            Some(id) => {
                self.places[id as usize] = (true, make());
                id
            }
            None => unreachable!("a place was made"),
        }
    }

    /// The value in place `id`; in a free place, the old value. `None` if there is no such place.
    pub fn get(&self, id: u32) -> Option<&T> {
        self.places.get(id as usize).map(|(_, value)| value)
    }

    /// The value in place `id`, for changes; in a free place, the old value. `None` if there is no such place.
    #[inline]
    pub fn get_mut(&mut self, id: u32) -> Option<&mut T> {
        self.places.get_mut(id as usize).map(|(_, value)| value)
    }

    /// Frees place `id`. The old value remains there until the place is used again.
    #[inline]
    pub fn free(&mut self, id: u32) {
        self.places[id as usize].0 = false;
        self.free.push(id);
    }

    /// Frees place `id` and returns the old value, which remains there until the place is used again. `None` if the
    /// place is not in use.
    #[inline]
    pub fn remove(&mut self, id: u32) -> Option<&T> {
        let (used, value) = self.places.get_mut(id as usize)?;
        if !core::mem::take(used) {
            return None;
        }
        self.free.push(id);
        Some(value)
    }

    /// The values in use, in the order of their places.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.places
            .iter()
            .filter(|(used, _)| *used)
            .map(|(_, value)| value)
    }

    /// The values in use, for changes, in the order of their places.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.places
            .iter_mut()
            .filter(|(used, _)| *used)
            .map(|(_, value)| value)
    }
}

impl<T: Default> Slab<T> {
    /// Chooses a free place, resets the old value in this place with `prepare`, and returns the place.
    #[inline]
    pub fn insert_reused(&mut self, prepare: impl FnOnce(&mut T)) -> u32 {
        let id = match self.free.pop() {
            Some(id) => {
                self.places[id as usize].0 = true;
                id
            }
            None => {
                self.places.push((true, T::default()));
                self.places.len() as u32 - 1
            }
        };
        prepare(&mut self.places[id as usize].1);
        id
    }
}

impl<T> Index<u32> for Slab<T> {
    type Output = T;
    #[inline]
    fn index(&self, id: u32) -> &T {
        &self.places[id as usize].1
    }
}

impl<T> IndexMut<u32> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, id: u32) -> &mut T {
        &mut self.places[id as usize].1
    }
}
