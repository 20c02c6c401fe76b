//! A naive model of `bpac`. It has a list of hot pages and a list of clusters. For each eviction it computes anew
//! which clusters are old.

use crate::adaptive::differential::{Model, Now, Size, compare};

#[derive(Clone, Copy, PartialEq)]
enum Class {
    Seq,
    Looping,
    Random,
}

#[derive(Clone)]
struct Cluster {
    block: u64,
    /// The offsets of the buffered pages in the block.
    pages: Vec<u64>,
    last: u64,
    class: Class,
    start: u64,
    nxt: u64,
    lp: u64,
}

#[derive(Clone)]
struct Options {
    period: u64,
    cover_percent: usize,
    min_samples: usize,
    pird: u64,
    bird: u64,
    adapts: bool,
    history: bool,
    any: bool,
    fallback: &'static str,
    victim_block: bool,
    with_cluster: bool,
    all_age: bool,
    lone_waits: bool,
}

/// The defaults of the scheme, which follow the text of the paper.
const DEFAULTS: Options = Options {
    period: 10_000,
    cover_percent: 90,
    min_samples: 16,
    pird: u64::MAX,
    bird: u64::MAX,
    adapts: true,
    history: false,
    any: false,
    fallback: "lru",
    victim_block: false,
    with_cluster: false,
    all_age: false,
    lone_waits: false,
};

struct Bpac {
    capacity: usize,
    n: u64,
    options: Options,
    v: u64,
    /// For every page ever written: its number, and the virtual time of its last write.
    last: Vec<(u64, u64)>,
    /// Hot pages, least recently used first.
    hot: Vec<u64>,
    clusters: Vec<Cluster>,
    /// For every block ever used: its number, and the virtual time of its last use.
    seen: Vec<(u64, u64)>,
    pird: Vec<u64>,
    bird: Vec<u64>,
    bpac_pird_thd: u64,
    bpac_bird_thd: u64,
    shares: Vec<f64>,
    evicted: [u64; 4],
}

impl Bpac {
    fn new(size: &Size, options: Options) -> Self {
        Self {
            capacity: size.capacity,
            n: size.cluster,
            v: 0,
            last: Vec::new(),
            hot: Vec::new(),
            clusters: Vec::new(),
            seen: Vec::new(),
            pird: Vec::new(),
            bird: Vec::new(),
            bpac_pird_thd: options.pird,
            bpac_bird_thd: options.bird,
            options,
            shares: Vec::new(),
            evicted: [0; 4],
        }
    }

    fn len(&self) -> usize {
        let in_clusters = self.clusters.iter().map(|cluster| cluster.pages.len());
        self.hot.len() + in_clusters.sum::<usize>()
    }

    fn last_of(&self, page: u64) -> u64 {
        let found = self.last.iter().find(|held| held.0 == page);
        found.unwrap().1
    }

    fn set(list: &mut Vec<(u64, u64)>, key: u64, value: u64) -> Option<u64> {
        let before = list.iter().find(|held| held.0 == key).map(|held| held.1);
        list.retain(|held| held.0 != key);
        list.push((key, value));
        before
    }

    fn cluster_of(&self, page: u64) -> Option<usize> {
        let block = page / self.n;
        self.clusters.iter().position(|held| held.block == block)
    }

    fn age(&self, last: u64) -> u64 {
        (self.v - last).saturating_sub(1)
    }

    fn is_independent(&self, cluster: &Cluster) -> bool {
        let waits = cluster.class == Class::Seq
            && !self.options.all_age
            && (self.options.lone_waits || cluster.pages.len() > 1);
        waits || self.age(cluster.last) <= self.bpac_bird_thd
    }

    /// Records a use of a block. `before` is the time of the previous use of the block's cluster.
    fn use_block(&mut self, block: u64, before: Option<u64>) {
        let seen = Self::set(&mut self.seen, block, self.v);
        let before = if self.options.history { seen } else { before };
        self.bird.extend(before.map(|before| self.v - before - 1));
    }

