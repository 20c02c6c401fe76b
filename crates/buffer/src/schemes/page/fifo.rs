//! `fifo`: destages the page that entered first.
//!
//! A rewrite is absorbed, but it does not extend the time for which the page stays. A hot page is therefore evicted
//! as often as a cold page. The difference between [`lru`](super::lru) and this scheme shows the benefit of an order
//! by recency.
//!
//! Cost: O(1) per call; one list node per slot.

use alloc::boxed::Box;

use crate::order::SlotList;
use crate::registry::SchemeRow;
use crate::scheme::{Access, Entry, Need, Scheme, Victim};
use crate::shown::Shown;
use crate::view::View;

/// The row of `fifo`.
pub const ROW: SchemeRow = SchemeRow {
    name: "fifo",
    family: "page",
    about: "Destages the page that entered first; a rewrite does not move it.",
    source: "The usual baseline.",
    ..SchemeRow::of(&|config| {
        Box::new(Fifo {
            order: SlotList::new(config.capacity_pages),
        })
    })
};

struct Fifo {
    /// Front: the page that entered last. Back: the next victim.
    order: SlotList,
}

impl Scheme for Fifo {
    fn insert(&mut self, entry: Entry, _: &Access) {
        self.order.push_front(entry);
    }

    fn touch(&mut self, _: Entry, _: &Access) {}

    fn remove(&mut self, entry: Entry) {
        self.order.remove(entry.slot);
    }

    fn evict(&mut self, need: Need, _: &Access, _: &dyn View, victim: &mut Victim) {
        match need {
            Need::Evict(_) | Need::Flush => victim.entries.extend(self.order.pop_back()),
            Need::FlushPage(entry) => victim.entries.push(self.order.remove(entry.slot)),
        }
    }

    fn candidates(&self, visit: &mut dyn FnMut(Entry) -> bool) {
        self.order.iter_back().all(visit);
    }

    fn show(&self, shown: &mut Shown) {
        let list = shown.list("Queue", "entered last", "leaves next");
        list.row(self.order.iter());
    }

    fn len(&self) -> usize {
        self.order.len()
    }
}
