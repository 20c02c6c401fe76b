//! A table with one bit for each page of every block. A row of the table has the bits of one block.
//!
//! To find the cost of a merge, an FTL counts pages of a block. Counting the bits of a row takes one or two word
//! operations, whereas visiting the pages of the block takes about a hundred steps.

use destage_base::archived;
use destage_base::lazy::{Initial, LazyTable};

const WORD: u32 = u64::BITS;

/// A rule for the rows whose bits are all set before they are first changed.
pub trait FullRows {
    /// Whether all bits of `row` are set at first.
    fn is_full(&self, row: u32) -> bool;
}

/// The rule that the first rows are full. The number gives how many rows are full.
#[derive(Clone, Copy, Debug)]
pub struct First(pub u32);

impl FullRows for First {
    fn is_full(&self, row: u32) -> bool {
        row < self.0
    }
}

#[derive(Clone)]
struct Words<R> {
    rule: R,
    per_row: u32,
    bits: u32,
}

impl<R: FullRows> Initial for Words<R> {
    type Entry = u64;
    fn at(&self, index: usize) -> u64 {
        let (row, word) = (index as u32 / self.per_row, index as u32 % self.per_row);
        let left = self.bits - word * WORD;
        match (self.rule.is_full(row), left) {
            (false, _) => 0,
            (true, WORD..) => u64::MAX,
            (true, _) => (1 << left) - 1,
        }
    }
}

/// Rows of bits. See the [module](self).
#[derive(Clone)]
pub struct Masks<R: FullRows> {
    words: LazyTable<Words<R>>,
    per_row: u32,
}

archived!([R: FullRows] Masks<R> { words } fixed { per_row });

impl<R: FullRows> Masks<R> {
    /// `rows` rows of `bits` bits each. `rule` says which rows have all bits set at first; the other rows
    /// have none set.
    pub fn new(rows: u32, bits: u32, rule: R) -> Self {
        let per_row = bits.div_ceil(WORD);
        let words = Words {
            rule,
            per_row,
            bits,
        };
        Self {
            words: LazyTable::new(rows as usize * per_row as usize, words),
            per_row,
        }
    }

    #[inline]
    fn index(&self, row: u32, bit: u32) -> usize {
        self.index_of_word(row, bit / WORD)
    }

    #[inline]
    fn index_of_word(&self, row: u32, word: u32) -> usize {
        row as usize * self.per_row as usize + word as usize
    }

