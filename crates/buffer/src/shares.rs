//! A buffer that is divided among placement handles. Each handle has its own scheme and an equal share of the slots.
//!
//! A page belongs to the handle that wrote or read it first. A handle makes room among its own pages. It evicts no
//! page of another handle.
//!
//! The figures and series of the schemes are not reported: each handle's scheme has its own, and no number stands for
//! all of them.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

use destage_base::{Lpn, Ticks, table};

use crate::scheme::{Access, Entry, Need, Properties, Scheme, Victim};
use crate::shown::Shown;
use crate::view::View;

/// One scheme per placement handle. See the [module](self).
pub struct Shares {
    parts: Vec<Box<dyn Scheme>>,
    /// The number of slots of each part.
    share: usize,
    /// By slot: the part to which the slot's page belongs.
    of_slot: Vec<u8>,
    /// The part of the current request.
    current: usize,
    /// The part of the page that was written or read last, which may be one of another handle.
    last: usize,
}

impl Shares {
    /// Creates a scheme from `parts`, one for each handle (1 to 256 parts). Each part has `share` slots, but at least
    /// one.
    #[must_use]
    pub fn new(parts: Vec<Box<dyn Scheme>>, share: u32) -> Self {
        Self {
            parts,
            share: share.max(1) as usize,
            of_slot: Vec::new(),
            current: 0,
            last: 0,
        }
    }

    fn place_of(&self, entry: Entry) -> usize {
        let part = self.of_slot.get(entry.slot.0 as usize).copied();
        usize::from(part.unwrap_or(0))
    }

    fn part_of(&mut self, entry: Entry) -> &mut dyn Scheme {
        let place = self.place_of(entry);
        &mut *self.parts[place]
    }
}

impl Scheme for Shares {
    fn properties(&self) -> Properties {
        self.parts[0].properties()
    }

    fn of_handle(&mut self, handle: u32) {
        self.current = handle as usize % self.parts.len();
    }

    fn insert(&mut self, entry: Entry, access: &Access) {
        *table::at(&mut self.of_slot, entry.slot.0 as usize, 0) = self.current as u8;
        self.last = self.current;
        self.parts[self.current].insert(entry, access);
    }

    fn touch(&mut self, entry: Entry, access: &Access) {
        self.last = self.place_of(entry);
        self.parts[self.last].touch(entry, access);
    }

    fn read_missed(&mut self, page: Lpn, access: &Access) {
        self.parts[self.current].read_missed(page, access);
    }

    fn remove(&mut self, entry: Entry) {
        self.part_of(entry).remove(entry);
    }

    fn evict(&mut self, need: Need, access: &Access, view: &dyn View, victim: &mut Victim) {
        let own = &self.parts[self.current];
        let part = match need {
            // A part that has only clean pages may name no page. In this case the next part is asked.
            Need::Flush => {
                for part in self.parts.iter_mut().filter(|part| !part.is_empty()) {
                    part.evict(need, access, view, victim);
                    if !victim.entries.is_empty() {
                        return;
                    }
                }
                return;
            }
            Need::FlushPage(entry) => self.part_of(entry),
            Need::Evict(_) if !own.is_empty() => &mut *self.parts[self.current],
            Need::Evict(_) => match self.parts.iter_mut().find(|part| !part.is_empty()) {
                Some(part) => &mut **part,
                None => return,
            },
        };
        part.evict(need, access, view, victim);
    }

    fn eager(&mut self, access: &Access, view: &dyn View, victim: &mut Victim) {
        self.parts[self.last].eager(access, view, victim);
    }

    fn show(&self, shown: &mut Shown) {
        for part in &self.parts {
            part.show(shown);
        }
    }

    fn is_full_for(&self, page: Lpn, _: usize) -> bool {
        let part = &self.parts[self.current];
        let left = self.share.saturating_sub(part.len());
        !part.is_empty() && (left == 0 || part.is_full_for(page, left))
    }

    fn idle(&mut self, groups: Range<u32>, now: Ticks, view: &dyn View, victim: &mut Victim) {
        for part in &mut self.parts {
            part.idle(groups.clone(), now, view, victim);
            if !victim.entries.is_empty() {
                return;
            }
        }
    }

    fn idle_group_of(&self, page: Lpn) -> u32 {
        self.parts[0].idle_group_of(page)
    }

    fn cleaned(&mut self, entry: Entry) {
        self.part_of(entry).cleaned(entry);
    }

    fn reset_figures(&mut self) {
        for part in &mut self.parts {
            part.reset_figures();
        }
    }

    fn len(&self) -> usize {
        self.parts.iter().map(|part| part.len()).sum()
    }
}
