//! Compares `epo` and `cflru` with naive models of their rules.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use crate::common;

use common::model::{DIES, Model, SIZES, compare, records};
use common::{Operation, random_operations};
use destage_base::parameter::{Value, Values};
use destage_base::{Lpn, Random};
use destage_buffer::destage::{Grouping, Slot};
use destage_buffer::scheme::{Access, AccessKind, Entry, Need, Victim};
use destage_buffer::view::NoDevice;
use destage_buffer::{DestageCause, Scheme, SchemeConfig, find};

/// The model has a queue of pages for each die. In each queue the next victim is first.
struct EpoModel {
    capacity: usize,
    stride: u64,
    batch_max: usize,
    queues: Vec<Vec<u64>>,
    /// Pages in the order of their last write, oldest first.
    by_age: Vec<u64>,
    /// Whether the model finds pages by their flash address. If so, a rewrite never hits.
    physical: bool,
    /// The value of `epo_pool`, which selects how free pages are counted. `free` is the resulting number of free
    /// pages.
    pool: &'static str,
    free: i64,
}

impl EpoModel {
    fn new(capacity: usize, stride: u64, batch_max: usize) -> Self {
        let queues = vec![Vec::new(); DIES as usize];
        let by_age = Vec::new();
        Self {
            capacity,
            stride,
            batch_max,
            queues,
            by_age,
            physical: false,
            pool: "corrected",
            free: capacity as i64,
        }
    }

