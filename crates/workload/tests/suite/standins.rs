//! The difference between each stand-in and the published figures of the trace that it replaces.
//!
//! Each row has a published figure, and the figure of the stand-in with its default values and seed 1. The test
//! requires that the stand-in has exactly this figure, so it detects any change to a stand-in. `docs/workloads.md`
//! must state the same differences.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use std::collections::{BTreeMap, HashMap};

use destage_base::parameter::Values;
use destage_trace::statistics::Statistics;
use destage_trace::{Collector, Operation};
use destage_workload::{WORKLOADS, find};

/// A figure of a workload, as a whole number.
#[derive(Clone, Copy, Debug)]
enum Figure {
    /// Share of writes among requests, in permille.
    WritePermille,
    /// Page writes.
    Written,
    /// Bytes written, including metadata.
    WrittenBytes,
    /// Different pages written.
    Unique,
    /// Mean size of a write in bytes.
    WriteBytes,
    /// Of all rewrites of a page, the share that has at most this many page writes since the previous write of the
    /// page, in permille.
    NearPermille(u64),
    /// Different pages per 10000 page writes.
    UniquePerMyriad,
    /// Hits per page write in an LRU buffer of this many pages, in permille.
    HitPermille(usize),
}

use Figure::{
    HitPermille, NearPermille, Unique, UniquePerMyriad, WriteBytes, WritePermille, Written,
    WrittenBytes,
};

/// A workload, and the parameters whose values differ from the defaults.
type Setting = (&'static str, &'static [(&'static str, &'static str)]);

/// Each figure with its published value and its value for the workload.
type Figures = &'static [(Figure, u64, u64)];

const TABLE: &[(Setting, Figures)] = &[
    (
        ("standin-browser-cache", &[]),
        &[(WrittenBytes, 100_000_000, 114_163_712)],
    ),
    (("standin-mp3-fat", &[]), &[(Unique, 105_469, 105_965)]),
    (("standin-p2p", &[]), &[(Unique, 154_786, 154_857)]),
    (
        ("standin-financial1", &[]),
        &[
            (WritePermille, 770, 770),
            (Written, 1_930_249, 1_942_628),
            (Unique, 113_561, 116_202),
        ],
    ),
    (
        (
            "standin-financial1",
            &[("write_percent", "59.2"), ("requests", "10000")],
        ),
        &[
            (Written, 12_406, 12_612),
            (Unique, 3_734, 4_000),
            (HitPermille(1024), 580, 576),
            (HitPermille(4096), 700, 683),
            (NearPermille(200), 710, 763),
        ],
    ),
    (
        ("standin-financial2", &[]),
        &[(Written, 1_029_983, 1_030_867), (Unique, 98_239, 107_530)],
    ),
    (
        ("standin-cello-d3", &[]),
        &[(Written, 1_516_588, 1_523_197), (Unique, 267_894, 267_681)],
    ),
    (
        ("standin-cello-d8", &[]),
        &[(Written, 2_315_396, 2_321_452), (Unique, 249_387, 248_602)],
    ),
    (
        ("standin-tpcc", &[("requests", "2616")]),
        &[(UniquePerMyriad, 9_855, 9_876), (WriteBytes, 10_240, 8_721)],
    ),
    (
        ("standin-iozone", &[]),
        &[
            (Written, 8_997_978, 9_110_498),
            (Unique, 271_320, 262_592),
            (WriteBytes, 368_538, 373_166),
            (HitPermille(1024), 60, 56),
            (HitPermille(4096), 110, 106),
            (HitPermille(16_384), 190, 189),
        ],
    ),
    (
        ("standin-postmark-reads", &[]),
        &[
            (WritePermille, 168, 127),
            (Written, 2_181_870, 2_171_528),
            (Unique, 1_532_457, 1_533_151),
            (WriteBytes, 852_992, 1_119_652),
            (HitPermille(16_384), 0, 2),
        ],
    ),
    (
        ("standin-source-control", &[]),
        &[
            (WritePermille, 700, 700),
            (WriteBytes, 57_344, 57_444),
            (HitPermille(65_536), 100, 104),
        ],
    ),
    (
        ("standin-on-board-cache", &[]),
        &[(WriteBytes, 2_097_408, 2_091_527)],
    ),
];

