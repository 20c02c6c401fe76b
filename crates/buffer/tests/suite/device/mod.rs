//! Compares the schemes that watch the device or use idle time with naive models of their rules, over a device
//! with busy dies.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use crate::common;

mod co_active;
mod ecr;
mod gcar;
mod griffin;

use common::model::{DIES, SIZES, operations, values};
use common::{Bench, Completion, Device, Operation};
use destage_base::Random;
use destage_base::parameter::Value;
use destage_buffer::find;

/// A naive model of a scheme. It keeps page numbers in vectors and has no page contents.
trait Model {
    /// Writes one page; returns the pages of each record that was destaged for it.
    fn write(&mut self, page: u64, now: u64, device: &Device) -> Vec<Vec<u64>>;
    fn read(&mut self, page: u64, now: u64, device: &Device) -> Vec<Vec<u64>>;
    fn trim(&mut self, page: u64);
    /// Makes the page durable with a record of this page alone; returns whether a record is needed.
    fn fua(&mut self, page: u64) -> bool;
    /// The pages of the next record of a flush; empty if nothing is dirty.
    fn flush(&mut self, device: &Device) -> Vec<u64>;
    /// One idle step; returns the pages that are written back.
    fn idle(&mut self, now: u64, device: &Device) -> Vec<u64> {
        let _ = (now, device);
        Vec::new()
    }
}

/// Runs random operations of all kinds on the scheme and on the model. Their records must be equal. The dies
/// become busy and free at random. Before each operation the clock advances by up to `gap` ticks.
fn compare(
    scheme: &str,
    set: &[(&'static str, Value)],
    size: (usize, u64),
    gap: u64,
    model: &mut dyn Model,
) {
    let row = find(scheme).unwrap();
    let values = values(row, set);
    let (capacity, _) = size;
    let mut bench = Bench::new(row, capacity as u32, &values, Completion::AtOnce);
    let mut random = Random::new(capacity as u64);
    for (number, operation) in operations(size)
        .iter()
        .chain(&[Operation::Drain])
        .enumerate()
    {
        if random.below(8) == 0 {
            let die = random.below(DIES) as u32;
            if !bench.device.collecting.remove(&die) {
                bench.device.collecting.insert(die);
            }
            bench.device.queues = (0..DIES).map(|_| random.below(3) as u32).collect();
        }
        bench.pass(random.below(gap));
        let mut now = bench.now();
        let device = &bench.device;
        let mut tick = || {
            now += 1;
            now
        };
        let mut expected = Vec::new();
        match operation {
            Operation::Write(run) => run
                .iter()
                .for_each(|page| expected.extend(model.write(*page, tick(), device))),
            Operation::Read(run) => run
                .iter()
                .for_each(|page| expected.extend(model.read(*page, tick(), device))),
            Operation::Trim(page) => model.trim(*page),
            Operation::Fua(page) => {
                expected.extend(model.write(*page, tick(), device));
                expected.extend(model.fua(*page).then(|| vec![*page]));
            }
            Operation::Idle => {
                expected.push(model.idle(now, device));
                expected.retain(|pages| !pages.is_empty());
            }
            Operation::Flush | Operation::Drain => loop {
                let pages = model.flush(device);
                if pages.is_empty() {
                    break;
                }
                expected.push(pages);
            },
        }
        bench.records.clear();
        bench.log.clear();
        bench.apply(operation);
        let records = bench.records.iter();
        let destaged: Vec<_> = records.map(|record| record.pages.clone()).collect();
        assert_eq!(
            destaged, expected,
            "{scheme} {size:?} {set:?}: operation {number}, {operation:?}"
        );
    }
}

/// The die of `page` if each run of `stride` consecutive pages is on one die.
fn die(page: u64, stride: u64) -> usize {
    (page / stride % DIES) as usize
}
