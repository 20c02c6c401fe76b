//! Counts the logical blocks that have pages in a log block.

use alloc::vec;
use alloc::vec::Vec;

use destage_base::archived;

use super::NONE;

/// A small hash table from logical blocks to page counts. A logical block stays in the table until the table is
/// cleared, even if its page count is 0. The table receives at most as many logical blocks as a log block has
/// pages, so at least half of its entries stay empty.
#[derive(Clone)]
pub(super) struct Owners {
    /// Each entry is a logical block and the number of its pages. The position of an entry is the hash of the
    /// logical block, or the first free position after it.
    entries: Vec<(u32, u32)>,
    /// Number of logical blocks with at least one page.
    pub distinct: u32,
}

archived!(Owners { entries, distinct });

impl Owners {
    /// An empty table for a log block of `pages` pages.
    pub fn new(pages: u32) -> Self {
        Self {
            entries: vec![(NONE, 0); 2 * pages.next_power_of_two() as usize],
            distinct: 0,
        }
    }

    /// The entry of `block`, or the empty entry in which `block` is to be stored.
    #[inline]
    fn find(&mut self, block: u32) -> &mut (u32, u32) {
        let mask = self.entries.len() - 1;
        let mut place = (block.wrapping_mul(0x9E37_79B1) >> 16) as usize & mask;
        while self.entries[place].0 != block && self.entries[place].0 != NONE {
            place = (place + 1) & mask;
        }
        &mut self.entries[place]
    }

    /// Adds a page of `block`.
    #[inline]
    pub fn enter(&mut self, block: u32) {
        let entry = self.find(block);
        entry.0 = block;
        entry.1 += 1;
        self.distinct += u32::from(entry.1 == 1);
    }

    /// Removes a page of `block`.
    #[inline]
    pub fn leave(&mut self, block: u32) {
        let entry = self.find(block);
        entry.1 -= 1;
        self.distinct -= u32::from(entry.1 == 0);
    }

    /// Empties the table.
    pub fn clear(&mut self) {
        self.entries.fill((NONE, 0));
        self.distinct = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_a_list() {
        let mut random = destage_base::Random::new(9);
        for pages in [1, 3, 8, 64] {
            let mut owners = Owners::new(pages);
            for _ in 0..200 {
                let mut list: Vec<u32> = Vec::new();
                let mut entered = 0;
                while entered < pages {
                    if random.below(3) == 0 && !list.is_empty() {
                        let place = random.below(list.len() as u64) as usize;
                        owners.leave(list.swap_remove(place));
                    } else {
                        let block = random.below(u64::from(2 * pages)) as u32 * 4096;
                        owners.enter(block);
                        list.push(block);
                        entered += 1;
                    }
                    let mut distinct = list.clone();
                    distinct.sort_unstable();
                    distinct.dedup();
                    assert_eq!(owners.distinct as usize, distinct.len());
                }
                owners.clear();
            }
        }
    }
}
