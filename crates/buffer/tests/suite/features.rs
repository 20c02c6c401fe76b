//! Tests features of the buffer that the simplest schemes do not use: clean pages, write-backs that keep the
//! pages, reads that allocate, sets, and padded clusters. Two schemes that exist only in this test use all these
//! features.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use crate::common;

use common::{Bench, Completion, Operation, random_operations, run_all};
use std::ops::Range;

use destage_base::parameter::{Value, Values};
use destage_base::{Lpn, Random, Ticks};
use destage_buffer::destage::{Grouping, PadContent};
use destage_buffer::scheme::{Access, AccessKind, Entry, Need, Properties, Scheme, Victim};
use destage_buffer::{COMMON, SchemeRow, View};

/// Page LRU in two sets, one for even and one for odd pages. An eviction removes one clean page if there is one,
/// otherwise up to three pages. Idle time and flushes write pages back and keep them.
struct Everything {
    /// The next victim is first. The flag is `true` if the page is dirty and was not written back since its last
    /// write.
    order: Vec<(Entry, bool)>,
    set_pages: usize,
}

const EVERYTHING: SchemeRow = SchemeRow {
    name: "everything",
    family: "test",
    ..SchemeRow::of(&|config| {
        let set_pages = config.capacity_pages as usize / 2;
        Box::new(Everything {
            order: Vec::new(),
            set_pages: set_pages.max(1),
        })
    })
};

impl Everything {
    fn place(&self, entry: Entry) -> usize {
        self.order.iter().position(|held| held.0 == entry).unwrap()
    }

    fn name_dirty(&mut self, count: usize, victim: &mut Victim) {
        for (entry, dirty) in self.order.iter_mut().filter(|held| held.1).take(count) {
            victim.entries.push(*entry);
            *dirty = false;
        }
        victim.retain = true;
    }
}

impl Scheme for Everything {
    fn properties(&self) -> Properties {
        Properties {
            allocates_reads: true,
            ..Properties::default()
        }
    }

    fn insert(&mut self, entry: Entry, access: &Access) {
        self.order.push((entry, access.kind == AccessKind::Write));
    }

    fn touch(&mut self, entry: Entry, access: &Access) {
        let (_, dirty) = self.order.remove(self.place(entry));
        self.order
            .push((entry, dirty || access.kind == AccessKind::Write));
    }

    fn remove(&mut self, entry: Entry) {
        self.order.remove(self.place(entry));
    }

    fn evict(&mut self, need: Need, _: &Access, _: &dyn View, victim: &mut Victim) {
        match need {
            Need::FlushPage(entry) => {
                let place = self.place(entry);
                self.order.remove(place);
                victim.entries.push(entry);
            }
            Need::Flush => self.name_dirty(2, victim),
            Need::Evict(page) => {
                // Evicts one clean page if there is one, otherwise up to three pages.
                let in_set = |held: &(Entry, bool)| held.0.page.0 % 2 == page.0 % 2;
                let full = self.order.iter().filter(|held| in_set(held)).count() >= self.set_pages;
                let fits = |held: &(Entry, bool)| !full || in_set(held);
                let clean = self.order.iter().position(|held| fits(held) && !held.1);
                let count = if clean.is_some() { 1 } else { 3 };
                for _ in 0..count {
                    let next = self.order.iter().position(fits);
                    if let Some(place) = clean.or(next) {
                        victim.entries.push(self.order.remove(place).0);
                    }
                }
                victim.grouping = Grouping::Batch;
            }
        }
    }

    fn is_full_for(&self, page: Lpn, free: usize) -> bool {
        let held = self
            .order
            .iter()
            .filter(|held| held.0.page.0 % 2 == page.0 % 2)
            .count();
        free == 0 || held >= self.set_pages
    }

    fn idle(&mut self, _: Range<u32>, _: Ticks, _: &dyn View, victim: &mut Victim) {
        self.name_dirty(3, victim);
    }

    fn len(&self) -> usize {
        self.order.len()
    }
}

fn common_values() -> Values {
    Values::defaults(COMMON)
}

