//! Turns a scheme's answer into a record. Pages are evicted or written back, and padding is added.

use destage_base::Ticks;

use crate::buffer::Buffer;
use crate::config::Release;
use crate::destage::{Destage, DestageCause, DirtyPage, Grouping, PadContent};
use crate::padding::pad;
use crate::resident::{Evicted, State};
use crate::scheme::Entry;
use crate::view::View;

impl Buffer {
    /// Turns the scheme's answer into a record. Returns `false` if none of the named pages needs a program.
    pub(crate) fn carry_out(&mut self, cause: DestageCause, now: Ticks, view: &dyn View) -> bool {
        self.record.pages.clear();
        self.record.pads.clear();
        self.record.cause = cause;
        self.record.grouping = self.victim.grouping;
        self.record.retain = self.victim.retain;
        for entry in &self.victim.entries {
            let state = self.resident.state(entry.slot);
            assert!(
                !matches!(state, State::Free | State::Leaving),
                "the victim {entry:?} is not resident"
            );
            debug_assert_eq!(self.resident.page_of(entry.slot), Some(entry.page));
            let dirty = if !self.victim.retain {
                let dirty = self.resident.evict(entry.slot) == Evicted::Dirty;
                self.counts.dropped.clean += u64::from(!dirty);
                self.pending_victims.note(&self.resident, entry.slot);
                dirty
            } else if state == State::Dirty {
                self.resident.write_back(entry.slot);
                true
            } else {
                false
            };
            if dirty {
                self.record.pages.push(DirtyPage {
                    page: entry.page,
                    slot: entry.slot,
                });
            }
        }
        let padded = self.victim.pad;
        self.victim.entries.clear();
        self.victim.grouping = Grouping::default();
        self.victim.pad = false;
        self.victim.retain = false;
        self.note_fewer_dirty();
        if self.record.pages.is_empty() {
            self.check_scheme();
            return false;
        }
        if padded {
            self.pad(view);
        }
        self.counts.records[cause as usize] += 1;
        self.counts.destaged_pages[cause as usize] += self.record.pages.len() as u64;
        if self.config.release == Release::Issue {
            self.note_programmed(now);
        }
        self.check_scheme();
        true
    }

    fn pad(&mut self, view: &dyn View) {
        let flushes = matches!(self.record.cause, DestageCause::Flush | DestageCause::Drain);
        let enough = self.record.pages.len() >= self.config.pad_min_pages as usize;
        if !enough || (flushes && !self.config.flush_pads) {
            return;
        }
        let Destage { pages, pads, .. } = &mut self.record;
        pad(
            pages,
            self.config.cluster_pages,
            self.config.pad_written,
            self.config.pad_unwritten,
            view,
            pads,
        );
        for pad in pads {
            match pad.content {
                PadContent::Read => self.counts.pads.read += 1,
                PadContent::AtHand => {}
                PadContent::Filler => self.counts.pads.filled += 1,
            }
        }
    }

    /// The programs of all pages of [the latest record](Self::record) have completed, in the order of the record. The
    /// effect is the same as calling [`Buffer::programmed`] for each page.
    pub fn record_programmed(&mut self, now: Ticks) {
        if self.config.release != Release::Issue {
            self.note_programmed(now);
        }
    }

    /// Notes in the table of pages and in the scheme that the pages of the latest record are programmed.
    fn note_programmed(&mut self, now: Ticks) {
        for page in &self.record.pages {
            if self.resident.programmed(page.page, page.slot, now) {
                self.scheme.cleaned(Entry {
                    page: page.page,
                    slot: page.slot,
                });
            }
        }
    }
}
