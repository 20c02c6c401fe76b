//! Naive model of one die of page mapping whose writes are divided into streams, or whose garbage is collected in
//! steps. It consists of lists, and looks at all blocks to choose a victim.

use super::Counts;

/// How writes are divided into streams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Separation {
    pub handles: u64,
    /// Moved pages of different handles do not share blocks.
    pub isolates: bool,
    /// A page is hot if its last write was at most this many writes ago; 0: no page is hot.
    pub window: u64,
}

impl Separation {
    /// Number of streams of the host.
    pub fn streams(&self) -> usize {
        let temperatures = if self.window > 0 { 2 } else { 1 };
        self.handles as usize * temperatures
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub blocks: usize,
    pub pages: usize,
    pub logical_blocks: usize,
    pub low: usize,
    pub high: usize,
    pub floor: usize,
    /// Maximum number of pages that a step moves; 0: all pages of the block.
    pub step: usize,
    pub separation: Separation,
    /// Number of changes in a journal page, and number of journal pages.
    pub journal: Option<(u64, usize)>,
    /// Number of mapping units that one read of a page of flash reads.
    pub units: usize,
}

#[derive(Clone, Default)]
struct Block {
    pages: Vec<Option<u64>>,
    free: bool,
    sealed: bool,
    closed: u64,
}

/// The open blocks: one for each stream of the host, one for each stream of moved pages, and the one for journal pages.
struct Open {
    host: Vec<Option<usize>>,
    moves: Vec<Option<usize>>,
    map: Option<usize>,
}

/// The journal: the number of changes that are not written yet, and the number of journal pages written so far.
#[derive(Default)]
struct Journal {
    changes: u64,
    pages: usize,
}

pub struct Die {
    rules: Rules,
    blocks: Vec<Block>,
    open: Open,
    journal: Journal,
    pointer: usize,
    clock: u64,
    due: bool,
    /// The block that is being collected, and the page at which the collection continues.
    begun: Option<(usize, usize)>,
    /// The handle of each page.
    notes: Vec<u64>,
    /// For each page, the number of its last write.
    written: Vec<u64>,
    writes: u64,
    pub counts: Counts,
    /// Number of reads for copies.
    pub copy_reads: u64,
    /// The first number of entry `i` is the number of pages written to stream `i`. The second number is the number
    /// of moved pages of handle `i`.
    pub told: Vec<(u64, u64)>,
}

impl Die {
    pub fn new(rules: Rules) -> Self {
        let free = Block {
            free: true,
            ..Block::default()
        };
        let streams = rules.separation.streams();
        let pages = rules.logical_blocks * rules.pages;
        let mut die = Self {
            rules,
            blocks: vec![free; rules.blocks],
            open: Open {
                host: vec![None; streams],
                moves: vec![None; streams],
                map: None,
            },
            journal: Journal::default(),
            pointer: 0,
            clock: 0,
            due: false,
            begun: None,
            notes: vec![0; pages],
            written: vec![0; pages],
            writes: 0,
            counts: Counts::default(),
            copy_reads: 0,
            told: vec![(0, 0); streams],
        };
        let all = pages + rules.journal.map_or(0, |(_, pages)| pages);
        for page in 0..all {
            let block = &mut die.blocks[page / rules.pages];
            block.free = false;
            block.pages.push(Some(page as u64));
        }
        for block in 0..all.div_ceil(rules.pages) {
            die.close(block);
        }
        die.open.host[0] = Some(die.take());
        die.pointer = 0;
        die
    }

    fn take(&mut self) -> usize {
        let count = self.blocks.len();
        let mut in_turn = (0..count).map(|step| (self.pointer + step) % count);
        let found = in_turn
            .find(|block| self.blocks[*block].free)
            .expect("a free block");
        self.pointer = (found + 1) % count;
        self.blocks[found].free = false;
        found
    }

    fn close(&mut self, block: usize) {
        self.clock += 1;
        self.blocks[block].sealed = true;
        self.blocks[block].closed = self.clock;
    }

    fn free(&self) -> usize {
        self.blocks.iter().filter(|block| block.free).count()
    }

    fn valid(&self, block: usize) -> usize {
        self.blocks[block].pages.iter().flatten().count()
    }

