//! Naive model of superblocks over all dies. Every page of flash is an entry of a vector, and every number is
//! counted again each time it is needed.

use super::Counts;

/// The parameters of the layer that the model follows.
#[derive(Clone, Debug)]
pub struct Rules {
    pub dies: usize,
    pub planes: usize,
    pub superblocks: usize,
    /// Pages per block.
    pub pages: usize,
    /// Number of superblocks that are offered to the host.
    pub offered: usize,
    pub filled: bool,
    /// Garbage is collected if there is less room than this, in superblocks.
    pub low: usize,
    /// Number of consecutive places that a die receives before another die is chosen.
    pub grain: usize,
    /// Maximum number of pages that a step moves.
    pub step: usize,
    /// Whether a collection that has begun continues until its superblock is free.
    pub whole: bool,
    /// Room, in pages beyond the goal, that a collection gains once it has begun; 0: no bursts.
    pub burst: usize,
}

/// The state of a page of flash.
#[derive(Clone, Copy, PartialEq)]
enum Cell {
    Erased,
    Old,
    Holds(usize),
}

/// A stream: the host's pages, or the moved pages.
#[derive(Clone)]
struct Stream {
    /// The open superblocks in the order in which they were opened.
    open: Vec<usize>,
    /// For each die, the number of pages written to the open superblocks.
    written: Vec<usize>,
    die: usize,
}

pub struct Striped {
    rules: Rules,
    /// By superblock, die and place.
    cells: Vec<Vec<Vec<Cell>>>,
    free: Vec<usize>,
    /// Closed superblocks in the order in which they were closed.
    closed: Vec<usize>,
    /// Superblocks that are being collected. An entry is the superblock, the number of its valid pages when it was
    /// chosen, and the number of places that were checked so far.
    victims: Vec<(usize, usize, usize)>,
    /// The stream of the host and the stream of moved pages.
    streams: [Stream; 2],
    bursting: bool,
    counts: Counts,
}

/// Number of free superblocks that the host may not open.
const BOTTOM: usize = 1;

impl Striped {
    pub fn new(rules: &Rules) -> Self {
        let stream = Stream {
            open: Vec::new(),
            written: vec![0; rules.dies],
            die: rules.dies - 1,
        };
        let part = rules.planes * rules.pages;
        let full = if rules.filled { rules.offered } else { 0 };
        let row = |row: usize| {
            let cell = |die: usize, place: usize| match row < full {
                // Consecutive pages are on the dies in turn. From place to place, the first die is shifted by one.
                true => {
                    let turn = (die + place) % rules.dies;
                    Cell::Holds(row * part * rules.dies + place * rules.dies + turn)
                }
                false => Cell::Erased,
            };
            let of_die = |die| (0..part).map(|place| cell(die, place)).collect();
            (0..rules.dies).map(of_die).collect()
        };
        Self {
            cells: (0..rules.superblocks).map(row).collect(),
            free: (full..rules.superblocks).collect(),
            closed: (0..full).collect(),
            victims: Vec::new(),
            streams: [stream.clone(), stream],
            bursting: false,
            counts: Counts::default(),
            rules: rules.clone(),
        }
    }

    pub fn counts(&self) -> Counts {
        self.counts
    }

    fn part(&self) -> usize {
        self.rules.planes * self.rules.pages
    }

    fn row_pages(&self) -> usize {
        self.rules.dies * self.part()
    }

    fn valid(&self, row: usize) -> usize {
        let cells = self.cells[row].iter().flatten();
        cells.filter(|cell| matches!(cell, Cell::Holds(_))).count()
    }

    fn find(&self, page: usize) -> Option<(usize, usize, usize)> {
        for (row, dies) in self.cells.iter().enumerate() {
            for (die, places) in dies.iter().enumerate() {
                if let Some(place) = places.iter().position(|cell| *cell == Cell::Holds(page)) {
                    return Some((row, die, place));
                }
            }
        }
        None
    }

    fn room(&self) -> usize {
        let of_stream = |stream: &Stream| {
            stream.open.len() * self.row_pages() - stream.written.iter().sum::<usize>()
        };
        let gained = |(row, all, _): &(usize, usize, usize)| {
            self.row_pages() * (all - self.valid(*row)) / all
        };
        self.free.len() * self.row_pages()
            + self.streams.iter().map(of_stream).sum::<usize>()
            + self.victims.iter().map(gained).sum::<usize>()
    }

    /// Chooses the die of the next write.
    pub fn place(&mut self) -> usize {
        let (part, rules) = (self.part(), &self.rules);
        let host = &mut self.streams[0];
        let written = host.written[host.die];
        if written == 2 * part || written.is_multiple_of(rules.grain) {
            let mut in_turn = (1..=rules.dies).map(|step| (host.die + step) % rules.dies);
            host.die = in_turn
                .find(|die| host.written[*die] < 2 * part)
                .expect("a die with room");
        }
        host.die
    }

    fn wants_moves(&self) -> bool {
        self.room() < self.rules.low * self.row_pages()
            || self.free.len() <= BOTTOM
            || (self.rules.whole && !self.victims.is_empty())
            || self.bursting
    }

    fn best(&self) -> Option<usize> {
        let best = self.closed.iter().min_by_key(|row| self.valid(**row))?;
        (self.valid(*best) < self.row_pages()).then_some(*best)
    }

