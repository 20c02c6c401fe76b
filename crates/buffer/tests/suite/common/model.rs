//! Runs a naive model of a scheme and the scheme itself on the same operations and compares the
//! records.

use destage_base::Random;
use destage_base::parameter::{Value, Values};
use destage_buffer::{COMMON, SchemeRow, find};
use destage_sample::sampled;

use super::{Bench, Completion, Operation, Record, is_resident, random_operations};

/// Page writes per model, all sizes together: 300,000, or a million with `make whole`.
pub fn page_writes() -> usize {
    sampled(300_000, 1_000_000)
}

/// Dies of the bench's device.
pub const DIES: u64 = 4;

/// Capacity of the buffer in pages, and the number of different pages that the operations use.
pub const SIZES: [(usize, u64); 4] = [(1, 8), (13, 40), (60, 300), (64, 100)];

pub fn values(row: &SchemeRow, set: &[(&'static str, Value)]) -> Values {
    let mut values = Values::defaults(COMMON.iter().chain(row.parameters));
    for (name, value) in set {
        values.set(name, value.clone());
    }
    values
}

/// A naive model of a scheme. It keeps page numbers in vectors and has no page contents.
pub trait Model {
    /// A write request begins.
    fn begin(&mut self) {}
    /// Writes one page; returns the pages of each record that was destaged for it.
    fn write(&mut self, page: u64) -> Vec<Vec<u64>>;
    fn read(&mut self, page: u64) -> Vec<Vec<u64>>;
    fn trim(&mut self, page: u64);
    /// Makes the page durable with a record of this page alone; returns whether a record is needed.
    fn fua(&mut self, page: u64) -> bool;
    /// Whether the page is in RAM, dirty or clean.
    fn holds(&self, page: u64) -> bool;
    /// The pages of the next record of a flush; empty if nothing is dirty.
    fn flush(&mut self) -> Vec<u64>;
    /// One idle step; returns the pages that are written back.
    fn idle(&mut self) -> Vec<u64> {
        Vec::new()
    }
}

/// About a quarter of a million page writes over `pages` pages, mixed with all other operations of
/// a host.
pub fn operations((capacity, pages): (usize, u64)) -> Vec<Operation> {
    let mut random = Random::new(capacity as u64 + pages);
    let mut operations = random_operations(&mut random, pages, page_writes() / SIZES.len() / 2);
    for operation in &mut operations {
        if random.below(16) == 0 {
            *operation = Operation::Idle;
        }
    }
    operations
}

/// Runs random operations of all kinds on the scheme and on the model. Their records must be equal.
pub fn compare(
    scheme: &str,
    set: &[(&'static str, Value)],
    size: (usize, u64),
    model: &mut dyn Model,
) {
    compare_on(&operations(size), scheme, set, size, model);
}

/// Like [`compare`], on `operations`.
pub fn compare_on(
    operations: &[Operation],
    scheme: &str,
    set: &[(&'static str, Value)],
    size: (usize, u64),
    model: &mut dyn Model,
) {
    let row = find(scheme).unwrap();
    let (capacity, _) = size;
    let values = values(row, set);
    let completion = Completion::AtOnce;
    let mut bench = Bench::for_operations(row, capacity as u32, &values, completion, operations);
    for (number, operation) in operations.iter().chain(&[Operation::Drain]).enumerate() {
        let mut expected = Vec::new();
        match operation {
            Operation::Write(run) => {
                model.begin();
                expected.extend(run.iter().flat_map(|page| model.write(*page)));
            }
            Operation::Read(run) => expected.extend(run.iter().flat_map(|page| model.read(*page))),
            Operation::Trim(page) => model.trim(*page),
            Operation::Fua(page) => {
                model.begin();
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
        // Each operation is followed by a check of one page. The checks cycle through all pages, so every page is
        // checked many times.
        let page = number as u64 % size.1;
        assert_eq!(
            is_resident(&bench.buffer, page),
            model.holds(page),
            "{scheme} {size:?} {set:?}: page {page} after operation {number}, {operation:?}"
        );
    }
}

/// The records of `operations` on a buffer of 64 pages over a device of `dies` dies.
pub fn records(
    dies: u32,
    scheme: &str,
    set: &[(&'static str, Value)],
    operations: &[Operation],
) -> Vec<Record> {
    let row = find(scheme).unwrap();
    let values = values(row, set);
    let mut bench = Bench::over(dies, row, 64, &values, Completion::AtOnce, None);
    bench.run(operations);
    bench.records
}