    fn row(&self, row: u32) -> impl Iterator<Item = u64> + '_ {
        let first = self.index(row, 0);
        (first..first + self.per_row as usize).map(|index| self.words.get(index))
    }

    /// Whether `bit` of `row` is set.
    #[inline]
    pub fn get(&self, row: u32, bit: u32) -> bool {
        self.words.get(self.index(row, bit)) >> (bit % WORD) & 1 == 1
    }

    /// Sets `bit` of `row` and returns whether it was set before.
    #[inline]
    pub fn set(&mut self, row: u32, bit: u32) -> bool {
        let index = self.index(row, bit);
        let word = self.words.get_mut(index);
        let before = *word >> (bit % WORD) & 1 == 1;
        *word |= 1 << (bit % WORD);
        before
    }

    /// Sets the bits of `row` from `first` up to, but not including, `end`.
    pub fn set_range(&mut self, row: u32, first: u32, end: u32) {
        for word in first / WORD..end.div_ceil(WORD) {
            let start = word * WORD;
            let from = u64::MAX << first.saturating_sub(start);
            let to = u64::MAX >> (start + WORD).saturating_sub(end);
            *self.words.get_mut(self.index_of_word(row, word)) |= from & to;
        }
    }

    /// Clears `bit` of `row` and returns whether it was set before.
    #[inline]
    pub fn clear(&mut self, row: u32, bit: u32) -> bool {
        let index = self.index(row, bit);
        if self.words.get(index) == 0 {
            // `get_mut` may allocate memory, which is not needed to clear a bit of a word without set bits.
            return false;
        }
        let word = self.words.get_mut(index);
        let before = *word >> (bit % WORD) & 1 == 1;
        *word &= !(1 << (bit % WORD));
        before
    }

    /// Clears every bit of `row`.
    pub fn clear_row(&mut self, row: u32) {
        let first = self.index(row, 0);
        for index in first..first + self.per_row as usize {
            if self.words.get(index) != 0 {
                *self.words.get_mut(index) = 0;
            }
        }
    }

    /// Sets those bits of `row` that are set in `other_row` of `other`. The rows of `other` may not be longer
    /// than those of this table.
    pub fn set_all_of<O: FullRows>(&mut self, row: u32, other: &Masks<O>, other_row: u32) {
        debug_assert!(other.per_row <= self.per_row, "a longer row");
        let first = self.index(row, 0);
        for (index, bits) in (first..).zip(other.row(other_row)) {
            *self.words.get_mut(index) |= bits;
        }
    }

    /// Number of bits set in `row`.
    #[inline]
    pub fn count(&self, row: u32) -> u32 {
        self.row(row).map(u64::count_ones).sum()
    }

    /// Number of bits set in `row` from `bit` on.
    pub fn count_from(&self, row: u32, bit: u32) -> u32 {
        self.row(row)
            .enumerate()
            .map(|(word, bits)| {
                let passed = bit.saturating_sub(word as u32 * WORD);
                bits.checked_shr(passed).unwrap_or(0).count_ones()
            })
            .sum()
    }

    /// The number after the last bit that is set in `row`; 0 if no bit is set.
    pub fn end(&self, row: u32) -> u32 {
        self.row(row)
            .enumerate()
            .filter(|(_, bits)| *bits != 0)
            .last()
            .map_or(0, |(word, bits)| {
                (word as u32 + 1) * WORD - bits.leading_zeros()
            })
    }

    /// The bits set in `row`, in ascending order.
    pub fn ones(&self, row: u32) -> impl Iterator<Item = u32> + '_ {
        self.row(row).enumerate().flat_map(|(word, bits)| Ones {
            bits,
            first: word as u32 * WORD,
        })
    }
}

/// The bits set in a word, in ascending order.
struct Ones {
    bits: u64,
    first: u32,
}

impl Iterator for Ones {
    type Item = u32;
    fn next(&mut self) -> Option<u32> {
        if self.bits == 0 {
            return None;
        }
        let bit = self.bits.trailing_zeros();
        self.bits &= self.bits - 1;
        Some(self.first + bit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn agrees_with_a_list_of_flags() {
        for bits in [1, 5, 63, 64, 65, 128, 200] {
            let mut random = destage_base::Random::new(u64::from(bits));
            let mut masks = Masks::new(8, bits, First(3));
            let mut model: Vec<Vec<bool>> = (0..8)
                .map(|row| alloc::vec![row < 3; bits as usize])
                .collect();
            for _ in 0..4_000 {
                let row = random.below(8) as u32;
                let bit = random.below(u64::from(bits)) as u32;
                let model = &mut model[row as usize];
                match random.below(40) {
                    0 => {
                        masks.clear_row(row);
                        model.fill(false);
                    }
                    1 => {
                        let mut other = Masks::new(2, bits, First(0));
                        for bit in (0..bits).step_by(1 + row as usize) {
                            other.set(1, bit);
                            model[bit as usize] = true;
                        }
                        masks.set_all_of(row, &other, 1);
                    }
                    2 => {
                        let end = bit + random.below(u64::from(bits - bit) + 1) as u32;
                        masks.set_range(row, bit, end);
                        model[bit as usize..end as usize].fill(true);
                    }
                    3..20 => {
                        assert_eq!(masks.clear(row, bit), model[bit as usize]);
                        model[bit as usize] = false;
                    }
                    _ => {
                        assert_eq!(masks.set(row, bit), model[bit as usize]);
                        model[bit as usize] = true;
                    }
                }
                let flags = model;
                let ones: Vec<u32> = (0..bits).filter(|bit| flags[*bit as usize]).collect();
                assert_eq!(masks.ones(row).collect::<Vec<_>>(), ones);
                assert_eq!(masks.get(row, bit), flags[bit as usize]);
                assert_eq!(masks.count(row) as usize, ones.len());
                assert_eq!(masks.end(row), ones.last().map_or(0, |last| last + 1));
                let from = ones.iter().filter(|one| **one >= bit).count();
                assert_eq!(masks.count_from(row, bit) as usize, from);
            }
        }
    }
}
