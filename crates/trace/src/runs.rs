//! Stores one value for a run of neighbouring pages that were touched together.
//!
//! A request touches a run of pages of any length. Because a run is stored as one entry, memory grows with the
//! number of requests and not with their lengths. The statistics use the same code for runs of blocks.

use crate::page_bits::Mix;
use std::collections::{BTreeSet, HashMap};
use std::hash::BuildHasherDefault;

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

/// The length of a run in pages, and the value of its first page.
#[derive(Clone, Copy, Debug)]
struct Run<V> {
    length: u64,
    value: V,
}

/// Runs of pages in several volumes. The runs do not overlap. All page numbers are below 2^64 - 1.
///
/// Most updates concern exactly one existing run, which is found by its first page in a hash table. The other
/// updates use the ordered set of first pages.
///
/// ```
/// use destage_trace::runs::Runs;
/// let mut pages = Runs::<()>::default();
/// pages.update(0, 10, 1_000_000, |_, _, _| ());
/// pages.update(0, 5, 20, |_, _, _| ());
/// assert_eq!(pages.iter().collect::<Vec<_>>(), [((0, 5), 999_996, ())]);
/// ```
#[derive(Debug)]
pub struct Runs<V> {
    /// The runs by volume and first page.
    runs: HashMap<(u32, u64), Run<V>, BuildHasherDefault<Mix>>,
    /// The keys of `runs` in ascending order.
    starts: BTreeSet<(u32, u64)>,
    /// The volume and the end of the latest update.
    latest: (u32, u64),
    /// During an update: the first page and the length of each part of the updated range that is in no run. At
    /// the end of the update these parts become runs.
    gaps: Vec<(u64, u64)>,
}

impl<V> Default for Runs<V> {
    fn default() -> Self {
        Self {
            runs: HashMap::default(),
            starts: BTreeSet::new(),
            latest: (0, 0),
            gaps: Vec::new(),
        }
    }
}

impl<V: Along> Runs<V> {
    /// Gives new values to the pages `first` to `last` of `volume`, run by run. For each run, `change` gets the
    /// distance from `first` to the run, the length of the run, and the value of its first page, or `None` if
    /// this page has no value yet. `change` returns the new value of the first page.
    pub fn update(
        &mut self,
        volume: u32,
        first: u64,
        last: u64,
        mut change: impl FnMut(u64, u64, Option<V>) -> V,
    ) {
        let end = last + 1;
        let goes_on = std::mem::replace(&mut self.latest, (volume, end)) == (volume, first);
        // In most updates the range is exactly one existing run, or overlaps no run. In both cases no run has
        // to be split.
        if let Some(run) = self.runs.get_mut(&(volume, first))
            && run.length == end - first
        {
            run.value = change(0, run.length, Some(run.value));
            if goes_on || !V::COUNTS_ON {
                self.join(volume, first, last);
            }
            return;
        }
        let before = self.before(volume, end);
        if before.is_none_or(|(start, run)| start + run.length <= first) {
            let length = end - first;
            let value = change(0, length, None);
            self.insert(volume, first, Run { length, value });
            if goes_on || !V::COUNTS_ON {
                self.join(volume, first, last);
            }
            return;
        }
        self.cut(volume, first);
        self.cut(volume, end);
        let mut at = first;
        let mut gaps = std::mem::take(&mut self.gaps);
        for place in self.starts.range((volume, first)..(volume, end)) {
            let Some(run) = self.runs.get_mut(place) else {
                continue;
            };
            let start = place.1;
            if at < start {
                gaps.push((at, start - at));
            }
            run.value = change(start - first, run.length, Some(run.value));
            at = start + run.length;
        }
        if at < end {
            gaps.push((at, end - at));
        }
        for (start, length) in gaps.drain(..) {
            let value = change(start - first, length, None);
            self.insert(volume, start, Run { length, value });
        }
        self.gaps = gaps;
        self.join(volume, first, last);
    }

    /// All runs in ascending order: the volume and the first page, the length, and the value of the first page.
    pub fn iter(&self) -> impl Iterator<Item = ((u32, u64), u64, V)> {
        let places = self.starts.iter();
        places.filter_map(|place| {
            let run = self.runs.get(place)?;
            Some((*place, run.length, run.value))
        })
    }

