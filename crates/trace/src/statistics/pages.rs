//! The different pages that a trace touches, in little memory if pages are neighbours.

use crate::page_bits::{Table, WORD, words};
use crate::runs::ordered::Ordered;
use std::hint::black_box;

/// If the first and the last page of a range are more than this many words of bits apart, the range is stored
/// as a run, because a run then needs less memory than bits.
const WORDS_MAX: u64 = 8;

/// Two sets of pages of several volumes: the pages that were touched, and those of them that were written.
#[derive(Debug, Default)]
pub(super) struct Touched {
    /// By volume and number of a word: the pages in each set, as bits. Both sets are found with one search.
    short: Table<[u64; 2]>,
    /// The number of pages of each set in `short`.
    short_len: [u64; 2],
    /// Pages of long requests in each set. Some of these pages may be in `short` as well.
    long: [Ordered<()>; 2],
}

impl Touched {
    /// Adds the pages `first` to `last` of `volume`, which are touched and may be written.
    pub fn insert(&mut self, are_written: bool, volume: u32, first: u64, last: u64) {
        let sets = 1 + usize::from(are_written);
        if last / WORD - first / WORD > WORDS_MAX {
            for long in &mut self.long[..sets] {
                long.update(volume, first, last, |_, _, _| ());
            }
            return;
        }
        for (word, mask) in words(first, last) {
            let bits = self.short.entry((volume, word)).or_insert([0; 2]);
            for (bits, len) in bits.iter_mut().zip(&mut self.short_len).take(sets) {
                *len += u64::from((mask & !*bits).count_ones());
                *bits |= mask;
            }
        }
    }

    /// Does for [`Self::insert`] the same as [`crate::runs::Runs::prefetch`] for an update.
    pub fn prefetch(&self, volume: u32, first: u64) {
        // Without a use of the bits, the compiler would remove the reading.
        black_box(self.short.get(&(volume, first / WORD)).copied());
    }

    /// The number of pages in each set.
    pub fn len(&self) -> [u64; 2] {
        [0, 1].map(|set| {
            let long = &self.long[set];
            let mut len = self.short_len[set];
            if !long.is_empty() {
                long.for_each(|_, length, ()| len += length);
                let words = self.short.iter();
                len -= words
                    .map(|((volume, word), bits)| shared(long, *volume, *word, bits[set]))
                    .sum::<u64>();
            }
            len
        })
    }
}

/// The number of pages that are in `bits`, the bits of the word `word`, and also in a run of `long`.
fn shared(long: &Ordered<()>, volume: u32, word: u64, bits: u64) -> u64 {
    let start = word * WORD;
    let covered = |from: u64, to: u64| long.covered(volume, start + from, start + to);
    match covered(0, WORD - 1) {
        0 => 0,
        WORD => u64::from(bits.count_ones()),
        _ => (0..WORD)
            .filter(|bit| bits >> bit & 1 == 1)
            .map(|bit| covered(bit, bit))
            .sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::Touched;
    use destage_base::Random;
    use std::collections::BTreeSet;

    #[test]
    fn agrees_with_plain_sets() {
        let mut random = Random::new(1);
        let (mut pages, mut plain) = (Touched::default(), [BTreeSet::new(), BTreeSet::new()]);
        for step in 0..2000 {
            let volume = random.below(3) as u32;
            let are_written = random.below(2) == 0;
            let (first, last) = match step % 200 {
                100 => (random.below(5000), 5000 + random.below(1000)),
                _ => {
                    let first = random.below(5000);
                    (first, first + random.below(200))
                }
            };
            pages.insert(are_written, volume, first, last);
            for plain in plain.iter_mut().take(1 + usize::from(are_written)) {
                plain.extend((first..=last).map(|page| (volume, page)));
            }
            assert_eq!(pages.len(), [0, 1].map(|set| plain[set].len() as u64));
        }
        pages.insert(false, 9, u64::MAX, u64::MAX);
        assert_eq!(pages.len()[0], plain[0].len() as u64 + 1);
    }

    #[test]
    fn long_requests_take_as_little_as_short_ones() {
        let mut pages = Touched::default();
        for start in 0..100 {
            pages.insert(true, 0, start, start + (1 << 32));
        }
        assert_eq!(pages.len(), [(1 << 32) + 100; 2]);
        assert!(pages.short.is_empty());
        let mut runs = 0;
        pages.long[1].for_each(|_, _, ()| runs += 1);
        assert_eq!(runs, 1);
    }
}
