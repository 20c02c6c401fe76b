//! A journal of the map in flash: each time the map has changed a fixed number of times, the die programs one
//! journal page.
//!
//! The journal pages form a ring: each new page makes the oldest one invalid. Garbage collection treats them as
//! pages of the map.

use super::Die;
use destage_nand::operation::Operations;

/// The journal of a die.
#[derive(Clone)]
pub(crate) struct Journal {
    /// Changes that a journal page holds.
    every: u32,
    /// Number of pages in the ring, and the page that is written next.
    pages: u32,
    next: u32,
    /// Changes that are in no journal page yet.
    since: u32,
    /// The first request has arrived. Changes before it are not noted.
    has_begun: bool,
}

impl Journal {
    /// An empty journal of `pages` pages of `every` changes each.
    pub fn new((every, pages): (u32, u32)) -> Self {
        Self {
            every,
            pages,
            next: 0,
            since: 0,
            has_begun: false,
        }
    }

    /// Notes that the first request has arrived.
    pub fn begin(&mut self) {
        self.has_begun = true;
    }

    /// Notes that a mapping has changed.
    pub fn note(&mut self) {
        self.since += u32::from(self.has_begun);
    }
}

impl Die {
    /// Notes a change of the map in the journal, if there is one.
    pub fn note_change(&mut self) {
        if let Some(journal) = &mut self.extras.journal {
            journal.note();
        }
    }

    /// Writes the journal pages that are due. If no block is free, a later call writes them.
    pub fn write_journal(&mut self, same_plane: bool, operations: &mut Operations) {
        while let Some(journal) = &self.extras.journal
            && journal.since >= journal.every
        {
            let page = journal.next;
            if self.write_map(page, same_plane, operations).is_err() {
                return;
            }
            if let Some(journal) = &mut self.extras.journal {
                journal.since -= journal.every;
                journal.next = (page + 1) % journal.pages;
            }
        }
    }
}
