//! Stores one value for a run of neighbouring pages that were touched together.
//!
//! The statistics use the same code for runs of blocks.

pub(crate) mod ordered;
mod words;

use crate::page_bits::WORD;
use ordered::Ordered;
use words::Words;

/// The value of the first page of a run, from which the values of the other pages can be computed.
pub trait Along: Copy + PartialEq {
    /// Whether values increase from update to update. If so, a run can continue the run before it only if the
    /// previous update ended where the run begins.
    const COUNTS_ON: bool = false;

    /// The value of the page that is `distance` pages after the page with this value.
    fn along(self, distance: u64) -> Self;
}

impl Along for () {
    fn along(self, _: u64) {}
}

/// If the first and the last page of an update are more than this many words apart, a table of words could need
/// much memory. 32 words are 8 MiB in pages of 4 KiB; few traces have longer requests.
const WORDS_MAX: u64 = 32;

/// Runs of pages in several volumes. The runs do not overlap. All page numbers are below 2^64 - 1.
///
/// As long as all updates are short, the runs are in a table of words, which is fast. From the first long update
/// on, they are in an ordered set, whose memory does not depend on the lengths of updates.
///
/// ```
/// use destage_trace::runs::Runs;
/// let mut pages = Runs::<()>::default();
/// pages.update(0, 10, 1_000_000, |_, _, _| ());
/// pages.update(0, 5, 20, |_, _, _| ());
/// let mut runs = Vec::new();
/// pages.for_each(|(volume, first), length, ()| runs.push((volume, first, length)));
/// assert_eq!(runs, [(0, 5, 999_996)]);
/// ```
#[derive(Debug)]
pub struct Runs<V>(Held<V>);

#[derive(Debug)]
enum Held<V> {
    Short(Words<V>),
    Long(Ordered<V>),
}

impl<V> Default for Runs<V> {
    fn default() -> Self {
        Self(Held::Short(Words::default()))
    }
}

impl<V: Along> Runs<V> {
    /// Gives new values to the pages `first` to `last` of `volume`, run by run. For each run, `change` gets the
    /// distance from `first` to the run, the length of the run, and the value of its first page, or `None` if
    /// this page has no value yet. `change` returns the new value of the first page. Runs that have values are
    /// given in ascending order, and may be given in several parts.
    #[inline]
    pub fn update(
        &mut self,
        volume: u32,
        first: u64,
        last: u64,
        change: impl FnMut(u64, u64, Option<V>) -> V,
    ) {
        if last / WORD - first / WORD > WORDS_MAX {
            self.prepare_for_long();
        }
        match &mut self.0 {
            Held::Short(words) => words.update(volume, first, last, change),
            Held::Long(runs) => runs.update(volume, first, last, change),
        }
    }

    /// Gives all runs to `each`, in ascending order: the volume and the first page, the length, and the value of the
    /// first page. Neighbouring runs are one run if the values of one continue in the next.
    pub fn for_each(&self, each: impl FnMut((u32, u64), u64, V)) {
        match &self.0 {
            Held::Short(words) => words.for_each(each),
            Held::Long(runs) => runs.for_each(each),
        }
    }

    /// Reads what an update from page `first` on will read, so that it is in the processor's cache then. The
    /// processor waits for the memory only once if several such calls follow each other.
    pub fn prefetch(&self, volume: u32, first: u64) {
        if let Held::Short(words) = &self.0 {
            words.prefetch(volume, first);
        }
    }

