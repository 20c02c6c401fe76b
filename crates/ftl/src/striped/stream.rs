//! Streams. Each stream fills a superblock of its own, and each die fills its part of that superblock
//! independently of the other dies.
//!
//! A die that has filled its part continues in the next superblock, so two superblocks of a stream may be open.
//! The first superblock is closed when all dies have filled or left it.

use alloc::vec;
use alloc::vec::Vec;

use destage_base::archived;

use super::shape::NONE;

/// A stream of pages: those of a placement handle, or those that garbage collection moves.
#[derive(Clone)]
pub(super) struct Stream {
    /// The open superblocks; the one that was opened first is in front. [`NONE`] stands for a missing superblock.
    pub rows: [u32; 2],
    /// For each die, the place that the die programs next, counted from the start of its part of the first
    /// superblock. Places of the second superblock follow those of the first.
    pub next: Vec<u32>,
    /// For each die, the number of writes of this stream that wait at the die.
    pub coming: Vec<u32>,
    /// Number of dies that have free places in the first superblock.
    pub in_first: u32,
    /// The die that was chosen for the last write.
    pub die: u32,
    /// The first superblock is being closed early, since a die has filled its parts of both superblocks. Each
    /// other die leaves the first superblock as soon as it has no incomplete unit there.
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

    /// Chooses the die of the next page. The present die is used until `grain` places are filled. Then, among the
    /// dies with free places, the die with the smallest `load` is chosen; among equals, the next in rotation.
    /// `part` is the number of places of a part.
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

    /// The index of the open superblock that `die` fills; 2 if the die has filled its parts of both open
    /// superblocks.
    pub fn index(&self, die: u32, part: u32) -> usize {
        (self.next[die as usize] / part) as usize
    }

    /// The superblock that `die` fills, and the next place of `die` in it; `None` if no superblock is open for
    /// `die`.
    pub fn place(&self, die: u32, part: u32) -> Option<(u32, u32)> {
        let row = *self.rows.get(self.index(die, part))?;
        (row != NONE).then(|| (row, self.next[die as usize] % part))
    }

    /// Called after all dies have filled or left the first superblock: the second superblock becomes the first.
    /// Returns the superblock that was the first before.
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
