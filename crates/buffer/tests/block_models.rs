//! Each block-level scheme against the dumbest model that could be right, on a million random writes.
//!
//! The model of the buffer is a vector of clusters; a [`Rule`] keeps that vector, and what it notes in
//! the clusters, the way its scheme's description reads.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use common::{Bench, Completion, Operation};
use destage_base::Random;
use destage_base::parameter::Values;
use destage_buffer::{COMMON, find};

/// Page writes per scheme, over all its sizes and parameters.
const PAGE_WRITES: usize = 1_000_000;

#[derive(Clone, Debug)]
struct Cluster {
    block: u64,
    /// Ascending; `true` if dirty.
    pages: Vec<(u64, bool)>,
    /// BPLRU: the offset that continues the run, or -1.
    next: i64,
    /// BPLRU: it was compensated and not changed since.
    compensated: bool,
    /// BPLRU: when each of its pages was written, and by which write of all, since it began.
    writes: Vec<(u64, u64)>,
    /// CLC: it is in the size-independent list. LB-CLOCK: its recency bit.
    recent: bool,
    /// LB-CLOCK: its number among the candidates.
    candidate: Option<u64>,
}

/// What a scheme adds. `clusters[0]` has least claim to stay, as far as the scheme has an order.
trait Rule {
    /// The page at `offset` of `clusters[at]` was written, or read if reads count.
    fn used(
        &mut self,
        clusters: &mut Vec<Cluster>,
        at: usize,
        offset: u64,
        entered: bool,
        write: u64,
    );
    /// Which cluster goes.
    fn victim(&mut self, clusters: &mut Vec<Cluster>) -> usize;
    /// `clusters[at]` is about to be removed.
    fn leaves(&mut self, _at: usize, _left: usize) {}
}

/// The one with most pages among those `allowed`, the first of several.
fn largest(clusters: &[Cluster], allowed: impl Fn(&Cluster) -> bool) -> Option<usize> {
    let most = clusters
        .iter()
        .filter(|held| allowed(held))
        .map(|held| held.pages.len())
        .max()?;
    clusters
        .iter()
        .position(|held| allowed(held) && held.pages.len() == most)
}

fn to_back(clusters: &mut Vec<Cluster>, at: usize) {
    let cluster = clusters.remove(at);
    clusters.push(cluster);
}

struct Bplru {
    detector: &'static str,
    block_pages: u64,
}

impl Rule for Bplru {
    fn used(
        &mut self,
        clusters: &mut Vec<Cluster>,
        at: usize,
        offset: u64,
        entered: bool,
        write: u64,
    ) {
        to_back(clusters, at);
        let cluster = clusters.last_mut().unwrap();
        cluster.compensated = false;
        let in_full = match self.detector {
            "strict" => {
                if offset as i64 == cluster.next {
                    cluster.next += 1;
                } else if offset == 0 {
                    cluster.next = 1;
                } else {
                    cluster.next = -1;
                }
                cluster.next == self.block_pages as i64
            }
            "complete" => entered && cluster.pages.len() as u64 == self.block_pages,
            "burst" => {
                if cluster
                    .writes
                    .last()
                    .is_some_and(|last| last.1 + 1 != write)
                {
                    cluster.writes.clear();
                }
                cluster.writes.push((offset, write));
                let done = (0..self.block_pages)
                    .all(|offset| cluster.writes.iter().any(|held| held.0 == offset));
                if done {
                    cluster.writes.clear();
                }
                done
            }
            _ => false,
        };
        if in_full {
            let mut cluster = clusters.pop().unwrap();
            cluster.compensated = true;
            clusters.insert(0, cluster);
        }
    }

    fn victim(&mut self, _: &mut Vec<Cluster>) -> usize {
        0
    }
}

struct Fab;

impl Rule for Fab {
    fn used(&mut self, clusters: &mut Vec<Cluster>, at: usize, _: u64, _: bool, _: u64) {
        to_back(clusters, at);
    }

    fn victim(&mut self, clusters: &mut Vec<Cluster>) -> usize {
        largest(clusters, |_| true).unwrap()
    }
}

/// A share as a fraction, so that it is exact.
struct Clc {
    share: (usize, usize),
    always: bool,
}

