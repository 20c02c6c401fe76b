//! What a trace looks like: distributions of sizes, gaps and distances, and where in time and space requests fall.
//!
//! Distances are BPAC's (Wu et al., section 3): between two writes of a page at virtual times v1 and v2, counted in
//! page writes, v2 - v1 - 1; of a block likewise, with every page write in it. BPAC measures them of what is
//! buffered, so its own figures depend on the buffer; these are the trace's.

use crate::request::{Operation, Request, SECTOR_BYTES};
use crate::runs::{Along, Runs};
use destage_base::Ticks;
use std::cmp::Reverse;

/// Counts by powers of two: of 0, of 1, of 2 to 3, of 4 to 7 and so on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    counts: [u64; 65],
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: [0; 65] }
    }
}

impl Histogram {
    /// Counts `value`.
    pub fn add(&mut self, value: u64) {
        self.add_times(value, 1);
    }

    /// Counts `value`, `times` times.
    fn add_times(&mut self, value: u64, times: u64) {
        self.counts[(u64::BITS - value.leading_zeros()) as usize] += times;
    }

    /// How many values there are.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// From the first count that is not 0 to the last: the largest value it stands for, and how many values are at most
    /// that large.
    ///
    /// ```
    /// use destage_trace::statistics::Histogram;
    /// let mut histogram = Histogram::default();
    /// [1, 5, 6].into_iter().for_each(|value| histogram.add(value));
    /// assert_eq!(histogram.cumulative(), [(1, 1), (3, 1), (7, 3)]);
    /// ```
    #[must_use]
    pub fn cumulative(&self) -> Vec<(u64, u64)> {
        let (mut sum, total) = (0, self.total());
        let mut rows = Vec::new();
        for (bin, count) in self.counts.iter().enumerate() {
            let is_full = sum == total;
            sum += count;
            if sum > 0 && !is_full {
                let largest = u64::MAX.checked_shr(64 - bin as u32).unwrap_or(0);
                rows.push((largest, sum));
            }
        }
        rows
    }
}

/// Counts over two axes of which neither length is known beforehand: whenever one is outgrown, its cells double.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// A cell is 2^this wide and high.
    shifts: [u32; 2],
    cells: Vec<u64>,
}

impl Grid {
    /// Cells along the first axis and the second.
    pub const SIZE: [usize; 2] = [128, 64];

    fn new() -> Self {
        Self {
            shifts: [0; 2],
            cells: vec![0; Self::SIZE[0] * Self::SIZE[1]],
        }
    }

    fn add(&mut self, place: [u64; 2]) {
        for (axis, (value, size)) in place.into_iter().zip(Self::SIZE).enumerate() {
            while value >> self.shifts[axis] >= size as u64 {
                self.double(axis);
            }
        }
        let [x, y] = [0, 1].map(|axis| (place[axis] >> self.shifts[axis]) as usize);
        self.cells[y * Self::SIZE[0] + x] += 1;
    }

    fn double(&mut self, axis: usize) {
        let old = std::mem::replace(&mut self.cells, vec![0; Self::SIZE[0] * Self::SIZE[1]]);
        for (index, count) in old.into_iter().enumerate() {
            let mut place = [index % Self::SIZE[0], index / Self::SIZE[0]];
            place[axis] /= 2;
            self.cells[place[1] * Self::SIZE[0] + place[0]] += count;
        }
        self.shifts[axis] += 1;
    }

    /// The count of a cell.
    #[must_use]
    pub fn count(&self, x: usize, y: usize) -> u64 {
        self.cells[y * Self::SIZE[0] + x]
    }

    /// Units along each axis in a cell.
    #[must_use]
    pub fn cell(&self) -> [u64; 2] {
        self.shifts.map(|shift| 1 << shift)
    }
}

/// The writes of one page, by the clock of page writes. That goes on by 1 from page to page of a request.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Writes {
    first: u64,
    last: u64,
    count: u64,
}

impl Along for Writes {
    fn along(self, distance: u64) -> Self {
        Self {
            first: self.first + distance,
            last: self.last + distance,
            count: self.count,
        }
    }
}

