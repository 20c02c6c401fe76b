//! Compares each block-level scheme with a naive model, on random page writes.
//!
//! The model of the buffer is a vector of clusters. A [`Rule`] orders the vector and sets marks in the clusters,
//! as the description of the scheme says.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use crate::common;
mod model;
mod rules;

use common::{Bench, Completion, Operation};
use destage_base::Random;
use destage_base::parameter::{Value, Values};
use destage_buffer::destage::PadContent;
use destage_buffer::{COMMON, Common, find};
use model::Model;
use rules::{Bplru, Clc, Fab, LbClock, Rule};

/// Random operations: a run of writes, a whole block in or out of order, writes to a hot block, or another
/// operation.
fn operations(random: &mut Random, blocks: u64, block_pages: u64) -> Vec<Operation> {
    let range = if random.below(3) == 0 {
        blocks
    } else {
        blocks / 4 + 1
    };
    let block = random.below(range);
    let first = block * block_pages;
    let mut page = || first + random.below(block_pages);
    let one = page();
    let others: Vec<u64> = (0..block_pages).map(|_| page()).collect();
    match random.below(40) {
        0 => vec![Operation::Write((first..first + block_pages).collect())],
        1 => (first..first + block_pages)
            .map(|page| Operation::Write(vec![page]))
            .collect(),
        2 => (first..first + block_pages)
            .rev()
            .map(|page| Operation::Write(vec![page]))
            .collect(),
        3 => others
            .iter()
            .map(|page| Operation::Write(vec![*page]))
            .collect(),
        // Each request writes one page of each of two blocks.
        4 => (first..first + block_pages)
            .map(|page| Operation::Write(vec![page, page + block_pages]))
            .collect(),
        5..8 => vec![Operation::Read(others)],
        8..10 => vec![Operation::Trim(one)],
        10 if random.below(5) == 0 => vec![Operation::Fua(one)],
        11 if random.below(10) == 0 => vec![Operation::Flush],
        12 => vec![Operation::Idle],
        _ => vec![Operation::Write((one..=one + random.below(4)).collect())],
    }
}

/// A scheme with parameter values. The scheme is compared with its model at all sizes.
struct Comparison {
    scheme: &'static str,
    parameters: &'static str,
    rule: fn(block_pages: u64) -> Box<dyn Rule>,
}

/// Capacity of the buffer in pages, pages of a block, number of blocks that are written.
const SIZES: [(u32, u64, u64); 6] = [
    (1, 2, 4),
    (3, 4, 4),
    (16, 4, 12),
    (40, 8, 20),
    (24, 3, 60),
    (60, 1, 150),
];

fn compare(comparisons: &[Comparison]) {
    let each = common::model::page_writes() / comparisons.len() / SIZES.len() + 1;
    for comparison in comparisons {
        for size in SIZES {
            comparison.run(size, each);
        }
    }
}

impl Comparison {
    fn run(&self, (capacity, block_pages, blocks): (u32, u64, u64), page_writes: usize) {
        let row = find(self.scheme).unwrap();
        let rows = || COMMON.iter().chain(row.parameters);
        let mut values = Values::defaults(rows());
        let size = format!("cluster_pages={block_pages}");
        for word in self.parameters.split_whitespace().chain([size.as_str()]) {
            let (name, value) = word.split_once('=').unwrap();
            let row = rows().find(|row| row.name == name).unwrap();
            values.set(row.name, row.read(value).unwrap());
        }
        let has = |word: &str| self.parameters.split_whitespace().any(|held| held == word);
        let mut model = Model {
            rule: (self.rule)(block_pages),
            capacity: capacity as usize,
            block_pages,
            promotes_first: has("touch_order=promote_first"),
            headers: has("header_uses_node=true"),
            reads: has("fab_reads=true"),
            eager: has("comp_eager=true"),
            bypass: Common::from_values(&values).bypass_pages as usize,
            clusters: Vec::new(),
            page_writes: 0,
            destages: Vec::new(),
        };
        let pads = values.get("pad") == Some(&Value::Flag(true));
        let completion = Completion::Random(Random::new(3));
        let mut bench = Bench::new(row, capacity, &values, completion);
        let mut random = Random::new(u64::from(capacity) + self.parameters.len() as u64);
        while model.page_writes < page_writes as u64 {
            for operation in operations(&mut random, blocks, block_pages) {
                self.step(&mut bench, &mut model, &operation, pads);
            }
        }
        self.step(&mut bench, &mut model, &Operation::Drain, pads);
    }

