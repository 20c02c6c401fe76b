//! `infinite`: absorbs every write. No page is ever evicted to make room.
//!
//! The scheme gives the upper bound of the number of hits and the lower bound of the number of programs. The only
//! programs are those for a flush, an FUA write or the end of the run. The capacity only determines how much memory
//! is reserved at first.
//!
//! A flush writes dirty pages back, the least recently written first, and the pages remain in the buffer. A buffer
//! that always has room need not evict them.
//!
//! Cost: O(1) per call. Memory: one list node per page ever written.

use alloc::boxed::Box;

use crate::order::SlotLists;
use crate::registry::SchemeRow;
use crate::scheme::{Access, AccessKind, Entry, Need, Properties, Scheme, Victim};
use crate::shown::Shown;
use crate::view::View;

/// The row of `infinite`.
pub const ROW: SchemeRow = SchemeRow {
    name: "infinite",
    family: "bound",
    about: "Absorbs every write, whatever the capacity; only flushes destage.",
    source: "The usual bound.",
    ..SchemeRow::of(&|config| {
        Box::new(Infinite {
            pages: SlotLists::new(2, config.capacity_pages),
        })
    })
};

/// The list of dirty pages. Front: the page that was written last.
const DIRTY: u32 = 0;
/// The list of clean pages, in no particular order.
const CLEAN: u32 = 1;

struct Infinite {
    pages: SlotLists,
}

impl Scheme for Infinite {
    fn properties(&self) -> Properties {
        Properties {
            is_unbounded: true,
            ..Properties::default()
        }
    }

    fn insert(&mut self, entry: Entry, _: &Access) {
        self.pages.push_front(DIRTY, entry);
    }

    fn touch(&mut self, entry: Entry, access: &Access) {
        if access.kind == AccessKind::Write {
            self.pages.move_to_front(DIRTY, entry.slot);
        }
    }

    fn remove(&mut self, entry: Entry) {
        self.pages.remove(entry.slot);
    }

    fn evict(&mut self, need: Need, _: &Access, _: &dyn View, victim: &mut Victim) {
        let entry = match need {
            Need::FlushPage(entry) => Some(entry),
            Need::Flush => self.pages.back(DIRTY),
            Need::Evict(_) => {
                // This case occurs only if there are more pages than slot numbers.
                let first = self.pages.pop_back(CLEAN);
                victim
                    .entries
                    .extend(first.or_else(|| self.pages.pop_back(DIRTY)));
                return;
            }
        };
        if let Some(entry) = entry {
            self.pages.move_to_front(CLEAN, entry.slot);
            victim.entries.push(entry);
            victim.retain = true;
        }
    }

    fn show(&self, shown: &mut Shown) {
        shown
            .list("Dirty", "latest write", "flushed next")
            .row(self.pages.iter(DIRTY));
        shown.list("Clean", "", "").row(self.pages.iter(CLEAN));
    }

    fn len(&self) -> usize {
        self.pages.len()
    }
}
