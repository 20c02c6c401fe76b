//! Naive model of block mapping with pages in any slot of their block.

use std::collections::BTreeMap;

use destage_nand::operation::MergeKind;

use super::{Counts, Model};

/// The parameters of the layer that the model follows.
#[derive(Clone, Copy)]
pub struct Rules {
    pub dies: u64,
    pub pages: usize,
    pub filled: bool,
    pub batch: bool,
}

/// The page and version in each slot, in the order of programming.
type Block = Vec<(u64, u64)>;

struct Rewrite {
    lbn: u64,
    old: Block,
    last: u64,
}

/// The model.
pub struct Hybrid {
    rules: Rules,
    data: BTreeMap<u64, Block>,
    /// The newest version of each page that has contents.
    newest: BTreeMap<u64, u64>,
    version: u64,
    open: Vec<Option<Rewrite>>,
    /// For each die, the free blocks in the order of use; `true` for a released block that still has to be
    /// erased.
    free: Vec<Vec<bool>>,
    counts: Counts,
    merges: Vec<(u64, MergeKind)>,
}

impl Hybrid {
    /// A model with `logical` logical blocks and `blocks` physical blocks on each die.
    pub fn new(rules: Rules, logical: u64, blocks: u64) -> Self {
        let full = if rules.filled { logical } else { 0 };
        let all = full * rules.dies;
        let pages = rules.pages as u64;
        let contents = |lbn: u64| {
            (lbn * pages..(lbn + 1) * pages)
                .map(|page| (page, 0))
                .collect()
        };
        Self {
            rules,
            data: (0..all).map(|lbn| (lbn, contents(lbn))).collect(),
            newest: (0..all * pages).map(|page| (page, 0)).collect(),
            version: 0,
            open: (0..rules.dies).map(|_| None).collect(),
            free: vec![vec![false; (blocks - full) as usize]; rules.dies as usize],
            counts: Counts::default(),
            merges: Vec::new(),
        }
    }

    fn take_free(&mut self, die: usize) {
        if self.free[die].remove(0) {
            self.counts.erases += 1;
        }
    }

    fn needed(&self, block: &Block) -> Vec<(u64, u64)> {
        let is_needed = |(page, version): &&(u64, u64)| self.newest.get(page) == Some(version);
        block.iter().filter(is_needed).copied().collect()
    }

    fn finish(&mut self, die: usize) {
        let Some(rewrite) = self.open[die].take() else {
            return;
        };
        let rest = self.needed(&rewrite.old);
        self.counts.copies += rest.len() as u64;
        self.counts.erases += 1;
        self.free[die].push(false);
        let kind = if rest.is_empty() {
            MergeKind::Switch
        } else {
            MergeKind::Full
        };
        self.data
            .get_mut(&rewrite.lbn)
            .expect("the new block")
            .extend(rest);
        self.merges.push((rewrite.lbn, kind));
    }
}

impl Model for Hybrid {
    fn write(&mut self, page: u64) {
        let lbn = page / self.rules.pages as u64;
        let die = (lbn % self.rules.dies) as usize;
        self.counts.programs += 1;
        self.version += 1;
        let goes_on = |rewrite: &Rewrite| rewrite.lbn == lbn && rewrite.last < page;
        if !self.open[die].as_ref().is_some_and(goes_on) {
            self.finish(die);
        }
        if !self.data.contains_key(&lbn) {
            self.take_free(die);
            self.data.insert(lbn, Vec::new());
        }
        if self.open[die].is_none() && self.data[&lbn].len() == self.rules.pages {
            self.take_free(die);
            let old = self.data.insert(lbn, Vec::new()).expect("a block");
            let last = page;
            self.open[die] = Some(Rewrite { lbn, old, last });
        }
        self.newest.insert(page, self.version);
        self.data
            .get_mut(&lbn)
            .expect("a block")
            .push((page, self.version));
        if let Some(rewrite) = &mut self.open[die] {
            rewrite.last = page;
        }
        let is_done = |rewrite: &Rewrite| !self.rules.batch || self.needed(&rewrite.old).is_empty();
        if self.open[die].as_ref().is_some_and(is_done) {
            self.finish(die);
        }
    }

    fn read(&mut self, page: u64) {
        self.counts.reads += u64::from(self.newest.contains_key(&page));
    }

    fn trim(&mut self, page: u64) {
        let lbn = page / self.rules.pages as u64;
        let die = (lbn % self.rules.dies) as usize;
        self.newest.remove(&page);
        let is_done = self.open[die]
            .as_ref()
            .is_some_and(|rewrite| rewrite.lbn == lbn && self.needed(&rewrite.old).is_empty());
        if is_done {
            self.finish(die);
        }
        let first = lbn * self.rules.pages as u64;
        let has_contents = self
            .newest
            .range(first..first + self.rules.pages as u64)
            .next();
        if has_contents.is_none() && self.data.remove(&lbn).is_some() {
            self.free[die].push(true);
        }
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn merges(&self) -> &[(u64, MergeKind)] {
        &self.merges
    }
}
