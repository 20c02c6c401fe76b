//! `cflru`: drops the least recently used clean page of a window before it destages a dirty page.
//!
//! The buffer is both a read cache and a write buffer: pages that are read enter as clean pages. A clean page is
//! evicted without a program. The scheme therefore first searches for a clean page among the least recently used
//! pages. The searched share `cflru_window` of the buffer is called the *clean-first region*. If all pages of this
//! region are dirty, the least recently used page is destaged and evicted.
//!
//! ```text
//!   latest                                 least recent
//!   [ D C D D C C D | D  C  D  C  D ]      C clean, D dirty
//!                     clean-first    ^ would leave from a region without C
//!                           ^ leaves
//! ```
//!
//! A second pair of lists, one for clean and one for dirty pages, has the victim at its end, so no search is needed.
//! A flush writes dirty pages back, the least recently used first, and keeps them as clean pages. When a page is
//! written back, all less recent pages are already clean. Therefore the position of the page in the list of clean
//! pages is found at once.
//!
//! Without reads, flushes and FUA no page is ever clean, and the scheme is the same as [`lru`](super::lru).
//!
//! Cost: O(1) per call. The exception is an FUA write-back of a page that is not the most recently used. It searches
//! for the next clean page in the order of recency. Memory: two list nodes per slot.

use alloc::boxed::Box;
use alloc::vec::Vec;

use destage_base::parameter::Kind;
use destage_base::{parameters, table};

use crate::config::part_of;
use crate::destage::Slot;
use crate::order::SlotLists;
use crate::registry::{SchemeConfig, SchemeRow};
use crate::scheme::{Access, AccessKind, Entry, Need, Properties, Scheme, Victim};
use crate::shown::Shown;
use crate::view::View;

parameters! {
    /// The parameters of `cflru`.
    pub struct Parameters {
        /// Share of the buffer, from the least recently used page on, in which clean pages leave first; at least one
        /// page.
        cflru_window: f64 = "0.25" in Kind::Number { min: 0.0, max: 1.0 }, "", "Ours; CFLRU (2006) leaves the size open.";
    }
}

/// The row of `cflru`.
pub const ROW: SchemeRow = SchemeRow {
    name: "cflru",
    family: "page",
    about: "Drops the least recently used clean page near the end of the LRU order before it destages a dirty page.",
    source: "Park and others, CFLRU, CASES 2006.",
    parameters: Parameters::ROWS,
    ..SchemeRow::of(&|config| {
        let parameters = Parameters::from_values(config.values);
        Box::new(Cflru::new(config, &parameters))
    })
};

/// The list of more recently used pages, which are outside the window. In the order of recency, the window follows
/// the back of this list.
const OUTSIDE: u32 = 0;
/// The list of the pages in the window. The window has fewer pages than its maximum only if no page is outside the
/// window.
const WINDOW: u32 = 1;

/// The list of clean pages, in the order of recency.
const CLEAN: u32 = 0;
/// The list of dirty pages, in the order of recency.
const DIRTY: u32 = 1;

/// The state of the page in a slot.
#[derive(Clone, Copy, Default)]
struct Flags {
    in_window: bool,
    is_dirty: bool,
}

/// The scheme.
pub struct Cflru {
    recency: SlotLists,
    kinds: SlotLists,
    /// The number of pages of a full window.
    window: usize,
    /// The present number of pages in the window.
    in_window: usize,
    /// The state of the page in each slot.
    flags: Vec<Flags>,
}

impl Scheme for Cflru {
    fn properties(&self) -> Properties {
        Properties {
            allocates_reads: true,
            ..Properties::default()
        }
    }

    fn insert(&mut self, entry: Entry, access: &Access) {
        let is_dirty = access.kind == AccessKind::Write;
        let flags = Flags {
            in_window: false,
            is_dirty,
        };
        *table::at(&mut self.flags, entry.slot.0 as usize, flags) = flags;
        self.recency.push_front(OUTSIDE, entry);
        self.kinds
            .push_front(if is_dirty { DIRTY } else { CLEAN }, entry);
        self.fill_window();
    }

    fn touch(&mut self, entry: Entry, access: &Access) {
        let flags = &mut self.flags[entry.slot.0 as usize];
        flags.is_dirty |= access.kind == AccessKind::Write;
        let kind = if flags.is_dirty { DIRTY } else { CLEAN };
        self.in_window -= usize::from(flags.in_window);
        flags.in_window = false;
        self.recency.move_to_front(OUTSIDE, entry.slot);
        self.kinds.move_to_front(kind, entry.slot);
        self.fill_window();
    }

