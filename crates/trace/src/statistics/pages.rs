//! A set of pages of several volumes that needs little memory if pages are neighbours.

use crate::page_bits::{PageBits, WORD};
use crate::runs::Runs;

/// If the first and the last page of a range are more than this many words of bits apart, the range is stored
/// as a run, because a run then needs less memory than bits.
const WORDS_MAX: u64 = 8;

/// A set of pages.
#[derive(Debug, Default)]
pub(super) struct PageSet {
    short: PageBits,
    /// Pages of long requests. Some of these pages may be in `short` as well.
    long: Runs<()>,
}

impl PageSet {
    /// Adds the pages `first` to `last` of `volume`.
    pub fn insert(&mut self, volume: u32, first: u64, last: u64) {
        if last / WORD - first / WORD > WORDS_MAX {
            return self.long.update(volume, first, last, |_, _, _| ());
        }
        self.short.insert(volume, first, last);
    }

    /// The number of pages in the set.
    pub fn len(&self) -> u64 {
        let long: u64 = self.long.iter().map(|(_, length, ())| length).sum();
        let shared = |(volume, word, bits)| self.shared(volume, word, bits);
        let shared: u64 = self.short.words().map(shared).sum();
        long + self.short.len() - shared
    }

    /// The number of pages that are in `bits`, the bits of the word `word`, and also in a run.
    fn shared(&self, volume: u32, word: u64, bits: u64) -> u64 {
        if self.long.is_empty() {
            return 0;
        }
        let start = word * WORD;
        let covered = |from: u64, to: u64| self.long.covered(volume, start + from, start + to);
        match covered(0, WORD - 1) {
            0 => 0,
            WORD => u64::from(bits.count_ones()),
            _ => (0..WORD)
                .filter(|bit| bits >> bit & 1 == 1)
                .map(|bit| covered(bit, bit))
                .sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::PageSet;
    use destage_base::Random;
    use std::collections::BTreeSet;

    #[test]
    fn agrees_with_a_plain_set() {
        let mut random = Random::new(1);
        let (mut pages, mut plain) = (PageSet::default(), BTreeSet::new());
        for step in 0..2000 {
            let (volume, first) = (random.below(3) as u32, random.below(5000));
            let last = first + random.below(200);
            pages.insert(volume, first, last);
            plain.extend((first..=last).map(|page| (volume, page)));
            assert_eq!(pages.len(), plain.len() as u64);
            if step % 200 == 100 {
                let (first, last) = (random.below(5000), 5000 + random.below(1000));
                pages.insert(volume, first, last);
                plain.extend((first..=last).map(|page| (volume, page)));
                assert_eq!(pages.len(), plain.len() as u64);
            }
        }
        pages.insert(9, u64::MAX, u64::MAX);
        assert_eq!(pages.len(), plain.len() as u64 + 1);
    }

    #[test]
    fn long_requests_take_as_little_as_short_ones() {
        let mut pages = PageSet::default();
        for start in 0..100 {
            pages.insert(0, start, start + (1 << 32));
        }
        assert_eq!(pages.len(), (1 << 32) + 100);
        assert_eq!((pages.short.len(), pages.long.iter().count()), (0, 1));
    }
}
