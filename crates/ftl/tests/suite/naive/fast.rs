//! Naive model of `fast`: log blocks that all logical blocks share, and one log block for sequential writes.

use std::collections::BTreeMap;

use destage_nand::operation::MergeKind;

use super::{Counts, Model};

/// The parameters of the layer that the model follows.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub dies: u64,
    pub pages: usize,
    /// Number of random log blocks of each die.
    pub random: usize,
    pub filled: bool,
    pub partial: bool,
    /// Whether a page that is out of sequence goes to the random log blocks, without a change of the sequential
    /// log block.
    pub mismatch_to_random: bool,
    pub first_to_data: bool,
}

/// A copy of a page: logical block, offset and version. The versions of a page count up; 0 means no contents.
type Copy = (u64, usize, u32);

#[derive(Clone)]
struct Data {
    end: usize,
    versions: Vec<u32>,
}

#[derive(Clone, Default)]
struct State {
    sequential: Vec<Copy>,
    /// The random log blocks, the oldest in front.
    random: Vec<Vec<Copy>>,
    /// The free blocks in the order of use; `true` for a released block that still has to be erased.
    free: Vec<bool>,
}

/// The model.
pub struct Fast {
    rules: Rules,
    /// Newest version of each page; 0 if the page has no contents.
    newest: BTreeMap<(u64, usize), u32>,
    last_version: u32,
    data: BTreeMap<u64, Data>,
    state: Vec<State>,
    counts: Counts,
    merges: Vec<(u64, MergeKind)>,
}

