//! Runs of pages in a table of words of 64 neighbouring pages.
//!
//! The bits of a word say where its runs are, so the table has no entries for lengths, and the run of a page is
//! found without a search. Requests are local: the next runs that a trace changes are often in the same word.

use super::Along;
use crate::page_bits::{Table, WORD, words};
use std::hint::black_box;

/// The runs of 64 neighbouring pages. A run ends before the next run, before a page without a value, or at the
/// end of the word.
#[derive(Debug)]
struct Word<V> {
    /// A bit for each page that has a value.
    held: u64,
    /// A bit for the first page of each run.
    starts: u64,
    /// The values of the first pages of the runs.
    values: Vec<V>,
}

impl<V> Default for Word<V> {
    fn default() -> Self {
        Self {
            held: 0,
            starts: 0,
            values: Vec::new(),
        }
    }
}

impl<V: Along> Word<V> {
    /// The end of the run that contains page `at`, or of the pages without values from page `at` on.
    fn end(&self, at: u64) -> u64 {
        let ends = match self.held >> at & 1 {
            0 => self.held,
            _ => self.starts | !self.held,
        };
        u64::from((ends & u64::MAX << at << 1).trailing_zeros())
    }

    /// Gives new values to the pages of `mask`, which are neighbours. `change` gets the first page and the length
    /// of a run, and the value of this page. `new` is empty before and after.
    fn update(
        &mut self,
        mask: u64,
        mut change: impl FnMut(u64, u64, Option<V>) -> V,
        new: &mut Vec<V>,
    ) {
        let first = u64::from(mask.trailing_zeros());
        let end = WORD - u64::from(mask.leading_zeros());
        let before = self.starts & !(u64::MAX << first);
        // The index of the first run that begins in the range.
        let from = before.count_ones() as usize;
        let mut to = from;
        // The value that page `at` has if it continues the run before.
        let mut next = None;
        if self.held << 1 >> first & 1 == 1 {
            let start = WORD - 1 - u64::from(before.leading_zeros());
            next = Some(self.values[from - 1].along(first - start));
        }
        let mut old = next;
        let mut starts = 0;
        let mut at = first;
        while at < end {
            if self.starts >> at & 1 == 1 {
                old = Some(self.values[to]);
                to += 1;
            } else if self.held >> at & 1 == 0 {
                old = None;
            }
            let stop = self.end(at).min(end);
            let value = change(at, stop - at, old);
            if next != Some(value) {
                starts |= 1 << at;
                new.push(value);
            }
            old = old.map(|old| old.along(stop - at));
            next = Some(value.along(stop - at));
            at = stop;
        }
        self.starts = self.starts & !mask | starts;
        // The rest of the last run begins after the range.
        if let Some(rest) = old
            && end < WORD
            && (self.held & !self.starts) >> end & 1 == 1
        {
            self.starts |= 1 << end;
            new.push(rest);
        }
        self.held |= mask;
        if new.len() == to - from {
            self.values[from..to].copy_from_slice(new);
        } else {
            if self.values.is_empty() {
                // Many words have only one run.
                self.values.reserve_exact(new.len());
            }
            self.values.splice(from..to, new.iter().copied());
        }
        new.clear();
    }

    /// Gives the first page, the length and the value of each run to `each`, in ascending order.
    fn for_each(&self, mut each: impl FnMut(u64, u64, V)) {
        let mut starts = self.starts;
        for value in &self.values {
            let start = u64::from(starts.trailing_zeros());
            starts &= starts - 1;
            each(start, self.end(start) - start, *value);
        }
    }
}

/// Runs of pages of several volumes. No run is in more than one word.
#[derive(Debug)]
pub(super) struct Words<V> {
    words: Table<Word<V>>,
    /// The values that an update puts into a word; empty between updates.
    new: Vec<V>,
}

impl<V> Default for Words<V> {
    fn default() -> Self {
        Self {
            words: Table::default(),
            new: Vec::new(),
        }
    }
}

impl<V: Along> Words<V> {
    /// [`super::Runs::update`].
    #[inline]
    pub fn update(
        &mut self,
        volume: u32,
        first: u64,
        last: u64,
        mut change: impl FnMut(u64, u64, Option<V>) -> V,
    ) {
        for (number, mask) in words(first, last) {
            let word = self.words.entry((volume, number)).or_default();
            let change = |page, length, old| change(number * WORD + page - first, length, old);
            word.update(mask, change, &mut self.new);
        }
    }

    /// [`super::Runs::prefetch`].
    pub fn prefetch(&self, volume: u32, first: u64) {
        if let Some(word) = self.words.get(&(volume, first / WORD)) {
            let begun = word.starts & u64::MAX >> (WORD - 1 - first % WORD);
            let run = (begun.count_ones() as usize).saturating_sub(1);
            // Without a use of the value, the compiler would remove the reading.
            black_box(word.values.get(run).copied());
        }
    }

    /// [`super::Runs::for_each`].
    pub fn for_each(&self, mut each: impl FnMut((u32, u64), u64, V)) {
        let mut words: Vec<_> = self.words.iter().collect();
        words.sort_unstable_by_key(|(place, _)| **place);
        let mut last: Option<((u32, u64), u64, V)> = None;
        for ((volume, number), word) in words {
            word.for_each(|page, length, value| {
                let place = (*volume, number * WORD + page);
                match &mut last {
                    Some((first, before, old))
                        if place == (first.0, first.1 + *before) && value == old.along(*before) =>
                    {
                        *before += length;
                    }
                    _ => {
                        if let Some((place, length, value)) = last.replace((place, length, value)) {
                            each(place, length, value);
                        }
                    }
                }
            });
        }
        if let Some((place, length, value)) = last {
            each(place, length, value);
        }
    }
}
