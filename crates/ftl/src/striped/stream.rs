//! Each stream fills a superblock of its own, each die at its own pace.
//!
//! A die that has filled its part continues in the next superblock, which is then open together with the first. The first is closed when all
//! dies have gone on.

use alloc::vec;
use alloc::vec::Vec;

use destage_base::archived;

use super::shape::NONE;

/// A stream of pages: those of a placement handle, or those that garbage collection moves.
#[derive(Clone)]
pub(super) struct Stream {
    /// The open superblocks, the one opened first before the other.
    pub rows: [u32; 2],
    /// By die, the next place, counted from the start of the part of the first superblock on.
    pub next: Vec<u32>,
    /// By die, writes that wait there.
    pub coming: Vec<u32>,
    /// Dies that have places left in the first superblock.
    pub in_first: u32,
    /// The die that gets pages now.
    pub die: u32,
    /// Dies that have no unit open in the first superblock leave it as it is, since one die has filled both.
    pub closing: bool,
}

archived!(Stream { rows, next, in_first, die, closing } fixed { coming });

impl Stream {
    pub fn new(dies: u32) -> Self {
        Self {
            rows: [NONE; 2],
            next: vec![0; dies as usize],
            coming: vec![0; dies as usize],
            in_first: dies,
            die: dies - 1,
            closing: false,
        }
    }

    /// The die of the next page: the present one until `grain` places are full, and then the one with the smallest `load` that has room, among equals
    /// the next in turn. `part` is the places of a part.
    pub fn choose(&self, part: u32, grain: u32, load: &dyn Fn(u32) -> u32) -> u32 {
        let place = |die: u32| self.next[die as usize] + self.coming[die as usize];
        let has_room = |die: u32| place(die) < 2 * part;
        if has_room(self.die) && !place(self.die).is_multiple_of(grain) {
            return self.die;
        }
        let dies = self.next.len() as u32;
        let in_turn = (1..=dies).map(|step| match self.die + step {
            die if die >= dies => die - dies,
            die => die,
        });
        let fitting = in_turn.filter(|die| has_room(*die));
        fitting.min_by_key(|die| load(*die)).unwrap_or(self.die)
    }

    /// Which of the open superblocks `die` fills; 2 if it has filled both.
    pub fn index(&self, die: u32, part: u32) -> usize {
        (self.next[die as usize] / part) as usize
    }

    /// The superblock that `die` fills, and the place in its part.
    pub fn place(&self, die: u32, part: u32) -> Option<(u32, u32)> {
        let row = *self.rows.get(self.index(die, part))?;
        (row != NONE).then(|| (row, self.next[die as usize] % part))
    }

    /// All dies have filled the first superblock: the second is first now. Returns the superblock that was open.
    pub fn go_on(&mut self, part: u32) -> u32 {
        let [first, second] = self.rows;
        self.rows = [second, NONE];
        self.closing = false;
        for next in &mut self.next {
            *next -= part;
        }
        self.in_first = self.next.iter().filter(|next| **next < part).count() as u32;
        first
    }
}
