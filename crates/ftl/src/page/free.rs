//! Which blocks of a die are free.

use alloc::vec;
use alloc::vec::Vec;

use destage_base::archived;

/// One bit per block; set if the block is free.
#[derive(Clone)]
pub struct FreeBlocks {
    words: Vec<u64>,
}

archived!(FreeBlocks { words });

impl FreeBlocks {
    /// A table of `blocks` blocks, none of them free.
    pub fn none(blocks: u32) -> Self {
        Self {
            words: vec![0; (blocks as usize).div_ceil(64)],
        }
    }

    /// Marks `block` as free if `free` is true, and as used otherwise.
    pub fn set(&mut self, block: u32, free: bool) {
        let bit = 1 << (block % 64);
        let word = &mut self.words[(block / 64) as usize];
        if free {
            *word |= bit;
        } else {
            *word &= !bit;
        }
    }

    /// Marks the blocks `from..end` as free.
    pub fn set_all(&mut self, from: u32, end: u32) {
        let mut block = from;
        while block < end {
            let bits = (end - block).min(64 - block % 64);
            self.words[(block / 64) as usize] |= (u64::MAX >> (64 - bits)) << (block % 64);
            block += bits;
        }
    }

    /// Whether `block` is free.
    pub fn contains(&self, block: u32) -> bool {
        self.words[(block / 64) as usize] >> (block % 64) & 1 == 1
    }

    /// The first free block in `from .. end`.
    pub fn first_in(&self, from: u32, end: u32) -> Option<u32> {
        if from >= end {
            return None;
        }
        let last_word = ((end - 1) / 64) as usize;
        let mut index = (from / 64) as usize;
        let mut word = self.words[index] & (u64::MAX << (from % 64));
        loop {
            if word != 0 {
                let block = index as u32 * 64 + word.trailing_zeros();
                return (block < end).then_some(block);
            }
            index += 1;
            if index > last_word {
                return None;
            }
            word = self.words[index];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::FreeBlocks;

    #[test]
    fn finds_what_a_scan_finds() {
        let mut random = destage_base::Random::new(3);
        let mut free = FreeBlocks::none(200);
        let mut model = [false; 200];
        for _ in 0..20_000 {
            let block = random.below(200) as u32;
            let value = random.below(8) == 0;
            free.set(block, value);
            model[block as usize] = value;
            let (from, end) = (random.below(201) as u32, random.below(201) as u32);
            let expected = (from..end).find(|block| model[*block as usize]);
            assert_eq!(free.first_in(from, end), expected, "{from}..{end}");
            if random.below(100) == 0 {
                free.set_all(from, end);
                let set = model.iter_mut().enumerate();
                set.filter(|(block, _)| (from..end).contains(&(*block as u32)))
                    .for_each(|(_, free)| *free = true);
            }
        }
    }
}
