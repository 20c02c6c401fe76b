//! The slots that victims still hold while they are programmed, for schemes that need that very place.
//!
//! In most buffers a page may be anywhere, so a request waits until the buffer as a whole is down to its
//! capacity. In a cache of sets a page has a line of its own; a scheme that insists on that line ([`Properties::waits_for_its_place`]) waits for the
//! programs of the pages that were in it, even while lines of other sets are empty.

use alloc::vec::Vec;

use crate::buffer::Buffer;
use crate::config::{BufferConfig, Release};
use crate::destage::Slot;
use crate::resident::{Resident, State};
use crate::scheme::Properties;

/// Slots of pages that left to make room during the current request, and are still being programmed.
pub(crate) struct PendingVictims {
    /// Whether any page waits for them.
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

    /// Another request begins.
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
    /// Whether a page waits for the programs of the former pages of its place, [`next_pending_victim`](Self::next_pending_victim), and not for
    /// [`over_capacity`](Self::over_capacity).
    #[inline]
    #[must_use]
    pub fn waits_for_its_place(&self) -> bool {
        self.pending_victims.watched
    }

    /// Takes a slot that the page placed last has to wait for, until [`is_leaving`](Self::is_leaving) says no.
    pub fn next_pending_victim(&mut self) -> Option<Slot> {
        self.pending_victims.slots.pop()
    }

    /// Whether `slot` holds a page that is no longer buffered and not yet programmed.
    #[must_use]
    pub fn is_leaving(&self, slot: Slot) -> bool {
        self.resident.state(slot) == State::Leaving
    }
}