/// The last page write in a block, by the same clock. In blocks that a request covers it is `pages` later from block to
/// block.
#[derive(Clone, Copy, Debug, PartialEq)]
struct LastWrite {
    clock: u64,
    pages: u64,
}

impl Along for LastWrite {
    fn along(self, distance: u64) -> Self {
        Self {
            clock: self.clock + distance * self.pages,
            pages: self.pages,
        }
    }
}

/// The pages written most often, and those before them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HotPages {
    /// How many there are.
    pub pages: u64,
    /// How many blocks they lie in.
    pub blocks: u64,
    /// How many page writes are theirs.
    pub writes: u64,
    /// Mean distance between two writes of a page (PIRD) in page writes, over all rewrites of the pages that the row
    /// above does not have; none if none of them was written twice.
    pub mean_distance: Option<f64>,
}

/// Collects the look of a trace, request by request. Pages of different volumes are different pages.
#[derive(Debug)]
pub struct Shape {
    page_sectors: u64,
    block_pages: u64,
    /// Sizes of reads and writes, in sectors.
    pub sizes: [Histogram; 2],
    /// Gaps between arrivals, in us.
    pub gaps: Histogram,
    /// Distances between two writes of a page, in page writes (PIRD).
    pub page_distances: Histogram,
    /// Distances between two page writes in a block, in page writes (BIRD).
    pub block_distances: Histogram,
    /// Starts of reads and writes over time in us and address in pages. Volumes lie over one another.
    pub places: [Grid; 2],
    /// Page writes so far.
    clock: u64,
    /// Different pages written.
    written: u64,
    pages: Runs<Writes>,
    blocks: Runs<LastWrite>,
    last: Option<Ticks>,
    first: Ticks,
    growth: Vec<(u64, u64)>,
}

const TICKS_PER_MICROSECOND: Ticks = 10_000;

impl Shape {
    /// For pages of `page_bytes` bytes and blocks of `block_pages` pages.
    ///
    /// # Panics
    /// If `page_bytes` is not a positive multiple of 512, or `block_pages` is 0.
    #[must_use]
    pub fn new(page_bytes: u64, block_pages: u64) -> Self {
        assert!(
            page_bytes > 0 && page_bytes.is_multiple_of(SECTOR_BYTES) && block_pages > 0,
            "blocks of {block_pages} pages of {page_bytes} bytes"
        );
        Self {
            page_sectors: page_bytes / SECTOR_BYTES,
            block_pages,
            sizes: [Histogram::default(), Histogram::default()],
            gaps: Histogram::default(),
            page_distances: Histogram::default(),
            block_distances: Histogram::default(),
            places: [Grid::new(), Grid::new()],
            clock: 0,
            written: 0,
            pages: Runs::default(),
            blocks: Runs::default(),
            last: None,
            first: 0,
            growth: Vec::new(),
        }
    }

    /// Takes one more request.
    pub fn add(&mut self, request: &Request) {
        match self.last {
            Some(last) => {
                let gap = request.arrival.saturating_sub(last);
                self.gaps.add(gap / TICKS_PER_MICROSECOND);
            }
            None => self.first = request.arrival,
        }
        self.last = Some(request.arrival);
        let kind = match request.operation {
            Operation::Read => 0,
            Operation::Write => 1,
            Operation::Flush | Operation::Trim => return,
        };
        if request.sectors == 0 {
            return;
        }
        self.sizes[kind].add(u64::from(request.sectors));
        let first = request.sector / self.page_sectors;
        let time = request.arrival.saturating_sub(self.first) / TICKS_PER_MICROSECOND;
        self.places[kind].add([time, first]);
        if request.operation == Operation::Write {
            let last = (request.end() - 1) / self.page_sectors;
            self.write_blocks(request.volume, first, last);
            self.write_pages(request.volume, first, last);
        }
    }

