//! The sealed block with the best ratio of benefit to cost: its collection gains many pages and moves few pages,
//! and the block has not changed for a long time.
//!
//! This is Rosenblum and Ousterhout's cost-benefit rule for cleaning logs (ACM TOCS 10(1), 1992), in the form of
//! Kawaguchi et al. (USENIX 1995): the block with the largest `age (1 - u) / 2u`, where `u` is the share of valid
//! pages.

use alloc::vec;
use alloc::vec::Vec;

use destage_base::archive::{Archive, Archived, Damaged};

const NONE: u32 = u32::MAX;

/// The candidates, in one list per pool and number of valid pages; each list is in the order of the last change.
///
/// A block that loses a valid page moves to the end of the list with one valid page less. So the first block of
/// each list is the one that has been unchanged longest, and the best choice is the first block of one of the
/// lists. Simulation cost: an overwrite relinks one block; a garbage collection looks at one block per number of
/// valid pages.
#[derive(Clone)]
pub struct Aged {
    /// For each block, the block before and the block after it in its list. A block in no list has itself as the
    /// block before, and none as the block after. The entries are encoded by [`laid_by`].
    links: Vec<(u32, u32)>,
    /// The first and the last block of each list. The lists are ordered by pool, and within a pool by the number
    /// of valid pages, from 0 to all pages.
    ends: Vec<(u32, u32)>,
    /// For each candidate, two times: when it was closed or last lost a valid page, and when it was closed. Times
    /// are counted in `changes`.
    times: Vec<(u64, u64)>,
    valid: Vec<u16>,
    counts: usize,
    blocks_per_pool: u32,
    /// Number of changes so far: blocks that were closed, and valid pages that became invalid.
    changes: u64,
}

/// Encodes or decodes the link of `block`. A block in no list has the code 0, so that memory for blocks that were
/// never touched is never accessed.
#[inline]
fn laid_by(block: u32, (before, after): (u32, u32)) -> (u32, u32) {
    (before ^ block, !after)
}

/// An archive holds the links without the encoding of `laid_by`.
impl Archived for Aged {
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<(), Damaged> {
        let Self {
            links,
            ends,
            times,
            valid,
            counts: _,
            blocks_per_pool: _,
            changes,
        } = self;
        let turn = |links: &mut Vec<(u32, u32)>| {
            let each = (0..).zip(links.iter_mut());
            each.for_each(|(block, link)| *link = laid_by(block, *link));
        };
        turn(links);
        links.archive(archive)?;
        turn(links);
        ends.archive(archive)?;
        times.archive(archive)?;
        valid.archive(archive)?;
        changes.archive(archive)
    }
}

impl Aged {
    /// A table without candidates, for `pools` pools of `blocks_per_pool` blocks with `pages` data pages each.
    pub fn none(pools: u32, blocks_per_pool: u32, pages: u32) -> Self {
        let blocks = pools * blocks_per_pool;
        let counts = pages as usize + 1;
        Self {
            links: vec![(0, 0); blocks as usize],
            ends: vec![(NONE, NONE); pools as usize * counts],
            times: vec![(0, 0); blocks as usize],
            valid: vec![0; blocks as usize],
            counts,
            blocks_per_pool,
            changes: 0,
        }
    }

    /// Adds `block`, which was closed with `valid` valid pages, to the candidates.
    pub fn insert(&mut self, block: u32, valid: u16) {
        self.changes += 1;
        self.times[block as usize] = (self.changes, self.changes);
        self.valid[block as usize] = valid;
        self.link(block);
    }

    /// Notes that a page of `block` is not valid any more.
    #[inline]
    pub fn lower(&mut self, block: u32) {
        self.changes += 1;
        if !self.contains(block) {
            return;
        }
        self.unlink(block);
        self.times[block as usize].0 = self.changes;
        self.valid[block as usize] -= 1;
        self.link(block);
    }

    /// Removes `block` from the candidates, if it is one.
    pub fn remove(&mut self, block: u32) {
        if self.contains(block) {
            self.unlink(block);
        }
    }

    /// Whether `block` is a candidate.
    pub fn contains(&self, block: u32) -> bool {
        self.links[block as usize].0 != 0
    }

    /// The candidate of `pool` with the best ratio of benefit to cost; among equals, the block that was closed
    /// first.
    pub fn best(&self, pool: u32) -> Option<u32> {
        let lists = pool as usize * self.counts..(pool as usize + 1) * self.counts;
        let all = self.counts as u128 - 1;
        let mut best: Option<(u128, u128, u64, u32)> = None;
        for (valid, (first, _)) in self.ends[lists].iter().enumerate() {
            if *first == NONE {
                continue;
            }
            if valid == 0 {
                // The block has no page to move, so no other candidate is better.
                return Some(*first);
            }
            let (changed, closed) = self.times[*first as usize];
            let gain = u128::from(self.changes - changed) * (all - valid as u128);
            let cost = valid as u128;
            let better = best.is_none_or(|(other_gain, other_cost, other_closed, _)| {
                let (ours, theirs) = (gain * other_cost, other_gain * cost);
                ours > theirs || (ours == theirs && closed < other_closed)
            });
            if better {
                best = Some((gain, cost, closed, *first));
            }
        }
        best.map(|(.., block)| block)
    }

    fn list_of(&self, block: u32) -> usize {
        let pool = (block / self.blocks_per_pool) as usize;
        pool * self.counts + usize::from(self.valid[block as usize])
    }

    fn link(&mut self, block: u32) {
        let list = self.list_of(block);
        let (first, last) = self.ends[list];
        self.links[block as usize] = laid_by(block, (last, NONE));
        if last == NONE {
            self.ends[list] = (block, block);
        } else {
            self.links[last as usize].1 = !block;
            self.ends[list] = (first, block);
        }
    }

    fn unlink(&mut self, block: u32) {
        let list = self.list_of(block);
        let (before, after) = laid_by(block, self.links[block as usize]);
        match before {
            NONE => self.ends[list].0 = after,
            before => self.links[before as usize].1 = !after,
        }
        match after {
            NONE => self.ends[list].1 = before,
            after => self.links[after as usize].0 = before ^ after,
        }
        self.links[block as usize] = (0, 0);
    }
}