    /// Whether there are no runs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// The number of the pages `first` to `last` of `volume` that are in a run.
    #[must_use]
    pub fn covered(&self, volume: u32, first: u64, last: u64) -> u64 {
        let part = |(start, run): (u64, Run<V>)| {
            let (from, to) = (start.max(first), (start + run.length).min(last + 1));
            to.saturating_sub(from)
        };
        let before = self.before(volume, first);
        let places = self.starts.range((volume, first)..=(volume, last));
        let within = places.filter_map(|place| Some((place.1, *self.runs.get(place)?)));
        before.into_iter().chain(within).map(part).sum()
    }

    /// The last run that begins before page `place`.
    fn before(&self, volume: u32, place: u64) -> Option<(u64, Run<V>)> {
        let mut places = self.starts.range((volume, 0)..(volume, place));
        let start = places.next_back()?;
        Some((start.1, *self.runs.get(start)?))
    }

    fn insert(&mut self, volume: u32, place: u64, run: Run<V>) {
        self.runs.insert((volume, place), run);
        self.starts.insert((volume, place));
    }

    /// If a run contains both page `place` and the page before it, splits the run, so that a run begins at
    /// `place`.
    fn cut(&mut self, volume: u32, place: u64) {
        let Some((start, run)) = self.before(volume, place) else {
            return;
        };
        let head = place - start;
        if run.length <= head {
            return;
        }
        let length = run.length - head;
        let value = run.value.along(head);
        self.insert(volume, place, Run { length, value });
        if let Some(run) = self.runs.get_mut(&(volume, start)) {
            run.length = head;
        }
    }

    /// Joins neighbouring runs, from the run before `first` to the run after `last`, if the values of one run
    /// continue in the next.
    fn join(&mut self, volume: u32, first: u64, last: u64) {
        let before = self.before(volume, first);
        let mut at = before.map_or(first, |(start, _)| start);
        while at <= last {
            let Some(run) = self.runs.get(&(volume, at)).copied() else {
                return;
            };
            let next = at + run.length;
            match self.runs.get(&(volume, next)).copied() {
                Some(other) if run.value.along(run.length) == other.value => {
                    self.runs.remove(&(volume, next));
                    self.starts.remove(&(volume, next));
                    if let Some(run) = self.runs.get_mut(&(volume, at)) {
                        run.length += other.length;
                    }
                }
                Some(_) => at = next,
                None => at = next.max(first),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use destage_base::Random;
    use std::collections::BTreeMap;

    /// A value that increases from update to update.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Number(u64);
    impl Along for Number {
        const COUNTS_ON: bool = true;
        fn along(self, distance: u64) -> Self {
            Self(self.0 + distance)
        }
    }

    #[test]
    fn what_counts_on_is_joined_where_it_goes_on_and_nowhere_else() {
        let mut random = Random::new(11);
        let (mut runs, mut plain) = (Runs::<Number>::default(), BTreeMap::new());
        let (mut number, mut first) = (0, 0);
        for step in 0..3000 {
            let count = 1 + random.below(30);
            if random.below(2) == 0 {
                first = random.below(300);
            }
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
        let places = runs.iter().flat_map(|((_, first), length, value)| {
            (0..length).map(move |at| (first + at, value.0 + at))
        });
        assert!(places.eq(plain));
        // If the pages are written in order, all of them become one run again.
        for place in 0..3000 {
            runs.update(0, place, place, |_, _, _| Number(1_000_000 + place));
        }
        assert_eq!(runs.iter().count(), 1);
    }

    impl Along for u64 {
        fn along(self, distance: u64) -> Self {
            self + distance
        }
    }

    #[test]
    fn agrees_with_a_plain_table_and_joins_what_continues() {
        let mut random = Random::new(7);
        let (mut runs, mut plain) = (Runs::<u64>::default(), BTreeMap::new());
        for step in 0..3000 {
            let (volume, first) = (random.below(2) as u32, random.below(300));
            let last = first + random.below(40);
            let base = random.below(3) * 1000 + first;
            let mut seen = Vec::new();
            let here = (volume, first)..=(volume, last);
            assert_eq!(
                runs.covered(volume, first, last),
                plain.range(here.clone()).count() as u64,
                "step {step}"
            );
            runs.update(volume, first, last, |offset, length, old| {
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
        let places = runs.iter().flat_map(|((volume, first), length, value)| {
            (0..length).map(move |at| ((volume, first + at), value + at))
        });
        assert!(places.eq(plain));
        let all: Vec<_> = runs.iter().collect();
        for pair in all.windows(2) {
            let ((volume, first), length, value) = pair[0];
            let continues = pair[1].0 == (volume, first + length) && pair[1].2 == value + length;
            assert!(!continues, "{pair:?}");
        }
    }
}
