//! Naive model of `sast`, in which the logical blocks of a group share log blocks.

use std::collections::BTreeMap;

use destage_nand::operation::MergeKind;

use super::{Counts, Model};

/// The parameters of the layer that the model follows.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub dies: u64,
    pub pages: usize,
    /// Number of log blocks of each die.
    pub logs: usize,
    pub group_blocks: u64,
    pub group_logs: usize,
    pub filled: bool,
    pub partial: bool,
    pub first_to_data: bool,
    /// Whether the oldest log block of a group is reclaimed. If not, the one with the most dead pages is
    /// reclaimed.
    pub oldest: bool,
}

/// A copy of a page: logical block, offset and version. The versions of a page count up.
type Copy = (u64, usize, u32);

#[derive(Clone)]
struct Log {
    group: u64,
    copies: Vec<Copy>,
}

/// A data block: the page after the last programmed page, and the version in each page.
struct Data {
    end: usize,
    versions: Vec<u32>,
}

/// The model.
pub struct Sast {
    rules: Rules,
    /// Newest version of each page; 0 if the page has no contents.
    newest: BTreeMap<(u64, usize), u32>,
    clock: u32,
    data: BTreeMap<u64, Data>,
    /// For each die, the log blocks in the order in which they were opened.
    logs: Vec<Vec<Log>>,
    written_at: BTreeMap<(usize, u64), u32>,
    free: Vec<Vec<bool>>,
    counts: Counts,
    merges: Vec<(u64, MergeKind)>,
}

impl Sast {
    /// A model with `logical` logical blocks and `blocks` physical blocks on each die.
    pub fn new(rules: Rules, logical: u64, blocks: u64) -> Self {
        let full = if rules.filled { logical } else { 0 };
        let all = || (0..full * rules.dies).flat_map(|b| (0..rules.pages).map(move |o| (b, o)));
        let data = |block| {
            let versions = vec![1; rules.pages];
            let end = rules.pages;
            (block, Data { end, versions })
        };
        Self {
            rules,
            newest: all().map(|page| (page, 1)).collect(),
            clock: 1,
            data: (0..full * rules.dies).map(data).collect(),
            logs: vec![Vec::new(); rules.dies as usize],
            written_at: BTreeMap::new(),
            free: vec![vec![false; (blocks - full) as usize]; rules.dies as usize],
            counts: Counts::default(),
            merges: Vec::new(),
        }
    }

    fn split(&self, page: u64) -> (u64, usize, usize) {
        let block = page / self.rules.pages as u64;
        let offset = (page % self.rules.pages as u64) as usize;
        (block, offset, (block % self.rules.dies) as usize)
    }

    fn group(&self, block: u64) -> u64 {
        block / self.rules.dies / self.rules.group_blocks
    }

    fn version(&self, block: u64, offset: usize) -> u32 {
        self.newest.get(&(block, offset)).copied().unwrap_or(0)
    }

    /// Whether this copy has the newest version of its page, and this version is not in the data block.
    fn is_live(&self, (block, offset, version): Copy) -> bool {
        let in_data = self
            .data
            .get(&block)
            .is_some_and(|data| data.versions[offset] == version);
        self.version(block, offset) == version && !in_data
    }

