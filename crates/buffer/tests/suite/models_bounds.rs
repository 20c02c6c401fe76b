//! Compares the bounds `belady` and `infinite` with naive models, and `belady` also with an exhaustive search.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use crate::common;

use common::model::{Model, SIZES, compare, operations, records, values};
use common::{Bench, Completion, Operation};
use destage_base::Random;
use destage_buffer::{SchemeConfig, find};

/// `order` has the buffered pages in the order of their last write, oldest first. `future` has all page writes of
/// the stream.
struct BeladyModel {
    capacity: usize,
    order: Vec<u64>,
    future: Vec<u64>,
    now: usize,
}

impl Model for BeladyModel {
    fn holds(&self, page: u64) -> bool {
        self.order.contains(&page)
    }
    fn write(&mut self, page: u64) -> Vec<Vec<u64>> {
        let mut evicted = Vec::new();
        self.now += 1;
        if let Some(place) = self.order.iter().position(|held| *held == page) {
            self.order.remove(place);
        } else if self.order.len() == self.capacity {
            evicted.push(self.flush());
        }
        self.order.push(page);
        evicted
    }
    fn read(&mut self, _: u64) -> Vec<Vec<u64>> {
        Vec::new()
    }
    fn trim(&mut self, page: u64) {
        self.order.retain(|held| *held != page);
    }
    fn fua(&mut self, page: u64) -> bool {
        self.trim(page);
        true
    }
    fn flush(&mut self) -> Vec<u64> {
        let mut farthest = None;
        for page in &self.order {
            let next = self.future[self.now..]
                .iter()
                .position(|other| other == page);
            let next = next.unwrap_or(usize::MAX);
            if farthest.is_none_or(|(most, _)| next > most) {
                farthest = Some((next, *page));
            }
        }
        farthest.map_or(Vec::new(), |(_, page)| {
            self.trim(page);
            vec![page]
        })
    }
}

#[test]
fn belady() {
    for size in SIZES {
        let future = common::page_writes(&operations(size))
            .iter()
            .map(|page| page.0)
            .collect();
        let mut model = BeladyModel {
            capacity: size.0,
            order: Vec::new(),
            future,
            now: 0,
        };
        compare("belady", &[], size, &mut model);
    }
}

/// `belady` destages no more pages than the best sequence of victims. `least` finds this minimum by trying all
/// sequences.
#[test]
fn belady_is_a_bound() {
    fn least(held: &[u64], stream: &[u64], capacity: usize) -> usize {
        let Some((page, rest)) = stream.split_first() else {
            return held.len();
        };
        if held.contains(page) {
            return least(held, rest, capacity);
        }
        if held.len() < capacity {
            return least(&[held, &[*page]].concat(), rest, capacity);
        }
        let choices = (0..held.len()).map(|victim| {
            let mut held = held.to_vec();
            held[victim] = *page;
            1 + least(&held, rest, capacity)
        });
        choices.min().unwrap()
    }
    let mut random = Random::new(7);
    for _ in 0..2000 {
        let stream: Vec<u64> = (0..12).map(|_| random.below(6)).collect();
        let capacity = 1 + random.below(3) as usize;
        let mut operations: Vec<_> = stream
            .iter()
            .map(|page| Operation::Write(vec![*page]))
            .collect();
        operations.push(Operation::Drain);
        let row = find("belady").unwrap();
        let values = values(row, &[]);
        let completion = Completion::AtOnce;
        let mut bench =
            Bench::for_operations(row, capacity as u32, &values, completion, &operations);
        bench.run(&operations);
        assert_eq!(
            bench.records.len(),
            least(&[], &stream, capacity),
            "{capacity}: {stream:?}"
        );
    }
}

#[test]
#[should_panic(expected = "a trace that is read to its end")]
fn belady_refuses_to_guess() {
    let row = find("belady").unwrap();
    assert!(row.needs_future());
    let _ = (row.build)(&SchemeConfig::new(4, 4, &values(row, &[])));
}

#[test]
fn infinite_is_written_once_per_page_and_flush() {
    let mut operations = operations((64, 500));
    operations.push(Operation::Drain);
    let records = records(4, "infinite", &[], &operations);
    let mut dirty: Vec<u64> = Vec::new();
    let mut records = records.iter();
    for operation in &operations {
        match operation {
            Operation::Write(run) => {
                dirty.retain(|page| !run.contains(page));
                dirty.extend(run);
            }
            Operation::Trim(page) => dirty.retain(|held| held != page),
            Operation::Fua(page) => {
                dirty.retain(|held| held != page);
                assert_eq!(records.next().unwrap().pages, [*page]);
            }
            Operation::Flush | Operation::Drain => {
                for page in dirty.drain(..) {
                    assert_eq!(records.next().unwrap().pages, [page]);
                }
            }
            Operation::Read(_) | Operation::Idle => {}
        }
    }
    assert_eq!(records.next(), None);
}
