//! Naive model of superblocks of adjacent logical blocks.

use std::collections::{BTreeMap, BTreeSet};

use destage_nand::operation::MergeKind;

use super::{Counts, Model};

/// The parameters of the layer that the model follows.
#[derive(Clone, Copy)]
pub struct Rules {
    pub dies: u64,
    pub pages: usize,
    /// Number of logical blocks of each die.
    pub logical: u64,
    pub filled: bool,
    /// Number of logical blocks of a superblock.
    pub blocks: u64,
    /// Maximum number of update blocks of a superblock, and maximum number of each die.
    pub updates: usize,
    pub all_updates: usize,
    pub hot_cold: bool,
    pub map_cached: bool,
}

/// A flash block: the page and version in each slot, in the order of programming.
type Block = Vec<(u64, u64)>;

#[derive(Clone, Default)]
struct Superblock {
    /// The numbers of the flash blocks of the superblock, the oldest in front.
    held: Vec<usize>,
    cold: Option<usize>,
    hot: Option<usize>,
    /// The pages that were written since the last collection.
    written: BTreeSet<u64>,
}

/// The model.
pub struct Superblocks {
    rules: Rules,
    /// All flash blocks that ever existed, by number.
    blocks: Vec<Block>,
    superblocks: BTreeMap<(u64, u64), Superblock>,
    /// For each die, the superblocks with update blocks; the one that was written longest ago is in front.
    order: Vec<Vec<u64>>,
    newest: BTreeMap<u64, u64>,
    version: u64,
    /// For each die, the free blocks in the order of use; `true` for a released block that still has to be
    /// erased.
    free: Vec<Vec<bool>>,
    counts: Counts,
    merges: Vec<(u64, MergeKind)>,
}

impl Superblocks {
    /// A model with `physical` flash blocks on each die.
    pub fn new(rules: Rules, physical: u64) -> Self {
        let full = if rules.filled { rules.logical } else { 0 };
        let mut model = Self {
            rules,
            blocks: Vec::new(),
            superblocks: BTreeMap::new(),
            order: vec![Vec::new(); rules.dies as usize],
            newest: BTreeMap::new(),
            version: 0,
            free: vec![vec![false; (physical - full) as usize]; rules.dies as usize],
            counts: Counts::default(),
            merges: Vec::new(),
        };
        let pages = rules.pages as u64;
        for lbn in 0..full * rules.dies {
            let contents = lbn * pages..(lbn + 1) * pages;
            model.newest.extend(contents.clone().map(|page| (page, 0)));
            model.blocks.push(contents.map(|page| (page, 0)).collect());
            let key = model.key(lbn * pages);
            let number = model.blocks.len() - 1;
            model.superblocks.entry(key).or_default().held.push(number);
        }
        model
    }

    /// The die of `page`, and the superblock of `page` on that die.
    fn key(&self, page: u64) -> (u64, u64) {
        let lbn = page / self.rules.pages as u64;
        let within = lbn / self.rules.dies;
        (lbn % self.rules.dies, within / self.rules.blocks)
    }

    fn logical_blocks(&self, superblock: u64) -> usize {
        let first = superblock * self.rules.blocks;
        (self.rules.logical - first).min(self.rules.blocks) as usize
    }

    fn needed(&self, block: usize) -> Vec<(u64, u64)> {
        self.blocks[block]
            .iter()
            .filter(|(page, version)| self.newest.get(page) == Some(version))
            .copied()
            .collect()
    }

    fn new_block(&mut self, die: u64) -> usize {
        if self.free[die as usize].remove(0) {
            self.counts.erases += 1;
        }
        self.blocks.push(Vec::new());
        self.blocks.len() - 1
    }

    fn erase(&mut self, die: u64) {
        self.counts.erases += 1;
        self.free[die as usize].push(false);
    }

    fn has_room(&self, block: Option<usize>) -> Option<usize> {
        block.filter(|block| self.blocks[*block].len() < self.rules.pages)
    }

    fn updates(&self, die: u64) -> usize {
        self.superblocks
            .iter()
            .filter(|((on, _), _)| *on == die)
            .map(|((_, number), state)| {
                state
                    .held
                    .len()
                    .saturating_sub(self.logical_blocks(*number))
            })
            .sum()
    }

    /// Stores `state` after a collection, and notes the merge.
    fn collected(&mut self, key: (u64, u64), mut state: Superblock, kind: MergeKind) {
        state.written.clear();
        if state.held.len() <= self.logical_blocks(key.1) {
            self.order[key.0 as usize].retain(|other| *other != key.1);
        }
        self.superblocks.insert(key, state);
        let first = key.1 * self.rules.blocks;
        self.merges.push((first * self.rules.dies + key.0, kind));
    }

    fn drop_block(state: &mut Superblock, block: usize) {
        state.held.retain(|other| *other != block);
        for open in [&mut state.cold, &mut state.hot] {
            if *open == Some(block) {
                *open = None;
            }
        }
    }

