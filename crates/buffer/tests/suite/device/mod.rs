//! The later schemes against models made from their rules, over a device whose dies are busy.

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

/// What a model does; page numbers only, vectors only.
trait Model {
    /// Everything destaged for the write of one page, as records.
    fn write(&mut self, page: u64, now: u64, device: &Device) -> Vec<Vec<u64>>;
    fn read(&mut self, page: u64, now: u64, device: &Device) -> Vec<Vec<u64>>;
    fn trim(&mut self, page: u64);
    /// The page alone has to reach the flash; whether there is anything to do.
    fn fua(&mut self, page: u64) -> bool;
    /// The next record of a flush; empty once there is nothing dirty.
    fn flush(&mut self, device: &Device) -> Vec<u64>;
    /// One idle step.
    fn idle(&mut self, now: u64, device: &Device) -> Vec<u64> {
        let _ = (now, device);
        Vec::new()
    }
}

/// Runs random operations of all kinds through scheme and model, over dies that become busy and free at
/// random: the records must be equal.
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

/// The die of `page` where so many pages in a row are on one.
fn die(page: u64, stride: u64) -> usize {
    (page / stride % DIES) as usize
}
