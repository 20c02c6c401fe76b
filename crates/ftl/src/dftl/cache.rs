//! The mappings that are in RAM: which pages have one, which have changed, and which is evicted next.

use alloc::vec;
use alloc::vec::Vec;

use destage_base::archived;
use destage_base::lazy::{LazyTable, Same};
use destage_base::list::List;

const NONE: u32 = u32::MAX;

/// A mapping in RAM.
#[derive(Clone, Copy, Debug)]
struct Entry {
    page: u32,
    dirty: bool,
    protected: bool,
    /// The neighbours in the list of changed mappings of the same map page.
    dirty_before: u32,
    dirty_after: u32,
}

archived!(Entry { page, dirty, protected, dirty_before, dirty_after } vacant Self { page: NONE, dirty: false, protected: false, dirty_before: NONE, dirty_after: NONE });

/// The cached mapping table of a die. It has one segment or two; in each segment, the mappings are in order of
/// use.
#[derive(Clone)]
pub struct Cache {
    slots: Vec<Entry>,
    slot_of: LazyTable<Same<u32>>,
    probation: List<u32>,
    protected: List<u32>,
    protected_count: usize,
    /// Maximum number of mappings in the protected segment; 0 for plain LRU.
    protected_limit: usize,
    capacity: usize,
    unused: Vec<u32>,
    /// For each map page, the slot of one of its changed mappings.
    dirty: Vec<u32>,
    mappings_per_page: u32,
}

archived!(Cache { slots, slot_of, probation, protected, protected_count, unused, dirty } fixed { protected_limit, capacity, mappings_per_page });

impl Cache {
    /// An empty cache of `capacity` mappings for `pages` logical pages. With `segments`, half of the cache is
    /// reserved for mappings that were used again.
    pub fn new(capacity: u32, pages: u32, mappings_per_page: u32, segments: bool) -> Self {
        // A cache larger than the map never fills up.
        let slots = capacity.min(pages);
        Self {
            slots: Vec::new(),
            slot_of: LazyTable::new(pages as usize, Same(NONE)),
            probation: List::new(slots),
            protected: List::new(slots),
            protected_count: 0,
            protected_limit: if segments { capacity as usize / 2 } else { 0 },
            capacity: slots as usize,
            unused: Vec::new(),
            dirty: vec![NONE; pages.div_ceil(mappings_per_page) as usize],
            mappings_per_page,
        }
    }

    /// The largest numbers of mappings in the cache and in its protected segment.
    pub fn most_mappings(&self) -> (usize, usize) {
        (self.capacity, self.protected_limit.min(self.slot_of.len()))
    }

    /// The page of the map that holds the mapping of `page`.
    pub fn map_page(&self, page: u32) -> u32 {
        page / self.mappings_per_page
    }

    /// Whether the mapping of `page` is in RAM.
    pub fn has(&self, page: u32) -> bool {
        self.slot(page).is_some()
    }

    fn slot(&self, page: u32) -> Option<u32> {
        let slot = self.slot_of.get(page as usize);
        (slot != NONE).then_some(slot)
    }

    /// Returns whether the mapping of `page` is in RAM. If it is, marks it as just used.
    pub fn touch(&mut self, page: u32) -> bool {
        let Some(slot) = self.slot(page) else {
            return false;
        };
        if self.slots[slot as usize].protected {
            self.protected.move_to_back(slot);
        } else if self.protected_limit == 0 {
            self.probation.move_to_back(slot);
        } else {
            self.probation.remove(slot);
            self.protected.push_back(slot);
            self.slots[slot as usize].protected = true;
            self.protected_count += 1;
            if self.protected_count > self.protected_limit {
                self.demote();
            }
        }
        true
    }

    /// Moves the least recently used mapping of the protected segment to the probationary segment. There it
    /// becomes the most recently used mapping.
    fn demote(&mut self) {
        if let Some(slot) = self.protected.front() {
            self.protected.remove(slot);
            self.probation.push_back(slot);
            self.slots[slot as usize].protected = false;
            self.protected_count -= 1;
        }
    }

    /// The mapping that has to be evicted before another can be inserted: its page, and whether the mapping has
    /// changed. `None` if the cache has a free slot.
    pub fn leaving(&self) -> Option<(u32, bool)> {
        if self.slots.len() - self.unused.len() < self.capacity {
            return None;
        }
        let slot = self.probation.front().or_else(|| self.protected.front())?;
        let entry = self.slots[slot as usize];
        Some((entry.page, entry.dirty))
    }

    /// Evicts the mapping of `page`; a changed mapping must have been written to flash before.
    pub fn remove(&mut self, page: u32) {
        let Some(slot) = self.slot(page) else { return };
        if self.slots[slot as usize].protected {
            self.protected.remove(slot);
            self.protected_count -= 1;
        } else {
            self.probation.remove(slot);
        }
        *self.slot_of.get_mut(page as usize) = NONE;
        self.unused.push(slot);
    }

    /// Adds the mapping of `page` to the probationary segment; the cache must have a free slot.
    pub fn insert(&mut self, page: u32) {
        let entry = Entry {
            page,
            dirty: false,
            protected: false,
            dirty_before: NONE,
            dirty_after: NONE,
        };
        let slot = match self.unused.pop() {
            Some(slot) => {
                self.slots[slot as usize] = entry;
                slot
            }
            None => {
                self.slots.push(entry);
                self.slots.len() as u32 - 1
            }
        };
        *self.slot_of.get_mut(page as usize) = slot;
        self.probation.push_back(slot);
    }

    /// Marks the mapping of `page` as changed, if it is in RAM. Returns whether it is in RAM.
    pub fn change(&mut self, page: u32) -> bool {
        let Some(slot) = self.slot(page) else {
            return false;
        };
        if !self.slots[slot as usize].dirty {
            let map_page = self.map_page(page) as usize;
            let first = core::mem::replace(&mut self.dirty[map_page], slot);
            if first != NONE {
                self.slots[first as usize].dirty_before = slot;
            }
            let entry = &mut self.slots[slot as usize];
            entry.dirty = true;
            entry.dirty_before = NONE;
            entry.dirty_after = first;
        }
        true
    }

    /// Marks the mapping of `page` as written to flash.
    pub fn clean(&mut self, page: u32) {
        let Some(slot) = self
            .slot(page)
            .filter(|slot| self.slots[*slot as usize].dirty)
        else {
            return;
        };
        let Entry {
            dirty_before,
            dirty_after,
            ..
        } = self.slots[slot as usize];
        self.slots[slot as usize].dirty = false;
        match dirty_before {
            NONE => {
                let map_page = self.map_page(page) as usize;
                self.dirty[map_page] = dirty_after;
            }
            before => self.slots[before as usize].dirty_after = dirty_after,
        }
        if dirty_after != NONE {
            self.slots[dirty_after as usize].dirty_before = dirty_before;
        }
    }

    /// Marks all mappings of `map_page` as written to flash.
    pub fn collect_all(&mut self, map_page: u32) {
        while let Some(slot) = Some(self.dirty[map_page as usize]).filter(|slot| *slot != NONE) {
            self.clean(self.slots[slot as usize].page);
        }
    }
}
