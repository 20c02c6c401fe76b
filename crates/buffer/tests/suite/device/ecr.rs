//! Compares `ecr` with a naive model of its rule, and with page LRU while all die queues are empty.

use destage_base::Random;
use destage_base::parameter::Value;

use super::common::model::{DIES, records};
use super::common::{Device, Operation, random_operations};
use super::{Model, SIZES, compare, die};

/// Pages in the order of their last write, oldest first.
struct Ecr {
    capacity: usize,
    stride: u64,
    old_percent: usize,
    order: Vec<u64>,
}

impl Ecr {
    fn victim(&self, device: &Device) -> u64 {
        let old = &self.order[..self.order.len() * self.old_percent / 100];
        let mut best = None;
        // The loop visits pages from the oldest to the newest. So among dies with equally long queues, it chooses
        // the die with the oldest page.
        for page in &self.order {
            let queue = device
                .queues
                .get(die(*page, self.stride))
                .copied()
                .unwrap_or(0);
            if best.is_none_or(|(least, _)| queue < least) {
                best = Some((queue, *page));
            }
        }
        match best {
            Some((_, page)) if old.contains(&page) => page,
            _ => self.order[0],
        }
    }
}

impl Model for Ecr {
    fn write(&mut self, page: u64, _: u64, device: &Device) -> Vec<Vec<u64>> {
        let mut evicted = Vec::new();
        if !self.order.contains(&page) && self.order.len() == self.capacity {
            let victim = self.victim(device);
            self.trim(victim);
            evicted.push(vec![victim]);
        }
        self.trim(page);
        self.order.push(page);
        evicted
    }
    fn read(&mut self, _: u64, _: u64, _: &Device) -> Vec<Vec<u64>> {
        Vec::new()
    }
    fn trim(&mut self, page: u64) {
        self.order.retain(|held| *held != page);
    }
    fn fua(&mut self, page: u64) -> bool {
        self.trim(page);
        true
    }
    fn flush(&mut self, device: &Device) -> Vec<u64> {
        if self.order.is_empty() {
            return Vec::new();
        }
        let victim = self.victim(device);
        self.trim(victim);
        vec![victim]
    }
}

#[test]
fn follows_its_rule() {
    for (capacity, pages) in SIZES {
        for (stride, old_percent) in [(1, 50), (3, 50), (1, 0), (1, 100), (1, 17)] {
            let mut model = Ecr {
                capacity,
                stride,
                old_percent,
                order: Vec::new(),
            };
            let set = [
                ("stride", Value::Integer(stride)),
                ("ecr_old", Value::Integer(old_percent as u64)),
            ];
            compare("ecr", &set, (capacity, pages), 1, &mut model);
        }
    }
}

#[test]
fn is_page_lru_where_queues_say_nothing() {
    let mut operations = random_operations(&mut Random::new(7), 500, 100_000);
    operations.push(Operation::Drain);
    let lru = records(4, "lru", &[], &operations);
    for percent in [0, 50, 100] {
        let set = [("ecr_old", Value::Integer(percent))];
        assert!(records(DIES as u32, "ecr", &set, &operations) == lru);
        assert!(records(1, "ecr", &set, &operations) == lru);
    }
}
