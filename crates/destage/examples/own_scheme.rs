//! A scheme of one's own beside those of the project: the page that was used last leaves first.

#![allow(
    clippy::print_stdout,
    reason = "a program whose results are what it prints"
)]

use destage::buffer::order::SlotList;
use destage::buffer::scheme::{Access, Entry, Need, Scheme, Victim};
use destage::buffer::{SchemeRow, View};
use destage::{Effort, Error, Grid, Input, Settings, compare};

/// Pages by their last use; the latest at the front.
struct Newest {
    order: SlotList,
}

/// The registry row of the scheme `newest`.
pub static NEWEST: SchemeRow = SchemeRow {
    name: "newest",
    family: "page",
    about: "Destages the page that was used last.",
    source: "A pattern for schemes of one's own.",
    ..SchemeRow::of(&|config| {
        Box::new(Newest {
            order: SlotList::new(config.capacity_pages),
        })
    })
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
        let chosen = match need {
            Need::Evict(_) | Need::Flush => self.order.front(),
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

fn main() -> Result<(), Error> {
    let mut settings = Settings::new();
    settings.add_scheme(&NEWEST)?;
    let input = Input::workload("zipf:requests=20000,footprint_pages=8000", &[])?;
    let grid = Grid::new(settings)
        .buffers(["newest", "lru"])
        .sizes(["1MiB"]);
    let results = compare(&[input], &grid.combinations()?, &Effort::default())?;
    for run in &results.runs {
        let hits = run.metric("buffer.write_hits")?.unwrap_or_default();
        println!("{}: {hits} hits", run.buffer);
    }
    Ok(())
}
