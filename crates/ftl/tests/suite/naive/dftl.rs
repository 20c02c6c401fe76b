//! Naive model of page mapping with its map in flash. The mappings in RAM are lists, and a look-up searches the
//! whole list.

use destage_nand::operation::MergeKind;

use super::page::{Die, Rules};
use super::{Counts, Model};

#[derive(Clone, Copy, Debug)]
pub struct MapRules {
    /// Mappings in RAM for each die.
    pub entries: usize,
    pub per_page: u64,
    pub segments: bool,
    pub batch: bool,
}

/// A mapping in RAM: the page, and whether the mapping has changed.
type Entry = (u64, bool);

struct Cached {
    die: Die,
    rules: MapRules,
    /// The mapping that has not been used for the longest time is in front.
    probation: Vec<Entry>,
    protected: Vec<Entry>,
    map_reads: u64,
    map_programs: u64,
}

impl Cached {
    fn rewrite(&mut self, map_page: u64) {
        self.read_map(map_page);
        self.die.put(self.die.map_first() + map_page, false);
        self.map_programs += 1;
    }

    fn read_map(&mut self, map_page: u64) {
        let page = self.die.map_first() + map_page;
        self.map_reads += u64::from(self.die.holds(page));
    }

    fn look_up(&mut self, page: u64) {
        let found = |list: &[Entry]| list.iter().position(|entry| entry.0 == page);
        if let Some(at) = found(&self.protected) {
            let entry = self.protected.remove(at);
            self.protected.push(entry);
            return;
        }
        if let Some(at) = found(&self.probation) {
            let entry = self.probation.remove(at);
            let limit = if self.rules.segments {
                self.rules.entries / 2
            } else {
                0
            };
            if limit == 0 {
                self.probation.push(entry);
                return;
            }
            self.protected.push(entry);
            if self.protected.len() > limit {
                let back = self.protected.remove(0);
                self.probation.push(back);
            }
            return;
        }
        if self.probation.len() + self.protected.len() == self.rules.entries {
            let from_probation = !self.probation.is_empty();
            let leaving = if from_probation {
                self.probation[0]
            } else {
                self.protected[0]
            };
            if leaving.1 {
                let map_page = leaving.0 / self.rules.per_page;
                self.rewrite(map_page);
                for entry in self.probation.iter_mut().chain(&mut self.protected) {
                    let same = entry.0 / self.rules.per_page == map_page;
                    if entry.0 == leaving.0 || (self.rules.batch && same) {
                        entry.1 = false;
                    }
                }
            }
            if from_probation {
                self.probation.remove(0);
            } else {
                self.protected.remove(0);
            }
        }
        self.read_map(page / self.rules.per_page);
        self.probation.push((page, false));
    }

    /// Marks the mapping of `page` as changed if it is in RAM; returns whether it is.
    fn change(&mut self, page: u64) -> bool {
        let all = self.probation.iter_mut().chain(&mut self.protected);
        all.filter(|entry| entry.0 == page)
            .map(|entry| entry.1 = true)
            .count()
            > 0
    }

    fn clean(&mut self) {
        while let Some(moved) = self.die.gc_step() {
            let mut map_pages: Vec<u64> = Vec::new();
            for page in moved {
                if !self.change(page) {
                    map_pages.push(page / self.rules.per_page);
                }
            }
            map_pages.sort_unstable();
            map_pages.dedup();
            map_pages.into_iter().for_each(|page| self.rewrite(page));
        }
    }
}

pub struct Dftl {
    dies: Vec<Cached>,
}

impl Dftl {
    pub fn new(rules: Rules, map: MapRules) -> Self {
        let cached = |number| Cached {
            die: Die::new(rules, number),
            rules: map,
            probation: Vec::new(),
            protected: Vec::new(),
            map_reads: 0,
            map_programs: 0,
        };
        Self {
            dies: (0..rules.dies).map(cached).collect(),
        }
    }

    fn locate(&mut self, page: u64) -> (&mut Cached, u64) {
        let count = self.dies.len() as u64;
        (&mut self.dies[(page % count) as usize], page / count)
    }
}

impl Model for Dftl {
    fn write(&mut self, page: u64) {
        let (cached, page) = self.locate(page);
        cached.clean();
        cached.look_up(page);
        cached.die.put(page, false);
        cached.die.counts.programs += 1;
        cached.change(page);
    }

    fn read(&mut self, page: u64) {
        let (cached, page) = self.locate(page);
        cached.clean();
        cached.look_up(page);
        cached.die.counts.reads += u64::from(cached.die.holds(page));
    }

    fn trim(&mut self, page: u64) {
        let (cached, page) = self.locate(page);
        if !cached.die.holds(page) {
            return;
        }
        cached.clean();
        cached.look_up(page);
        cached.die.forget(page);
        cached.change(page);
    }

    fn counts(&self) -> Counts {
        let mut sum = Counts::default();
        for cached in &self.dies {
            sum.reads += cached.die.counts.reads;
            sum.programs += cached.die.counts.programs;
            sum.copies += cached.die.counts.copies;
            sum.erases += cached.die.counts.erases;
            sum.map_reads += cached.map_reads;
            sum.map_programs += cached.map_programs;
        }
        sum
    }

    fn merges(&self) -> &[(u64, MergeKind)] {
        &[]
    }
}