impl Fast {
    /// A model with `logical` logical blocks and `blocks` physical blocks on each die.
    pub fn new(rules: Rules, logical: u64, blocks: u64) -> Self {
        let full = if rules.filled { logical } else { 0 };
        let mut newest = BTreeMap::new();
        let mut data = BTreeMap::new();
        for block in 0..full * rules.dies {
            for offset in 0..rules.pages {
                newest.insert((block, offset), 1);
            }
            let versions = vec![1; rules.pages];
            data.insert(
                block,
                Data {
                    end: rules.pages,
                    versions,
                },
            );
        }
        let state = State {
            free: vec![false; (blocks - full) as usize],
            ..State::default()
        };
        Self {
            rules,
            newest,
            last_version: 1,
            data,
            state: vec![state; rules.dies as usize],
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

    fn is_newest(&self, (block, offset, version): Copy) -> bool {
        self.version(block, offset) == version
    }

    fn is_in_data(&self, block: u64, offset: usize) -> bool {
        let version = self.version(block, offset);
        version > 0
            && self
                .data
                .get(&block)
                .is_some_and(|data| data.versions[offset] == version)
    }

    fn take_free(&mut self, die: usize) {
        if self.state[die].free.remove(0) {
            self.counts.erases += 1;
        }
    }

    fn erase(&mut self, die: usize) {
        self.counts.erases += 1;
        self.state[die].free.push(false);
    }

    /// Moves the newest copies of all pages of `block` to a new block. The page `incoming` is programmed in the
    /// new block, and not copied.
    fn rewrite(&mut self, block: u64, incoming: Option<usize>) {
        let die = (block % self.rules.dies) as usize;
        self.take_free(die);
        let versions: Vec<u32> = (0..self.rules.pages)
            .map(|offset| self.version(block, offset))
            .collect();
        let pages = versions.iter().filter(|version| **version > 0).count();
        self.counts.copies += (pages - usize::from(incoming.is_some())) as u64;
        let end = versions
            .iter()
            .rposition(|version| *version > 0)
            .map_or(0, |last| last + 1);
        if self.data.insert(block, Data { end, versions }).is_some() {
            self.erase(die);
        }
        self.merges.push((block, MergeKind::Full));
        if self.owner(die) == Some(block) {
            self.state[die].sequential.clear();
            self.erase(die);
        }
    }

    fn owner(&self, die: usize) -> Option<u64> {
        Some(self.state[die].sequential.first()?.0)
    }

    fn merge_sequential(&mut self, die: usize) {
        let Some(owner) = self.owner(die) else {
            return;
        };
        let log = self.state[die].sequential.clone();
        if !log.iter().any(|copy| self.is_newest(*copy)) {
            self.state[die].sequential.clear();
            return self.erase(die);
        }
        // A page that was trimmed and not written again has no newer copy elsewhere.
        let superseded = log
            .iter()
            .any(|copy| !self.is_newest(*copy) && self.version(copy.0, copy.1) > 0);
        if superseded || (log.len() < self.rules.pages && !self.rules.partial) {
            return self.rewrite(owner, None);
        }
        let kind = if log.len() == self.rules.pages {
            MergeKind::Switch
        } else {
            MergeKind::Partial
        };
        let versions: Vec<u32> = (0..self.rules.pages)
            .map(|offset| self.version(owner, offset))
            .collect();
        let mut end = log.len();
        for (offset, version) in versions.iter().enumerate().skip(log.len()) {
            if *version > 0 {
                self.counts.copies += 1;
                end = offset + 1;
            }
        }
        if self.data.insert(owner, Data { end, versions }).is_some() {
            self.erase(die);
        }
        self.state[die].sequential.clear();
        self.merges.push((owner, kind));
    }

    fn write_random(&mut self, die: usize, copy: Copy) {
        let pages = self.rules.pages;
        if self.state[die]
            .random
            .last()
            .is_none_or(|log| log.len() == pages)
        {
            if self.state[die].random.len() == self.rules.random {
                let victim = self.state[die].random[0].clone();
                for page in &victim {
                    // If a logical block was already merged for an earlier page of the victim, its pages are in
                    // its data block.
                    if self.is_newest(*page) && !self.is_in_data(page.0, page.1) {
                        self.rewrite(page.0, None);
                    }
                }
                self.state[die].random.remove(0);
                self.erase(die);
            }
            self.take_free(die);
            self.state[die].random.push(Vec::new());
        }
        self.new_version(copy);
        let log = self.state[die].random.last_mut().expect("a log block");
        log.push(copy);
    }

    fn new_version(&mut self, (block, offset, version): Copy) {
        self.newest.insert((block, offset), version);
    }
}

impl Model for Fast {
    fn write(&mut self, page: u64) {
        let (block, offset, die) = self.split(page);
        self.counts.programs += 1;
        self.last_version += 1;
        let copy = (block, offset, self.last_version);
        if self.rules.first_to_data {
            if !self.data.contains_key(&block) {
                self.take_free(die);
                let versions = vec![0; self.rules.pages];
                self.data.insert(block, Data { end: 0, versions });
            }
            let data = self.data.get_mut(&block).expect("just made");
            if data.end <= offset {
                data.end = offset + 1;
                data.versions[offset] = copy.2;
                self.newest.insert((block, offset), copy.2);
                return;
            }
        }
        if offset == 0 {
            self.merge_sequential(die);
            self.take_free(die);
        } else if self.owner(die) != Some(block) {
            return self.write_random(die, copy);
        } else if offset != self.state[die].sequential.len() {
            if self.rules.mismatch_to_random {
                return self.write_random(die, copy);
            }
            self.new_version(copy);
            return self.rewrite(block, Some(offset));
        }
        self.new_version(copy);
        self.state[die].sequential.push(copy);
    }

    fn read(&mut self, page: u64) {
        let (block, offset, _) = self.split(page);
        self.counts.reads += u64::from(self.version(block, offset) > 0);
    }

    fn trim(&mut self, page: u64) {
        let (block, offset, die) = self.split(page);
        self.newest.insert((block, offset), 0);
        let log = self.state[die].sequential.clone();
        if self.owner(die) == Some(block) && !log.iter().any(|copy| self.is_newest(*copy)) {
            self.state[die].sequential.clear();
            self.erase(die);
        }
        let is_empty = (0..self.rules.pages).all(|offset| self.version(block, offset) == 0);
        if is_empty && self.data.remove(&block).is_some() {
            self.state[die].free.push(true);
        }
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn merges(&self) -> &[(u64, MergeKind)] {
        &self.merges
    }
}
