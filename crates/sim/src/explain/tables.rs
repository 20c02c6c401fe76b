//! Tables of destage sizes, wear, and the slowest requests.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use destage_base::Ticks;
use destage_buffer::destage::{Destage, DestageCause, PadContent};
use destage_trace::Operation;

use super::path::{Awaited, Split};

/// Number of slowest requests that are stored with all details.
const WORST: usize = 16;
/// Maximum number of rows of the table of wear.
const WEAR_ROWS: u64 = 1000;

/// Destage records of one size.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sized {
    /// Number of records that the buffer emitted.
    pub records: u64,
    /// Number of padding pages of these records that were read before they were programmed.
    pub pad_reads: u64,
    /// Number of padding pages of these records that were filler, because they had no contents.
    pub pad_fills: u64,
}

/// Destage records by the number of their dirty pages.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Destages(pub BTreeMap<u32, Sized>);

impl Destages {
    /// Counts `record`, unless its pages bypassed the buffer.
    pub(crate) fn count(&mut self, record: &Destage) {
        if record.cause == DestageCause::Bypass {
            return;
        }
        let row = self.0.entry(record.pages.len() as u32).or_default();
        row.records += 1;
        for pad in &record.pads {
            match pad.content {
                PadContent::Read => row.pad_reads += 1,
                PadContent::AtHand => {}
                PadContent::Filler => row.pad_fills += 1,
            }
        }
    }
}

/// Number of blocks by their number of erases.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Wear(pub BTreeMap<u32, u64>);

impl Wear {
    /// The table for the blocks of a device. `erases` calls its argument once for each block, with the die, the
    /// block, and the number of erases.
    pub(crate) fn of(erases: impl FnOnce(&mut dyn FnMut(u32, u32, u32))) -> Self {
        let mut blocks = BTreeMap::new();
        erases(&mut |_, _, times| *blocks.entry(times).or_default() += 1);
        Self(blocks).in_few_rows()
    }

    /// If there are too many rows, divides the erase counts into ranges of equal width and joins the rows of each
    /// range. A joined row has the smallest erase count of its range.
    fn in_few_rows(self) -> Self {
        let (Some(first), Some(last)) = (self.0.keys().next(), self.0.keys().next_back()) else {
            return self;
        };
        if self.0.len() as u64 <= WEAR_ROWS {
            return self;
        }
        let (first, values) = (*first, u64::from(last - first) + 1);
        let width = values.div_ceil(WEAR_ROWS) as u32;
        let mut rows = BTreeMap::new();
        for (erases, blocks) in self.0 {
            let row = first + (erases - first) / width * width;
            *rows.entry(row).or_default() += blocks;
        }
        Self(rows)
    }
}

/// A request with all details of its response time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slow {
    /// Position in the trace, from 0.
    pub index: u64,
    /// The operation.
    pub operation: Operation,
    /// First sector.
    pub sector: u64,
    /// Number of sectors.
    pub sectors: u32,
    /// The arrival time of the request, in ticks.
    pub arrival: Ticks,
    /// The parts of the response time.
    pub split: Split,
    /// The event that decided when the request was answered; `None` if the request waited for no such event.
    pub awaited: Option<Awaited>,
    /// The die of the event `awaited`; `None` if there is no such die.
    pub die: Option<u32>,
    /// Number of outstanding requests when the device accepted this request, including this request.
    pub outstanding: u64,
    /// Number of dirty pages when the device accepted the request.
    pub dirty_pages: u32,
    /// Number of dies that collected garbage when the device accepted the request.
    pub dies_collecting: u32,
}

impl Slow {
    /// The response time from arrival to completion, in ticks.
    #[must_use]
    pub fn response(&self) -> Ticks {
        self.split.total()
    }

    /// The order of slowness: among requests with equal response times, the earlier one counts as slower.
    fn rank(&self) -> (Ticks, Reverse<u64>) {
        (self.response(), Reverse(self.index))
    }
}

impl PartialOrd for Slow {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Slow {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.rank().cmp(&other.rank())
    }
}

/// The slowest requests so far.
#[derive(Debug, Default)]
pub(super) struct Worst(BinaryHeap<Reverse<Slow>>);

impl Worst {
    pub fn push(&mut self, slow: Slow) {
        if self.0.len() < WORST {
            self.0.push(Reverse(slow));
        } else if let Some(mut least) = self.0.peek_mut()
            && slow > least.0
        {
            *least = Reverse(slow);
        }
    }

    /// The slowest first.
    pub fn into_list(self) -> Vec<Slow> {
        let ascending = self.0.into_sorted_vec();
        ascending.into_iter().map(|Reverse(slow)| slow).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wear_has_few_rows_and_loses_no_block() {
        let wear = |times: &[u32]| {
            Wear::of(|emit| {
                for (block, times) in (0..).zip(times) {
                    emit(0, block, *times);
                }
            })
        };
        assert_eq!(
            wear(&[3, 1, 3]).0.into_iter().collect::<Vec<_>>(),
            [(1, 1), (3, 2)]
        );
        let many: Vec<u32> = (0..2500).map(|times| times + 7).collect();
        let rows = wear(&many).0;
        assert_eq!(rows.values().sum::<u64>(), 2500);
        assert_eq!(rows.len(), 834);
        assert_eq!(rows.iter().next(), Some((&7, &3)));
        let apart = wear(&[vec![u32::MAX], many].concat()).0;
        assert_eq!(apart.values().sum::<u64>(), 2501);
        assert_eq!(apart.len(), 2);
    }

    #[test]
    fn the_slowest_are_kept_and_the_earlier_of_equal_ones() {
        let mut worst = Worst::default();
        for index in 0..100 {
            let mut split = Split::default();
            split.0[0] = index % 50;
            worst.push(Slow {
                index,
                operation: Operation::Read,
                sector: 0,
                sectors: 1,
                arrival: index,
                split,
                awaited: None,
                die: None,
                outstanding: 1,
                dirty_pages: 0,
                dies_collecting: 0,
            });
        }
        let list = worst.into_list();
        let kept: Vec<_> = list
            .iter()
            .map(|slow| (slow.response(), slow.index))
            .collect();
        assert_eq!(kept[..3], [(49, 49), (49, 99), (48, 48)]);
        assert_eq!((kept.len(), kept[15]), (WORST, (42, 92)));
    }
}