impl Clc {
    fn rebalance(&self, clusters: &mut [Cluster]) {
        let (part, whole) = self.share;
        while clusters.iter().filter(|held| held.recent).count() * whole
            >= clusters.len() * part + whole
        {
            clusters.iter_mut().find(|held| held.recent).unwrap().recent = false;
        }
    }
}

impl Rule for Clc {
    fn used(&mut self, clusters: &mut Vec<Cluster>, at: usize, _: u64, _: bool, _: u64) {
        clusters[at].recent = true;
        to_back(clusters, at);
        self.rebalance(clusters);
    }

    fn victim(&mut self, clusters: &mut Vec<Cluster>) -> usize {
        if self.always {
            self.rebalance(clusters);
        }
        largest(clusters, |held| !held.recent).unwrap_or(0)
    }
}

/// A circle: from `hand` to the end, and on from the start.
struct LbClock {
    hint: &'static str,
    hand: usize,
    named: u64,
    block_pages: u64,
}

impl Rule for LbClock {
    fn used(&mut self, clusters: &mut Vec<Cluster>, at: usize, offset: u64, entered: bool, _: u64) {
        let mut at = at;
        if entered && clusters[at].pages.len() == 1 {
            // The model has put it last; behind the hand is just before it in the circle.
            let cluster = clusters.remove(at);
            clusters.insert(self.hand, cluster);
            at = self.hand;
            self.hand = (self.hand + 1) % clusters.len();
        }
        let complete = clusters[at].pages.len() as u64 == self.block_pages;
        let cluster = &mut clusters[at];
        cluster.candidate = None;
        cluster.recent = !match self.hint {
            "last_page" => offset == self.block_pages - 1,
            "full" => entered && complete,
            _ => false,
        };
    }

    fn victim(&mut self, clusters: &mut Vec<Cluster>) -> usize {
        while clusters.iter().all(|held| held.candidate.is_none()) {
            for step in 0..clusters.len() {
                let place = (self.hand + step) % clusters.len();
                if clusters[place].recent {
                    clusters[place].recent = false;
                } else {
                    self.named += 1;
                    clusters[place].candidate = Some(self.named);
                }
            }
        }
        let candidates = clusters
            .iter()
            .enumerate()
            .filter(|held| held.1.candidate.is_some());
        candidates
            .min_by_key(|(_, held)| (usize::MAX - held.pages.len(), held.candidate))
            .unwrap()
            .0
    }

    fn leaves(&mut self, at: usize, left: usize) {
        if at < self.hand {
            self.hand -= 1;
        }
        self.hand = if left == 0 { 0 } else { self.hand % left };
    }
}

struct Model {
    rule: Box<dyn Rule>,
    capacity: usize,
    block_pages: u64,
    promotes_first: bool,
    headers: bool,
    /// Reads enter and count, and what is destaged stays if nobody needs its room.
    reads: bool,
    eager: bool,
    bypass: usize,
    clusters: Vec<Cluster>,
    page_writes: u64,
    /// The dirty pages of each destage.
    destages: Vec<Vec<u64>>,
}

impl Model {
    fn apply(&mut self, operation: &Operation) {
        match operation {
            Operation::Write(pages) if self.bypass > 0 && pages.len() >= self.bypass => {
                for page in pages {
                    self.page_writes += 1;
                    self.trim(*page);
                }
            }
            Operation::Write(pages) => pages.iter().for_each(|page| self.write(*page)),
            Operation::Read(pages) if self.reads => {
                pages.iter().for_each(|page| self.enter(*page, false))
            }
            Operation::Read(_) => {}
            Operation::Trim(page) => self.trim(*page),
            Operation::Fua(page) => {
                self.write(*page);
                let at = self.find(*page).unwrap();
                self.destage(at, self.reads);
            }
            Operation::Flush | Operation::Drain => self.flush(),
            Operation::Idle => {
                if self.eager && self.clusters.first().is_some_and(|held| held.compensated) {
                    self.destage(0, false);
                }
            }
        }
    }

    /// The cluster of `page`, if `page` is there.
    fn find(&self, page: u64) -> Option<usize> {
        self.clusters
            .iter()
            .position(|held| held.pages.iter().any(|held| held.0 == page))
    }

    fn write(&mut self, page: u64) {
        self.page_writes += 1;
        self.enter(page, true);
    }