    fn collect(&mut self, key: (u64, u64), wants_hot: bool) {
        let mut state = self.superblocks[&key].clone();
        for block in state.held.clone() {
            if self.needed(block).is_empty() {
                Self::drop_block(&mut state, block);
                self.erase(key.0);
                self.collected(key, state, MergeKind::Switch);
                return;
            }
        }
        let beside = if wants_hot { state.cold } else { state.hot };
        if let Some(open) = self.has_room(beside) {
            let mut victim = None;
            for block in state.held.iter().filter(|block| **block != open) {
                let needed = self.needed(*block).len();
                if victim.is_none_or(|(fewest, _)| needed < fewest) {
                    victim = Some((needed, *block));
                }
            }
            let (needed, victim) = victim.expect("a closed block");
            if self.blocks[open].len() + needed <= self.rules.pages {
                let moved = self.needed(victim);
                self.counts.copies += moved.len() as u64;
                self.blocks[open].extend(moved);
                Self::drop_block(&mut state, victim);
                self.erase(key.0);
                self.collected(key, state, MergeKind::Partial);
                return;
            }
        }
        self.fold(key);
    }

    fn fold(&mut self, key: (u64, u64)) {
        let mut state = self.superblocks[&key].clone();
        let mut copies = 0;
        let mut target: Option<usize> = None;
        for block in state.held.clone() {
            let needed = self.needed(block);
            if needed.len() == self.rules.pages {
                continue;
            }
            for content in needed {
                let to = match self.has_room(target) {
                    Some(to) => to,
                    None => {
                        let to = self.new_block(key.0);
                        state.held.push(to);
                        to
                    }
                };
                self.blocks[to].push(content);
                target = Some(to);
                copies += 1;
            }
            Self::drop_block(&mut state, block);
            self.erase(key.0);
        }
        if target.is_some() {
            state.cold = target;
        }
        self.counts.copies += copies;
        let kind = if copies == 0 {
            MergeKind::Switch
        } else {
            MergeKind::Full
        };
        self.collected(key, state, kind);
    }

    /// The flash block that `page` is written to.
    fn room(&mut self, key: (u64, u64), page: u64) -> usize {
        loop {
            let state = self.superblocks[&key].clone();
            let is_hot =
                self.rules.hot_cold && self.rules.updates > 1 && state.written.contains(&page);
            let (own, other) = if is_hot {
                (state.hot, state.cold)
            } else {
                (state.cold, state.hot)
            };
            if let Some(open) = self.has_room(own) {
                return open;
            }
            let logical = self.logical_blocks(key.1);
            if state.held.len() == logical + self.rules.updates {
                self.collect(key, is_hot);
                continue;
            }
            if state.held.len() >= logical {
                if self.updates(key.0) == self.rules.all_updates {
                    if let Some(open) = self.has_room(other) {
                        return open;
                    }
                    let oldest = self.order[key.0 as usize][0];
                    self.fold((key.0, oldest));
                    continue;
                }
                if !self.order[key.0 as usize].contains(&key.1) {
                    self.order[key.0 as usize].push(key.1);
                }
            }
            let block = self.new_block(key.0);
            let state = self.superblocks.get_mut(&key).expect("a superblock");
            state.held.push(block);
            if is_hot {
                state.hot = Some(block);
            } else {
                state.cold = Some(block);
            }
            return block;
        }
    }

    fn look_up(&mut self) {
        self.counts.map_reads += u64::from(!self.rules.map_cached);
    }
}

impl Model for Superblocks {
    fn write(&mut self, page: u64) {
        let key = self.key(page);
        self.superblocks.entry(key).or_default();
        if self.newest.contains_key(&page) {
            self.look_up();
        }
        let order = &mut self.order[key.0 as usize];
        if order.contains(&key.1) {
            order.retain(|other| *other != key.1);
            order.push(key.1);
        }
        let block = self.room(key, page);
        self.version += 1;
        self.counts.programs += 1;
        self.newest.insert(page, self.version);
        self.blocks[block].push((page, self.version));
        let state = self.superblocks.get_mut(&key).expect("a superblock");
        state.written.insert(page);
    }

    fn read(&mut self, page: u64) {
        if self.newest.contains_key(&page) {
            self.look_up();
            self.counts.reads += 1;
        }
    }

    fn trim(&mut self, page: u64) {
        let key = self.key(page);
        let Some(state) = self.superblocks.get(&key) else {
            return;
        };
        if self.newest.remove(&page).is_none()
            || state
                .held
                .iter()
                .any(|block| !self.needed(*block).is_empty())
        {
            return;
        }
        let given_back = state.held.len();
        self.superblocks.insert(key, Superblock::default());
        self.order[key.0 as usize].retain(|other| *other != key.1);
        self.free[key.0 as usize].extend(vec![true; given_back]);
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn merges(&self) -> &[(u64, MergeKind)] {
        &self.merges
    }
}