/// The measurements of a workload.
struct Measured {
    summary: Statistics,
    written: Vec<u64>,
}

impl Measured {
    fn new(name: &str, settings: &[(&str, &str)]) -> Self {
        let workload = find(name).unwrap();
        let mut values = Values::defaults(workload.parameters);
        for (key, value) in settings {
            let parameter = workload
                .parameters
                .iter()
                .find(|row| row.name == *key)
                .unwrap();
            values.set(parameter.name, parameter.read(value).unwrap());
        }
        let (mut collector, mut written) = (Collector::new(4096), Vec::new());
        for request in (workload.make)(&values, 1).unwrap() {
            let pages = request.sector / 8..=request.end().saturating_sub(1) / 8;
            collector.add_as(&request, pages.clone());
            if request.operation == Operation::Write {
                written.extend(pages);
            }
        }
        Self {
            summary: collector.finish(),
            written,
        }
    }

    fn figure(&self, figure: Figure) -> u64 {
        let summary = &self.summary;
        let rounded = |part: u64, whole: u64| (part + whole / 2) / whole;
        match figure {
            WritePermille => rounded(summary.writes * 1000, summary.requests),
            Written => summary.written_pages,
            WrittenBytes => summary.bytes_written,
            Unique => summary.unique_written_pages,
            WriteBytes => rounded(summary.bytes_written, summary.writes),
            NearPermille(most) => {
                let distances = self.distances();
                let near = distances.partition_point(|distance| *distance <= most);
                rounded(near as u64 * 1000, distances.len() as u64)
            }
            UniquePerMyriad => {
                rounded(summary.unique_written_pages * 10_000, summary.written_pages)
            }
            HitPermille(pages) => rounded(self.hits(pages) * 1000, summary.written_pages),
        }
    }

    /// The numbers of page writes between two writes of the same page, in ascending order.
    fn distances(&self) -> Vec<u64> {
        let mut last = HashMap::new();
        let mut distances: Vec<u64> = (0..)
            .zip(&self.written)
            .filter_map(|(now, page)| last.insert(*page, now).map(|then| now - then - 1))
            .collect();
        distances.sort_unstable();
        distances
    }

    /// The number of hits in an LRU buffer of `capacity` pages, computed in a simple way.
    fn hits(&self, capacity: usize) -> u64 {
        let (mut times, mut order, mut hits) = (HashMap::new(), BTreeMap::new(), 0);
        for (now, page) in self.written.iter().enumerate() {
            if let Some(then) = times.insert(*page, now) {
                order.remove(&then);
                hits += 1;
            } else if times.len() > capacity {
                let (_, oldest) = order.pop_first().unwrap();
                times.remove(&oldest);
            }
            order.insert(now, *page);
        }
        hits
    }
}

/// The difference between `has` and `published`. It is in percent of `published`, or in percentage points for a
/// figure in permille.
fn residual(figure: Figure, published: u64, has: u64) -> String {
    let (published, has) = (published as f64, has as f64);
    match figure {
        HitPermille(_) | NearPermille(_) | WritePermille => {
            format!("{:+.1} points", (has - published) / 10.0)
        }
        _ => format!("{:+.1} %", (has / published - 1.0) * 100.0),
    }
}

#[test]
fn residuals_are_what_the_documentation_says() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/workloads.md");
    let page = std::fs::read_to_string(page).unwrap_or_default();
    let mut wrong = Vec::new();
    for ((name, settings), figures) in TABLE {
        let measured = Measured::new(name, settings);
        for (figure, published, expected) in *figures {
            let has = measured.figure(*figure);
            let residual = residual(*figure, *published, has);
            println!(
                "{name} {settings:?} {figure:?}: published {published}, has {has}, {residual}"
            );
            if has != *expected {
                wrong.push(format!("{name} {figure:?}: has {has}, not {expected}"));
            }
            let documented = page
                .lines()
                .any(|line| line.contains(&format!("`{name}`")) && line.contains(&residual));
            if !documented {
                wrong.push(format!(
                    "docs/workloads.md does not say {residual} of {name}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_stand_in_and_every_workload_is_documented() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/workloads.md");
    let page = std::fs::read_to_string(page).unwrap();
    for workload in WORKLOADS {
        let row = format!("| `{}` |", workload.name);
        assert!(page.contains(&row), "docs/workloads.md has no row {row}");
    }
}
