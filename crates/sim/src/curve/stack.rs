//! The contents of LRU buffers of all sizes at once.
//!
//! Pages are ordered by their last write. The page written last has depth 1, and a buffer of `n` pages holds the
//! pages of depths 1 to `n`. If a page is removed from the middle (by a trim or a forced write), a *hole* remains at
//! its depth: a free slot in every buffer that is large enough to have held the page. The next page that enters moves
//! the other pages down as far as the first hole, and thus fills this hole. So a buffer that ends before the hole is
//! full and evicts a page. All larger buffers have room. (The stack is that of Mattson and others, IBM Systems
//! Journal 1970; deletions are as in Thompson and Smith, ACM TOCS 1989.)

use std::collections::BinaryHeap;

use destage_base::Lpn;
use destage_buffer::page_map::PageMap;

use super::marks::Marks;

/// The owner of a place that is a hole.
const HOLE: u32 = u32::MAX;
/// Minimum number of places. When no place is left, pages and holes get new places.
const LEAST: usize = 1 << 12;

/// The state that a write found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Written {
    /// The size of the smallest buffer that held the page, in pages; `None` if no buffer held it.
    pub(super) hit: Option<u32>,
    /// The size of the smallest buffer that had room, in pages. All smaller buffers evict a page.
    pub(super) room: u32,
}

/// Pages and holes by depth: depth 1 is the page written last.
pub(super) struct Stack {
    /// The place of each page; the page written last has the highest place.
    places: PageMap<u32>,
    free: Vec<u32>,
    /// For each place: the slot of its page in the map, or [`HOLE`].
    owners: Vec<u32>,
    /// Places that are occupied by a page or a hole.
    taken: Marks,
    holes: BinaryHeap<u32>,
    next: usize,
}

impl Stack {
    pub(super) fn new() -> Self {
        Self {
            places: PageMap::with_capacity(LEAST),
            free: Vec::new(),
            owners: vec![HOLE; LEAST],
            taken: Marks::new(LEAST),
            holes: BinaryHeap::new(),
            next: 0,
        }
    }

    /// The size of the smallest buffer that holds `page`, in pages; `None` if no buffer holds it.
    #[inline]
    pub(super) fn depth(&self, page: Lpn) -> Option<u32> {
        let slot = self.places.get(page)?;
        Some(self.taken.from(self.places.stamp(slot) as usize))
    }

    /// Writes `page`.
    #[inline]
    pub(super) fn write(&mut self, page: Lpn) -> Written {
        if self.next == self.owners.len() {
            self.renumber();
        }
        let top = self.next;
        self.next += 1;
        let (position, held) = self.places.locate(page);
        let met = held.map(|slot| {
            let place = self.places.stamp(slot);
            (place, self.taken.from(place as usize))
        });
        let hole = self.holes.peek().copied();
        let room = match (met, hole) {
            (met, Some(hole)) if met.is_none_or(|(place, _)| hole > place) => {
                let depth = self.taken.from(hole as usize);
                self.holes.pop();
                self.taken.clear(hole as usize);
                if let Some((place, _)) = met {
                    self.owners[place as usize] = HOLE;
                    self.holes.push(place);
                }
                depth
            }
            // All buffers that held the page now have a free slot.
            (Some((place, depth)), _) => {
                self.taken.clear(place as usize);
                depth
            }
            (None, _) => self.taken.total() + 1,
        };
        let slot = match held {
            Some(slot) => slot,
            None => {
                let fresh = self.places.len() as u32;
                self.free.pop().unwrap_or(fresh)
            }
        };
        match held {
            Some(slot) => self.places.set_stamp(slot, top as u32),
            None => self.places.set_at(position, page, slot, top as u32),
        }
        self.owners[top] = slot;
        self.taken.set(top);
        let hit = met.map(|(_, depth)| depth);
        Written { hit, room }
    }

    /// Removes `page` from every buffer that holds it. Returns the size of the smallest of these buffers, in pages;
    /// `None` if no buffer holds the page.
    pub(super) fn remove(&mut self, page: Lpn) -> Option<u32> {
        let slot = self.places.remove(page)?;
        let place = self.places.stamp(slot);
        self.free.push(slot);
        self.owners[place as usize] = HOLE;
        self.holes.push(place);
        Some(self.taken.from(place as usize))
    }

    /// For each page: the size of the smallest buffer that holds it. The sizes descend.
    pub(super) fn depths(&self) -> impl Iterator<Item = u32> {
        let places = self.taken.iter().enumerate();
        let pages = places.filter(|(_, place)| self.owners[*place] != HOLE);
        pages.map(|(before, _)| self.taken.total() - before as u32)
    }

    /// Removes every page.
    pub(super) fn clear(&mut self) {
        *self = Self::new();
    }

    /// Gives pages and holes new places without gaps between them. Drops the holes that are deeper than every page.
    #[cold]
    fn renumber(&mut self) {
        let taken: Vec<usize> = self.taken.iter().collect();
        let pages = taken.into_iter();
        let kept: Vec<u32> = pages
            .map(|place| self.owners[place])
            .skip_while(|owner| *owner == HOLE)
            .collect();
        let places = (kept.len() * 2).max(LEAST);
        self.owners = vec![HOLE; places];
        self.taken = Marks::new(places);
        self.holes.clear();
        self.next = kept.len();
        for (place, owner) in kept.into_iter().enumerate() {
            self.owners[place] = owner;
            self.taken.set(place);
            match owner {
                HOLE => self.holes.push(place as u32),
                slot => self.places.set_stamp(slot, place as u32),
            }
        }
    }
}
