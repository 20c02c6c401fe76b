//! A set of pages as bits, with 64 neighbouring pages in one word.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// The number of pages in one word.
pub(crate) const WORD: u64 = 64;

/// Values by a volume and a number, such as that of a word.
pub(crate) type Table<V> = HashMap<(u32, u64), V, BuildHasherDefault<Mix>>;

/// A set of pages of several volumes. The order in which the set is iterated is not defined, so callers may
/// only compute sums over it.
#[derive(Debug, Default)]
pub struct PageBits {
    words: Table<u64>,
    len: u64,
}

impl PageBits {
    /// Adds the pages `first` to `last` of `volume`.
    pub fn insert(&mut self, volume: u32, first: u64, last: u64) {
        for (word, mask) in words(first, last) {
            let bits = self.words.entry((volume, word)).or_insert(0);
            self.len += u64::from((mask & !*bits).count_ones());
            *bits |= mask;
        }
    }

    /// Whether at least one of the pages `first` to `last` of `volume` is in the set.
    #[must_use]
    pub fn has_one_of(&self, volume: u32, first: u64, last: u64) -> bool {
        let bits = |word| self.words.get(&(volume, word)).copied().unwrap_or(0);
        words(first, last).any(|(word, mask)| bits(word) & mask != 0)
    }

    /// The number of pages in the set.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether the set has no pages.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// The words that hold the pages `first` to `last`, with the bits of these pages in each word.
pub(crate) fn words(first: u64, last: u64) -> impl Iterator<Item = (u64, u64)> {
    (first / WORD..=last / WORD).map(move |word| {
        let low = first.saturating_sub(word * WORD).min(WORD - 1);
        let high = (last - word * WORD).min(WORD - 1);
        (word, (u64::MAX << low) & (u64::MAX >> (WORD - 1 - high)))
    })
}

/// A hasher with one multiplication for each hashed word. At the end it folds the high bits, which are mixed
/// better, into the low bits.
#[derive(Debug, Default)]
pub(crate) struct Mix(u64);

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}

#[cfg(test)]
mod tests {
    use super::PageBits;
    use destage_base::Random;
    use std::collections::BTreeSet;

    #[test]
    fn agrees_with_a_plain_set() {
        let mut random = Random::new(1);
        let (mut bits, mut plain) = (PageBits::default(), BTreeSet::new());
        assert!(bits.is_empty());
        for _ in 0..2000 {
            let (volume, first) = (random.below(3) as u32, random.below(9000));
            let last = first + random.below(200);
            let mut pages = (first..=last).map(|page| (volume, page));
            let known = pages.clone().any(|page| plain.contains(&page));
            assert_eq!(bits.has_one_of(volume, first, last), known);
            if pages.next().is_some_and(|(_, page)| page % 2 == 0) {
                bits.insert(volume, first, last);
                plain.extend((first..=last).map(|page| (volume, page)));
            }
            assert_eq!(bits.len(), plain.len() as u64);
        }
        bits.insert(9, u64::MAX, u64::MAX);
        assert!(bits.has_one_of(9, u64::MAX - 99, u64::MAX) && !bits.has_one_of(9, 0, 9999));
        assert_eq!(bits.len(), plain.len() as u64 + 1);
    }
}
