//! The streams: each fills a superblock of its own, and each die fills its part of it at its own pace.
//!
//! A die that has filled its part continues in the next superblock, so that two superblocks of the stream are
//! open. The first is closed when all dies have filled or left it.

use alloc::vec;
use alloc::vec::Vec;

use destage_base::archived;

use super::shape::NONE;

/// A stream of pages: those of a placement handle, or those that garbage collection moves.
#[derive(Clone)]
pub(super) struct Stream {
    /// The open superblocks, the one opened first in front; [`NONE`] if there are fewer.
    pub rows: [u32; 2],
    /// For each die, the place that it programs next, counted from the start of its part of the first superblock.
    pub next: Vec<u32>,
    /// For each die, the number of writes of this stream that wait there.
    pub coming: Vec<u32>,
    /// Number of dies that have places left in the first superblock.
    pub in_first: u32,
    /// The die that receives pages now.
    pub die: u32,
    /// The first superblock is closed early, since one die has filled its parts of both: each die leaves it as
    /// soon as it has no incomplete unit there.
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

    /// Chooses the die of the next page: the present die until `grain` places are filled, then the die with room
    /// and the smallest `load`; among equals the next in rotation. `part` is the number of places of a part.
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

    /// The index of the open superblock that `die` fills; 2 if it has filled its parts of both.
    pub fn index(&self, die: u32, part: u32) -> usize {
        (self.next[die as usize] / part) as usize
    }

    /// The superblock that `die` fills, and the next place in its part; `None` if no such superblock is open.
    pub fn place(&self, die: u32, part: u32) -> Option<(u32, u32)> {
        let row = *self.rows.get(self.index(die, part))?;
        (row != NONE).then(|| (row, self.next[die as usize] % part))
    }

    /// After all dies have filled or left the first superblock, the second takes its place. Returns the
    /// superblock that was the first.
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
