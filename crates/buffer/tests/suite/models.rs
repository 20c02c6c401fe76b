//! Compares each page-level scheme with a naive model, on random page writes.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use crate::common;

use common::{Bench, Completion, Operation};
use destage_base::Random;
use destage_base::parameter::{Parameter, Value, Values};
use destage_buffer::{COMMON, find};

/// A naive model that keeps its pages in vectors; the first element is the next victim.
trait Model {
    /// Writes one page of request `request`; returns the pages destaged for it.
    fn write(&mut self, page: u64, request: u64) -> Option<Vec<u64>>;
    /// Removes the next victim and returns its pages.
    fn pop(&mut self) -> Vec<u64>;
}

struct Pages {
    capacity: usize,
    promotes: bool,
    order: Vec<u64>,
}

impl Model for Pages {
    fn write(&mut self, page: u64, _: u64) -> Option<Vec<u64>> {
        if let Some(place) = self.order.iter().position(|held| *held == page) {
            if self.promotes {
                self.order.remove(place);
                self.order.push(page);
            }
            return None;
        }
        let victim = (self.order.len() == self.capacity).then(|| self.pop());
        self.order.push(page);
        victim
    }

    fn pop(&mut self) -> Vec<u64> {
        vec![self.order.remove(0)]
    }
}

struct Requests {
    capacity: usize,
    /// For each request, its number and the pages that no later request has rewritten.
    entries: Vec<(u64, Vec<u64>)>,
}

impl Model for Requests {
    fn write(&mut self, page: u64, request: u64) -> Option<Vec<u64>> {
        let mut victim = None;
        if let Some(home) = self
            .entries
            .iter()
            .position(|entry| entry.1.contains(&page))
        {
            self.entries[home].1.retain(|held| *held != page);
            if self.entries[home].1.is_empty() {
                self.entries.remove(home);
            }
        } else if self
            .entries
            .iter()
            .map(|entry| entry.1.len())
            .sum::<usize>()
            == self.capacity
        {
            victim = Some(self.pop());
        }
        match self.entries.last_mut() {
            Some((number, pages)) if *number == request => pages.push(page),
            _ => self.entries.push((request, vec![page])),
        }
        victim
    }

    fn pop(&mut self) -> Vec<u64> {
        let (_, mut pages) = self.entries.remove(0);
        pages.sort_unstable();
        pages
    }
}

fn compare(scheme: &str, unit: Option<&str>, capacity: u32, pages: u64, model: &mut dyn Model) {
    let row = find(scheme).unwrap();
    let rows: Vec<&Parameter> = COMMON.iter().chain(row.parameters).collect();
    let mut values = Values::defaults(rows);
    if let Some(unit) = unit {
        values.set("lru_unit", Value::Text(unit.into()));
    }
    let mut bench = Bench::new(row, capacity, &values, Completion::Random(Random::new(3)));
    let mut random = Random::new(u64::from(capacity));
    let mut request = 0;
    let mut written = 0;
    while written < common::model::page_writes() / 3 + 1 {
        request += 1;
        let range = if random.below(3) == 0 {
            pages
        } else {
            pages / 4
        };
        let first = random.below(range);
        let run: Vec<u64> = (first..=first + random.below(5)).collect();
        written += run.len();
        let expected: Vec<_> = run
            .iter()
            .filter_map(|page| model.write(*page, request))
            .collect();
        bench.records.clear();
        bench.log.clear();
        bench.apply(&Operation::Write(run));
        let destaged: Vec<_> = bench
            .records
            .iter()
            .map(|record| record.pages.clone())
            .collect();
        assert_eq!(destaged, expected, "request {request}");
    }
    bench.records.clear();
    bench.apply(&Operation::Drain);
    for record in &bench.records {
        assert_eq!(record.pages, model.pop());
    }
}

/// Capacity of the buffer in pages, and the range of page numbers; the first size is a single page.
const SIZES: [(u32, u64); 3] = [(1, 8), (13, 40), (60, 300)];

#[test]
fn fifo() {
    for (capacity, pages) in SIZES {
        let mut model = Pages {
            capacity: capacity as usize,
            promotes: false,
            order: Vec::new(),
        };
        compare("fifo", None, capacity, pages, &mut model);
    }
}

#[test]
fn lru() {
    for (capacity, pages) in SIZES {
        let mut model = Pages {
            capacity: capacity as usize,
            promotes: true,
            order: Vec::new(),
        };
        compare("lru", None, capacity, pages, &mut model);
    }
}

#[test]
fn lru_by_request() {
    for (capacity, pages) in SIZES {
        let mut model = Requests {
            capacity: capacity as usize,
            entries: Vec::new(),
        };
        compare("lru", Some("request"), capacity, pages, &mut model);
    }
}