    fn step(&self, bench: &mut Bench, model: &mut Model, operation: &Operation, pads: bool) {
        let name = format!("{} {}", self.scheme, self.parameters);
        bench.records.clear();
        bench.log.clear();
        bench.apply(operation);
        model.destages.clear();
        model.apply(operation);
        let destaged = bench.records.iter().map(|record| &record.pages);
        assert!(
            destaged.eq(model.destages.iter()),
            "{name}: {operation:?}: {:?}, expected {:?}",
            bench.log,
            model.destages
        );
        for record in bench.records.iter().filter(|_| pads) {
            let first = record.pages[0] / model.block_pages * model.block_pages;
            let missing = (first..first + model.block_pages)
                .filter(|page| !record.pages.contains(page))
                .map(|page| (page, PadContent::Read));
            assert!(record.pads.iter().copied().eq(missing), "{name}: {record}");
        }
        assert_eq!(
            bench.buffer.counts().resident as usize,
            model
                .clusters
                .iter()
                .map(|held| held.pages.len())
                .sum::<usize>(),
            "{name}: {operation:?}"
        );
    }
}

#[test]
fn block_lru() {
    let rule = |block_pages| {
        Box::new(Bplru {
            detector: "none",
            block_pages,
        }) as Box<dyn Rule>
    };
    let scheme = "block-lru";
    compare(&[
        Comparison {
            scheme,
            parameters: "",
            rule,
        },
        Comparison {
            scheme,
            parameters: "touch_order=promote_first",
            rule,
        },
        Comparison {
            scheme,
            parameters: "header_uses_node=true",
            rule,
        },
        Comparison {
            scheme,
            parameters: "header_uses_node=true touch_order=promote_first",
            rule,
        },
    ]);
}

#[test]
fn bplru() {
    fn detector<const NAME: usize>(block_pages: u64) -> Box<dyn Rule> {
        Box::new(Bplru {
            detector: ["none", "strict", "complete", "burst"][NAME],
            block_pages,
        })
    }
    let scheme = "bplru";
    compare(&[
        Comparison {
            scheme,
            parameters: "",
            rule: detector::<1>,
        },
        Comparison {
            scheme,
            parameters: "comp=false",
            rule: detector::<0>,
        },
        Comparison {
            scheme,
            parameters: "seq_detect=complete",
            rule: detector::<2>,
        },
        Comparison {
            scheme,
            parameters: "seq_detect=burst bypass_pages=4",
            rule: detector::<3>,
        },
        Comparison {
            scheme,
            parameters: "comp_eager=true pad=false",
            rule: detector::<1>,
        },
        Comparison {
            scheme,
            parameters: "comp_eager=true seq_detect=burst",
            rule: detector::<3>,
        },
        Comparison {
            scheme,
            parameters: "comp_eager=true seq_detect=complete touch_order=promote_first",
            rule: detector::<2>,
        },
        Comparison {
            scheme,
            parameters: "header_uses_node=true touch_order=promote_first",
            rule: detector::<1>,
        },
    ]);
}

#[test]
fn fab() {
    let rule = |_| Box::new(Fab) as Box<dyn Rule>;
    compare(&[
        Comparison {
            scheme: "fab",
            parameters: "pad=true",
            rule,
        },
        Comparison {
            scheme: "fab",
            parameters: "fab_reads=true",
            rule,
        },
    ]);
}

#[test]
fn clc() {
    fn share<const PERCENT: usize, const ALWAYS: bool>(_: u64) -> Box<dyn Rule> {
        Box::new(Clc {
            share: (PERCENT, 100),
            always: ALWAYS,
        })
    }
    let scheme = "clc";
    compare(&[
        Comparison {
            scheme,
            parameters: "",
            rule: share::<10, false>,
        },
        Comparison {
            scheme,
            parameters: "alpha=0",
            rule: share::<0, false>,
        },
        Comparison {
            scheme,
            parameters: "alpha=0.07",
            rule: share::<7, false>,
        },
        Comparison {
            scheme,
            parameters: "alpha=0.5 clc_rebalance=always",
            rule: share::<50, true>,
        },
        Comparison {
            scheme,
            parameters: "alpha=0.81 clc_rebalance=always",
            rule: share::<81, true>,
        },
        Comparison {
            scheme,
            parameters: "alpha=0.81",
            rule: share::<81, false>,
        },
        Comparison {
            scheme,
            parameters: "alpha=1",
            rule: share::<100, false>,
        },
    ]);
}

#[test]
fn lb_clock() {
    fn hint<const NAME: usize>(block_pages: u64) -> Box<dyn Rule> {
        let hint = ["last_page", "full", "off"][NAME];
        Box::new(LbClock {
            hint,
            hand: 0,
            named: 0,
            block_pages,
        })
    }
    let scheme = "lb-clock";
    compare(&[
        Comparison {
            scheme,
            parameters: "",
            rule: hint::<0>,
        },
        Comparison {
            scheme,
            parameters: "lb_seq_hint=full",
            rule: hint::<1>,
        },
        Comparison {
            scheme,
            parameters: "lb_seq_hint=off",
            rule: hint::<2>,
        },
    ]);
}
