//! Naive model of `bast`, in which each log block is bound to one logical block.

use std::collections::BTreeMap;

use destage_nand::operation::MergeKind;

use super::{Counts, Model};

/// The parameters of the layer that the model follows.
#[derive(Clone, Copy)]
pub struct Rules {
    pub dies: u64,
    pub pages: usize,
    pub logs: usize,
    pub filled: bool,
    pub partial: bool,
    /// Whether the log block that was written longest ago is merged. If not, the one that was bound first is
    /// merged.
    pub lru: bool,
    pub min_cost: bool,
    pub eager: bool,
    /// Whether a page is written to its place in the data block if that place can still be programmed.
    pub first_to_data: bool,
}

#[derive(Clone)]
struct Log {
    block: u64,
    offsets: Vec<usize>,
    /// For each slot, whether it holds the newest copy of its page.
    newest: Vec<bool>,
}

/// A data block: the page after the last programmed page, and for each page, whether its newest copy is in this
/// block.
#[derive(Clone)]
struct Data {
    end: usize,
    newest: Vec<bool>,
}

/// The model.
pub struct Bast {
    rules: Rules,
    data: BTreeMap<u64, Data>,
    /// For each die, the log blocks; the next victim is in front.
    logs: Vec<Vec<Log>>,
    /// For each die, the free blocks in the order of use; `true` for a released block that still has to be
    /// erased.
    free: Vec<Vec<bool>>,
    counts: Counts,
    merges: Vec<(u64, MergeKind)>,
}

impl Bast {
    /// A model with `logical` logical blocks and `blocks` physical blocks on each die.
    pub fn new(rules: Rules, logical: u64, blocks: u64) -> Self {
        let data = if rules.filled {
            logical * rules.dies
        } else {
            0
        };
        let full = Data {
            end: rules.pages,
            newest: vec![true; rules.pages],
        };
        let free = blocks - data / rules.dies;
        Self {
            rules,
            data: (0..data).map(|block| (block, full.clone())).collect(),
            logs: vec![Vec::new(); rules.dies as usize],
            free: vec![vec![false; free as usize]; rules.dies as usize],
            counts: Counts::default(),
            merges: Vec::new(),
        }
    }

    fn split(&self, page: u64) -> (u64, usize, usize) {
        let block = page / self.rules.pages as u64;
        let offset = (page % self.rules.pages as u64) as usize;
        (block, offset, (block % self.rules.dies) as usize)
    }

    fn take_free(&mut self, die: usize) {
        if self.free[die].remove(0) {
            self.counts.erases += 1;
        }
    }

    fn erase(&mut self, die: usize) {
        self.counts.erases += 1;
        self.free[die].push(false);
    }

    fn kind(&self, log: &Log) -> MergeKind {
        let sequential = log
            .offsets
            .iter()
            .enumerate()
            .all(|(slot, offset)| slot == *offset);
        match sequential {
            true if log.offsets.len() == self.rules.pages => MergeKind::Switch,
            true if self.rules.partial => MergeKind::Partial,
            _ => MergeKind::Full,
        }
    }

    fn merge(&mut self, die: usize, position: usize) {
        let kind = self.kind(&self.logs[die][position]);
        let log = self.logs[die].remove(position);
        let old = self.data.remove(&log.block);
        let had_data = old.is_some();
        let mut newest = vec![false; self.rules.pages];
        let mut copied = vec![false; self.rules.pages];
        for (slot, offset) in log.offsets.iter().enumerate() {
            if log.newest[slot] {
                newest[*offset] = true;
                copied[*offset] = kind == MergeKind::Full;
            }
        }
        for offset in 0..self.rules.pages {
            if old.as_ref().is_some_and(|old| old.newest[offset]) {
                newest[offset] = true;
                copied[offset] = true;
            }
        }
        self.counts.copies += copied.iter().filter(|copied| **copied).count() as u64;
        let last_copied = copied
            .iter()
            .rposition(|copied| *copied)
            .map_or(0, |last| last + 1);
        let end = match kind {
            MergeKind::Full => last_copied,
            _ => last_copied.max(log.offsets.len()),
        };
        if kind == MergeKind::Full {
            self.take_free(die);
        }
        if had_data {
            self.erase(die);
        }
        if kind == MergeKind::Full {
            self.erase(die);
        }
        self.data.insert(log.block, Data { end, newest });
        self.merges.push((log.block, kind));
    }
}