    /// Takes the distances of pages `first` to `last` within their blocks, which are written next.
    fn write_blocks(&mut self, volume: u32, first: u64, last: u64) {
        let pages = self.block_pages;
        let (first_block, last_block) = (first / pages, last / pages);
        // The first block and the last may be written in part, those between them are written whole.
        let between = (first_block + 1, last_block.saturating_sub(1));
        let parts = [
            Some((first_block, first_block)),
            (between.0 <= between.1).then_some(between),
            (last_block > first_block).then_some((last_block, last_block)),
        ];
        for (from, to) in parts.into_iter().flatten() {
            let begin = first.max(from * pages);
            let written = (last + 1).min((from + 1) * pages) - begin;
            // The clock at the first page write in the first of these blocks.
            let clock = self.clock + 1 + (begin - first);
            let distances = &mut self.block_distances;
            distances.add_times(0, (written - 1) * (to - from + 1));
            self.blocks
                .update(volume, from, to, |offset, length, before| {
                    let clock = clock + offset * pages;
                    if let Some(before) = before {
                        distances.add_times(clock - before.clock - 1, length);
                    }
                    LastWrite {
                        clock: clock + written - 1,
                        pages,
                    }
                });
        }
    }

    /// Writes pages `first` to `last`, one after the other.
    fn write_pages(&mut self, volume: u32, first: u64, last: u64) {
        let (clock, count) = (self.clock, last - first + 1);
        let distances = &mut self.page_distances;
        // Where pages are new: how many of this request's pages come before, and how many of them there are.
        let mut new: Vec<(u64, u64)> = Vec::new();
        self.pages
            .update(volume, first, last, |offset, length, before| {
                let clock = clock + 1 + offset;
                match before {
                    Some(writes) => {
                        distances.add_times(clock - writes.last - 1, length);
                        Writes {
                            last: clock,
                            count: writes.count + 1,
                            ..writes
                        }
                    }
                    None => {
                        new.push((offset, length));
                        Writes {
                            first: clock,
                            last: clock,
                            count: 1,
                        }
                    }
                }
            });
        let mut power = (clock + 1).next_power_of_two();
        while power <= clock + count {
            let done = power - clock;
            let before = new
                .iter()
                .map(|(offset, length)| done.saturating_sub(*offset).min(*length));
            self.growth
                .push((power, self.written + before.sum::<u64>()));
            power *= 2;
        }
        self.written += new.iter().map(|(_, length)| length).sum::<u64>();
        self.clock += count;
    }

    /// After 1, 2, 4 and so on page writes, and after all: how many different pages were written.
    #[must_use]
    pub fn footprint(&self) -> Vec<(u64, u64)> {
        let mut rows = self.growth.clone();
        if self.clock > 0 && !self.clock.is_power_of_two() {
            rows.push((self.clock, self.written));
        }
        rows
    }