    fn is_full(&self) -> bool {
        match self.pool {
            "corrected" => self.by_age.len() == self.capacity,
            _ => self.free == 0 && !self.by_age.is_empty(),
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
    fn holds(&self, page: u64) -> bool {
        self.by_age.contains(&page)
    }
    fn write(&mut self, page: u64) -> Vec<Vec<u64>> {
        let mut batches = Vec::new();
        let was_here = self.drop_page(page);
        if was_here && self.physical {
            batches.push(vec![page]);
            self.free += 1;
        }
        if !was_here || self.physical {
            if self.is_full() {
                batches.push(self.batch());
                self.free += if self.pool == "every_queue" { 4 } else { 0 };
            }
            match self.pool {
                "printed" => self.free += 3,
                _ => self.free = (self.free - 1).max(0),
            }
        }
        self.by_age.push(page);
        self.queues[(page / self.stride % DIES) as usize].push(page);
        batches
    }
    fn read(&mut self, _: u64) -> Vec<Vec<u64>> {
        Vec::new()
    }
    fn trim(&mut self, page: u64) {
        self.free += i64::from(self.drop_page(page));
    }
    fn fua(&mut self, page: u64) -> bool {
        self.free += 1;
        self.drop_page(page)
    }
    fn flush(&mut self) -> Vec<u64> {
        let batch = self.batch();
        self.free += batch.len() as i64;
        batch
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

#[test]
fn epo_as_printed() {
    for (capacity, pages) in SIZES {
        for (physical, pool) in [
            (true, "corrected"),
            (false, "every_queue"),
            (true, "printed"),
        ] {
            let key = if physical { "physical" } else { "logical" };
            let set = [
                ("epo_key", Value::Text(key.into())),
                ("epo_pool", Value::Text(pool.into())),
            ];
            let mut model = EpoModel {
                physical,
                pool,
                ..EpoModel::new(capacity, 1, 4)
            };
            compare("epo", &set, (capacity, pages), &mut model);
        }
    }
}

#[test]
fn epo_on_one_die_is_page_lru() {
    let operations = random_operations(&mut Random::new(4), 500, 100_000);
    let mut lru = records(1, "lru", &[], &operations);
    for record in lru
        .iter_mut()
        .filter(|record| record.cause != DestageCause::Fua)
    {
        record.grouping = Grouping::Batch;
    }
    assert!(records(1, "epo", &[], &operations) == lru);
    // With a stride larger than all page numbers, all pages are on one of the four dies.
    let stride = [("stride", Value::Integer(1 << 20))];
    assert!(records(4, "epo", &stride, &operations) == lru);
}

/// `order` has the pages, most recently used first, and for each page whether it is dirty.
struct CflruModel {
    capacity: usize,
    window: usize,
    order: Vec<(u64, bool)>,
}

impl CflruModel {
    fn access(&mut self, page: u64, write: bool) -> Vec<Vec<u64>> {
        let mut evicted = Vec::new();
        let mut dirty = write;
        if let Some(place) = self.order.iter().position(|held| held.0 == page) {
            dirty |= self.order.remove(place).1;
        } else if self.order.len() == self.capacity {
            let first = self.order.len().saturating_sub(self.window);
            let clean = (first..self.order.len())
                .rev()
                .find(|place| !self.order[*place].1);
            let (victim, was_dirty) = self.order.remove(clean.unwrap_or(self.order.len() - 1));
            evicted.extend(was_dirty.then(|| vec![victim]));
        }
        self.order.insert(0, (page, dirty));
        evicted
    }
}

impl Model for CflruModel {
    fn holds(&self, page: u64) -> bool {
        self.order.iter().any(|held| held.0 == page)
    }
    fn write(&mut self, page: u64) -> Vec<Vec<u64>> {
        self.access(page, true)
    }
    fn read(&mut self, page: u64) -> Vec<Vec<u64>> {
        self.access(page, false)
    }
    fn trim(&mut self, page: u64) {
        self.order.retain(|held| held.0 != page);
    }
    fn fua(&mut self, page: u64) -> bool {
        let held = self.order.iter_mut().find(|held| held.0 == page).unwrap();
        std::mem::replace(&mut held.1, false)
    }
    fn flush(&mut self) -> Vec<u64> {
        let first = self.order.iter_mut().rfind(|held| held.1);
        first.map_or(Vec::new(), |held| {
            held.1 = false;
            vec![held.0]
        })
    }
}

#[test]
fn cflru() {
    for (capacity, pages) in SIZES {
        for share in [0.0, 0.25, 0.6, 1.0] {
            let window = ((capacity as f64 * share) as usize).max(1);
            let mut model = CflruModel {
                capacity,
                window,
                order: Vec::new(),
            };
            let set = [("cflru_window", Value::Number(share))];
            compare("cflru", &set, (capacity, pages), &mut model);
        }
    }
}

/// Under writes and trims alone, no page is clean. So `cflru` finds no clean victim and evicts like page LRU.
#[test]
fn cflru_under_writes_is_page_lru() {
    let mut operations = random_operations(&mut Random::new(5), 500, 100_000);
    operations.retain(|operation| matches!(operation, Operation::Write(_) | Operation::Trim(_)));
    for window in [0.0, 0.25, 1.0] {
        let set = [("cflru_window", Value::Number(window))];
        assert!(records(4, "cflru", &set, &operations) == records(4, "lru", &[], &operations));
    }
}

/// `candidates` lists the pages in the order in which they are evicted as long as no page enters.
#[test]
fn cflru_shows_its_victims_in_order() {
    let mut random = Random::new(6);
    for _ in 0..2000 {
        let capacity = 1 + random.below(12) as u32;
        let window = random.unit();
        let values = Values::defaults(find("cflru").unwrap().parameters);
        let mut values = values.clone();
        values.set("cflru_window", Value::Number(window));
        let mut scheme = build("cflru", capacity, &values);
        for slot in 0..capacity {
            let entry = Entry {
                page: Lpn(u64::from(slot)),
                slot: Slot(slot),
            };
            let writes = random.below(2) == 0;
            scheme.insert(
                entry,
                &access(if writes {
                    AccessKind::Write
                } else {
                    AccessKind::Read
                }),
            );
        }
        let mut shown = Vec::new();
        scheme.candidates(&mut |entry| {
            shown.push(entry);
            true
        });
        for entry in &shown {
            let mut victim = Victim::default();
            let need = Need::Evict(Lpn(1000));
            scheme.evict(need, &access(AccessKind::Write), &NoDevice, &mut victim);
            // Each eviction must evict the next page of the list.
            assert_eq!(victim.entries, [*entry]);
        }
        assert_eq!(scheme.len(), 0);
        assert_eq!(shown.len(), capacity as usize);
    }
}

fn build(scheme: &str, capacity: u32, values: &Values) -> Box<dyn Scheme> {
    let config = SchemeConfig {
        dies: 4,
        ..SchemeConfig::new(capacity, 4, values)
    };
    (find(scheme).unwrap().build)(&config)
}

fn access(kind: AccessKind) -> Access {
    Access {
        kind,
        virtual_time: 1,
        now: 0,
        request: 1,
        request_pages: 1,
    }
}