    /// Makes sure that a superblock is open for `stream` at `die`; opens one only if more than `spare`
    /// superblocks are free. Returns whether one is open.
    fn open(&mut self, stream: usize, die: usize, spare: usize) -> bool {
        let number = self.streams[stream].written[die] / self.part();
        if number < self.streams[stream].open.len() {
            return true;
        }
        if number > 1 || self.free.len() <= spare {
            return false;
        }
        let row = self.free.remove(0);
        self.streams[stream].open.push(row);
        true
    }

    fn spare_for_moves(&self, die: usize) -> usize {
        match self.streams[1].written[die] < self.part() {
            true => 0,
            false => BOTTOM,
        }
    }

    fn may_move(&self, die: usize) -> bool {
        let number = self.streams[1].written[die] / self.part();
        number < self.streams[1].open.len()
            || (number < 2 && self.free.len() > self.spare_for_moves(die))
    }

    /// The die at which garbage is collected for a write at `die`.
    fn collects_at(&self, die: usize) -> usize {
        let number = self.streams[0].written[die] / self.part();
        let is_blocked = number >= self.streams[0].open.len() && self.free.len() <= BOTTOM;
        if !is_blocked || (self.victims.is_empty() && self.best().is_none()) {
            return die;
        }
        let mut in_turn = (1..=self.rules.dies).map(|step| (die + step) % self.rules.dies);
        in_turn.find(|die| self.may_move(*die)).unwrap_or(die)
    }

    /// Erases the part that `stream` is about to fill at `die`, if the part holds old pages. Returns whether it
    /// was erased.
    fn erase(&mut self, stream: usize, die: usize) -> bool {
        let (part, pages) = (self.part(), self.rules.pages);
        let Stream { open, written, .. } = &self.streams[stream];
        if written[die] % part > 0 {
            return false;
        }
        let places = &mut self.cells[open[written[die] / part]][die];
        let programmed = places.iter().filter(|cell| **cell != Cell::Erased).count();
        if programmed == 0 {
            return false;
        }
        // Counts one erase for each block with programmed pages. Consecutive places are on the planes in turn.
        self.counts.erases += programmed.min(part / pages) as u64;
        places.fill(Cell::Erased);
        true
    }

    /// Does one step at `die`; `waits` is true if a write waits at `die`. Returns whether a step was done.
    fn collect(&mut self, die: usize, waits: bool) -> bool {
        if self.rules.burst > 0 {
            let wanted = self.rules.low * self.row_pages();
            let more = self.rules.burst.min(self.row_pages());
            let goal = if self.bursting { wanted + more } else { wanted };
            self.bursting = self.room() < goal;
        }
        if waits && self.open(0, die, BOTTOM) && self.erase(0, die) {
            return true;
        }
        if !self.wants_moves() || (self.victims.is_empty() && self.best().is_none()) {
            return false;
        }
        if !self.open(1, die, self.spare_for_moves(die)) {
            return false;
        }
        if self.erase(1, die) {
            return true;
        }
        for step in 0..self.rules.step {
            let is_new = self.streams[1].written[die].is_multiple_of(self.part());
            if step > 0 && (is_new || !self.wants_moves()) {
                break;
            }
            let Some(page) = self.next_of_victims() else {
                return step > 0;
            };
            self.put(1, die, page);
            self.counts.copies += 1;
        }
        true
    }

    /// The next page to be moved.
    fn next_of_victims(&mut self) -> Option<usize> {
        let (part, planes, pages) = (self.part(), self.rules.planes, self.rules.pages);
        for number in 0.. {
            if number == self.victims.len() {
                let row = self.best()?;
                self.closed.retain(|other| *other != row);
                self.victims.push((row, self.valid(row), 0));
            }
            let (row, _, looked) = &mut self.victims[number];
            while *looked < self.rules.dies * part {
                let (die, within) = (*looked / part, *looked % part);
                // The places are checked block by block.
                let place = within % pages * planes + within / pages;
                *looked += 1;
                if let Cell::Holds(page) = self.cells[*row][die][place] {
                    return Some(page);
                }
            }
        }
        None
    }

    fn put(&mut self, stream: usize, die: usize, page: usize) {
        let old = self.find(page);
        let part = self.part();
        let state = &mut self.streams[stream];
        let row = state.open[state.written[die] / part];
        self.cells[row][die][state.written[die] % part] = Cell::Holds(page);
        state.written[die] += 1;
        if state.written.iter().all(|written| *written >= part) {
            let row = state.open.remove(0);
            state
                .written
                .iter_mut()
                .for_each(|written| *written -= part);
            match self.valid(row) {
                0 => self.free.push(row),
                _ => self.closed.push(row),
            }
        }
        self.drop_copy(old);
    }

    fn drop_copy(&mut self, old: Option<(usize, usize, usize)>) {
        let Some((row, die, place)) = old else { return };
        self.cells[row][die][place] = Cell::Old;
        let is_open = self.streams.iter().any(|stream| stream.open.contains(&row));
        if self.valid(row) == 0 && !is_open && !self.free.contains(&row) {
            self.closed.retain(|other| *other != row);
            self.victims.retain(|(other, ..)| *other != row);
            self.free.push(row);
        }
    }

    /// Writes `page` at `die`, which [`Striped::place`] has chosen.
    pub fn write(&mut self, page: usize, die: usize) {
        loop {
            let at = self.collects_at(die);
            if !self.collect(at, at == die) {
                break;
            }
        }
        self.put(0, die, page);
        self.counts.programs += 1;
    }

    pub fn read(&mut self, page: usize) {
        self.counts.reads += u64::from(self.find(page).is_some());
    }

    pub fn trim(&mut self, page: usize) {
        let old = self.find(page);
        self.drop_copy(old);
    }
}