    fn enter(&mut self, page: u64, dirty: bool) {
        let block = page / self.block_pages;
        let offset = page % self.block_pages;
        if let Some(at) = self.find(page) {
            let held = self.clusters[at]
                .pages
                .iter_mut()
                .find(|held| held.0 == page)
                .unwrap();
            held.1 |= dirty;
            self.rule
                .used(&mut self.clusters, at, offset, false, self.page_writes);
            return;
        }
        while self.is_full_for(block) {
            if let (true, Some(own)) = (
                self.promotes_first,
                self.clusters.iter().position(|held| held.block == block),
            ) {
                to_back(&mut self.clusters, own);
            }
            let at = self.rule.victim(&mut self.clusters);
            self.destage(at, false);
        }
        let at = self
            .clusters
            .iter()
            .position(|held| held.block == block)
            .unwrap_or_else(|| {
                self.clusters.push(Cluster {
                    block,
                    pages: Vec::new(),
                    next: 0,
                    compensated: false,
                    writes: Vec::new(),
                    recent: false,
                    candidate: None,
                });
                self.clusters.len() - 1
            });
        self.clusters[at].pages.push((page, dirty));
        self.clusters[at].pages.sort_unstable();
        self.rule
            .used(&mut self.clusters, at, offset, true, self.page_writes);
    }

    fn is_full_for(&self, block: u64) -> bool {
        let pages: usize = self.clusters.iter().map(|held| held.pages.len()).sum();
        let is_new = self.clusters.iter().all(|held| held.block != block);
        let headers = if self.headers {
            self.clusters.len() + usize::from(is_new)
        } else {
            0
        };
        pages > 0 && pages + headers + 1 > self.capacity
    }

    fn destage(&mut self, at: usize, keep: bool) {
        let dirty: Vec<u64> = self.clusters[at]
            .pages
            .iter()
            .filter(|held| held.1)
            .map(|held| held.0)
            .collect();
        if !dirty.is_empty() {
            self.destages.push(dirty);
        }
        if keep {
            self.clusters[at]
                .pages
                .iter_mut()
                .for_each(|held| held.1 = false);
        } else {
            self.drop_cluster(at);
        }
    }

    fn drop_cluster(&mut self, at: usize) {
        self.rule.leaves(at, self.clusters.len() - 1);
        self.clusters.remove(at);
    }

    fn trim(&mut self, page: u64) {
        let Some(at) = self.find(page) else { return };
        let cluster = &mut self.clusters[at];
        cluster.pages.retain(|held| held.0 != page);
        cluster.next = -1;
        cluster.compensated = false;
        cluster.writes.clear();
        if cluster.pages.is_empty() {
            self.drop_cluster(at);
        }
    }

    fn flush(&mut self) {
        if self.reads {
            // The only scheme with clean pages goes by size; those without dirty ones do not count.
            let dirty = |held: &Cluster| held.pages.iter().any(|held| held.1);
            while let Some(at) = largest(&self.clusters, dirty) {
                self.destage(at, true);
            }
        }
        while !self.reads && !self.clusters.is_empty() {
            let at = self.rule.victim(&mut self.clusters);
            self.destage(at, false);
        }
    }
}

/// Runs, whole blocks in and out of order, hot pages, and now and then something else.
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
        // Two blocks by turns.
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

/// One scheme with some parameters, over all sizes.
struct Comparison {
    scheme: &'static str,
    parameters: &'static str,
    rule: fn(block_pages: u64) -> Box<dyn Rule>,
}

/// Pages of the buffer, pages of a block, blocks written to.
const SIZES: [(u32, u64, u64); 6] = [
    (1, 2, 4),
    (3, 4, 4),
    (16, 4, 12),
    (40, 8, 20),
    (24, 3, 60),
    (60, 1, 150),
];

fn compare(comparisons: &[Comparison]) {
    let each = PAGE_WRITES / comparisons.len() / SIZES.len() + 1;
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
            bypass: values.integer("bypass_pages") as usize,
            clusters: Vec::new(),
            page_writes: 0,
            destages: Vec::new(),
        };
        let pads = values.flag("pad");
        let completion = Completion::Random(Random::new(3));
        let mut bench = Bench::new(row, capacity, &values, completion).unwrap();
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
                .map(|page| (page, true));
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