    /// The 1, 2, 4 and so on pages written most often, and all. Pages written equally often are ranked by volume and
    /// number.
    #[must_use]
    pub fn hot_pages(&self) -> Vec<HotPages> {
        let mut ranked: Vec<_> = self.pages.iter().collect();
        ranked.sort_unstable_by_key(|(page, _, writes)| (Reverse(writes.count), *page));
        let (mut blocks, mut rows) = (Runs::<()>::default(), Vec::new());
        let (mut rank, mut block_count, mut sum) = (0u64, 0, 0);
        let (mut distances, mut rewrites) = (0u128, 0);
        for ((volume, mut page), mut length, writes) in ranked {
            while length > 0 {
                // A row stands at each power of two, and one at the end.
                let row = (rank + 1).next_power_of_two();
                let part = length.min(row - rank);
                let (from, to) = (
                    page / self.block_pages,
                    (page + part - 1) / self.block_pages,
                );
                blocks.update(volume, from, to, |_, length, known| {
                    block_count += if known.is_none() { length } else { 0 };
                });
                sum += writes.count * part;
                rewrites += (writes.count - 1) * part;
                // What lies between a page's first and last write, less its own writes.
                let between = writes.last - writes.first - (writes.count - 1);
                distances += u128::from(between) * u128::from(part);
                (rank, page, length) = (rank + part, page + part, length - part);
                if rank == row || rank == self.written {
                    rows.push(HotPages {
                        pages: rank,
                        blocks: block_count,
                        writes: sum,
                        mean_distance: (rewrites > 0).then(|| distances as f64 / rewrites as f64),
                    });
                    (distances, rewrites) = (0, 0);
                }
            }
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(sector: u64, sectors: u32) -> Request {
        Request {
            arrival: 0,
            sector,
            sectors,
            volume: 0,
            line: 1,
            operation: Operation::Write,
            fua: false,
            stream: 0,
        }
    }

    #[test]
    fn distances_count_the_page_writes_between() {
        // The worked example: references at 10 and 34 are 23 apart, consecutive ones 0.
        let mut shape = Shape::new(4096, 4);
        for time in 1..=34 {
            let page = if time == 10 || time == 34 {
                1000
            } else {
                time * 4
            };
            shape.add(&write(page * 8, 8));
        }
        assert_eq!(shape.page_distances.cumulative(), [(31, 1)]);
        assert_eq!(shape.block_distances.cumulative(), [(31, 1)]);
        shape.add(&write(34 * 8, 8));
        shape.add(&write(1000 * 8, 16));
        let expected = [(1, 1), (3, 1), (7, 1), (15, 1), (31, 2)];
        assert_eq!(shape.page_distances.cumulative(), expected);
        // Pages 1000 and 1001 share a block.
        assert_eq!(shape.block_distances.cumulative()[0], (0, 1));
    }

    #[test]
    fn hot_pages_are_ranked_and_their_blocks_counted_once() {
        let mut shape = Shape::new(512, 4);
        for (page, times) in [(0, 5), (1, 4), (9, 4), (2, 1), (20, 1)] {
            for _ in 0..times {
                shape.add(&write(page, 1));
            }
        }
        let row = |pages, blocks, writes, mean_distance| HotPages {
            pages,
            blocks,
            writes,
            mean_distance,
        };
        let mut expected = [
            row(1, 1, 5, Some(0.0)),
            row(2, 1, 9, Some(0.0)),
            row(4, 2, 14, Some(0.0)),
            row(5, 3, 15, None),
        ];
        assert_eq!(shape.hot_pages(), expected);
        // Page 9 now has the distances 0, 0, 0 and 2, and page 0 has 0, 0, 0, 0 and 11.
        [9, 0]
            .into_iter()
            .for_each(|page| shape.add(&write(page, 1)));
        expected = [
            row(1, 1, 6, Some(11.0 / 5.0)),
            row(2, 2, 11, Some(2.0 / 4.0)),
            row(4, 2, 16, Some(0.0)),
            row(5, 3, 17, None),
        ];
        assert_eq!(shape.hot_pages(), expected);
        let footprint = [(1, 1), (2, 1), (4, 1), (8, 2), (16, 5), (17, 5)];
        assert_eq!(shape.footprint(), footprint);
    }

    #[test]
    fn a_grid_keeps_every_count_when_it_grows() {
        let mut grid = Grid::new();
        let places = [
            [0, 0],
            [127, 63],
            [128, 3],
            [1 << 40, 1 << 30],
            [5, 1 << 30],
        ];
        places.into_iter().for_each(|place| grid.add(place));
        assert_eq!(grid.cell(), [1 << 34, 1 << 25]);
        assert_eq!(
            (grid.count(0, 0), grid.count(64, 32), grid.count(0, 32)),
            (3, 1, 1)
        );
    }

    #[test]
    fn long_requests_count_as_their_pages_one_by_one() {
        let mut random = destage_base::Random::new(3);
        let (mut whole, mut single) = (Shape::new(512, 4), Shape::new(512, 4));
        for _ in 0..500 {
            let mut request = write(random.below(200), 1 + random.below(40) as u32);
            request.volume = random.below(2) as u32;
            whole.add(&request);
            for sector in request.sector..request.end() {
                single.add(&Request {
                    sector,
                    sectors: 1,
                    ..request
                });
            }
        }
        assert_eq!(whole.page_distances, single.page_distances);
        assert_eq!(whole.block_distances, single.block_distances);
        assert_eq!(whole.footprint(), single.footprint());
        assert_eq!(whole.hot_pages(), single.hot_pages());
    }

    #[test]
    fn one_request_of_any_length_is_one_entry() {
        let mut shape = Shape::new(512, 64);
        shape.add(&write(5, u32::MAX));
        shape.add(&write(5, u32::MAX));
        assert_eq!(
            (shape.pages.iter().count(), shape.written),
            (1, u64::from(u32::MAX))
        );
        assert_eq!(shape.hot_pages().len(), 33);
        assert!(shape.blocks.iter().count() <= 3);
    }
}
