//! A journal of the map in flash: a journal page for a number of changes.
//!
//! The pages of the journal are a ring; the next one makes the oldest void. They are pages of the map to garbage collection.

use super::Die;
use destage_nand::operation::Operations;

/// The journal of a die.
#[derive(Clone)]
pub(crate) struct Journal {
    /// Changes that a page holds.
    every: u32,
    /// Pages of the ring, and the next of them.
    pages: u32,
    next: u32,
    /// Changes that no page holds yet.
    since: u32,
    /// The first request has come: changes before it are not noted.
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

    /// The first request has come.
    pub fn begin(&mut self) {
        self.has_begun = true;
    }

    /// A mapping has changed.
    pub fn note(&mut self) {
        self.since += u32::from(self.has_begun);
    }
}

impl Die {
    /// Notes a change for the host.
    pub fn note_change(&mut self) {
        if let Some(journal) = &mut self.extras.journal {
            journal.note();
        }
    }

    /// Writes the pages of the journal that are due. Changes that find no room are written later.
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