impl Model for Bast {
    fn write(&mut self, page: u64) {
        let (block, offset, die) = self.split(page);
        self.counts.programs += 1;
        if self.rules.first_to_data {
            if !self.data.contains_key(&block) {
                self.take_free(die);
                let empty = Data {
                    end: 0,
                    newest: vec![false; self.rules.pages],
                };
                self.data.insert(block, empty);
            }
            let data = self.data.get_mut(&block).expect("just made");
            if data.end <= offset {
                data.end = offset + 1;
                data.newest[offset] = true;
                for log in self.logs[die].iter_mut().filter(|log| log.block == block) {
                    for (slot, other) in log.offsets.iter().enumerate() {
                        if *other == offset {
                            log.newest[slot] = false;
                        }
                    }
                }
                return;
            }
        }
        let own = self.logs[die].iter().position(|log| log.block == block);
        let has_room = own.is_some_and(|own| self.logs[die][own].offsets.len() < self.rules.pages);
        if !has_room {
            if let Some(own) = own {
                self.merge(die, own);
            } else if self.logs[die].len() == self.rules.logs {
                let victim = if self.rules.min_cost {
                    (0..self.logs[die].len())
                        .min_by_key(|position| self.kind(&self.logs[die][*position]))
                        .expect("a log block")
                } else {
                    0
                };
                self.merge(die, victim);
            }
            self.take_free(die);
            self.logs[die].push(Log {
                block,
                offsets: Vec::new(),
                newest: Vec::new(),
            });
        }
        let position = self.logs[die]
            .iter()
            .position(|log| log.block == block)
            .expect("a log block");
        let log = &mut self.logs[die][position];
        for (slot, other) in log.offsets.iter().enumerate() {
            if *other == offset {
                log.newest[slot] = false;
            }
        }
        log.offsets.push(offset);
        log.newest.push(true);
        if let Some(data) = self.data.get_mut(&block) {
            data.newest[offset] = false;
        }
        if self.rules.lru {
            let log = self.logs[die].remove(position);
            self.logs[die].push(log);
        }
        let position = self.logs[die]
            .iter()
            .position(|log| log.block == block)
            .expect("a log block");
        if self.rules.eager && self.kind(&self.logs[die][position]) == MergeKind::Switch {
            self.merge(die, position);
        }
    }

    fn read(&mut self, page: u64) {
        let (block, offset, die) = self.split(page);
        let in_log = self.logs[die].iter().any(|log| {
            log.block == block
                && (0..log.offsets.len())
                    .any(|slot| log.offsets[slot] == offset && log.newest[slot])
        });
        let in_data = self
            .data
            .get(&block)
            .is_some_and(|data| data.newest[offset]);
        self.counts.reads += u64::from(in_log || in_data);
    }

    fn trim(&mut self, page: u64) {
        let (block, offset, die) = self.split(page);
        if let Some(position) = self.logs[die].iter().position(|log| log.block == block) {
            let log = &mut self.logs[die][position];
            for slot in 0..log.offsets.len() {
                if log.offsets[slot] == offset {
                    log.newest[slot] = false;
                }
            }
            if !log.newest.contains(&true) {
                self.logs[die].remove(position);
                self.erase(die);
            }
        }
        if let Some(data) = self.data.get_mut(&block) {
            data.newest[offset] = false;
            let in_log = self.logs[die].iter().any(|log| log.block == block);
            if !data.newest.contains(&true) && !in_log {
                self.data.remove(&block);
                self.free[die].push(true);
            }
        }
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn merges(&self) -> &[(u64, MergeKind)] {
        &self.merges
    }
}
