//! `lru`: destages the page, or the request, whose last write is oldest.
//!
//! This is the baseline of buffer studies. The scheme keeps hot pages longest, but its choice of victims ignores
//! flash blocks. The translation layer therefore receives small programs that are scattered over many blocks.
//!
//! A read hit does not move a page. The scheme is a write buffer, and reading a page again needs no flash program.
//!
//! With `lru_unit = request`, the pages written by one request form an entry and are destaged together. A page that
//! is written again leaves its old entry and joins the entry of the current request, at the front. Only the entry of
//! the current request grows, and it grows only at the front. The pages of an entry are therefore always adjacent in
//! the list of pages. A new entry begins wherever the request number changes, so a second list for entries is not
//! needed.
//!
//! Cost: O(1) per call, O(k log k) for a request of k pages. Memory: one list node per slot.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;

use destage_base::{choices, parameters, table};

use crate::destage::{Grouping, Slot};
use crate::order::SlotList;
use crate::registry::{SchemeConfig, SchemeRow};
use crate::scheme::{Access, AccessKind, Entry, Need, Scheme, Victim};
use crate::shown::{Frame, Shown};
use crate::view::View;

choices! {
    /// The words of `lru_unit`.
    pub enum Unit {
        /// Single pages.
        Page = "page",
        /// The pages last written by one request.
        Request = "request",
    }
}

parameters! {
    /// The parameters of `lru`.
    pub struct Parameters {
        /// The unit that is ordered and leaves together: single pages, or the pages written by one request.
        lru_unit: Unit = "page", "", "EPO (2011) compares against LRU by request.";
    }
}

/// The row of `lru`.
pub const ROW: SchemeRow = SchemeRow {
    name: "lru",
    family: "page",
    about: "Destages the page (or the request) whose last write is oldest.",
    source: "The usual baseline; by request: Xie and Koshia, EPO, 2011.",
    parameters: Parameters::ROWS,
    ..SchemeRow::of(&|config| {
        let parameters = Parameters::from_values(config.values);
        Box::new(Lru::new(config, &parameters))
    })
};

/// The scheme.
pub struct Lru {
    /// Front: the latest write. Back: the next victim.
    order: SlotList,
    /// By slot: the number of the request that last wrote the page. `None` if the unit is a page.
    writers: Option<Vec<u64>>,
}

impl Scheme for Lru {
    fn insert(&mut self, entry: Entry, access: &Access) {
        self.order.push_front(entry);
        self.note_writer(entry.slot, access);
    }

    fn touch(&mut self, entry: Entry, access: &Access) {
        if access.kind == AccessKind::Write {
            self.order.move_to_front(entry.slot);
            self.note_writer(entry.slot, access);
        }
    }

    fn remove(&mut self, entry: Entry) {
        self.order.remove(entry.slot);
    }

    fn evict(&mut self, need: Need, _: &Access, _: &dyn View, victim: &mut Victim) {
        match need {
            Need::FlushPage(entry) => victim.entries.push(self.order.remove(entry.slot)),
            Need::Evict(_) | Need::Flush => self.pop_unit(victim),
        }
    }

    fn candidates(&self, visit: &mut dyn FnMut(Entry) -> bool) {
        let Some(writers) = &self.writers else {
            self.order.iter_back().all(visit);
            return;
        };
        let mut pages = self.order.iter_back().peekable();
        let mut unit = Vec::new();
        while let Some(last) = pages.next() {
            let writer = |entry: &Entry| writers[entry.slot.0 as usize];
            let is_of_unit = |entry: &Entry| writer(entry) == writer(&last);
            unit.push(last);
            unit.extend(core::iter::from_fn(|| pages.next_if(is_of_unit)));
            unit.sort_unstable_by_key(|entry| entry.page);
            if !unit.drain(..).all(&mut *visit) {
                return;
            }
        }
    }

    fn show(&self, shown: &mut Shown) {
        let list = shown.list("Recency", "latest write", "leaves next");
        let Some(writers) = &self.writers else {
            list.row(self.order.iter());
            return;
        };
        let mut latest = None;
        for entry in self.order.iter() {
            let writer = writers[entry.slot.0 as usize];
            if latest.replace(writer) != Some(writer) {
                list.group(format!("request {writer}"), Frame::Row);
            }
            if let Some(unit) = list.groups.last_mut() {
                unit.page(entry, "");
            }
        }
    }

    fn len(&self) -> usize {
        self.order.len()
    }
}

impl Lru {
    /// Creates an empty scheme.
    #[must_use]
    pub fn new(config: &SchemeConfig, parameters: &Parameters) -> Self {
        Self {
            order: SlotList::new(config.capacity_pages),
            writers: match parameters.lru_unit {
                Unit::Page => None,
                Unit::Request => Some(Vec::new()),
            },
        }
    }

    fn note_writer(&mut self, slot: Slot, access: &Access) {
        if let Some(writers) = &mut self.writers {
            *table::at(writers, slot.0 as usize, 0) = access.request;
        }
    }

    fn pop_unit(&mut self, victim: &mut Victim) {
        let Some(last) = self.order.pop_back() else {
            return;
        };
        victim.entries.push(last);
        let Some(writers) = &self.writers else { return };
        let writer = |entry: Entry| writers[entry.slot.0 as usize];
        while let Some(next) = self
            .order
            .back()
            .filter(|next| writer(*next) == writer(last))
        {
            self.order.remove(next.slot);
            victim.entries.push(next);
        }
        victim.entries.sort_unstable_by_key(|entry| entry.page);
        victim.grouping = Grouping::Pages;
    }
}