    fn remove(&mut self, entry: Entry) {
        self.recency.remove(entry.slot);
        self.kinds.remove(entry.slot);
        self.in_window -= usize::from(self.flags[entry.slot.0 as usize].in_window);
        self.fill_window();
    }

    fn evict(&mut self, need: Need, _: &Access, _: &dyn View, victim: &mut Victim) {
        match need {
            Need::Evict(_) => {
                let clean = self
                    .kinds
                    .back(CLEAN)
                    .filter(|entry| self.flags[entry.slot.0 as usize].in_window);
                if let Some(entry) = clean.or_else(|| self.recency.back(WINDOW)) {
                    self.remove(entry);
                    victim.entries.push(entry);
                }
            }
            Need::Flush => {
                if let Some(entry) = self.kinds.back(DIRTY) {
                    self.write_back(entry, victim);
                }
            }
            Need::FlushPage(entry) => self.write_back(entry, victim),
        }
    }

    fn candidates(&self, visit: &mut dyn FnMut(Entry) -> bool) {
        // Each page that leaves makes room in the window for the next page from outside the window.
        let mut entering = self.recency.iter_back(OUTSIDE);
        let mut clean = self.kinds.iter_back(CLEAN).peekable();
        let mut dirty = self.kinds.iter_back(DIRTY);
        let mut clean_entered = 0;
        loop {
            let in_window = |entry: &Entry| self.flags[entry.slot.0 as usize].in_window;
            let next = match clean.next_if(|entry| in_window(entry) || clean_entered > 0) {
                Some(entry) => {
                    clean_entered -= usize::from(!in_window(&entry));
                    Some(entry)
                }
                None => dirty.next(),
            };
            if !next.is_some_and(&mut *visit) {
                return;
            }
            clean_entered += usize::from(
                entering
                    .next()
                    .is_some_and(|entry| !self.flags[entry.slot.0 as usize].is_dirty),
            );
        }
    }

    fn show(&self, shown: &mut Shown) {
        let list = shown.list("Working region", "latest use", "");
        list.row(self.recency.iter(OUTSIDE));
        let list = shown.list(
            "Clean-first region",
            "",
            "last clean page, else last page leaves next",
        );
        list.row(self.recency.iter(WINDOW));
    }

    fn len(&self) -> usize {
        self.recency.len()
    }
}

impl Cflru {
    /// Creates an empty scheme.
    #[must_use]
    pub fn new(config: &SchemeConfig, parameters: &Parameters) -> Self {
        let window = part_of(parameters.cflru_window, config.capacity_pages);
        Self {
            recency: SlotLists::new(2, config.capacity_pages),
            kinds: SlotLists::new(2, config.capacity_pages),
            window: (window as usize).max(1),
            in_window: 0,
            flags: Vec::new(),
        }
    }

    fn fill_window(&mut self) {
        if self.in_window < self.window
            && let Some(entry) = self.recency.back(OUTSIDE)
        {
            self.recency.move_to_front(WINDOW, entry.slot);
            self.flags[entry.slot.0 as usize].in_window = true;
            self.in_window += 1;
        }
    }

    /// Writes `entry` back. It remains in the buffer as a clean page, at the same position in the order of recency.
    fn write_back(&mut self, entry: Entry, victim: &mut Victim) {
        victim.entries.push(entry);
        victim.retain = true;
        let is_dirty = &mut self.flags[entry.slot.0 as usize].is_dirty;
        if core::mem::replace(is_dirty, false) {
            self.kinds.remove(entry.slot);
            match self.clean_page_behind(entry.slot) {
                Some(behind) => self.kinds.insert_before(behind, entry),
                None => self.kinds.push_back(CLEAN, entry),
            }
        }
    }

    /// The next clean page after `slot` in the order of recency, towards the least recently used page.
    fn clean_page_behind(&self, slot: Slot) -> Option<Slot> {
        if self
            .recency
            .front(OUTSIDE)
            .is_some_and(|latest| latest.slot == slot)
        {
            return self.kinds.front(CLEAN).map(|entry| entry.slot);
        }
        let mut slot = slot;
        loop {
            let behind = self.recency.behind(slot).or_else(|| {
                let ends_outside = !self.flags[slot.0 as usize].in_window;
                self.recency.front(WINDOW).filter(|_| ends_outside)
            })?;
            if !self.flags[behind.slot.0 as usize].is_dirty {
                return Some(behind.slot);
            }
            slot = behind.slot;
        }
    }
}
