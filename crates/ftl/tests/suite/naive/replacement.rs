//! Naive model of chains of replacement blocks.

use std::collections::BTreeMap;

use destage_nand::operation::MergeKind;

use super::{Counts, Model};

/// The parameters of the layer that the model follows.
#[derive(Clone, Copy)]
pub struct Rules {
    pub dies: u64,
    pub pages: usize,
    pub filled: bool,
    pub in_order: bool,
    /// Maximum number of blocks of a chain.
    pub chain: usize,
    /// Number of replacement blocks of each die.
    pub replacements: usize,
}

/// For each offset, the version that was programmed in the block.
type Block = Vec<Option<u64>>;

/// The model.
pub struct Replacement {
    rules: Rules,
    chains: BTreeMap<u64, Vec<Block>>,
    /// For each die, the logical blocks with replacement blocks, in the order in which they got their first
    /// replacement block.
    replaced: Vec<Vec<u64>>,
    /// The newest version of each page that has contents.
    newest: BTreeMap<u64, u64>,
    version: u64,
    /// For each die, the free blocks in the order of use; `true` for a released block that still has to be
    /// erased.
    free: Vec<Vec<bool>>,
    counts: Counts,
    merges: Vec<(u64, MergeKind)>,
}

impl Replacement {
    /// A model with `logical` logical blocks and `blocks` physical blocks on each die.
    pub fn new(rules: Rules, logical: u64, blocks: u64) -> Self {
        let full = if rules.filled { logical } else { 0 };
        let all = full * rules.dies;
        Self {
            rules,
            chains: (0..all)
                .map(|lbn| (lbn, vec![vec![Some(0); rules.pages]]))
                .collect(),
            replaced: vec![Vec::new(); rules.dies as usize],
            newest: (0..all * rules.pages as u64)
                .map(|page| (page, 0))
                .collect(),
            version: 0,
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

    /// The offsets at which `block`, a block of `lbn`, holds the newest version.
    fn needed(&self, lbn: u64, block: &Block) -> Vec<usize> {
        let first = lbn * self.rules.pages as u64;
        (0..self.rules.pages)
            .filter(|offset| {
                block[*offset].is_some()
                    && block[*offset] == self.newest.get(&(first + *offset as u64)).copied()
            })
            .collect()
    }

    fn fold(&mut self, lbn: u64) {
        let die = (lbn % self.rules.dies) as usize;
        let chain = self.chains.remove(&lbn).expect("a chain");
        self.replaced[die].retain(|other| *other != lbn);
        let needed: Vec<Vec<usize>> = chain.iter().map(|block| self.needed(lbn, block)).collect();
        let others: usize = needed[..chain.len() - 1].iter().map(Vec::len).sum();
        let (kept, kind) = if others == 0 {
            (chain.last().expect("a block").clone(), MergeKind::Switch)
        } else {
            let mut new = vec![None; self.rules.pages];
            for (block, needed) in chain.iter().zip(needed) {
                for offset in needed {
                    new[offset] = block[offset];
                    self.counts.copies += 1;
                }
            }
            self.take_free(die);
            (new, MergeKind::Full)
        };
        let erased = chain.len() - usize::from(kind == MergeKind::Switch);
        for _ in 0..erased {
            self.counts.erases += 1;
            self.free[die].push(false);
        }
        self.chains.insert(lbn, vec![kept]);
        self.merges.push((lbn, kind));
    }
}

impl Model for Replacement {
    fn write(&mut self, page: u64) {
        let lbn = page / self.rules.pages as u64;
        let offset = (page % self.rules.pages as u64) as usize;
        let die = (lbn % self.rules.dies) as usize;
        self.counts.programs += 1;
        self.version += 1;
        if !self.chains.contains_key(&lbn) {
            self.take_free(die);
            self.chains.insert(lbn, vec![vec![None; self.rules.pages]]);
        }
        loop {
            let in_order = self.rules.in_order;
            let can_take = |block: &&mut Block| {
                if in_order {
                    block[offset..].iter().all(Option::is_none)
                } else {
                    block[offset].is_none()
                }
            };
            let chain = self.chains.get_mut(&lbn).expect("a chain");
            let length = chain.len();
            if let Some(block) = chain.iter_mut().find(can_take) {
                block[offset] = Some(self.version);
                self.newest.insert(page, self.version);
                return;
            }
            let used: usize = self.replaced[die]
                .iter()
                .map(|lbn| self.chains[lbn].len() - 1)
                .sum();
            if length == self.rules.chain {
                self.fold(lbn);
            } else if used == self.rules.replacements {
                let mut longest = self.replaced[die][0];
                for other in &self.replaced[die] {
                    if self.chains[other].len() > self.chains[&longest].len() {
                        longest = *other;
                    }
                }
                self.fold(longest);
            } else {
                self.take_free(die);
                let chain = self.chains.get_mut(&lbn).expect("a chain");
                chain.push(vec![None; self.rules.pages]);
                if length == 1 {
                    self.replaced[die].push(lbn);
                }
            }
        }
    }

    fn read(&mut self, page: u64) {
        self.counts.reads += u64::from(self.newest.contains_key(&page));
    }

    fn trim(&mut self, page: u64) {
        let lbn = page / self.rules.pages as u64;
        let die = (lbn % self.rules.dies) as usize;
        self.newest.remove(&page);
        let first = lbn * self.rules.pages as u64;
        let has_contents = self
            .newest
            .range(first..first + self.rules.pages as u64)
            .next();
        if has_contents.is_none()
            && let Some(chain) = self.chains.remove(&lbn)
        {
            self.replaced[die].retain(|other| *other != lbn);
            self.free[die].extend(chain.iter().map(|_| true));
        }
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn merges(&self) -> &[(u64, MergeKind)] {
        &self.merges
    }
}
