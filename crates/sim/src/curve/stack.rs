//! The contents of LRU buffers of all sizes at once.
//!
//! Pages stand in the order of their last write, and the buffer of `n` pages holds the pages among the first `n` places. A page that leaves from the
//! middle (a trim, a forced write) leaves a *hole*: a free slot in every buffer that is large enough to have held the page. The next page that enters
//! pushes the others down as far as the first hole and fills it: buffers below that
//! hole are full and evict, all others have room. (The stack of Mattson and others, IBM Systems Journal 1970; deletions as of
//! Thompson and Smith, ACM TOCS 1989.)

use std::collections::BinaryHeap;

use destage_base::Lpn;
use destage_buffer::page_map::PageMap;

use super::marks::Marks;

/// In the place of a page.
const HOLE: u32 = u32::MAX;
/// Fewest places that are numbered before all are numbered again.
const LEAST: usize = 1 << 12;

/// What a write found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Written {
    /// The smallest buffer that held the page.
    pub(super) hit: Option<u32>,
    /// The smallest buffer that had room: smaller ones evict a page.
    pub(super) room: u32,
}

/// Pages and holes by depth: 1 is the page written last.
pub(super) struct Stack {
    /// The place of each page, later ones above.
    places: PageMap<u32>,
    free: Vec<u32>,
    /// By place: which slot of the map is there, or a hole.
    owners: Vec<u32>,
    /// Places that are taken, by a page or a hole.
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

    /// The smallest buffer that holds `page`.
    #[inline]
    pub(super) fn depth(&self, page: Lpn) -> Option<u32> {
        let slot = self.places.get(page)?;
        Some(self.taken.from(self.places.stamp(slot) as usize))
    }

    /// `page` is written.
    #[inline]
    pub(super) fn write(&mut self, page: Lpn) -> Written {
        if self.next == self.owners.len() {
            self.number_anew();
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
            // All buffers that held the page have a free slot.
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

    /// `page` leaves every buffer that holds it; the argument is the smallest of these.
    pub(super) fn remove(&mut self, page: Lpn) -> Option<u32> {
        let slot = self.places.remove(page)?;
        let place = self.places.stamp(slot);
        self.free.push(slot);
        self.owners[place as usize] = HOLE;
        self.holes.push(place);
        Some(self.taken.from(place as usize))
    }

    /// The smallest buffer that holds each page, in descending order.
    pub(super) fn depths(&self) -> impl Iterator<Item = u32> {
        let places = self.taken.iter().enumerate();
        let pages = places.filter(|(_, place)| self.owners[*place] != HOLE);
        pages.map(|(before, _)| self.taken.total() - before as u32)
    }

    /// Every page leaves.
    pub(super) fn clear(&mut self) {
        *self = Self::new();
    }

    /// Closes up places that are not taken, and holes that no page is below.
    #[cold]
    fn number_anew(&mut self) {
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
