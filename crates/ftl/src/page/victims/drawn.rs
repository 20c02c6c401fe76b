//! Of a few sealed blocks that are drawn at random, the one with the fewest valid pages.
//!
//! Van Houdt, "A mean field model for a class of garbage collection algorithms in flash-based solid state drives",
//! SIGMETRICS 2013: ten draws give almost as good a victim as a choice among all blocks.

use alloc::vec;
use alloc::vec::Vec;

use destage_base::Random;
use destage_base::archive::{Archive, Archived, Damaged};

const NONE: u32 = u32::MAX;
/// With at least this number of draws, and with more than [`DRAWS_OF_ALL`] draws for each candidate, the best of all
/// candidates is taken without a draw, which takes less time.
const MANY_DRAWS: u32 = 1 << 16;
/// So many draws for each candidate would miss the best candidate with a probability below e^-64.
const DRAWS_OF_ALL: usize = 64;

/// The candidates of each pool, in a dense array without order.
#[derive(Clone)]
pub struct Drawn {
    candidates: Vec<Vec<u32>>,
    /// For each block, the bitwise complement of its position in the array of its pool. A block that is no
    /// candidate has the value 0, so that memory for blocks that were never touched is never accessed.
    position: Vec<u32>,
    /// For each candidate, its number in the order in which the blocks of the die were closed.
    closed: Vec<u64>,
    blocks_per_pool: u32,
    draws: u32,
    pub random: Random,
}

/// An archive holds the positions, not their complements. The greatest value means that the block is no candidate.
impl Archived for Drawn {
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<(), Damaged> {
        let Self {
            candidates,
            position,
            closed,
            random,
            blocks_per_pool: _,
            draws: _,
        } = self;
        candidates.archive(archive)?;
        let mirror = |position: &mut u32| *position = !*position;
        position.iter_mut().for_each(mirror);
        position.archive(archive)?;
        position.iter_mut().for_each(mirror);
        closed.archive(archive)?;
        random.archive(archive)
    }
}

impl Drawn {
    /// A table without candidates, for `pools` pools of `blocks_per_pool` blocks; each choice draws `draws`
    /// blocks.
    pub fn none(pools: u32, blocks_per_pool: u32, draws: u32, seed: u64) -> Self {
        let blocks = (pools * blocks_per_pool) as usize;
        Self {
            candidates: vec![Vec::new(); pools as usize],
            position: vec![!NONE; blocks],
            closed: vec![0; blocks],
            blocks_per_pool,
            draws,
            random: Random::new(seed),
        }
    }

    /// Adds `block`, which was closed as number `closing`, to the candidates.
    pub fn insert(&mut self, block: u32, closing: u64) {
        let candidates = &mut self.candidates[(block / self.blocks_per_pool) as usize];
        self.position[block as usize] = !(candidates.len() as u32);
        candidates.push(block);
        self.closed[block as usize] = closing;
    }

    /// Removes `block` from the candidates, if it is one.
    pub fn remove(&mut self, block: u32) {
        let position = !core::mem::replace(&mut self.position[block as usize], !NONE);
        if position == NONE {
            return;
        }
        let candidates = &mut self.candidates[(block / self.blocks_per_pool) as usize];
        candidates.swap_remove(position as usize);
        if let Some(moved) = candidates.get(position as usize) {
            self.position[*moved as usize] = !position;
        }
    }

    /// Whether `block` is a candidate.
    pub fn contains(&self, block: u32) -> bool {
        self.position[block as usize] != !NONE
    }

    /// Draws candidates of `pool`, each from all of them, and returns the one with the fewest valid pages; among
    /// equals, the one that was closed first.
    pub fn draw(&mut self, pool: u32, valid: impl Fn(u32) -> u16) -> Option<u32> {
        let candidates = &self.candidates[pool as usize];
        if candidates.is_empty() {
            return None;
        }
        let key = |block: &u32| (valid(*block), self.closed[*block as usize]);
        if self.draws >= MANY_DRAWS && self.draws as usize > DRAWS_OF_ALL * candidates.len() {
            return candidates.iter().copied().min_by_key(key);
        }
        (0..self.draws)
            .map(|_| candidates[self.random.below(candidates.len() as u64) as usize])
            .min_by_key(key)
    }
}
