//! A scheme from outside the project runs like one of its own: nothing but the library is needed to write it.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod common;

use common::{mixture, settings};
use destage::buffer::order::SlotList;
use destage::buffer::scheme::{Access, Entry, Need, Scheme, Victim};
use destage::buffer::{SchemeRow, View};
use destage::{Effort, Grid, Input, compare};

/// Destages the page that was used last: the worst that recency can do.
struct Newest {
    /// Front: the latest used.
    order: SlotList,
}

static ROW: SchemeRow = SchemeRow {
    name: "newest",
    family: "page",
    about: "Destages the page that was used last.",
    source: "A test.",
    reconstructed: false,
    parameters: &[],
    needs_future: false,
    build: |config| {
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

#[test]
fn a_scheme_of_ones_own_is_chosen_by_its_name() {
    let mut base = settings(&[]);
    base.add_scheme(&ROW).unwrap();
    let combinations = Grid::new(base)
        .buffers(["newest", "lru", "newest:touch_order=page"])
        .combinations();
    // Its parameters are checked as those of any other.
    let refusal = combinations.err().unwrap().to_string();
    assert!(refusal.contains("touch_order"), "{refusal}");

    let mut base = settings(&[]);
    base.add_scheme(&ROW).unwrap();
    let combinations = Grid::new(base)
        .buffers(["newest", "lru"])
        .combinations()
        .unwrap();
    let input = [Input::requests("requests", mixture(3, 20_000))];
    let results = compare(&input, &combinations, &Effort::default()).unwrap();
    let hits = |run: usize| results.runs[run].metric("buffer.write_hits").unwrap();
    assert_eq!(results.runs[0].buffer, "newest");
    assert!(
        hits(0) > 0.0 && hits(0) != hits(1),
        "{} {}",
        hits(0),
        hits(1)
    );
}

#[test]
fn a_name_is_given_once() {
    let mut base = settings(&[]);
    base.add_scheme(&ROW).unwrap();
    assert!(base.add_scheme(&ROW).is_err());
    static LRU: SchemeRow = SchemeRow { name: "lru", ..ROW };
    assert!(base.add_scheme(&LRU).is_err());
}

#[test]
fn who_does_not_add_it_does_not_have_it() {
    let mut base = settings(&[]);
    base.set_pair("buffer.kind=newest").unwrap();
    let refusal = base.resolve().err().unwrap().to_string();
    assert!(refusal.contains("is not known"), "{refusal}");
}