    fn demote(&mut self) {
        while let Some(y) = self.hot.first().copied() {
            let last = self.last_of(y);
            if self.v - last - 1 <= self.bpac_pird_thd {
                return;
            }
            self.hot.remove(0);
            match self.cluster_of(y) {
                Some(home) => self.clusters[home].pages.push(y % self.n),
                None => self.clusters.push(Cluster {
                    block: y / self.n,
                    pages: vec![y % self.n],
                    last,
                    class: Class::Random,
                    start: 0,
                    nxt: 0,
                    lp: 0,
                }),
            }
        }
    }

    fn hit(&mut self, x: u64) {
        self.pird.push(self.v - self.last_of(x) - 1);
        let home = self.cluster_of(x);
        if self.options.any {
            if let Some(home) = home {
                let before = self.clusters[home].last;
                self.use_block(x / self.n, Some(before));
                self.clusters[home].last = self.v;
            } else if self.options.history {
                self.use_block(x / self.n, None);
            }
        }
        if self.hot.contains(&x) {
            self.hot.retain(|held| *held != x);
            self.hot.push(x);
            return;
        }
        let o = x % self.n;
        let v = self.v;
        let cluster = &mut self.clusters[home.unwrap()];
        if cluster.class == Class::Seq && cluster.pages.len() > 1 && o == cluster.start {
            cluster.class = Class::Looping;
            cluster.lp = o;
        }
        if cluster.class == Class::Looping && o == cluster.lp {
            cluster.last = v;
            cluster.lp = if cluster.pages.contains(&(o + 1)) {
                o + 1
            } else {
                cluster.start
            };
            Self::set(&mut self.seen, x / self.n, v);
            return;
        }
        cluster.class = Class::Random;
        cluster.pages.retain(|held| *held != o);
        self.clusters.retain(|held| !held.pages.is_empty());
        self.hot.push(x);
    }

    fn miss(&mut self, x: u64) -> Vec<Vec<u64>> {
        let mut destaged = Vec::new();
        if self.len() == self.capacity {
            let (reason, victim) = self.pop();
            self.evicted[reason] += 1;
            destaged.push(victim);
        }
        let o = x % self.n;
        match self.cluster_of(x) {
            Some(home) => {
                let before = self.clusters[home].last;
                self.use_block(x / self.n, Some(before));
                let cluster = &mut self.clusters[home];
                if cluster.class != Class::Random && o == cluster.nxt {
                    cluster.nxt += 1;
                } else {
                    cluster.class = Class::Random;
                }
                cluster.pages.push(o);
                cluster.last = self.v;
            }
            None => {
                self.use_block(x / self.n, None);
                self.clusters.push(Cluster {
                    block: x / self.n,
                    pages: vec![o],
                    last: self.v,
                    class: Class::Seq,
                    start: o,
                    nxt: o + 1,
                    lp: 0,
                });
            }
        }
        destaged
    }

    fn pop(&mut self) -> (usize, Vec<u64>) {
        let n = self.n as usize;
        let is_full = |held: &&Cluster| held.class == Class::Seq && held.pages.len() == n;
        let mut by_age: Vec<Cluster> = self.clusters.clone();
        by_age.sort_by_key(|held| held.last);
        // Of the clusters with most pages, the one that was used least recently.
        let largest = |found: Vec<&Cluster>| {
            let size = found.iter().map(|held| held.pages.len()).max();
            let first = found.iter().find(|held| Some(held.pages.len()) == size);
            first.map(|held| held.block)
        };
        if let Some(found) = by_age.iter().find(is_full) {
            return (0, self.take(found.block));
        }
        let old = by_age.iter().filter(|held| !self.is_independent(held));
        if let Some(block) = largest(old.collect()) {
            return (1, self.take(block));
        }
        let considered = match self.options.fallback {
            "lru" => 1,
            "largest" => by_age.len(),
            _ => by_age.len().div_ceil(4),
        };
        if let Some(block) = largest(by_age.iter().take(considered).collect()) {
            return (2, self.take(block));
        }
        let first = self.hot[0];
        let n = self.n;
        let is_victim =
            |page: &u64| *page == first || (self.options.victim_block && page / n == first / n);
        let mut victim: Vec<u64> = self.hot.iter().copied().filter(is_victim).collect();
        victim.sort();
        self.hot.retain(|page| !victim.contains(page));
        (3, victim)
    }

