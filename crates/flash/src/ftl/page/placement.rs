//! Pages that go to the element with least to do, and where each of them is.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use destage_base::lazy::{Initial, LazyTable};

use super::shape::NONE;

/// Element of each page at the start: striped on a filled device.
struct Striped {
    elements: u32,
    filled: bool,
}

impl Initial for Striped {
    type Entry = u32;
    fn at(&self, page: usize) -> u32 {
        if self.filled {
            page as u32 % self.elements
        } else {
            NONE
        }
    }
}

/// Writes of a page that wait at an element.
struct Waiting {
    element: u32,
    writes: u32,
    /// The page is counted there on their behalf.
    counted: bool,
}

/// Where pages are, and where they go. Writes of one page wait at one element, so that they keep their order.
pub(super) struct Placement {
    home: LazyTable<Striped>,
    waiting: BTreeMap<u32, Waiting>,
    /// Pages on each element, or on their way there.
    pages: Vec<u32>,
    /// Pages an element takes at most, so that it can always be cleaned.
    limit: u32,
    /// Where the search for the next element begins.
    next: u32,
}

impl Placement {
    /// `elements` elements of which each is offered `offered` pages and takes at most `limit`.
    pub fn new(elements: u32, offered: u32, limit: u32, filled: bool) -> Self {
        Self {
            home: LazyTable::new(
                offered as usize * elements as usize,
                Striped { elements, filled },
            ),
            waiting: BTreeMap::new(),
            pages: vec![if filled { offered } else { 0 }; elements as usize],
            limit: limit.max(offered),
            next: 0,
        }
    }

    /// The element with the present copy of `page`.
    pub fn home(&self, page: u32) -> Option<u32> {
        let home = self.home.get(page as usize);
        (home != NONE).then_some(home)
    }

    /// The element whose queue an operation on `page` joins.
    pub fn element_of(&self, page: u32) -> u32 {
        match self.waiting.get(&page) {
            Some(waiting) => waiting.element,
            None => self.home(page).unwrap_or(page % self.pages.len() as u32),
        }
    }

    /// Chooses the element of a write of `page`: with the smallest `load` of those that take it; of equals
    /// the next in turn.
    pub fn place(&mut self, page: u32, load: &dyn Fn(u32) -> u32) -> u32 {
        if let Some(waiting) = self.waiting.get_mut(&page) {
            waiting.writes += 1;
            return waiting.element;
        }
        let home = self.home(page);
        let elements = self.pages.len() as u32;
        let element = (0..elements)
            .map(|step| (self.next + step) % elements)
            .filter(|element| home == Some(*element) || self.pages[*element as usize] < self.limit)
            .min_by_key(|element| load(*element))
            .unwrap_or(self.next);
        self.next = (element + 1) % elements;
        let counted = home != Some(element);
        self.pages[element as usize] += u32::from(counted);
        self.waiting.insert(
            page,
            Waiting {
                element,
                writes: 1,
                counted,
            },
        );
        element
    }

    /// A write of `page` is served: its element, and the element that now has an old copy.
    pub fn arrive(&mut self, page: u32) -> (u32, Option<u32>) {
        if !self.waiting.contains_key(&page) {
            self.place(page, &|_| 0);
        }
        let old = self.home(page);
        let Some(waiting) = self.waiting.get_mut(&page) else {
            return (self.element_of(page), None);
        };
        let element = waiting.element;
        waiting.writes -= 1;
        waiting.counted = false;
        if waiting.writes == 0 {
            self.waiting.remove(&page);
        }
        *self.home.get_mut(page as usize) = element;
        let left = old.filter(|old| *old != element);
        if let Some(left) = left {
            self.pages[left as usize] -= 1;
        }
        (element, left)
    }

    /// `page` has no contents any more.
    pub fn forget(&mut self, page: u32) {
        let Some(home) = self.home(page) else { return };
        *self.home.get_mut(page as usize) = NONE;
        match self.waiting.get_mut(&page) {
            // It comes back here: it stays counted.
            Some(waiting) if waiting.element == home => waiting.counted = true,
            _ => self.pages[home as usize] -= 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_goes_where_least_waits_and_its_writes_stay_together() {
        let mut placement = Placement::new(3, 4, 6, true);
        let load = |element: u32| [5, 2, 9][element as usize];
        assert_eq!(placement.place(0, &load), 1);
        // The second write waits behind the first, however busy that element is by then.
        assert_eq!(placement.place(0, &|element| 10 - element), 1);
        assert_eq!((placement.element_of(0), placement.home(0)), (1, Some(0)));
        assert_eq!(placement.arrive(0), (1, Some(0)));
        assert_eq!(placement.arrive(0), (1, None));
        assert_eq!(placement.pages, [3, 5, 4]);
        // Element 1 takes one page more, and then no other.
        assert_eq!(placement.place(3, &load), 1);
        assert_eq!(placement.place(6, &load), 0);
        assert_eq!(placement.place(1, &load), 1);
    }

    #[test]
    fn counts_follow_pages_through_trims() {
        let mut placement = Placement::new(2, 2, 3, true);
        assert_eq!(placement.place(0, &|_| 0), 0);
        placement.forget(0);
        assert_eq!(placement.arrive(0), (0, None));
        assert_eq!(placement.pages, [2, 2]);
        placement.forget(1);
        assert_eq!(placement.pages, [2, 1]);
        placement.forget(1);
        assert_eq!(placement.pages, [2, 1]);
    }
}
