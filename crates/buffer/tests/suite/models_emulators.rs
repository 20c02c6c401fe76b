//! Compares the write buffers of emulators with naive models of their rules.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use crate::common;

use std::collections::BTreeSet;

use common::model::{DIES, Model, SIZES, compare_on, operations, records};
use destage_base::parameter::Value;
use destage_base::time::TICKS_PER_US;

/// Every variant is compared at every size, so 3000 operations for each pair of variant and size are enough.
fn compare(scheme: &str, set: &[(&'static str, Value)], size: (usize, u64), model: &mut dyn Model) {
    compare_on(&operations(size)[..3_000], scheme, set, size, model);
}

/// FEMU: a list of pages in the order of their last write.
struct Femu {
    watermark: usize,
    batch: usize,
    order: Vec<u64>,
}

impl Femu {
    fn new(capacity: usize, percent: usize) -> Self {
        let watermark = (capacity * percent / 100).max(1);
        Self {
            watermark,
            batch: capacity.saturating_sub(watermark).max(1),
            order: Vec::new(),
        }
    }

    fn take(&mut self) -> Vec<u64> {
        let pages = self.batch.min(self.order.len());
        self.order.drain(..pages).collect()
    }
}

impl Model for Femu {
    fn write(&mut self, page: u64) -> Vec<Vec<u64>> {
        let mut left = Vec::new();
        if !self.holds(page) && self.order.len() >= self.watermark {
            left.push(self.take());
        }
        self.trim(page);
        self.order.push(page);
        left
    }
    fn read(&mut self, _: u64) -> Vec<Vec<u64>> {
        Vec::new()
    }
    fn trim(&mut self, page: u64) {
        self.order.retain(|held| *held != page);
    }
    fn fua(&mut self, page: u64) -> bool {
        let held = self.holds(page);
        self.trim(page);
        held
    }
    fn holds(&self, page: u64) -> bool {
        self.order.contains(&page)
    }
    fn flush(&mut self) -> Vec<u64> {
        self.take()
    }
}

#[test]
fn femu() {
    for size in SIZES {
        for percent in [1, 40, 75, 90, 100] {
            let set = [("femu_watermark_percent", Value::Integer(percent as u64))];
            compare("femu", &set, size, &mut Femu::new(size.0, percent));
        }
    }
}

#[test]
fn a_watermark_of_all_pages_is_lru() {
    let operations = &operations((64, 200))[..20_000];
    let set = [("femu_watermark_percent", Value::Integer(100))];
    assert!(records(4, "femu", &set, operations) == records(4, "lru", &[], operations));
    assert!(records(4, "femu", &[], operations) != records(4, "lru", &[], operations));
}

/// MQSim: a list of pages in the order of their last use, and a filter with the pages of the current period.
struct MqSim {
    capacity: usize,
    period: u64,
    order: Vec<u64>,
    filter: BTreeSet<u64>,
    emptied_after: u64,
    clock: u64,
    /// The time of the first page of the latest request with writes; `None` until that page is written.
    came: Option<u64>,
}

impl Model for MqSim {
    fn begin(&mut self) {
        if let Some(came) = self.came.take().filter(|came| *came > self.emptied_after) {
            self.filter.clear();
            self.emptied_after = came + self.period;
        }
    }
    fn write(&mut self, page: u64) -> Vec<Vec<u64>> {
        self.clock += 1;
        self.came.get_or_insert(self.clock);
        let mut left = Vec::new();
        if !self.holds(page) && self.order.len() == self.capacity {
            left.push(vec![self.order.remove(0)]);
        }
        self.order.retain(|held| *held != page);
        if self.filter.insert(page) {
            left.push(vec![page]);
        } else {
            self.order.push(page);
        }
        left
    }
    fn read(&mut self, page: u64) -> Vec<Vec<u64>> {
        self.clock += 1;
        if self.holds(page) {
            self.order.retain(|held| *held != page);
            self.order.push(page);
        }
        Vec::new()
    }
    fn trim(&mut self, page: u64) {
        self.clock += 1;
        self.order.retain(|held| *held != page);
    }
    fn fua(&mut self, page: u64) -> bool {
        let held = self.holds(page);
        self.order.retain(|other| *other != page);
        held
    }
    fn holds(&self, page: u64) -> bool {
        self.order.contains(&page)
    }
    fn flush(&mut self) -> Vec<u64> {
        let pages = self.order.len().min(1);
        self.order.drain(..pages).collect()
    }
}

#[test]
fn mqsim() {
    for size in SIZES {
        // Each page access advances the clock by 0.1 ns, so a microsecond passes in 10,000 page accesses.
        for microseconds in [0, 1, 1_000_000] {
            let set = [("mqsim_filter_us", Value::Integer(microseconds))];
            let mut model = MqSim {
                capacity: size.0,
                period: microseconds * TICKS_PER_US,
                order: Vec::new(),
                filter: BTreeSet::new(),
                emptied_after: 0,
                clock: 0,
                came: None,
            };
            let operations = &operations(size)[..10_000];
            compare_on(operations, "mqsim", &set, size, &mut model);
        }
    }
}

/// SimpleSSD: the lines have no order, so each operation searches all lines.
struct SimpleSsd {
    ways: usize,
    sets: u64,
    rows: u64,
    by_superpage: bool,
    through: bool,
    /// Page number, time of the last write, whether the line is dirty.
    lines: Vec<(u64, u64, bool)>,
    clock: u64,
}

impl SimpleSsd {
    /// Row and column of a page in the matrix of pages that are programmed at the same time. The row is the
    /// position of the page within its superpage.
    fn place(&self, page: u64) -> (u64, u64) {
        let number = page % (self.rows * DIES);
        (number % self.rows, number / self.rows)
    }

    /// Evicts lines and returns their dirty pages in the order of row and column. If `full` is a page, the
    /// function evicts at least one line of that page's set.
    fn leave(&mut self, full: Option<u64>) -> Vec<u64> {
        let oldest = |wanted: &dyn Fn(u64) -> bool| {
            let lines = self.lines.iter().filter(|line| wanted(line.0));
            lines.min_by_key(|line| line.1).map(|line| line.0)
        };
        let mut chosen: Vec<((u64, u64), u64)> = Vec::new();
        for row in 0..self.rows {
            if self.by_superpage {
                let page = oldest(&|page| self.place(page).0 == row);
                chosen.extend(page.map(|page| ((row, DIES - 1), page)));
                continue;
            }
            for column in 0..DIES {
                let page = oldest(&|page| self.place(page) == (row, column));
                chosen.extend(page.map(|page| ((row, column), page)));
            }
        }
        if let Some(full) = full {
            let of_set = |page: u64| page % self.sets == full % self.sets;
            if !chosen.iter().any(|(_, page)| of_set(*page)) {
                let page = oldest(&of_set).unwrap();
                let place = self.place(page);
                chosen.retain(|(other, _)| *other != place);
                chosen.push((place, page));
            }
        }
        chosen.sort_unstable();
        let mut left = Vec::new();
        for (_, page) in chosen {
            let line = self.lines.iter().position(|line| line.0 == page).unwrap();
            let (page, _, dirty) = self.lines.remove(line);
            left.extend(dirty.then_some(page));
        }
        left
    }
}

impl Model for SimpleSsd {
    fn write(&mut self, page: u64) -> Vec<Vec<u64>> {
        let mut left = Vec::new();
        if !self.holds(page) {
            let set = page % self.sets;
            let taken = self.lines.iter().filter(|line| line.0 % self.sets == set);
            if taken.count() == self.ways {
                left.push(self.leave(Some(page)));
            }
        }
        self.clock += 1;
        self.lines.retain(|line| line.0 != page);
        self.lines.push((page, self.clock, !self.through));
        if self.through {
            left.push(vec![page]);
        }
        left.retain(|pages| !pages.is_empty());
        left
    }
    fn read(&mut self, _: u64) -> Vec<Vec<u64>> {
        Vec::new()
    }
    fn trim(&mut self, page: u64) {
        self.lines.retain(|line| line.0 != page);
    }
    fn fua(&mut self, page: u64) -> bool {
        let dirty = self.lines.iter().any(|line| line.0 == page && line.2);
        if dirty {
            self.trim(page);
        }
        dirty
    }
    fn holds(&self, page: u64) -> bool {
        self.lines.iter().any(|line| line.0 == page)
    }
    fn flush(&mut self) -> Vec<u64> {
        match self.through {
            true => Vec::new(),
            false => self.leave(None),
        }
    }
}

#[test]
fn simplessd() {
    let variants = [
        (1, 1, false, false),
        (2, 3, false, false),
        (2, 3, true, false),
        (4, 2, true, false),
        (8, 1, true, false),
        (8, 2, false, false),
        (4, 2, false, true),
    ];
    // The number of lines per set is below, equal to, or above the number of dies.
    for size in SIZES {
        for (ways, rows, by_superpage, through) in variants {
            let text = |word: &str| Value::Text(word.into());
            let set = [
                ("simplessd_ways", text(&ways.to_string())),
                ("simplessd_superpage_pages", Value::Integer(rows)),
                (
                    "simplessd_evict",
                    text(if by_superpage { "superpage" } else { "all" }),
                ),
                (
                    "simplessd_full_lines",
                    text(if through { "through" } else { "back" }),
                ),
            ];
            let ways = size.0.min(ways);
            let mut model = SimpleSsd {
                ways,
                sets: (size.0 / ways) as u64,
                rows,
                by_superpage,
                through,
                lines: Vec::new(),
                clock: 0,
            };
            compare("simplessd", &set, size, &mut model);
        }
    }
}

/// NVMeVirt: for each partition, the pages of its open word line.
struct NvmeVirt {
    capacity: usize,
    word_line: usize,
    /// For each partition: its pages in order of arrival, the number of occupied pages of its open word line, and
    /// the arrival number of the first page in this word line.
    open: Vec<(Vec<u64>, usize, u64)>,
    arrivals: u64,
}

impl NvmeVirt {
    fn oldest(&mut self) -> Vec<u64> {
        let with_pages = self.open.iter_mut().filter(|line| !line.0.is_empty());
        let Some(line) = with_pages.min_by_key(|line| line.2) else {
            return Vec::new();
        };
        line.1 = 0;
        std::mem::take(&mut line.0)
    }
}

impl Model for NvmeVirt {
    fn write(&mut self, page: u64) -> Vec<Vec<u64>> {
        let mut left = Vec::new();
        if self.fua(page) {
            left.push(vec![page]);
        }
        if self.open.iter().map(|line| line.0.len()).sum::<usize>() == self.capacity {
            left.push(self.oldest());
        }
        let partitions = self.open.len();
        let line = &mut self.open[page as usize % partitions];
        if line.1 == 0 {
            line.2 = self.arrivals;
        }
        self.arrivals += 1;
        line.0.push(page);
        line.1 += 1;
        if line.1 == self.word_line {
            line.1 = 0;
            left.push(std::mem::take(&mut line.0));
        }
        left
    }
    fn read(&mut self, _: u64) -> Vec<Vec<u64>> {
        Vec::new()
    }
    fn trim(&mut self, page: u64) {
        self.fua(page);
    }
    fn fua(&mut self, page: u64) -> bool {
        let held = self.holds(page);
        for line in &mut self.open {
            line.0.retain(|held| *held != page);
        }
        held
    }
    fn holds(&self, page: u64) -> bool {
        self.open.iter().any(|line| line.0.contains(&page))
    }
    fn flush(&mut self) -> Vec<u64> {
        self.oldest()
    }
}

#[test]
fn nvmevirt() {
    for size in SIZES {
        for (word_line, partitions) in [(1, 1), (3, 2), (8, 4), (24, 1)] {
            let set = [
                ("nvmevirt_word_line_pages", Value::Integer(word_line)),
                ("nvmevirt_partitions", Value::Integer(partitions)),
            ];
            let mut model = NvmeVirt {
                capacity: size.0,
                word_line: word_line as usize,
                open: vec![(Vec::new(), 0, 0); partitions as usize],
                arrivals: 0,
            };
            compare("nvmevirt", &set, size, &mut model);
        }
    }
}
