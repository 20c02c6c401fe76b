//! The blocks of a die. A chunk of blocks that no operation has changed needs no memory.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::{Index, IndexMut};

use super::cells::Block;

const CHUNK_BITS: u32 = 6;
/// Number of blocks that are allocated together.
const CHUNK: usize = 1 << CHUNK_BITS;

/// The state that every block has at first.
static ERASED: Block = Block::new();

/// The blocks of a die, by number. [Reading](Index) a block allocates no memory. [Changing](IndexMut) a block
/// allocates its chunk.
#[derive(Clone)]
pub(super) struct Blocks {
    chunks: Vec<Option<Box<[Block; CHUNK]>>>,
    count: u32,
}

impl Blocks {
    /// `count` blocks that were never programmed.
    pub fn new(count: u32) -> Self {
        let chunks = vec![None; (count as usize).div_ceil(CHUNK)];
        Self { chunks, count }
    }

    /// Number of blocks of the die.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The block with this number; `None` if the die has no such block.
    pub fn get(&self, number: u32) -> Option<&Block> {
        (number < self.count).then(|| &self[number])
    }

    /// All blocks, in ascending order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &Block> {
        (0..self.count).map(|number| &self[number])
    }

    /// The allocated blocks, with their numbers. All other blocks have the state that every block has at first.
    pub fn made(&self) -> impl Iterator<Item = (u32, &Block)> {
        let chunks = (0..).step_by(CHUNK).zip(&self.chunks);
        let made = chunks.filter_map(|(first, chunk)| Some((first, chunk.as_deref()?)));
        made.flat_map(|(first, chunk)| (first..).zip(chunk))
    }

    /// Calls `change` with every block.
    pub fn for_each_mut(&mut self, change: impl FnMut(&mut Block)) {
        let all = self.chunks.iter_mut().map(made);
        let all = all.flat_map(|chunk| &mut chunk[..]);
        all.take(self.count as usize).for_each(change);
    }
}

fn made(chunk: &mut Option<Box<[Block; CHUNK]>>) -> &mut [Block; CHUNK] {
    chunk.get_or_insert_with(|| Box::new([const { Block::new() }; CHUNK]))
}

impl Index<u32> for Blocks {
    type Output = Block;

    #[inline]
    fn index(&self, number: u32) -> &Block {
        match &self.chunks[number as usize >> CHUNK_BITS] {
            Some(chunk) => &chunk[number as usize & (CHUNK - 1)],
            None => &ERASED,
        }
    }
}

impl IndexMut<u32> for Blocks {
    #[inline]
    fn index_mut(&mut self, number: u32) -> &mut Block {
        &mut made(&mut self.chunks[number as usize >> CHUNK_BITS])[number as usize & (CHUNK - 1)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_changed_is_made() {
        let mut blocks = Blocks::new(1 << 20);
        assert_eq!(blocks.get((1 << 20) - 1).map(|block| block.erases), Some(0));
        assert!(blocks.get(1 << 20).is_none());
        assert_eq!(blocks.made().count(), 0);
        blocks[CHUNK as u32 + 1].erases = 7;
        assert_eq!(blocks.made().count(), CHUNK);
        assert_eq!(blocks.iter().filter(|block| block.erases == 7).count(), 1);
        assert_eq!(blocks.iter().count(), 1 << 20);
    }

    #[test]
    fn all_are_changed_and_no_more() {
        let mut blocks = Blocks::new(CHUNK as u32 + 3);
        let mut count = 0;
        blocks.for_each_mut(|_| count += 1);
        assert_eq!(count, CHUNK + 3);
    }
}
