//! A table of values that only few pages have.

use alloc::vec::Vec;

use destage_base::Lpn;
use destage_buffer::page_map::PageMap;

/// Values by page. When a place becomes free, its value is not cleared, so that the next page in this place can reuse
/// the memory.
#[derive(Clone)]
pub(super) struct PageTable<T> {
    places: PageMap<()>,
    things: Vec<T>,
    free: Vec<u32>,
}

impl<T: Default> PageTable<T> {
    pub fn new() -> Self {
        Self {
            places: PageMap::with_capacity(0),
            things: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Number of pages that have a value.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// The value of `page`.
    #[inline]
    pub fn get(&self, page: Lpn) -> Option<&T> {
        let place = self.places.get(page)?;
        Some(&self.things[place as usize])
    }

    /// The value of `page`, for changes.
    #[inline]
    pub fn get_mut(&mut self, page: Lpn) -> Option<&mut T> {
        let place = self.places.get(page)?;
        Some(&mut self.things[place as usize])
    }

    /// The value of `page`, for changes. A page without a value gets a free place, which still has the value of an
    /// earlier page.
    pub fn place(&mut self, page: Lpn) -> &mut T {
        let (position, place) = self.places.locate(page);
        let place = place.unwrap_or_else(|| {
            let place = self.free.pop().unwrap_or_else(|| {
                if self.things.len() == self.things.capacity() {
                    // Doubling the capacity would waste memory, because the table can be as large as a buffer.
                    self.things.reserve_exact(self.things.len() / 8 + 8);
                }
                self.things.push(T::default());
                self.things.len() as u32 - 1
            });
            self.places.set_at(position, page, place, ());
            place
        });
        &mut self.things[place as usize]
    }

    /// Removes the value of `page` from the table. The caller may use the returned value, and may leave it in its
    /// place.
    pub fn vacate(&mut self, page: Lpn) -> Option<&mut T> {
        let place = self.places.remove(page)?;
        self.free.push(place);
        Some(&mut self.things[place as usize])
    }

    /// All pages that have a value, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (Lpn, &T)> {
        let things = (0..).zip(&self.things);
        things.filter_map(|(place, thing)| {
            let page = self.places.page_of(place)?;
            (self.places.get(page) == Some(place)).then_some((page, thing))
        })
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;

    use destage_base::Random;

    use super::*;

    #[test]
    fn it_holds_what_a_sorted_map_would() {
        let mut random = Random::new(5);
        let mut table = PageTable::<Option<u64>>::new();
        let mut model = BTreeMap::new();
        for number in 0..20_000 {
            let page = Lpn(random.below(300));
            if random.below(2) == 0 {
                *table.place(page) = Some(number);
                model.insert(page, number);
            } else {
                let had = table.vacate(page).and_then(Option::take);
                assert_eq!(had, model.remove(&page));
            }
            assert_eq!(table.len(), model.len());
            assert_eq!(
                table.get(page).copied().flatten(),
                model.get(&page).copied()
            );
        }
        let mut all: Vec<_> = table
            .iter()
            .filter_map(|(page, held)| Some((page, (*held)?)))
            .collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(model));
        assert!(table.things.len() <= 300);
    }
}
