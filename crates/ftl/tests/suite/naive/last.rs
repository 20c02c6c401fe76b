//! Naive model of `last`, which has separate log blocks for long writes, for hot pages and for cold pages.

use std::collections::{BTreeMap, BTreeSet};

use destage_nand::operation::MergeKind;

use super::{Counts, Model};

/// The parameters of the layer that the model follows.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub dies: u64,
    pub pages: usize,
    /// Number of log blocks of each die for long writes, and number for other writes.
    pub sequential: usize,
    pub random: usize,
    /// A page is hot if its last write was at most this many page writes to the random log blocks ago.
    pub window: usize,
    pub filled: bool,
    pub partial: bool,
    pub first_to_data: bool,
}

/// A copy of a page: logical block, offset and version. The versions of a page count up.
type Copy = (u64, usize, u32);

/// The use of a log block: long writes of one logical block, or other writes of hot or of cold pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Use {
    Long(u64),
    Hot,
    Cold,
}

#[derive(Clone)]
struct Log {
    what_for: Use,
    copies: Vec<Copy>,
}

/// A data block: the page after the last programmed page, and the version in each page.
struct Data {
    end: usize,
    versions: Vec<u32>,
}

/// The model.
pub struct Last {
    rules: Rules,
    /// Newest version of each page; 0 if the page has no contents.
    newest: BTreeMap<(u64, usize), u32>,
    clock: u32,
    data: BTreeMap<u64, Data>,
    /// For each die, the log blocks in the order in which they were opened.
    logs: Vec<Vec<Log>>,
    /// For each die, the pages written to random log blocks, in order.
    history: Vec<Vec<u64>>,
    free: Vec<Vec<bool>>,
    counts: Counts,
    merges: Vec<(u64, MergeKind)>,
}

impl Last {
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
            history: vec![Vec::new(); rules.dies as usize],
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

    fn is_dead(&self, log: &Log) -> bool {
        !log.copies.iter().any(|copy| self.is_live(*copy))
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

    /// Erases the log block for long writes of `block`, if there is one.
    fn drop_long(&mut self, die: usize, block: u64) {
        let is_it = |log: &Log| log.what_for == Use::Long(block);
        if let Some(position) = self.logs[die].iter().position(is_it) {
            self.logs[die].remove(position);
            self.erase(die);
        }
    }

    /// Reclaims the log block at `position`: merges the logical blocks with needed pages in it, and erases the log
    /// block.
    fn reclaim(&mut self, die: usize, position: usize) {
        let log = self.logs[die].remove(position);
        if self.is_dead(&log) {
            return self.erase(die);
        }
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
        if in_sequence && !superseded && (is_full || self.rules.partial) {
            self.collect(owner, log.copies.len());
            self.drop_long(die, owner);
            let kind = if is_full {
                MergeKind::Switch
            } else {
                MergeKind::Partial
            };
            return self.merges.push((owner, kind));
        }
        for copy in &log.copies {
            if self.is_live(*copy) {
                self.take_free(die);
                self.collect(copy.0, 0);
                self.drop_long(die, copy.0);
                self.merges.push((copy.0, MergeKind::Full));
            }
        }
        self.erase(die);
    }

    /// The position of the random log block that is reclaimed next.
    fn victim(&self, die: usize) -> usize {
        let mut best = None;
        for (position, log) in self.logs[die].iter().enumerate() {
            if matches!(log.what_for, Use::Long(_)) {
                continue;
            }
            let blocks: BTreeSet<u64> = log
                .copies
                .iter()
                .filter(|copy| self.is_live(**copy))
                .map(|copy| copy.0)
                .collect();
            let has_room = log.copies.len() < self.rules.pages;
            let rank = (
                !blocks.is_empty(),
                has_room,
                log.what_for == Use::Hot,
                blocks.len(),
            );
            if best.is_none_or(|(other, _)| rank < other) {
                best = Some((rank, position));
            }
        }
        best.expect("a log block").1
    }

    /// Programs the page in its data block, if `first_to_data` is set and the place of the page is free. Returns
    /// whether the page was programmed.
    fn write_to_data(&mut self, (block, offset, version): Copy, die: usize) -> bool {
        if !self.rules.first_to_data {
            return false;
        }
        if !self.data.contains_key(&block) {
            self.take_free(die);
            let versions = vec![0; self.rules.pages];
            self.data.insert(block, Data { end: 0, versions });
        }
        let data = self.data.get_mut(&block).expect("just made");
        if data.end > offset {
            return false;
        }
        data.end = offset + 1;
        data.versions[offset] = version;
        self.newest.insert((block, offset), version);
        true
    }

    fn append(&mut self, die: usize, what_for: Use, copy: Copy) {
        let log = self.logs[die]
            .iter_mut()
            .rfind(|log| log.what_for == what_for)
            .expect("a log block");
        log.copies.push(copy);
        self.newest.insert((copy.0, copy.1), copy.2);
    }

    fn open(&mut self, die: usize, what_for: Use) {
        self.take_free(die);
        let copies = Vec::new();
        self.logs[die].push(Log { what_for, copies });
    }

    fn begin(&mut self, page: u64) -> (Copy, usize) {
        let (block, offset, die) = self.split(page);
        self.counts.programs += 1;
        self.clock += 1;
        ((block, offset, self.clock), die)
    }
}

impl Model for Last {
    fn write(&mut self, page: u64) {
        let (copy, die) = self.begin(page);
        if self.write_to_data(copy, die) {
            return;
        }
        let history = &mut self.history[die];
        let recent = history.len().saturating_sub(self.rules.window);
        let is_hot = history[recent..].contains(&page);
        history.push(page);
        let what_for = if is_hot { Use::Hot } else { Use::Cold };
        let newest = self.logs[die].iter().rfind(|log| log.what_for == what_for);
        if newest.is_none_or(|log| log.copies.len() == self.rules.pages) {
            let random = |log: &&Log| !matches!(log.what_for, Use::Long(_));
            if self.logs[die].iter().filter(random).count() == self.rules.random {
                let victim = self.victim(die);
                self.reclaim(die, victim);
            }
            self.open(die, what_for);
        }
        self.append(die, what_for, copy);
    }

    fn write_long(&mut self, page: u64) {
        let (copy, die) = self.begin(page);
        if self.write_to_data(copy, die) {
            return;
        }
        let what_for = Use::Long(copy.0);
        let own = |log: &Log| log.what_for == what_for;
        let long = |log: &Log| matches!(log.what_for, Use::Long(_));
        let logs = &self.logs[die];
        let position = logs.iter().position(own);
        if position.is_none_or(|position| logs[position].copies.len() == self.rules.pages) {
            let in_use = logs.iter().filter(|log| long(log)).count();
            let victim = match position {
                Some(position) => Some(position),
                None if in_use == self.rules.sequential => logs.iter().position(long),
                None => None,
            };
            if let Some(victim) = victim {
                self.reclaim(die, victim);
            }
            self.open(die, what_for);
        }
        self.append(die, what_for, copy);
    }

    fn read(&mut self, page: u64) {
        let (block, offset, _) = self.split(page);
        self.counts.reads += u64::from(self.version(block, offset) > 0);
    }

    fn trim(&mut self, page: u64) {
        let (block, offset, die) = self.split(page);
        self.newest.insert((block, offset), 0);
        let is_long = |log: &&Log| log.what_for == Use::Long(block);
        if let Some(log) = self.logs[die].iter().find(is_long)
            && self.is_dead(log)
        {
            self.drop_long(die, block);
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