    fn live(&self, log: &Log) -> usize {
        log.copies
            .iter()
            .filter(|copy| self.is_live(**copy))
            .count()
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

    /// Copies the newest pages of `block` from offset `first` on. The pages before `first` are already in the new
    /// data block.
    fn collect(&mut self, block: u64, first: usize) {
        let die = (block % self.rules.dies) as usize;
        let versions: Vec<u32> = (0..self.rules.pages)
            .map(|offset| self.version(block, offset))
            .collect();
        let mut end = first;
        for (offset, version) in versions.iter().enumerate().skip(first) {
            if *version > 0 {
                end = offset + 1;
                self.counts.copies += 1;
            }
        }
        if self.data.insert(block, Data { end, versions }).is_some() {
            self.erase(die);
        }
    }

    fn reclaim(&mut self, die: usize, position: usize) {
        let log = self.logs[die][position].clone();
        let owner = log.copies[0].0;
        let in_sequence = log
            .copies
            .iter()
            .enumerate()
            .all(|(slot, copy)| copy.0 == owner && copy.1 == slot);
        let superseded = log
            .copies
            .iter()
            .any(|copy| !self.is_live(*copy) && self.version(copy.0, copy.1) > 0);
        let is_full = log.copies.len() == self.rules.pages;
        if self.live(&log) > 0 && in_sequence && !superseded && (is_full || self.rules.partial) {
            self.collect(owner, log.copies.len());
            let kind = if is_full {
                MergeKind::Switch
            } else {
                MergeKind::Partial
            };
            self.merges.push((owner, kind));
        } else {
            for copy in &log.copies {
                if self.is_live(*copy) {
                    self.take_free(die);
                    self.collect(copy.0, 0);
                    self.merges.push((copy.0, MergeKind::Full));
                }
            }
            self.erase(die);
        }
        self.logs[die].remove(position);
    }

    /// The position of the log block of `group` that is reclaimed.
    fn victim(&self, die: usize, group: u64) -> usize {
        let mut victim = None;
        for (position, log) in self.logs[die].iter().enumerate() {
            let dead = log.copies.len() - self.live(log);
            let is_better = match victim {
                None => true,
                Some((_, most)) => dead > most && !self.rules.oldest,
            };
            if log.group == group && is_better {
                victim = Some((position, dead));
            }
        }
        victim.expect("a log block").0
    }
}

impl Model for Sast {
    fn write(&mut self, page: u64) {
        let (block, offset, die) = self.split(page);
        let group = self.group(block);
        self.counts.programs += 1;
        self.clock += 1;
        let version = self.clock;
        if self.rules.first_to_data {
            if !self.data.contains_key(&block) {
                self.take_free(die);
                let versions = vec![0; self.rules.pages];
                self.data.insert(block, Data { end: 0, versions });
            }
            let data = self.data.get_mut(&block).expect("just made");
            if data.end <= offset {
                data.end = offset + 1;
                data.versions[offset] = version;
                self.newest.insert((block, offset), version);
                return;
            }
        }
        let own = |log: &&Log| log.group == group;
        let newest_log = self.logs[die].iter().rfind(own);
        if newest_log.is_none_or(|log| log.copies.len() == self.rules.pages) {
            if self.logs[die].iter().filter(own).count() == self.rules.group_logs {
                let victim = self.victim(die, group);
                self.reclaim(die, victim);
            } else if self.logs[die].len() == self.rules.logs {
                let oldest = self.logs[die]
                    .iter()
                    .map(|log| log.group)
                    .min_by_key(|group| self.written_at[&(die, *group)])
                    .expect("a log block");
                let victim = self.victim(die, oldest);
                self.reclaim(die, victim);
            }
            self.take_free(die);
            let copies = Vec::new();
            self.logs[die].push(Log { group, copies });
        }
        self.newest.insert((block, offset), version);
        self.written_at.insert((die, group), version);
        let log = self.logs[die]
            .iter_mut()
            .rfind(|log| log.group == group)
            .expect("a log block");
        log.copies.push((block, offset, version));
    }

    fn read(&mut self, page: u64) {
        let (block, offset, _) = self.split(page);
        self.counts.reads += u64::from(self.version(block, offset) > 0);
    }

    fn trim(&mut self, page: u64) {
        let (block, offset, die) = self.split(page);
        let before = (block, offset, self.version(block, offset));
        let holds = |log: &Log| log.copies.contains(&before);
        let place = self.logs[die].iter().position(holds);
        let was_live = self.is_live(before);
        self.newest.insert((block, offset), 0);
        if let Some(place) = place
            && was_live
            && self.live(&self.logs[die][place]) == 0
        {
            self.logs[die].remove(place);
            self.erase(die);
        }
        let is_empty = (0..self.rules.pages).all(|offset| self.version(block, offset) == 0);
        if is_empty && self.data.remove(&block).is_some() {
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
