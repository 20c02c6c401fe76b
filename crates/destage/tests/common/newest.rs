//! A scheme from outside the project: it destages the page that was used last, the worst that recency can do.

use destage::buffer::order::SlotList;
use destage::buffer::scheme::{Access, Entry, Need, Scheme, Victim};
use destage::buffer::{SchemeRow, View};

struct Newest {
    /// Front: the latest used.
    order: SlotList,
}

/// Its row in a registry.
pub static ROW: SchemeRow = SchemeRow {
    name: "newest",
    family: "page",
    about: "Destages the page that was used last.",
    source: "A test.",
    reconstructed: false,
    parameters: &[],
    needs_future: false,
    build: &|config| {
        Box::new(Newest {
            order: SlotList::new(config.capacity_pages),
        })
    },
};

impl Scheme for Newest {
    fn insert(&mut self, entry: Entry, _: &Access) {
        self.order.push_front(entry);
    }

    fn touch(&mut self, entry: Entry, _: &Access) {
        self.order.remove(entry.slot);
        self.order.push_front(entry);
    }

    fn remove(&mut self, entry: Entry) {
        self.order.remove(entry.slot);
    }

    fn evict(&mut self, need: Need, _: &Access, _: &dyn View, victim: &mut Victim) {
        let front = self.order.iter_back().last();
        let chosen = match need {
            Need::Evict(_) | Need::Flush => front,
            Need::FlushPage(entry) => Some(entry),
        };
        victim
            .entries
            .extend(chosen.map(|entry| self.order.remove(entry.slot)));
    }

    fn len(&self) -> usize {
        self.order.len()
    }
}
