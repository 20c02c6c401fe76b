//! A set of pages of several volumes, small where pages stand together.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Pages in one entry: one word of bits.
const WORD: u64 = 64;

/// A set of pages. Nothing ever walks it, so its hash order cannot show.
#[derive(Debug, Default)]
pub(super) struct PageSet {
    words: HashMap<(u32, u64), u64, BuildHasherDefault<Mix>>,
    len: u64,
}

impl PageSet {
    /// Adds pages `first` to `last` of `volume`.
    pub fn insert(&mut self, volume: u32, first: u64, last: u64) {
        for word in first / WORD..=last / WORD {
            let low = first.saturating_sub(word * WORD).min(WORD - 1);
            let high = (last - word * WORD).min(WORD - 1);
            let mask = (u64::MAX << low) & (u64::MAX >> (WORD - 1 - high));
            let bits = self.words.entry((volume, word)).or_insert(0);
            self.len += u64::from((mask & !*bits).count_ones());
            *bits |= mask;
        }
    }

    /// How many pages there are.
    pub fn len(&self) -> u64 {
        self.len
    }
}

/// A multiply per word hashed, and the better bits moved down at the end.
#[derive(Debug, Default)]
pub(super) struct Mix(u64);

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
    use super::PageSet;
    use destage_base::Random;
    use std::collections::BTreeSet;

    #[test]
    fn agrees_with_a_plain_set() {
        let mut random = Random::new(1);
        let (mut pages, mut plain) = (PageSet::default(), BTreeSet::new());
        for _ in 0..2000 {
            let (volume, first) = (random.below(3) as u32, random.below(5000));
            let last = first + random.below(200);
            pages.insert(volume, first, last);
            plain.extend((first..=last).map(|page| (volume, page)));
            assert_eq!(pages.len(), plain.len() as u64);
        }
        pages.insert(9, u64::MAX, u64::MAX);
        assert_eq!(pages.len(), plain.len() as u64 + 1);
    }
}
