//! Checks that schemes from outside the project keep the contract of [`Scheme`]. The first answer that breaks the
//! contract ends the run.
//!
//! A scheme cannot return an error. So the run unwinds with a [`Breach`], and the caller of the run turns the breach
//! into an error. The project's own schemes run without these checks, because tests check them in the same way.

use std::ops::Range;

use destage_base::{Lpn, Ticks};
use destage_buffer::scheme::{Access, Entry, Need, Properties, Scheme, Series, Victim};
use destage_buffer::shown::Shown;
use destage_buffer::view::View;

/// The payload with which a run unwinds when its scheme breaks the contract: the name of the scheme, the call,
/// and the error in the answer.
#[derive(Debug)]
pub struct Breach(pub String);

/// A scheme whose answers are checked. Each call costs an access to a table of slots.
pub(crate) struct Checked {
    name: &'static str,
    scheme: Box<dyn Scheme>,
    /// The resident page of each slot.
    pages: Vec<Option<Lpn>>,
    resident: usize,
}

impl Checked {
    pub fn new(name: &'static str, scheme: Box<dyn Scheme>) -> Self {
        Self {
            name,
            scheme,
            pages: Vec::new(),
            resident: 0,
        }
    }

    fn breach(&self, what: impl std::fmt::Display) -> ! {
        let text = format!("scheme {:?}: {what}", self.name);
        std::panic::resume_unwind(Box::new(Breach(text)))
    }

    fn enter(&mut self, entry: Entry) {
        let slot = entry.slot.0 as usize;
        if slot >= self.pages.len() {
            self.pages.resize(slot + 1, None);
        }
        self.pages[slot] = Some(entry.page);
        self.resident += 1;
    }

    /// Notes that `entry` leaves the buffer. Returns whether it was resident.
    fn leave(&mut self, entry: Entry) -> bool {
        let slot = self.pages.get_mut(entry.slot.0 as usize);
        let was_there = slot.is_some_and(|page| page.take_if(|page| *page == entry.page).is_some());
        self.resident -= usize::from(was_there);
        was_there
    }

    /// Checks the entries of `victim` from index `from` on. The scheme named these entries in its answer to the call
    /// `asked`.
    fn check(&mut self, asked: &str, from: usize, victim: &Victim) {
        for entry in &victim.entries[from..] {
            if !self.leave(*entry) {
                let Entry { page, slot } = entry;
                self.breach(format_args!(
                    "{asked} named page {} in slot {}; expected pages that are resident and in that slot, each of them once",
                    page.0, slot.0
                ));
            }
        }
        if victim.retain {
            for entry in &victim.entries[from..] {
                self.enter(*entry);
            }
        }
        let (said, resident) = (self.scheme.len(), self.resident);
        if said != resident {
            self.breach(format_args!(
                "after {asked} its len() is {said}, and {resident} pages are resident; expected the scheme to forget the pages that it names, and no other pages"
            ));
        }
    }
}

fn asked(need: Need) -> String {
    match need {
        Need::Evict(page) => format!("evict(Evict) before page {} enters", page.0),
        Need::Flush => "evict(Flush)".to_owned(),
        Need::FlushPage(entry) => format!("evict(FlushPage) of page {}", entry.page.0),
    }
}

impl Scheme for Checked {
    fn properties(&self) -> Properties {
        self.scheme.properties()
    }

    fn of_handle(&mut self, handle: u32) {
        self.scheme.of_handle(handle);
    }

    fn insert(&mut self, entry: Entry, access: &Access) {
        self.enter(entry);
        self.scheme.insert(entry, access);
    }

    fn touch(&mut self, entry: Entry, access: &Access) {
        self.scheme.touch(entry, access);
    }

    fn read_missed(&mut self, page: Lpn, access: &Access) {
        self.scheme.read_missed(page, access);
    }

    fn remove(&mut self, entry: Entry) {
        self.leave(entry);
        self.scheme.remove(entry);
    }

    fn evict(&mut self, need: Need, access: &Access, view: &dyn View, victim: &mut Victim) {
        let from = victim.entries.len();
        self.scheme.evict(need, access, view, victim);
        let named = &victim.entries[from..];
        if named.is_empty() && self.resident > 0 {
            self.breach(format_args!(
                "{} named no page, and {} are resident; expected at least one",
                asked(need),
                self.resident
            ));
        }
        if let Need::FlushPage(entry) = need
            && !named.contains(&entry)
        {
            self.breach(format_args!(
                "{} did not name that page; expected this page among the named pages",
                asked(need)
            ));
        }
        self.check(&asked(need), from, victim);
    }

    fn candidates(&self, visit: &mut dyn FnMut(Entry) -> bool) {
        self.scheme.candidates(visit);
    }

    fn show(&self, shown: &mut Shown) {
        self.scheme.show(shown);
    }

    fn is_full_for(&self, page: Lpn, free: usize) -> bool {
        self.scheme.is_full_for(page, free)
    }

    fn eager(&mut self, access: &Access, view: &dyn View, victim: &mut Victim) {
        let from = victim.entries.len();
        self.scheme.eager(access, view, victim);
        self.check("eager()", from, victim);
    }

    fn idle(&mut self, groups: Range<u32>, now: Ticks, view: &dyn View, victim: &mut Victim) {
        let from = victim.entries.len();
        self.scheme.idle(groups, now, view, victim);
        self.check("idle()", from, victim);
    }

    fn idle_group_of(&self, page: Lpn) -> u32 {
        self.scheme.idle_group_of(page)
    }

    fn cleaned(&mut self, entry: Entry) {
        self.scheme.cleaned(entry);
    }

    fn report(&self, emit: &mut dyn FnMut(&'static str, f64)) {
        self.scheme.report(emit);
    }

    fn series(&self, emit: &mut dyn FnMut(Series)) {
        self.scheme.series(emit);
    }

    fn reset_figures(&mut self) {
        self.scheme.reset_figures();
    }

    fn len(&self) -> usize {
        self.scheme.len()
    }
}