#[test]
fn nothing_depends_on_timing_and_reads_are_never_stale() {
    for (seed, capacity, pages) in [(1, 1, 6), (2, 2, 6), (3, 5, 12), (4, 40, 100)] {
        let mut random = Random::new(seed);
        let mut operations = random_operations(&mut random, pages, 20_000);
        for place in (0..operations.len()).step_by(7) {
            operations[place] = Operation::Idle;
        }
        run_all(
            &EVERYTHING,
            "everything",
            capacity,
            &common_values(),
            &operations,
            pages,
        );
    }
}

#[test]
fn a_flush_keeps_clean_pages_and_they_leave_without_a_program() {
    let mut bench = Bench::new(&EVERYTHING, 4, &common_values(), Completion::Held);
    bench.run(&[
        Operation::Write(vec![0, 2]),
        Operation::Flush,
        Operation::Write(vec![0, 4]),
    ]);
    assert_eq!(bench.log, ["flush 0 2 kept", "hit"]);
    let counts = bench.buffer.counts();
    assert_eq!(
        (counts.dropped.clean, counts.rewrites_of_clean, counts.dirty),
        (1, 1, 2)
    );
}

/// Evicts whole clusters, oldest first, always with padding.
struct Padded(Vec<Entry>);

const PADDED: SchemeRow = SchemeRow {
    name: "padded",
    build: &|_| Box::new(Padded(Vec::new())),
    ..EVERYTHING
};

impl Scheme for Padded {
    fn insert(&mut self, entry: Entry, _: &Access) {
        self.0.push(entry);
    }

    fn touch(&mut self, _: Entry, _: &Access) {}

    fn remove(&mut self, entry: Entry) {
        self.0.retain(|held| *held != entry);
    }

    fn evict(&mut self, need: Need, _: &Access, _: &dyn View, victim: &mut Victim) {
        let first = if let Need::FlushPage(entry) = need {
            entry
        } else {
            self.0[0]
        };
        let cluster = |entry: &Entry| entry.page.0 / 4;
        victim.entries.extend(
            self.0
                .iter()
                .filter(|entry| cluster(entry) == cluster(&first)),
        );
        victim.entries.sort_by_key(|entry| entry.page);
        victim.grouping = Grouping::Cluster;
        victim.pad = true;
        self.0.retain(|entry| cluster(entry) != cluster(&first));
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

fn padding(parameters: &[(&'static str, Value)]) -> Vec<String> {
    let mut values = common_values();
    for (name, value) in parameters {
        values.set(name, value.clone());
    }
    let mut bench = Bench::new(&PADDED, 4, &values, Completion::AtOnce);
    bench.device.unwritten.insert(13);
    bench.run(&[
        Operation::Write(vec![15, 12, 0]),
        Operation::Write(vec![4, 8]),
        Operation::Fua(9),
        Operation::Drain,
    ]);
    let counts = bench.buffer.counts();
    let pads = bench.records.iter().flat_map(|record| &record.pads);
    let charged = pads.filter(|pad| pad.1 != PadContent::AtHand).count();
    assert_eq!(counts.pads.read + counts.pads.filled, charged as u64);
    bench.log.into_iter().map(String::from).collect()
}

#[test]
fn clusters_are_padded_by_the_rules() {
    let (first, second) = ("evict 12 15 +14", "fua 8 9 +10 +11");
    let drained = ["drain 0 +1 +2 +3", "drain 4 +5 +6 +7"];
    let text = |word: &str| Value::Text(word.into());
    assert_eq!(padding(&[])[..2], ["evict 12 15 ~13 +14", second]);
    assert_eq!(padding(&[])[2..], drained);
    assert_eq!(
        padding(&[("pad_unwritten", text("skip"))])[..2],
        [first, second]
    );
    let at_hand = padding(&[("pad_charge_reads", Value::Flag(false))]);
    assert_eq!(at_hand[..2], ["evict 12 15 ~13 =14", "fua 8 9 =10 =11"]);
    let bare = padding(&[("flush_pads", Value::Flag(false))]);
    assert_eq!(bare[1..], [second, "drain 0", "drain 4"]);
    let half = padding(&[("pad_min_fill", Value::Number(0.5))]);
    assert_eq!(half[1..], [second, "drain 0", "drain 4"]);
}
