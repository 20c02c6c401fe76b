//! Runs random streams of operations on a buffer and on a naive model. Both must destage the same pages in the
//! same order.

use destage_base::Random;
use destage_base::parameter::Values;
use destage_buffer::{COMMON, find};

use crate::common::model::page_writes;
use crate::common::{Bench, Completion, Operation};

/// Counters that a model gets with each page that the host writes or reads.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// Page writes so far, including this one.
    pub time: u64,
    /// The number of the host request. Read requests are counted, too.
    pub request: u64,
    /// The number of pages of the request.
    pub pages: usize,
}

/// A naive model of a scheme. It keeps its pages in vectors and searches these vectors.
pub trait Model {
    /// Writes one page; returns the pages of each record that was destaged for it.
    fn write(&mut self, page: u64, now: Now) -> Vec<Vec<u64>>;
    /// Reads one page; returns the pages of each record that was destaged for it.
    fn read(&mut self, page: u64, now: Now) -> Vec<Vec<u64>> {
        let _ = (page, now);
        Vec::new()
    }
    /// Drops a page that the host trims.
    fn trim(&mut self, page: u64);
    /// Destages a dirty page that was just written with FUA; returns the pages of each record that is destaged
    /// for it.
    fn fua(&mut self, page: u64) -> Vec<Vec<u64>>;
    /// Destages everything; returns the pages of each record.
    fn flush(&mut self) -> Vec<Vec<u64>>;
    /// The statistics that the scheme reports, or `None` if the model does not compute statistics.
    fn figures(&self) -> Option<Vec<(&'static str, f64)>> {
        None
    }
}

/// The sizes of the buffer, of a cluster, and of the range of page numbers.
pub struct Size {
    pub capacity: usize,
    pub cluster: u64,
    /// The number of pages that the host uses.
    pub pages: u64,
}

/// Buffers of one page and more. The clusters of some buffers are larger than the buffer.
pub const SIZES: [Size; 6] = [
    size(1, 4, 8),
    size(2, 4, 12),
    size(13, 4, 60),
    size(24, 16, 150),
    size(40, 1, 120),
    size(90, 8, 700),
];

const fn size(capacity: usize, cluster: u64, pages: u64) -> Size {
    Size {
        capacity,
        cluster,
        pages,
    }
}

/// Compares `scheme` with a naive model at each size. `words` sets parameters of the scheme (`name=value`), and
/// `model` builds the model for a size.
pub fn compare(scheme: &str, words: &[&str], model: impl Fn(&Size) -> Box<dyn Model>) {
    for (index, size) in SIZES.iter().enumerate() {
        let mut model = model(size);
        compare_one(scheme, words, size, index as u64, model.as_mut());
    }
}

fn compare_one(scheme: &str, words: &[&str], size: &Size, seed: u64, model: &mut dyn Model) {
    let row = find(scheme).unwrap();
    let rows = || COMMON.iter().chain(row.parameters);
    let mut values = Values::defaults(rows());
    let cluster = format!("cluster_pages={}", size.cluster);
    for word in words.iter().copied().chain([cluster.as_str()]) {
        let (name, value) = word.split_once('=').unwrap();
        let row = rows().find(|row| row.name == name).unwrap();
        values.set(row.name, row.read(value).unwrap());
    }
    let completion = Completion::Random(Random::new(seed + 1));
    let mut bench = Bench::new(row, size.capacity as u32, &values, completion);
    let mut random = Random::new(100 + seed);
    let mut now = Now {
        time: 0,
        request: 0,
        pages: 0,
    };
    let mut next = 0;
    while (now.time as usize) < page_writes().div_ceil(SIZES.len()) {
        let operation = operation(&mut random, size, &mut next, now.time);
        let mut expected = Vec::new();
        now.request += 1;
        match &operation {
            Operation::Write(pages) | Operation::Read(pages) => {
                now.pages = pages.len();
                for page in pages {
                    expected.extend(if matches!(operation, Operation::Write(_)) {
                        now.time += 1;
                        model.write(*page, now)
                    } else {
                        model.read(*page, now)
                    });
                }
            }
            Operation::Fua(page) => {
                now.time += 1;
                now.pages = 1;
                expected.extend(model.write(*page, now));
                expected.extend(model.fua(*page));
            }
            Operation::Trim(page) => {
                // The bench does not count a trim as a request, so the request number stays the same.
                now.request -= 1;
                model.trim(*page);
            }
            _ => {
                now.request -= 1;
                expected = model.flush();
            }
        }
        bench.records.clear();
        bench.log.clear();
        bench.apply(&operation);
        let destaged: Vec<_> = bench
            .records
            .iter()
            .map(|record| record.pages.clone())
            .collect();
        assert_eq!(
            destaged, expected,
            "{scheme} {words:?}, {} pages, clusters of {}, at {now:?}: {operation:?}",
            size.capacity, size.cluster
        );
    }
    bench.records.clear();
    bench.apply(&Operation::Drain);
    let drained: Vec<_> = bench
        .records
        .iter()
        .map(|record| record.pages.clone())
        .collect();
    assert_eq!(drained, model.flush());
    if let Some(expected) = model.figures() {
        let mut figures = Vec::new();
        bench
            .buffer
            .report(&mut |name, value| figures.push((name, value)));
        assert_eq!(figures, expected);
    }
}

/// A random operation on hot pages, on cold pages, or on a run of pages that continues the previous run. The
/// proportions of the three change over time.
fn operation(random: &mut Random, size: &Size, next: &mut u64, time: u64) -> Operation {
    let phase = time / 5000 % 3;
    let style = random.below(6);
    let run = if style < 2 + phase {
        let range = [size.pages, size.pages / 8, size.pages / 3][style.min(2) as usize].max(2);
        let first = random.below(range);
        (first..=first + random.below(3)).collect::<Vec<_>>()
    } else {
        if random.below(6) == 0 {
            *next = random.below(size.pages) / size.cluster * size.cluster;
        }
        let first = *next;
        *next = (first + 1 + random.below(size.cluster + 4)) % size.pages;
        let end = if *next > first { *next } else { size.pages };
        (first..end).collect()
    };
    match random.below(400) {
        0..300 => Operation::Write(run),
        300..370 => Operation::Read(run),
        370..390 => Operation::Trim(run[0]),
        390..399 => Operation::Fua(run[0]),
        _ => Operation::Flush,
    }
}
