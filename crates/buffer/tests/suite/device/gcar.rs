//! Compares `gcar` with a naive model of its rule, and with its base scheme while no die collects garbage.

use destage_base::Random;
use destage_base::parameter::Value;

use super::common::model::records;
use super::common::{Device, Operation, random_operations};
use super::{Model, SIZES, compare, die};

/// `order` has the pages, most recently used first, and for each page whether it is dirty. With `region` the base
/// scheme is `cflru`, otherwise `lru`.
struct Gcar {
    capacity: usize,
    window: usize,
    region: Option<usize>,
    order: Vec<(u64, bool)>,
}

/// The index in `order` of the page that the base scheme would evict.
fn base_victim(order: &[(u64, bool)], region: Option<usize>) -> usize {
    let last = order.len() - 1;
    let Some(region) = region else { return last };
    let first = order.len().saturating_sub(region);
    let clean = (first..order.len()).rev().find(|place| !order[*place].1);
    clean.unwrap_or(last)
}

impl Gcar {
    fn victim(&self, device: &Device) -> u64 {
        let mut left = self.order.clone();
        let mut seen = Vec::new();
        while !left.is_empty() && seen.len() < self.window {
            seen.push(left.remove(base_victim(&left, self.region)).0);
        }
        let is_free = |page: &&u64| !device.collecting.contains(&(die(**page, 1) as u32));
        *seen.iter().find(is_free).unwrap_or(&seen[0])
    }

    fn access(&mut self, page: u64, write: bool, device: &Device) -> Vec<Vec<u64>> {
        let mut evicted = Vec::new();
        let mut dirty = write;
        if let Some(place) = self.order.iter().position(|held| held.0 == page) {
            dirty |= self.order.remove(place).1;
        } else if self.order.len() == self.capacity {
            let victim = self.victim(device);
            let place = self.order.iter().position(|held| held.0 == victim);
            let (_, was_dirty) = self.order.remove(place.unwrap());
            evicted.extend(was_dirty.then(|| vec![victim]));
        }
        self.order.insert(0, (page, dirty));
        evicted
    }
}

impl Model for Gcar {
    fn write(&mut self, page: u64, _: u64, device: &Device) -> Vec<Vec<u64>> {
        self.access(page, true, device)
    }
    fn read(&mut self, page: u64, _: u64, device: &Device) -> Vec<Vec<u64>> {
        if self.region.is_some() {
            self.access(page, false, device)
        } else {
            Vec::new()
        }
    }
    fn trim(&mut self, page: u64) {
        self.order.retain(|held| held.0 != page);
    }
    fn fua(&mut self, page: u64) -> bool {
        let place = self.order.iter().position(|held| held.0 == page).unwrap();
        if self.region.is_none() {
            self.order.remove(place);
            return true;
        }
        std::mem::replace(&mut self.order[place].1, false)
    }
    fn flush(&mut self, _: &Device) -> Vec<u64> {
        let Some(place) = self.order.iter().rposition(|held| held.1) else {
            return Vec::new();
        };
        let page = self.order[place].0;
        if self.region.is_none() {
            self.order.remove(place);
        } else {
            self.order[place].1 = false;
        }
        vec![page]
    }
}

#[test]
fn follows_its_rule() {
    for (capacity, pages) in SIZES {
        for (base, window) in [
            ("lru", 1),
            ("lru", 3),
            ("lru", 64),
            ("cflru", 2),
            ("cflru", 64),
        ] {
            let region = (base == "cflru").then(|| (capacity / 4).max(1));
            let mut model = Gcar {
                capacity,
                window,
                region,
                order: Vec::new(),
            };
            let set = [
                ("gcar_base", Value::Text(base.into())),
                ("gcar_window", Value::Integer(window as u64)),
            ];
            compare("gcar", &set, (capacity, pages), 1, &mut model);
        }
    }
}

#[test]
fn is_its_base_where_nothing_is_collecting() {
    let mut operations = random_operations(&mut Random::new(7), 500, 100_000);
    operations.push(Operation::Drain);
    for base in ["lru", "cflru"] {
        let set = [("gcar_base", Value::Text(base.into()))];
        assert!(records(4, "gcar", &set, &operations) == records(4, base, &[], &operations));
    }
}
