//! Lists over slots, for the order that a page-level scheme maintains.
//!
//! The lists are those of [`destage_base::list`]. Each slot stores its page together with its links, because a caller
//! that removes an entry from a list needs the page.

use destage_base::Lpn;
use destage_base::list::{Item, List, Lists};

use crate::destage::Slot;
use crate::scheme::Entry;

/// Several lists over the same slots, such as a queue per die or a list per set. A slot is in at most one of these
/// lists.
pub type SlotLists = Lists<Entry>;

/// One list over slots.
pub type SlotList = List<Entry>;

impl Item for Entry {
    type Key = Slot;
    type Value = Lpn;

    #[inline]
    fn number(Slot(slot): Slot) -> u32 {
        slot
    }

    #[inline]
    fn split(self) -> (u32, Lpn) {
        (self.slot.0, self.page)
    }

    #[inline]
    fn join(slot: u32, page: Lpn) -> Self {
        let slot = Slot(slot);
        Self { page, slot }
    }
}
