//! The slots of victims that are still being programmed, for schemes in which only one certain slot is suitable for a
//! page.
//!
//! In most buffers a page can use any slot. A request then waits only until the number of pages in RAM is within the
//! capacity. In a set-associative cache a page belongs to one line. A scheme with [`Properties::waits_for_its_place`]
//! waits for the programs of the pages that were in this line, even if lines of other sets are empty.

use alloc::vec::Vec;

use crate::buffer::Buffer;
use crate::config::{BufferConfig, Release};
use crate::destage::Slot;
use crate::resident::{Resident, State};
use crate::scheme::Properties;

/// The slots of pages that were evicted during the current request to make room and are still being programmed.
pub(crate) struct PendingVictims {
    /// Whether pages wait for these slots.
    watched: bool,
    slots: Vec<Slot>,
}

impl PendingVictims {
    pub(crate) fn of(properties: &Properties, config: &BufferConfig) -> Self {
        Self {
            watched: properties.waits_for_its_place && config.release == Release::Complete,
            slots: Vec::new(),
        }
    }

    /// The next request begins.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.slots.clear();
    }

    /// The page in `slot` has been evicted.
    #[inline]
    pub(crate) fn note(&mut self, resident: &Resident, slot: Slot) {
        if self.watched && resident.state(slot) == State::Leaving {
            self.slots.push(slot);
        }
    }
}

impl Buffer {
    /// Whether a page that enters waits for the programs of the victims that
    /// [`next_pending_victim`](Self::next_pending_victim) returns. Otherwise it waits until
    /// [`over_capacity`](Self::over_capacity) is 0.
    #[inline]
    #[must_use]
    pub fn waits_for_its_place(&self) -> bool {
        self.pending_victims.watched
    }

    /// Removes and returns one of the slots that the last page to enter has to wait for. The page waits until
    /// [`is_leaving`](Self::is_leaving) is false for that slot. Returns `None` if no slot remains.
    pub fn next_pending_victim(&mut self) -> Option<Slot> {
        self.pending_victims.slots.pop()
    }

    /// Whether `slot` holds a page that has left the buffer and is still being programmed.
    #[must_use]
    pub fn is_leaving(&self, slot: Slot) -> bool {
        self.resident.state(slot) == State::Leaving
    }
}
