//! A set of numbers, with consecutive numbers as one range. Memory grows with the number of requests and not with
//! their lengths.

/// The ranges are stored in parts of at most this many ranges. A part with more ranges is split in two. Two
/// neighbouring parts with at most a quarter of this number each are joined.
const TOGETHER: usize = 512;

/// Consecutive numbers of page writes, from `first` on. Each is the last write of its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    first: u64,
    length: u64,
}

/// Numbers in ascending order.
#[derive(Debug, Default)]
pub(super) struct Ranges {
    /// The ranges, divided into parts; no part is empty.
    parts: Vec<Vec<Range>>,
    /// A lower bound for the numbers of each part. All numbers of the part before are smaller.
    begins: Vec<u64>,
    /// How many numbers each part contains.
    totals: Vec<u64>,
}

impl Ranges {
    /// Removes the `length` numbers from `first` on, which are all in one range. Returns how many larger
    /// numbers there are.
    pub fn take(&mut self, first: u64, length: u64) -> u64 {
        let at = self.begins.partition_point(|begin| *begin <= first) - 1;
        let part = &mut self.parts[at];
        let within = part.partition_point(|range| range.first <= first) - 1;
        let range = part[within];
        let head = first - range.first;
        let tail = range.length - head - length;
        let later = tail
            + part[within + 1..]
                .iter()
                .map(|range| range.length)
                .sum::<u64>()
            + self.totals[at + 1..].iter().sum::<u64>();
        self.totals[at] -= length;
        let after = Range {
            first: first + length,
            length: tail,
        };
        match (head, tail) {
            (0, 0) => {
                part.remove(within);
            }
            (0, _) => part[within] = after,
            (_, 0) => part[within].length = head,
            _ => {
                part[within].length = head;
                part.insert(within + 1, after);
            }
        }
        if part.is_empty() {
            self.parts.remove(at);
            self.begins.remove(at);
            self.totals.remove(at);
        } else if part.len() > TOGETHER {
            let rest = part.split_off(TOGETHER / 2);
            let moved = rest.iter().map(|range| range.length).sum::<u64>();
            self.totals[at] -= moved;
            self.begins.insert(at + 1, rest[0].first);
            self.parts.insert(at + 1, rest);
            self.totals.insert(at + 1, moved);
        } else if part.len() <= TOGETHER / 4
            && self
                .parts
                .get(at + 1)
                .is_some_and(|next| next.len() <= TOGETHER / 4)
        {
            // If such parts were not joined, many nearly empty parts could remain. The sum in `later` would
            // then be slow, because it is computed over all later parts.
            let next = self.parts.remove(at + 1);
            self.begins.remove(at + 1);
            self.totals[at] += self.totals.remove(at + 1);
            self.parts[at].extend(next);
        }
        later
    }

    /// Adds `length` numbers from `first` on, which is larger than all numbers so far.
    pub fn put(&mut self, first: u64, length: u64) {
        let range = Range { first, length };
        let (Some(part), Some(total)) = (self.parts.last_mut(), self.totals.last_mut()) else {
            return self.begin_part(range);
        };
        if let Some(last) = part.last_mut()
            && last.first + last.length == first
        {
            last.length += length;
        } else if part.len() < TOGETHER {
            part.push(range);
        } else {
            return self.begin_part(range);
        }
        *total += length;
    }

    /// Adds a part at the end that contains only `range`.
    fn begin_part(&mut self, range: Range) {
        self.parts.push(vec![range]);
        self.begins.push(range.first);
        self.totals.push(range.length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use destage_base::Random;
    use std::collections::HashMap;

    /// The last writes of `pages`, which are written one by one.
    fn last_writes(pages: impl Iterator<Item = u64>) -> Ranges {
        let (mut ranges, mut numbers) = (Ranges::default(), HashMap::new());
        for (number, page) in (1..).zip(pages) {
            if let Some(last) = numbers.insert(page, number) {
                ranges.take(last, 1);
            }
            ranges.put(number, 1);
        }
        ranges
    }

    #[test]
    fn many_ranges_are_held_in_parts() {
        let mut random = Random::new(6);
        // Every second page is written again, then random pages, so that the single range of the first writes
        // breaks into many.
        let apart = (0..8000).chain((0..4000).map(|page| 2 * page));
        let ranges = last_writes(apart.chain((0..4000).map(|_| random.below(8000))));
        assert!(ranges.parts.len() > 3, "{} parts", ranges.parts.len());
        assert!(ranges.parts.iter().all(|part| part.len() <= TOGETHER));
        let is_small = |part: &Vec<Range>| part.len() <= TOGETHER / 8;
        let small = ranges
            .parts
            .windows(2)
            .filter(|pair| pair.iter().all(is_small));
        assert_eq!(small.count(), 0, "parts that are nearly empty stay apart");
    }

    #[test]
    fn what_is_written_in_order_is_one_range() {
        let ranges = last_writes((0..3).flat_map(|_| 0..500));
        assert_eq!(
            ranges.parts,
            [[Range {
                first: 1001,
                length: 500
            }]]
        );
    }
}