    /// Evicts the cluster of `block` and returns its pages.
    fn take(&mut self, block: u64) -> Vec<u64> {
        let home = self.clusters.iter().position(|held| held.block == block);
        let cluster = self.clusters.remove(home.unwrap());
        let mut pages: Vec<_> = (cluster.pages.iter())
            .map(|offset| block * self.n + offset)
            .collect();
        if self.options.with_cluster {
            let n = self.n;
            pages.extend(self.hot.iter().filter(|page| *page / n == block));
            self.hot.retain(|page| page / n != block);
        }
        pages.sort();
        pages
    }

    fn end_period(&mut self) {
        let independent = self
            .clusters
            .iter()
            .filter(|held| self.is_independent(held));
        let independent = independent.count();
        if !self.clusters.is_empty() {
            self.shares
                .push(independent as f64 / self.clusters.len() as f64);
        }
        let options = &self.options;
        let threshold = |samples: &mut Vec<u64>, before| {
            samples.sort();
            let count = samples.len();
            let threshold = if options.adapts && count >= options.min_samples {
                let enough = (1..=count).find(|rank| rank * 100 >= count * options.cover_percent);
                samples[enough.unwrap() - 1]
            } else {
                before
            };
            samples.clear();
            threshold
        };
        self.bpac_pird_thd = threshold(&mut self.pird, self.bpac_pird_thd);
        self.bpac_bird_thd = threshold(&mut self.bird, self.bpac_bird_thd);
    }
}

impl Model for Bpac {
    fn write(&mut self, x: u64, now: Now) -> Vec<Vec<u64>> {
        self.v = now.time;
        self.demote();
        let in_cluster = self
            .cluster_of(x)
            .is_some_and(|home| self.clusters[home].pages.contains(&(x % self.n)));
        let destaged = if in_cluster || self.hot.contains(&x) {
            self.hit(x);
            Vec::new()
        } else {
            self.miss(x)
        };
        Self::set(&mut self.last, x, self.v);
        if self.v.is_multiple_of(self.options.period) {
            self.end_period();
        }
        destaged
    }

    fn trim(&mut self, page: u64) {
        self.hot.retain(|held| *held != page);
        if let Some(home) = self.cluster_of(page) {
            self.clusters[home]
                .pages
                .retain(|held| *held != page % self.n);
            self.clusters.retain(|held| !held.pages.is_empty());
        }
    }

    fn fua(&mut self, page: u64) -> Vec<Vec<u64>> {
        if self.hot.contains(&page) {
            self.hot.retain(|held| *held != page);
            return vec![vec![page]];
        }
        vec![self.take(page / self.n)]
    }

    fn flush(&mut self) -> Vec<Vec<u64>> {
        let mut flushed = Vec::new();
        while self.len() > 0 {
            flushed.push(self.pop().1);
        }
        flushed
    }

    fn figures(&self) -> Option<Vec<(&'static str, f64)>> {
        let mut figures = Vec::new();
        if self.bpac_pird_thd != u64::MAX {
            figures.push(("pird_threshold", self.bpac_pird_thd as f64));
        }
        if self.bpac_bird_thd != u64::MAX {
            figures.push(("bird_threshold", self.bpac_bird_thd as f64));
        }
        if !self.shares.is_empty() {
            let mean = self.shares.iter().sum::<f64>() / self.shares.len() as f64;
            figures.push(("alpha", mean));
        }
        for (name, count) in [
            "evicted_sequential",
            "evicted_largest",
            "evicted_fallback",
            "evicted_hot",
        ]
        .into_iter()
        .zip(self.evicted)
        {
            figures.push((name, count as f64));
        }
        Some(figures)
    }
}

