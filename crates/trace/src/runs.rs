//! What is known of neighbours that were touched together, held once for all of them.
//!
//! A request names a run of pages, however long. Held run by run, memory grows with the number of requests and not with their
//! lengths.

use std::collections::BTreeMap;

/// What is known of the first of a run of neighbours, and so of all.
pub trait Along: Copy + PartialEq {
    /// The same of the neighbour `distance` further on.
    fn along(self, distance: u64) -> Self;
}

impl Along for () {
    fn along(self, _: u64) {}
}

/// A run's length, and what is known of its first.
#[derive(Clone, Copy, Debug)]
struct Run<V> {
    length: u64,
    value: V,
}

/// Runs of places in several volumes, none of which lies over another. Places are below 2^64 - 1.
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
    runs: BTreeMap<(u32, u64), Run<V>>,
    /// Places and lengths of runs that are new, while an update looks at the others.
    gaps: Vec<(u64, u64)>,
}

impl<V> Default for Runs<V> {
    fn default() -> Self {
        Self {
            runs: BTreeMap::new(),
            gaps: Vec::new(),
        }
    }
}

impl<V: Along> Runs<V> {
    /// Gives the places `first` to `last` of `volume` new values, run by run. `change` gets a run's distance from `first`,
    /// its length, and the value of its first place, if it has one.
    pub fn update(
        &mut self,
        volume: u32,
        first: u64,
        last: u64,
        mut change: impl FnMut(u64, u64, Option<V>) -> V,
    ) {
        let end = last + 1;
        // Most often all of it is one run that is there as it is, or there is nothing: then no run has to be cut.
        let mut before = self.runs.range_mut((volume, 0)..(volume, end));
        match before.next_back() {
            Some(((_, start), run)) if *start == first && run.length == end - first => {
                run.value = change(0, run.length, Some(run.value));
                return self.join(volume, first, last);
            }
            Some(((_, start), run)) if start + run.length > first => {}
            _ => {
                let length = end - first;
                let value = change(0, length, None);
                self.runs.insert((volume, first), Run { length, value });
                return self.join(volume, first, last);
            }
        }
        self.cut(volume, first);
        self.cut(volume, end);
        let mut at = first;
        let mut gaps = std::mem::take(&mut self.gaps);
        for ((_, start), run) in self.runs.range_mut((volume, first)..(volume, end)) {
            if at < *start {
                gaps.push((at, *start - at));
            }
            run.value = change(start - first, run.length, Some(run.value));
            at = start + run.length;
        }
        if at < end {
            gaps.push((at, end - at));
        }
        for (start, length) in gaps.drain(..) {
            let value = change(start - first, length, None);
            self.runs.insert((volume, start), Run { length, value });
        }
        self.gaps = gaps;
        self.join(volume, first, last);
    }

    /// Every run: its volume, first place, length and value, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = ((u32, u64), u64, V)> {
        self.runs
            .iter()
            .map(|(place, run)| (*place, run.length, run.value))
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// How many of the places `first` to `last` of `volume` lie in a run.
    #[must_use]
    pub fn covered(&self, volume: u32, first: u64, last: u64) -> u64 {
        let part = |((_, start), run): (&(u32, u64), &Run<V>)| {
            let (from, to) = ((*start).max(first), (start + run.length).min(last + 1));
            to.saturating_sub(from)
        };
        let before = self.runs.range((volume, 0)..(volume, first)).next_back();
        let within = self.runs.range((volume, first)..=(volume, last));
        before.into_iter().chain(within).map(part).sum()
    }

    /// Ends a run before `place`, if one goes on over it.
    fn cut(&mut self, volume: u32, place: u64) {
        let before = self
            .runs
            .range_mut((volume, 0)..(volume, place))
            .next_back();
        let Some(((_, start), run)) = before else {
            return;
        };
        let head = place - *start;
        if run.length <= head {
            return;
        }
        let tail = Run {
            length: run.length - head,
            value: run.value.along(head),
        };
        run.length = head;
        self.runs.insert((volume, place), tail);
    }

    /// Whether a run from `first` to just after `last` continues the one before it.
    fn continues(&self, volume: u32, first: u64, last: u64) -> bool {
        let mut later: Option<(u64, V)> = None;
        let near = self.runs.range((volume, 0)..=(volume, last + 1));
        for ((_, start), run) in near.rev() {
            let end = start + run.length;
            if later
                .is_some_and(|(next, value)| end == next && run.value.along(run.length) == value)
            {
                return true;
            }
            if *start < first {
                return false;
            }
            later = Some((*start, run.value));
        }
        false
    }

    /// Makes one run of those from `first` to just after `last` that continue each other.
    fn join(&mut self, volume: u32, first: u64, last: u64) {
        if !self.continues(volume, first, last) {
            return;
        }
        let before = self.runs.range((volume, 0)..(volume, first)).next_back();
        let mut at = before.map_or(first, |((_, start), _)| *start);
        while at <= last {
            let run = self.runs[&(volume, at)];
            let next = at + run.length;
            match self.runs.get(&(volume, next)).copied() {
                Some(other) if run.value.along(run.length) == other.value => {
                    self.runs.remove(&(volume, next));
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
