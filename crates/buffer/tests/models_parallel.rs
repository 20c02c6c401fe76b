//! The schemes that know about elements, sets and the future, each against a model from its rules.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use common::{Bench, Completion, Operation, Record, random_operations};
use destage_base::Random;
use destage_base::parameter::{Value, Values};
use destage_buffer::destage::Grouping;
use destage_buffer::{COMMON, Cause, SchemeRow, find};

/// Page writes per model.
const PAGE_WRITES: usize = 1_000_000;

/// Elements of the bench's device.
const ELEMENTS: u64 = 4;

/// Sizes, from one page upward, and over how many pages the stream goes.
const SIZES: [(usize, u64); 4] = [(1, 8), (13, 40), (60, 300), (64, 100)];

fn values(row: &SchemeRow, set: &[(&'static str, Value)]) -> Values {
    let mut values = Values::defaults(COMMON.iter().chain(row.parameters));
    for (name, value) in set {
        values.set(name, value.clone());
    }
    values
}

/// What a model does; page numbers only, vectors only.
trait Model {
    /// Everything destaged for the write of one page, as records.
    fn write(&mut self, page: u64) -> Vec<Vec<u64>>;
    fn read(&mut self, page: u64);
    fn trim(&mut self, page: u64);
    /// The page alone has to reach the flash; whether there is anything to do.
    fn fua(&mut self, page: u64) -> bool;
    /// The next record of a flush; empty once there is nothing dirty.
    fn flush(&mut self) -> Vec<u64>;
    /// One idle step.
    fn idle(&mut self) -> Vec<u64> {
        Vec::new()
    }
}

/// Runs random operations of all kinds through scheme and model: the records must be equal.
fn compare(scheme: &str, set: &[(&'static str, Value)], size: (usize, u64), model: &mut dyn Model) {
    let row = find(scheme).unwrap();
    let (capacity, pages) = size;
    let mut random = Random::new(capacity as u64 + pages);
    let mut operations = random_operations(&mut random, pages, PAGE_WRITES / SIZES.len() / 2);
    for operation in &mut operations {
        if random.below(16) == 0 {
            *operation = Operation::Idle;
        }
    }
    let mut bench =
        Bench::new(row, capacity as u32, &values(row, set), Completion::AtOnce).unwrap();
    for (number, operation) in operations.iter().chain(&[Operation::Drain]).enumerate() {
        let mut expected = Vec::new();
        match operation {
            Operation::Write(run) => {
                expected.extend(run.iter().flat_map(|page| model.write(*page)));
            }
            Operation::Read(run) => run.iter().for_each(|page| model.read(*page)),
            Operation::Trim(page) => model.trim(*page),
            Operation::Fua(page) => {
                expected.extend(model.write(*page));
                expected.extend(model.fua(*page).then(|| vec![*page]));
            }
            Operation::Idle => {
                expected.extend(Some(model.idle()).filter(|pages| !pages.is_empty()))
            }
            Operation::Flush | Operation::Drain => loop {
                let pages = model.flush();
                if pages.is_empty() {
                    break;
                }
                expected.push(pages);
            },
        }
        bench.records.clear();
        bench.log.clear();
        bench.apply(operation);
        let destaged: Vec<_> = bench
            .records
            .iter()
            .map(|record| record.pages.clone())
            .collect();
        assert_eq!(
            destaged, expected,
            "{scheme} {size:?} {set:?}: operation {number}, {operation:?}"
        );
    }
}

/// The records of `operations`.
fn records(
    scheme: &str,
    set: &[(&'static str, Value)],
    capacity: u32,
    operations: &[Operation],
) -> Vec<Record> {
    let row = find(scheme).unwrap();
    let mut bench = Bench::new(row, capacity, &values(row, set), Completion::AtOnce).unwrap();
    bench.run(operations);
    bench.records
}

/// Vectors of pages per element, the next victim first.
struct EpoModel {
    capacity: usize,
    stride: u64,
    batch_max: usize,
    queues: Vec<Vec<u64>>,
    /// Pages by last write, oldest first.
    by_age: Vec<u64>,
}

impl EpoModel {
    fn new(capacity: usize, stride: u64, batch_max: usize) -> Self {
        let queues = vec![Vec::new(); ELEMENTS as usize];
        let by_age = Vec::new();
        Self {
            capacity,
            stride,
            batch_max,
            queues,
            by_age,
        }
    }

    fn drop_page(&mut self, page: u64) -> bool {
        let held = self.by_age.contains(&page);
        self.by_age.retain(|other| *other != page);
        for queue in &mut self.queues {
            queue.retain(|other| *other != page);
        }
        held
    }

    fn batch(&mut self) -> Vec<u64> {
        let mut chosen: Vec<usize> = (0..self.queues.len()).collect();
        chosen.retain(|queue| !self.queues[*queue].is_empty());
        let age = |page: u64| self.by_age.iter().position(|held| *held == page).unwrap();
        chosen.sort_by_key(|queue| {
            let queue = &self.queues[*queue];
            (usize::MAX - queue.len(), age(queue[0]))
        });
        chosen.truncate(self.batch_max);
        chosen.sort_unstable();
        let pages: Vec<u64> = chosen.iter().map(|queue| self.queues[*queue][0]).collect();
        for page in &pages {
            self.drop_page(*page);
        }
        pages
    }
}

impl Model for EpoModel {
    fn write(&mut self, page: u64) -> Vec<Vec<u64>> {
        let mut batches = Vec::new();
        if !self.drop_page(page) && self.by_age.len() == self.capacity {
            batches.push(self.batch());
        }
        self.by_age.push(page);
        self.queues[(page / self.stride % ELEMENTS) as usize].push(page);
        batches
    }
    fn read(&mut self, _: u64) {}
    fn trim(&mut self, page: u64) {
        self.drop_page(page);
    }
    fn fua(&mut self, page: u64) -> bool {
        self.drop_page(page)
    }
    fn flush(&mut self) -> Vec<u64> {
        self.batch()
    }
}

#[test]
fn epo() {
    for (capacity, pages) in SIZES {
        for (stride, batch_max) in [(1, 4), (3, 4), (1, 1), (1, 2), (2, 3)] {
            let set = [
                ("stride", Value::Integer(stride)),
                ("epo_batch_max", Value::Integer(batch_max)),
            ];
            let mut model = EpoModel::new(capacity, stride, batch_max as usize);
            compare("epo", &set, (capacity, pages), &mut model);
        }
    }
}

/// A stride beyond all pages puts all of them on one element.
#[test]
fn epo_on_one_element_is_page_lru() {
    let operations = random_operations(&mut Random::new(4), 500, 100_000);
    let one = records(
        "epo",
        &[("stride", Value::Integer(1 << 20))],
        64,
        &operations,
    );
    let mut lru = records("lru", &[], 64, &operations);
    for record in lru.iter_mut().filter(|record| record.cause != Cause::Fua) {
        record.grouping = Grouping::Batch;
    }
    assert!(one == lru);
}