#[test]
fn bpac() {
    compare("bpac", &[], |size| Box::new(Bpac::new(size, DEFAULTS)));
}

#[test]
fn bpac_that_learns_fast() {
    let words = [
        "bpac_period=100",
        "bpac_cover=0.7",
        "bpac_min_samples=5",
        "bpac_pird_thd=9",
        "bpac_bird_thd=3",
    ];
    compare("bpac", &words, |size| {
        let options = Options {
            period: 100,
            cover_percent: 70,
            min_samples: 5,
            pird: 9,
            bird: 3,
            ..DEFAULTS
        };
        Box::new(Bpac::new(size, options))
    });
}

#[test]
fn bpac_with_fixed_thresholds() {
    let words = [
        "bpac_adapts=false",
        "bpac_pird_thd=30",
        "bpac_bird_thd=12",
        "bpac_fallback=largest",
    ];
    compare("bpac", &words, |size| {
        let options = Options {
            pird: 30,
            bird: 12,
            adapts: false,
            fallback: "largest",
            ..DEFAULTS
        };
        Box::new(Bpac::new(size, options))
    });
}

#[test]
fn bpac_over_history() {
    let words = [
        "bpac_period=1000",
        "bpac_min_samples=1",
        "bird_scope=history",
        "bpac_fallback=largest_tail",
        "bpac_tail=0.25",
        "bpac_plist_victim=block",
    ];
    let options = Options {
        period: 1000,
        min_samples: 1,
        history: true,
        fallback: "largest_tail",
        victim_block: true,
        ..DEFAULTS
    };
    compare("bpac", &words, |size| {
        Box::new(Bpac::new(size, options.clone()))
    });
    let with_hits = [&words[..], &["bird_update=any"]].concat();
    compare("bpac", &with_hits, |size| {
        let options = Options {
            any: true,
            ..options.clone()
        };
        Box::new(Bpac::new(size, options))
    });
}

#[test]
fn bpac_under_each_reading() {
    // These thresholds are so low that clusters become old although the buffers of this comparison are small.
    let often = ["bpac_period=200", "bpac_bird_thd=6", "bpac_min_samples=4"];
    let text = Options {
        period: 200,
        bird: 6,
        min_samples: 4,
        ..DEFAULTS
    };
    let readings = [
        (&[][..], text.clone()),
        (
            &["bird_update=any"],
            Options {
                any: true,
                ..text.clone()
            },
        ),
        (
            &["bpac_lone_page=sequential"],
            Options {
                lone_waits: true,
                ..text.clone()
            },
        ),
        (
            &["bpac_ages=all"],
            Options {
                all_age: true,
                ..text.clone()
            },
        ),
        (
            &["evict_hot_with_cluster=true"],
            Options {
                with_cluster: true,
                ..text.clone()
            },
        ),
        (
            &["bird_scope=history"],
            Options {
                history: true,
                ..text.clone()
            },
        ),
        (
            &["bpac_cover=0.98"],
            Options {
                cover_percent: 98,
                ..text.clone()
            },
        ),
        (
            &[
                "bpac_fallback=largest",
                "bpac_lone_page=sequential",
                "evict_hot_with_cluster=true",
                "bird_update=any",
            ],
            Options {
                fallback: "largest",
                lone_waits: true,
                with_cluster: true,
                any: true,
                ..text
            },
        ),
    ];
    for (words, options) in readings {
        compare("bpac", &[&often[..], words].concat(), |size| {
            Box::new(Bpac::new(size, options.clone()))
        });
    }
}