    fn prepare_for_long(&mut self) {
        if let Held::Short(words) = &self.0 {
            let mut runs = Ordered::default();
            words.for_each(|place, length, value| runs.insert(place, length, value));
            self.0 = Held::Long(runs);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use destage_base::Random;
    use std::collections::BTreeMap;

    /// The steps of a test from which on the runs are in an ordered set: all, some and none of 3000.
    const LONG_FROM: [u64; 3] = [0, 1500, 3000];

    /// A value that increases from update to update.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Number(u64);
    impl Along for Number {
        const COUNTS_ON: bool = true;
        fn along(self, distance: u64) -> Self {
            Self(self.0 + distance)
        }
    }

    fn all<V: Along>(runs: &Runs<V>) -> Vec<((u32, u64), u64, V)> {
        let mut all = Vec::new();
        runs.for_each(|place, length, value| all.push((place, length, value)));
        all
    }

    #[test]
    fn what_counts_on_is_joined_where_it_goes_on_and_nowhere_else() {
        for long_from in LONG_FROM {
            let mut random = Random::new(11);
            let (mut runs, mut plain) = (Runs::<Number>::default(), BTreeMap::new());
            let (mut number, mut first) = (0, 0);
            for step in 0..3000 {
                if step == long_from {
                    runs.prepare_for_long();
                }
                let count = 1 + random.below(30);
                if random.below(2) == 0 {
                    first = random.below(300);
                }
                runs.prefetch(0, first);
                runs.update(0, first, first + count - 1, |offset, length, old| {
                    for at in offset..offset + length {
                        let known = plain.insert(first + at, number + at);
                        let old = old.map(|old| old.0 + (at - offset));
                        assert_eq!(known, old, "step {step}");
                    }
                    Number(number + offset)
                });
                (number, first) = (number + count, first + count);
            }
            let places = all(&runs)
                .into_iter()
                .flat_map(|((_, first), length, value)| {
                    (0..length).map(move |at| (first + at, value.0 + at))
                });
            assert!(places.eq(plain));
            // If the pages are written in order, all of them become one run again.
            for place in 0..3000 {
                runs.update(0, place, place, |_, _, _| Number(1_000_000 + place));
            }
            assert_eq!(all(&runs).len(), 1);
        }
    }

    impl Along for u64 {
        fn along(self, distance: u64) -> Self {
            self + distance
        }
    }

    #[test]
    fn agrees_with_a_plain_table_and_joins_what_continues() {
        for long_from in LONG_FROM {
            let mut random = Random::new(7);
            let (mut runs, mut plain) = (Runs::<u64>::default(), BTreeMap::new());
            for step in 0..3000 {
                if step == long_from {
                    runs.prepare_for_long();
                }
                let (volume, first) = (random.below(2) as u32, random.below(300));
                let last = first + random.below(80);
                let base = random.below(3) * 1000 + first;
                let (mut seen, mut ends) = (Vec::new(), 0);
                runs.update(volume, first, last, |offset, length, old| {
                    if old.is_some() {
                        assert!(offset >= ends, "step {step}");
                        ends = offset + length;
                    }
                    let places = first + offset..first + offset + length;
                    seen.extend(places.map(|place| {
                        let at = place - first - offset;
                        ((volume, place), old.map(|old| old.along(at)))
                    }));
                    base + offset
                });
                seen.sort_unstable();
                let expected: Vec<_> = (first..=last)
                    .map(|place| ((volume, place), plain.get(&(volume, place)).copied()))
                    .collect();
                assert_eq!(seen, expected, "step {step}");
                plain.extend((first..=last).map(|place| ((volume, place), base + place - first)));
            }
            let all = all(&runs);
            let places = all.iter().flat_map(|((volume, first), length, value)| {
                (0..*length).map(move |at| ((*volume, first + at), value + at))
            });
            assert!(places.eq(plain));
            for pair in all.windows(2) {
                let ((volume, first), length, value) = pair[0];
                let continues =
                    pair[1].0 == (volume, first + length) && pair[1].2 == value + length;
                assert!(!continues, "{pair:?}");
            }
        }
    }

    #[test]
    fn one_long_update_is_one_run() {
        let mut runs = Runs::<Number>::default();
        runs.update(3, 70, 90, |_, _, _| Number(1));
        assert!(matches!(runs.0, Held::Short(_)));
        runs.update(3, 91, 1 << 40, |_, _, _| Number(22));
        assert!(matches!(runs.0, Held::Long(_)));
        // The long update continues the short one before it.
        assert_eq!(all(&runs), [((3, 70), (1 << 40) - 69, Number(1))]);
    }
}
