//! Naive model of page mapping. It has a list of the contents of every block, and looks at all blocks to choose a
//! victim.

use destage_base::Random;
use destage_nand::operation::MergeKind;

use super::{Counts, Model};

/// Which block is collected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Policy {
    Greedy,
    CostBenefit,
    Fifo,
    DChoices(usize),
    GreedyWear,
}

#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub dies: u64,
    pub blocks: usize,
    pub pages: usize,
    /// Number of blocks of each die that hold the logical pages.
    pub logical_blocks: usize,
    /// Number of pages of the map of each die. The numbers of these pages follow those of the logical pages, and
    /// these pages have blocks of their own.
    pub map_pages: usize,
    pub filled: bool,
    pub policy: Policy,
    pub separate: bool,
    pub low: usize,
    pub high: usize,
    pub endurance: u64,
    /// The least worn free block is used first.
    pub least_worn: bool,
    /// Static wear levelling: the number of erases between two checks, and the difference in erases above which
    /// data move.
    pub levelling: Option<(u64, u64)>,
    pub seed: u64,
}

#[derive(Clone, Default)]
struct Block {
    /// For each programmed page, its logical page; `None` if the page is not needed any more.
    pages: Vec<Option<u64>>,
    free: bool,
    sealed: bool,
    closed: u64,
    changed: u64,
    erases: u64,
}

impl Block {
    fn valid(&self) -> u64 {
        self.pages.iter().flatten().count() as u64
    }
}

pub struct Die {
    rules: Rules,
    blocks: Vec<Block>,
    host: Option<usize>,
    moves: Option<usize>,
    map: Option<usize>,
    /// The block at which the search for a free block begins.
    pointer: usize,
    clock: u64,
    /// Sealed blocks; if one is removed, the last one takes its position.
    drawn_from: Vec<usize>,
    random: Random,
    pub counts: Counts,
    erases_to_look: u64,
    due: bool,
}

impl Die {
    pub fn new(rules: Rules, number: u64) -> Self {
        let mut die = Self {
            rules,
            blocks: vec![
                Block {
                    free: true,
                    ..Block::default()
                };
                rules.blocks
            ],
            host: None,
            moves: None,
            map: None,
            pointer: 0,
            clock: 0,
            drawn_from: Vec::new(),
            random: Random::new(rules.seed + number),
            counts: Counts::default(),
            due: false,
            erases_to_look: rules.levelling.map_or(0, |(period, _)| period),
        };
        if rules.filled {
            let all: Vec<_> = (0..die.map_first() + rules.map_pages as u64).collect();
            for (block, pages) in all.chunks(rules.pages).enumerate() {
                die.blocks[block].free = false;
                die.blocks[block].pages = pages.iter().copied().map(Some).collect();
                die.close(block);
            }
        }
        // The search for free blocks begins at the first block, whichever block is open at the start.
        die.host = Some(die.open());
        die.pointer = 0;
        die
    }

    pub fn holds(&self, page: u64) -> bool {
        self.blocks
            .iter()
            .any(|block| block.pages.contains(&Some(page)))
    }

    /// The number of the first page of the map.
    pub fn map_first(&self) -> u64 {
        (self.rules.logical_blocks * self.rules.pages) as u64
    }

    fn open(&mut self) -> usize {
        let count = self.blocks.len();
        let in_turn = (0..count).map(|step| (self.pointer + step) % count);
        let mut free: Vec<usize> = in_turn.filter(|block| self.blocks[*block].free).collect();
        if self.rules.least_worn {
            free.sort_by_key(|block| (self.blocks[*block].erases, *block));
        }
        let found = *free.first().expect("a free block");
        self.pointer = (found + 1) % count;
        self.blocks[found].free = false;
        found
    }

    fn close(&mut self, block: usize) {
        self.clock += 1;
        let state = &mut self.blocks[block];
        state.sealed = true;
        state.closed = self.clock;
        state.changed = self.clock;
        self.drawn_from.push(block);
    }

    fn free(&self) -> usize {
        self.blocks.iter().filter(|block| block.free).count()
    }

    pub fn forget(&mut self, page: u64) {
        for block in &mut self.blocks {
            for place in &mut block.pages {
                if *place == Some(page) {
                    *place = None;
                    self.clock += 1;
                    block.changed = self.clock;
                }
            }
        }
    }

    pub fn put(&mut self, page: u64, moved: bool) {
        let is_map = page >= self.map_first();
        let separate = moved && self.rules.separate;
        let open = match (is_map, separate) {
            (true, _) => self.map,
            (_, true) => self.moves,
            _ => self.host,
        };
        let block = open.unwrap_or_else(|| self.open());
        self.forget(page);
        self.blocks[block].pages.push(Some(page));
        let full = self.blocks[block].pages.len() == self.rules.pages;
        if full {
            self.close(block);
        }
        let open = (!full).then_some(block);
        match (is_map, separate) {
            (true, _) => self.map = open,
            (_, true) => self.moves = open,
            _ => self.host = open,
        }
    }

