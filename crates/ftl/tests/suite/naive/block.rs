//! Naive model of block mapping: a block is rewritten for every page whose place is already programmed.

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
    pub in_order: bool,
}

/// For each offset, the version that was programmed in the block.
type Block = Vec<Option<u64>>;

struct Rewrite {
    lbn: u64,
    old: Block,
    last: usize,
    copies: u64,
}

/// The model.
pub struct BlockMap {
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

impl BlockMap {
    /// A model with `logical` logical blocks and `blocks` physical blocks on each die.
    pub fn new(rules: Rules, logical: u64, blocks: u64) -> Self {
        let full = if rules.filled { logical } else { 0 };
        let all = full * rules.dies;
        Self {
            rules,
            data: (0..all)
                .map(|lbn| (lbn, vec![Some(0); rules.pages]))
                .collect(),
            newest: (0..all * rules.pages as u64)
                .map(|page| (page, 0))
                .collect(),
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

    fn is_needed(&self, block: &Block, lbn: u64, offset: usize) -> bool {
        let page = lbn * self.rules.pages as u64 + offset as u64;
        block[offset].is_some() && block[offset] == self.newest.get(&page).copied()
    }

    /// Copies the needed pages of the old block with the offsets `first..end`.
    fn copy(&mut self, rewrite: &mut Rewrite, first: usize, end: usize) {
        for offset in first..end {
            if self.is_needed(&rewrite.old, rewrite.lbn, offset) {
                let new = self.data.get_mut(&rewrite.lbn).expect("the new block");
                new[offset] = rewrite.old[offset];
                rewrite.copies += 1;
                self.counts.copies += 1;
            }
        }
    }

    fn finish(&mut self, die: usize) {
        let Some(mut rewrite) = self.open[die].take() else {
            return;
        };
        let first = rewrite.last + 1;
        self.copy(&mut rewrite, first, self.rules.pages);
        self.counts.erases += 1;
        self.free[die].push(false);
        let kind = if rewrite.copies == 0 {
            MergeKind::Switch
        } else {
            MergeKind::Full
        };
        self.merges.push((rewrite.lbn, kind));
    }

    fn is_rest_needed(&self, rewrite: &Rewrite) -> bool {
        (rewrite.last + 1..self.rules.pages)
            .any(|offset| self.is_needed(&rewrite.old, rewrite.lbn, offset))
    }
}

impl Model for BlockMap {
    fn write(&mut self, page: u64) {
        let lbn = page / self.rules.pages as u64;
        let offset = (page % self.rules.pages as u64) as usize;
        let die = (lbn % self.rules.dies) as usize;
        self.counts.programs += 1;
        self.version += 1;
        let goes_on = |rewrite: &Rewrite| rewrite.lbn == lbn && rewrite.last < offset;
        if !self.open[die].as_ref().is_some_and(goes_on) {
            self.finish(die);
        }
        let mut rewrite = match self.open[die].take() {
            Some(mut rewrite) => {
                let first = rewrite.last + 1;
                self.copy(&mut rewrite, first, offset);
                rewrite
            }
            None => {
                if !self.data.contains_key(&lbn) {
                    self.take_free(die);
                    self.data.insert(lbn, vec![None; self.rules.pages]);
                }
                let block = &self.data[&lbn];
                let fits = if self.rules.in_order {
                    block[offset..].iter().all(Option::is_none)
                } else {
                    block[offset].is_none()
                };
                if fits {
                    self.data.get_mut(&lbn).expect("a block")[offset] = Some(self.version);
                    self.newest.insert(page, self.version);
                    return;
                }
                self.take_free(die);
                let old = self
                    .data
                    .insert(lbn, vec![None; self.rules.pages])
                    .expect("a block");
                let mut rewrite = Rewrite {
                    lbn,
                    old,
                    last: offset,
                    copies: 0,
                };
                self.copy(&mut rewrite, 0, offset);
                rewrite
            }
        };
        self.data.get_mut(&lbn).expect("the new block")[offset] = Some(self.version);
        self.newest.insert(page, self.version);
        rewrite.last = offset;
        let stays_open = self.rules.batch && self.is_rest_needed(&rewrite);
        self.open[die] = Some(rewrite);
        if !stays_open {
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
            .is_some_and(|rewrite| rewrite.lbn == lbn && !self.is_rest_needed(rewrite));
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
