//! A set of numbers as bits.
//!
//! Larger numbers than a given one are counted with a binary indexed tree over blocks of bits.

use crate::page_bits::{WORD, words};

/// The number of words in a block: as many as fit into one cache line of the processor.
const WORDS: u64 = 8;
type Block = [u64; WORDS as usize];
/// The number of blocks from which on empty blocks are removed.
const MANY: usize = 1 << 10;

/// Numbers, of which the largest are added last.
///
/// Blocks without numbers are removed when they are half of all blocks, so memory grows with the count of the numbers
/// and not with their size.
#[derive(Debug, Default)]
pub(super) struct Marks {
    blocks: Vec<Block>,
    /// The number of each block: its first number divided by 512. The numbers ascend.
    places: Vec<u64>,
    /// A binary indexed tree. Entry `n - 1` has the count of the numbers in block `n - 1` and in as many blocks
    /// before it that together there are as many blocks as the lowest bit of `n` says.
    tree: Vec<u64>,
    /// The count of all numbers.
    total: u64,
    /// The number of blocks at which empty blocks are removed the next time.
    limit: usize,
}

impl Marks {
    /// Adds `length` numbers from `first` on, which is larger than all numbers so far.
    pub fn put(&mut self, first: u64, length: u64) {
        for (number, mask) in words(first, first + length - 1) {
            let (place, word) = (number / WORDS, number % WORDS);
            if self.places.last() != Some(&place) {
                if self.places.len() >= self.limit.max(MANY) {
                    self.remove_empty();
                }
                self.push(place, [0; WORDS as usize]);
            }
            let last = self.blocks.len() - 1;
            self.blocks[last][word as usize] |= mask;
            let count = u64::from(mask.count_ones());
            self.total += count;
            self.tree[last] += count;
        }
    }

    /// Removes the `length` numbers from `first` on, which are all in the set. Returns how many larger numbers
    /// the set has.
    pub fn take(&mut self, first: u64, length: u64) -> u64 {
        let last = first + length - 1;
        let mut at = 0;
        for (number, mask) in words(first, last) {
            at = self.find(number / WORDS);
            self.blocks[at][(number % WORDS) as usize] &= !mask;
            let count = u64::from(mask.count_ones());
            self.total -= count;
            let mut entry = at + 1;
            while let Some(sum) = self.tree.get_mut(entry - 1) {
                *sum -= count;
                entry += entry & entry.wrapping_neg();
            }
        }
        self.total - self.up_to(at, last)
    }

    /// All numbers in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u64> {
        let blocks = self.places.iter().zip(&self.blocks);
        let words = blocks.flat_map(|(place, block)| (place * WORDS..).zip(block));
        words.flat_map(|(number, bits)| {
            let marked = (0..WORD).filter(move |bit| bits >> bit & 1 == 1);
            marked.map(move |bit| number * WORD + bit)
        })
    }

    /// The count of numbers up to `number`, which belongs to the block with the index `at`.
    fn up_to(&self, at: usize, number: u64) -> u64 {
        let mut sum = 0;
        let mut entry = at;
        while entry > 0 {
            sum += self.tree[entry - 1];
            entry &= entry - 1;
        }
        let word = (number / WORD % WORDS) as usize;
        let before = self.blocks[at][..word].iter();
        sum += before.map(|bits| u64::from(bits.count_ones())).sum::<u64>();
        let mask = u64::MAX >> (WORD - 1 - number % WORD);
        sum + u64::from((self.blocks[at][word] & mask).count_ones())
    }

    /// The index of the block `place`.
    fn find(&self, place: u64) -> usize {
        // Most blocks have no gap behind them.
        let last = self.places.len() - 1;
        let guess = last.wrapping_sub((self.places[last] - place) as usize);
        match self.places.get(guess) {
            Some(found) if *found == place => guess,
            _ => self.places.partition_point(|other| *other < place),
        }
    }

    /// Adds a block at the end.
    fn push(&mut self, place: u64, block: Block) {
        let entry = self.tree.len() + 1;
        let first = entry & (entry - 1);
        let mut sum = block.iter().map(|bits| u64::from(bits.count_ones())).sum();
        let mut part = entry - 1;
        while part > first {
            sum += self.tree[part - 1];
            part &= part - 1;
        }
        self.tree.push(sum);
        self.places.push(place);
        self.blocks.push(block);
    }

    fn remove_empty(&mut self) {
        let places = std::mem::take(&mut self.places);
        let blocks = std::mem::take(&mut self.blocks);
        self.tree.clear();
        for (place, block) in places.into_iter().zip(blocks) {
            if block != [0; WORDS as usize] {
                self.push(place, block);
            }
        }
        self.limit = 2 * self.places.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use destage_base::Random;

    #[test]
    fn empty_blocks_are_removed_and_counts_stay() {
        let mut random = Random::new(9);
        let (mut marks, mut plain) = (Marks::default(), Vec::<u64>::new());
        let mut number = 1;
        for step in 0..4000 {
            let length = 1 + random.below(1500);
            marks.put(number, length);
            // All of these numbers but one are removed, from the first on or from the last on.
            let stays = number + random.below(length);
            let parts = [(number, stays), (stays + 1, number + length)];
            for (from, to) in parts.into_iter().filter(|(from, to)| from < to) {
                assert_eq!(marks.take(from, to - from), number + length - to);
            }
            plain.push(stays);
            if random.below(10) > 0 {
                let index = random.below(plain.len() as u64) as usize;
                let later = plain.len() - 1 - index;
                assert_eq!(
                    marks.take(plain.remove(index), 1),
                    later as u64,
                    "step {step}"
                );
            }
            number += length;
        }
        assert!(marks.iter().eq(plain.iter().copied()));
        let blocks = number / WORD / WORDS;
        assert!(blocks > 3 * MANY as u64, "{blocks} blocks");
        let most = MANY.max(2 * plain.len());
        assert!(marks.blocks.len() <= most, "{} blocks", marks.blocks.len());
    }
}
