//! Runs of pages in an ordered set.
//!
//! A request touches a run of pages of any length. Because a run is stored as one entry, memory grows with the
//! number of requests and not with their lengths.

use super::Along;
use crate::page_bits::Table;
use std::collections::BTreeSet;

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
#[derive(Debug)]
pub(crate) struct Ordered<V> {
    /// The runs by volume and first page.
    runs: Table<Run<V>>,
    /// The keys of `runs` in ascending order.
    starts: BTreeSet<(u32, u64)>,
    /// The volume and the end of the latest update; `None` before the first one.
    latest: Option<(u32, u64)>,
    /// During an update: the first page and the length of each part of the updated range that is in no run. At
    /// the end of the update these parts become runs.
    gaps: Vec<(u64, u64)>,
}

impl<V> Default for Ordered<V> {
    fn default() -> Self {
        Self {
            runs: Table::default(),
            starts: BTreeSet::new(),
            latest: None,
            gaps: Vec::new(),
        }
    }
}

impl<V: Along> Ordered<V> {
    /// [`super::Runs::update`].
    pub fn update(
        &mut self,
        volume: u32,
        first: u64,
        last: u64,
        mut change: impl FnMut(u64, u64, Option<V>) -> V,
    ) {
        let end = last + 1;
        // Inserted runs may be continued by the first update.
        let latest = self.latest.replace((volume, end));
        let goes_on = latest.is_none_or(|latest| latest == (volume, first));
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
            self.insert((volume, first), length, value);
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
            self.insert((volume, start), length, value);
        }
        self.gaps = gaps;
        self.join(volume, first, last);
    }

    /// [`super::Runs::for_each`].
    pub fn for_each(&self, mut each: impl FnMut((u32, u64), u64, V)) {
        for place in &self.starts {
            if let Some(run) = self.runs.get(place) {
                each(*place, run.length, run.value);
            }
        }
    }

    /// Whether there are no runs.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// The number of the pages `first` to `last` of `volume` that are in a run.
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

    /// Adds a run that overlaps no other one.
    pub fn insert(&mut self, place: (u32, u64), length: u64, value: V) {
        self.runs.insert(place, Run { length, value });
        self.starts.insert(place);
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
        self.insert((volume, place), length, value);
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
    use std::collections::BTreeSet;

    #[test]
    fn pages_in_runs_are_counted() {
        let mut random = Random::new(7);
        let (mut runs, mut plain) = (Ordered::<()>::default(), BTreeSet::new());
        for step in 0..300 {
            let (volume, first) = (random.below(2) as u32, random.below(3000));
            let last = first + random.below(40);
            let covered = plain.range((volume, first)..=(volume, last)).count();
            assert_eq!(
                runs.covered(volume, first, last),
                covered as u64,
                "step {step}"
            );
            runs.update(volume, first, last, |_, _, _| ());
            plain.extend((first..=last).map(|page| (volume, page)));
        }
    }
}
