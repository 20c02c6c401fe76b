//! The direct-mapped cache of the models: one line per set, and one queue of dirty lines per package.

use std::collections::VecDeque;

/// Packages of the drive; page `p` belongs to package `p mod 8`.
pub const PACKAGES: usize = 8;
/// Lines of a cache of 8 MiB with pages of 4 KiB.
pub const LINES: usize = 2048;

/// How the lines are divided into independent caches (pieces).
#[derive(Clone, Copy)]
pub struct Split {
    /// Packages that share a cache: 8, 4, 2 or 1.
    pub packages_per_piece: usize,
    /// Whether the set index is computed from the logical page number instead of the page's number within its
    /// piece.
    pub is_raw: bool,
}

impl Split {
    fn line_of(self, page: usize) -> usize {
        let share = self.packages_per_piece;
        let sets = LINES / PACKAGES * share;
        let package = page % PACKAGES;
        let number = if self.is_raw {
            page
        } else {
            page / PACKAGES * share + package % share
        };
        package / share * sets + number % sets
    }
}

/// What a written page found in its line.
#[derive(PartialEq, Eq)]
pub enum Found {
    Itself,
    /// The line never held a page.
    Vacant,
    /// Another page, which is on flash or is being programmed.
    Clean,
    /// Another page, which must be programmed first: an on-demand update.
    Dirty,
}

/// All lines of the cache.
pub struct Lines {
    split: Split,
    pages: Vec<Option<usize>>,
    /// For each line, the number of its last write; 0 if the line is clean.
    dirty: Vec<u64>,
    /// For each package, the number and the line of each write, oldest write first. An entry is outdated if its
    /// line was written again.
    queues: [VecDeque<(u64, usize)>; PACKAGES],
    writes: u64,
}

impl Lines {
    pub fn new(split: Split) -> Self {
        Self {
            split,
            pages: vec![None; LINES],
            dirty: vec![0; LINES],
            queues: Default::default(),
            writes: 0,
        }
    }

    /// Writes `page`; returns the line of the page, and what was in this line before.
    pub fn write(&mut self, page: usize) -> (usize, Found) {
        let line = self.split.line_of(page);
        let found = match self.pages[line] {
            Some(other) if other == page => Found::Itself,
            None => Found::Vacant,
            Some(_) if self.dirty[line] > 0 => Found::Dirty,
            Some(_) => Found::Clean,
        };
        self.writes += 1;
        self.pages[line] = Some(page);
        self.dirty[line] = self.writes;
        self.queues[page % PACKAGES].push_back((self.writes, line));
        (line, found)
    }

    /// One round of idle work: in each package the dirty line with the oldest write becomes clean.
    pub fn round(&mut self) -> [Option<usize>; PACKAGES] {
        let mut round = [None; PACKAGES];
        for (queue, chosen) in self.queues.iter_mut().zip(&mut round) {
            while let Some((write, line)) = queue.pop_front() {
                if self.dirty[line] == write {
                    self.dirty[line] = 0;
                    *chosen = Some(line);
                    break;
                }
            }
        }
        round
    }
}
