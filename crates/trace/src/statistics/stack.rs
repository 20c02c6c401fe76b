//! Counts how many different pages are written between two writes of a page: the stack distance.
//!
//! The stack distance is the position of a page in the list of pages ordered by their last write, counted from
//! 0 (Mattson and others, IBM Systems Journal 1970). An LRU buffer of `n` pages that serves only writes holds a
//! rewritten page if, and only if, its distance is below `n`.

mod marks;
mod ranges;

use super::histogram::Histogram;
use marks::Marks;
use ranges::Ranges;

/// A request for more pages than this would need much memory as marks.
const MARKED: u64 = 1 << 11;

/// The number of the last write of each page. The number of a write is the count of page writes up to it.
///
/// As long as all requests are short, a bit marks each of these numbers, which is fast. From the first long request
/// on, consecutive numbers are one range, so that memory does not depend on the lengths of requests.
#[derive(Debug)]
pub(super) struct Stack(Held);

#[derive(Debug)]
enum Held {
    Short(Marks),
    Long(Ranges),
}

impl Default for Stack {
    fn default() -> Self {
        Self(Held::Short(Marks::default()))
    }
}

/// Pages of a request that were last written one directly after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct RewrittenRun {
    /// The offset of the first of these pages within the request, in pages.
    pub offset: u64,
    /// The number of these pages.
    pub length: u64,
    /// The number of the last write of the first of these pages.
    pub last: u64,
}

impl Stack {
    /// Records the writes of `pages` pages, one after the other. The first of these writes has the number
    /// `number`. `again` lists the pages that were written before, in ascending order of their offsets; their
    /// distances are added to `distances`.
    pub fn write(
        &mut self,
        number: u64,
        pages: u64,
        again: &[RewrittenRun],
        distances: &mut Histogram,
    ) {
        if pages > MARKED {
            self.prepare_for_long();
        }
        match &mut self.0 {
            Held::Short(marks) => {
                count(again, distances, |first, length| marks.take(first, length));
                marks.put(number, pages);
            }
            Held::Long(ranges) => {
                count(again, distances, |first, length| ranges.take(first, length));
                ranges.put(number, pages);
            }
        }
    }

    fn prepare_for_long(&mut self) {
        if let Held::Short(marks) = &self.0 {
            let mut ranges = Ranges::default();
            marks.iter().for_each(|number| ranges.put(number, 1));
            self.0 = Held::Long(ranges);
        }
    }
}

/// Adds the distances of the pages `again` to `distances`. `take` removes a number of consecutive numbers from the
/// first of them on, and returns how many larger numbers there are.
fn count(again: &[RewrittenRun], distances: &mut Histogram, mut take: impl FnMut(u64, u64) -> u64) {
    for part in again {
        // All pages of a part have the same distance. From one page of the part to the next, the number of pages
        // that this request has already written grows by one, and the number of pages of the part that were last
        // written later falls by one.
        let later = take(part.last, part.length);
        distances.add_times(later + part.length - 1 + part.offset, part.length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use destage_base::Random;
    use std::collections::HashMap;

    /// Writes pages one by one, and compares the distances with those found in a plain list. From the write `long_from`
    /// on, the numbers of the last writes are ranges.
    fn check(long_from: u64, pages: impl Iterator<Item = u64>) {
        let (mut stack, mut distances) = (Stack::default(), Histogram::default());
        let (mut list, mut plain) = (Vec::new(), Histogram::default());
        let mut numbers = HashMap::new();
        for (number, page) in (1..).zip(pages) {
            if number == long_from {
                stack.prepare_for_long();
            }
            let again = numbers.insert(page, number).map(|last| RewrittenRun {
                offset: 0,
                length: 1,
                last,
            });
            stack.write(number, 1, again.as_slice(), &mut distances);
            if let Some(place) = list.iter().position(|other| *other == page) {
                plain.add((list.len() - 1 - place) as u64);
                list.remove(place);
            }
            list.push(page);
        }
        assert_eq!(distances, plain);
        assert_eq!(matches!(stack.0, Held::Long(_)), long_from < u64::MAX);
    }

    #[test]
    fn agrees_with_a_plain_list() {
        for long_from in [1, 2000, u64::MAX] {
            let mut random = Random::new(5);
            check(
                long_from,
                (0..4000).map(|_| random.below(100).min(random.below(600))),
            );
            // Every second page is written again, then random pages.
            let apart = (0..4000).chain((0..2000).map(|page| 2 * page));
            check(
                long_from,
                apart.chain((0..2000).map(|_| random.below(4000))),
            );
        }
    }

    #[test]
    fn a_long_request_is_one_range() {
        let (mut stack, mut distances) = (Stack::default(), Histogram::default());
        stack.write(1, 10, &[], &mut distances);
        assert!(matches!(stack.0, Held::Short(_)));
        let again = [RewrittenRun {
            offset: 5,
            length: 3,
            last: 4,
        }];
        stack.write(11, 1 << 40, &again, &mut distances);
        assert!(matches!(stack.0, Held::Long(_)));
        // For the first of the three pages: five pages of this request, two of the three, and four behind them.
        assert_eq!(
            (distances.percentile(1), distances.percentile(100)),
            (Some(11), Some(11))
        );
    }
}