    fn victim(&mut self) -> usize {
        let blocks = &self.blocks;
        let sealed = || (0..blocks.len()).filter(|block| blocks[*block].sealed);
        let order = |block: &usize| (blocks[*block].valid(), blocks[*block].closed);
        let greedy = || sealed().min_by_key(order).expect("a sealed block");
        match self.rules.policy {
            Policy::Greedy => greedy(),
            Policy::Fifo => sealed()
                .min_by_key(|block| blocks[*block].closed)
                .expect("a sealed block"),
            Policy::CostBenefit => {
                // Scores are exact fractions. A block without pages to move is better than any block with such
                // pages.
                let score = |block: usize| {
                    let state = &blocks[block];
                    let (age, valid) = (self.clock - state.changed, state.valid());
                    (age * (self.rules.pages as u64 - valid), valid)
                };
                let mut best: Option<usize> = None;
                for block in sealed() {
                    let Some(other) = best else {
                        best = Some(block);
                        continue;
                    };
                    let ((gain, cost), (other_gain, other_cost)) = (score(block), score(other));
                    let better = match (cost, other_cost) {
                        (0, 0) => blocks[block].changed < blocks[other].changed,
                        (0, _) => true,
                        (_, 0) => false,
                        _ => {
                            let (ours, theirs) = (gain * other_cost, other_gain * cost);
                            let older = blocks[block].closed < blocks[other].closed;
                            ours > theirs || (ours == theirs && older)
                        }
                    };
                    if better {
                        best = Some(block);
                    }
                }
                best.expect("a sealed block")
            }
            Policy::DChoices(draws) => {
                let mut best: Option<usize> = None;
                for _ in 0..draws {
                    let drawn = self.random.below(self.drawn_from.len() as u64) as usize;
                    let block = self.drawn_from[drawn];
                    if best.is_none_or(|other| order(&block) < order(&other)) {
                        best = Some(block);
                    }
                }
                best.expect("a draw")
            }
            Policy::GreedyWear => {
                let life = |block: usize| self.rules.endurance.saturating_sub(blocks[block].erases);
                let count = blocks.len() as u64;
                let erased: u64 = blocks.iter().map(|block| block.erases).sum();
                let sum = (count * self.rules.endurance).saturating_sub(erased);
                let mut ranked: Vec<usize> = sealed().collect();
                ranked.sort_by_key(order);
                for block in &ranked {
                    // A block with less life than 80 % of the mean is passed over with probability 1 - life /
                    // (0.8 mean).
                    let (share, threshold) = (100 * life(*block) * count, 80 * sum);
                    if share >= threshold || self.random.below(threshold) < share {
                        return *block;
                    }
                }
                ranked[0]
            }
        }
    }

    fn clean(&mut self) {
        while self.gc_step().is_some() {}
    }

    /// Collects one block, if garbage collection is due. Returns the logical pages that were moved.
    pub fn gc_step(&mut self) -> Option<Vec<u64>> {
        self.due |= self.free() < self.rules.low;
        if !self.due {
            return None;
        }
        let victim = self.victim();
        let pages = self.blocks[victim].pages.clone().into_iter().flatten();
        let mut moved: Vec<u64> = pages.collect();
        for page in &moved {
            self.put(*page, true);
            self.counts.copies += 1;
        }
        self.erase(victim);
        // The end of the collection is decided here, even if later steps use a free block again.
        self.due = self.free() < self.rules.high;
        self.level();
        moved.retain(|page| *page < self.map_first());
        Some(moved)
    }

    fn erase(&mut self, block: usize) {
        let position = self.drawn_from.iter().position(|other| *other == block);
        self.drawn_from
            .swap_remove(position.expect("a sealed block"));
        let state = &mut self.blocks[block];
        state.pages.clear();
        state.sealed = false;
        state.free = true;
        state.erases += 1;
        self.counts.erases += 1;
        self.erases_to_look = self.erases_to_look.saturating_sub(1);
    }

    fn level(&mut self) {
        let Some((period, gap)) = self.rules.levelling.filter(|_| self.erases_to_look == 0) else {
            return;
        };
        self.erases_to_look = period;
        let wear = |block: &usize| (self.blocks[*block].erases, *block);
        let all = || 0..self.blocks.len();
        let worn = all()
            .filter(|block| self.blocks[*block].free)
            .max_by_key(wear);
        let cold = all()
            .filter(|block| self.blocks[*block].sealed)
            .min_by_key(wear);
        let (Some(worn), Some(cold)) = (worn, cold) else {
            return;
        };
        // Moves by wear levelling are not reported to the map, because no test uses both.
        if self.blocks[worn].erases > self.blocks[cold].erases + gap {
            self.blocks[worn].pages = self.blocks[cold].pages.clone();
            self.blocks[worn].free = false;
            self.close(worn);
            self.erase(cold);
        }
    }
}

pub struct Page {
    dies: Vec<Die>,
}

impl Page {
    pub fn new(rules: Rules) -> Self {
        Self {
            dies: (0..rules.dies)
                .map(|number| Die::new(rules, number))
                .collect(),
        }
    }

    fn locate(&mut self, page: u64) -> (&mut Die, u64) {
        let count = self.dies.len() as u64;
        (&mut self.dies[(page % count) as usize], page / count)
    }
}

impl Model for Page {
    fn write(&mut self, page: u64) {
        let (die, page) = self.locate(page);
        die.clean();
        die.put(page, false);
        die.counts.programs += 1;
    }

    fn read(&mut self, page: u64) {
        let (die, page) = self.locate(page);
        die.counts.reads += u64::from(die.holds(page));
    }

    fn trim(&mut self, page: u64) {
        let (die, page) = self.locate(page);
        die.forget(page);
    }

    fn counts(&self) -> Counts {
        let mut sum = Counts::default();
        for die in &self.dies {
            sum.reads += die.counts.reads;
            sum.programs += die.counts.programs;
            sum.copies += die.counts.copies;
            sum.erases += die.counts.erases;
        }
        sum
    }

    fn merges(&self) -> &[(u64, MergeKind)] {
        &[]
    }
}