    pub fn forget(&mut self, page: u64) {
        for place in self.blocks.iter_mut().flat_map(|block| &mut block.pages) {
            if *place == Some(page) {
                *place = None;
            }
        }
    }

    fn put(&mut self, page: u64, open: Option<usize>) -> Option<usize> {
        let block = open.unwrap_or_else(|| self.take());
        self.forget(page);
        self.blocks[block].pages.push(Some(page));
        let is_full = self.blocks[block].pages.len() == self.rules.pages;
        if is_full {
            self.close(block);
        }
        (!is_full).then_some(block)
    }

    fn is_map(&self, page: u64) -> bool {
        page >= self.notes.len() as u64
    }

    /// Notes that the host or garbage collection has changed `changes` mappings, and writes the journal pages that
    /// are due.
    fn note(&mut self, changes: u64) {
        let Some((every, pages)) = self.rules.journal else {
            return;
        };
        self.journal.changes += if self.writes > 0 { changes } else { 0 };
        while self.journal.changes >= every {
            self.journal.changes -= every;
            let page = self.notes.len() + self.journal.pages % pages;
            self.journal.pages += 1;
            self.open.map = self.put(page as u64, self.open.map);
            self.counts.map_programs += 1;
        }
    }

    pub fn trim(&mut self, page: u64) {
        let mut held = self.blocks.iter().flat_map(|block| &block.pages);
        if held.any(|place| *place == Some(page)) {
            self.forget(page);
            self.note(1);
        }
    }

    pub fn hint(&mut self, page: u64, handle: u64) {
        self.notes[page as usize] = handle % self.rules.separation.handles;
    }

    pub fn write(&mut self, page: u64) {
        let Separation {
            handles, window, ..
        } = self.rules.separation;
        let before = self.written[page as usize];
        let is_hot = before > 0 && self.writes - before < window;
        let stream = (self.notes[page as usize] + if is_hot { handles } else { 0 }) as usize;
        self.open.host[stream] = self.put(page, self.open.host[stream]);
        self.writes += 1;
        self.written[page as usize] = self.writes;
        self.counts.programs += 1;
        self.told[stream].0 += 1;
        self.note(1);
    }

    pub fn is_urgent(&self) -> bool {
        self.is_due() && self.free() < self.rules.floor
    }

    fn is_due(&self) -> bool {
        self.due || self.free() < self.rules.low
    }

    /// Does one step of garbage collection, if it is due. Returns whether a step was done.
    pub fn collect(&mut self) -> bool {
        self.due = self.is_due();
        if !self.due {
            return false;
        }
        let is_urgent = self.is_urgent();
        let (victim, mut next) = self.begun.unwrap_or_else(|| {
            let sealed = (0..self.blocks.len()).filter(|block| self.blocks[*block].sealed);
            let victim =
                sealed.min_by_key(|block| (self.valid(*block), self.blocks[*block].closed));
            (victim.expect("a sealed block"), 0)
        });
        self.blocks[victim].sealed = false;
        let mut left = match self.rules.step {
            0 => usize::MAX,
            _ if is_urgent => usize::MAX,
            step => step,
        };
        let mut last = None;
        let mut changes = 0;
        while next < self.rules.pages && left > 0 {
            let place = next;
            next += 1;
            let Some(page) = self.blocks[victim].pages.get(place).copied().flatten() else {
                continue;
            };
            left -= 1;
            self.counts.copies += 1;
            let of_flash = place / self.rules.units;
            self.copy_reads += u64::from(last != Some(of_flash));
            last = Some(of_flash);
            if self.is_map(page) {
                self.open.map = self.put(page, self.open.map);
                continue;
            }
            changes += 1;
            let handle = self.notes[page as usize] as usize;
            let stream = if self.rules.separation.isolates {
                handle
            } else {
                0
            };
            self.open.moves[stream] = self.put(page, self.open.moves[stream]);
            self.told[handle].1 += 1;
        }
        self.begun = Some((victim, next));
        if self.valid(victim) == 0 {
            self.begun = None;
            self.blocks[victim].pages.clear();
            self.blocks[victim].free = true;
            self.counts.erases += 1;
            self.due = self.free() < self.rules.high;
        }
        self.note(changes);
        true
    }
}
