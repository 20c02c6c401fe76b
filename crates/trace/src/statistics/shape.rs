//! The shape of a trace: distributions of sizes, gaps and distances, and the number of requests over time and
//! address.
//!
//! Distances are those of BPAC (Wu et al., section 3). Virtual time counts page writes. The distance between
//! two consecutive writes of a page, at the virtual times v1 and v2, is v2 - v1 - 1. The distance for a block
//! is computed in the same way from two consecutive page writes to the block. BPAC measures distances of
//! buffered pages, so its figures depend on the buffer. The distances here depend only on the trace.

use super::grid::Grid;
use super::histogram::Histogram;
use super::load::Load;
use super::ranks::{Pairs, rank_correlation};
use super::rows::Locality;
use super::stack::{RewrittenRun, Stack};
use crate::request::{Operation, Request};
use crate::runs::{Along, Runs};
use destage_base::Ticks;
use std::cmp::Reverse;
use std::ops::RangeInclusive;

/// The first and the last write of a page, in virtual time, and the number of its writes. Virtual time advances
/// by 1 from page to page of a request.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Writes {
    first: u64,
    last: u64,
    count: u64,
}

impl Writes {
    /// The sum of the page's distances: the number of writes of other pages between the first and the last
    /// write of this page.
    fn between(self) -> u64 {
        self.last - self.first - (self.count - 1)
    }
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

/// The last page write to a block, in virtual time, less the number of the block's first page. Blocks that are
/// written as a whole, one after the other, have equal values.
#[derive(Clone, Copy, Debug, PartialEq)]
struct LastWrite(u64);

impl Along for LastWrite {
    const COUNTS_ON: bool = true;

    fn along(self, _: u64) -> Self {
        self
    }
}

/// A row of statistics about the pages that are written most often.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HotPages {
    /// The number of these pages.
    pub pages: u64,
    /// The number of different blocks that contain these pages.
    pub blocks: u64,
    /// The number of page writes to these pages.
    pub writes: u64,
    /// The mean distance between two writes of a page (PIRD) in page writes, over all rewrites of the pages
    /// that are in this row and not in the row before. `None` if none of these pages was written twice.
    pub mean_distance: Option<f64>,
}

/// Collects the shape of a trace, request by request. Pages of different volumes are different pages.
#[derive(Debug)]
pub struct Shape {
    block_pages: u64,
    /// Sizes of reads, and of writes, in sectors.
    pub sizes: [Histogram; 2],
    /// Gaps between arrivals in us.
    pub gaps: Histogram,
    /// Distances between two writes.
    pub distances: Distances,
    /// The number of reads, and of writes, that start in each interval of time (in us) and address (in pages).
    /// All volumes are counted in the same grid.
    pub places: [Grid; 2],
    /// The load over time.
    pub load: Load,
    /// The virtual time: page writes so far.
    clock: u64,
    pages: Runs<Writes>,
    blocks: Runs<LastWrite>,
    stack: Stack,
    footprint: Footprint,
    parts: Parts,
    last: Option<Ticks>,
    first: Ticks,
}

/// The parts of the write that is being added; without content between two writes.
#[derive(Debug, Default)]
struct Parts {
    /// Pages written for the first time: the offset of the first of them within the request, and their number.
    new: Vec<(u64, u64)>,
    /// Pages written again.
    again: Vec<RewrittenRun>,
}

/// The distributions of the distances between two writes.
#[derive(Debug, Default)]
pub struct Distances {
    /// Distances between two writes of a page, in page writes (PIRD).
    pub page: Histogram,
    /// Distances between two page writes in a block, in page writes (BIRD).
    pub block: Histogram,
    /// Distances between two writes of a page, in different pages written in between (stack distances).
    pub stack: Histogram,
}

/// The different pages that were written.
#[derive(Debug, Default)]
struct Footprint {
    pages: u64,
    /// The number of these pages after 1, 2, 4 and so on page writes.
    growth: Vec<(u64, u64)>,
}

impl Footprint {
    /// Adds the page writes after the virtual time `clock` up to `end`. The parts in `new` wrote pages for the
    /// first time: each part has the offset of its first page behind `clock`, and its number of pages.
    fn add(&mut self, clock: u64, end: u64, new: &[(u64, u64)]) {
        let mut power = (clock + 1).next_power_of_two();
        while power <= end {
            let done = power - clock;
            let before = new
                .iter()
                .map(|(offset, length)| done.saturating_sub(*offset).min(*length));
            self.growth.push((power, self.pages + before.sum::<u64>()));
            power *= 2;
        }
        self.pages += new.iter().map(|(_, length)| length).sum::<u64>();
    }

    /// The number of pages after 1, 2, 4 and so on page writes, and now, at the virtual time `clock`.
    fn rows(&self, clock: u64) -> Vec<(u64, u64)> {
        let mut rows = self.growth.clone();
        if clock > 0 && !clock.is_power_of_two() {
            rows.push((clock, self.pages));
        }
        rows
    }
}

const TICKS_PER_MICROSECOND: Ticks = 10_000;

impl Shape {
    /// Creates a collector for blocks of `block_pages` pages.
    ///
    /// # Panics
    /// If `block_pages` is 0.
    #[must_use]
    pub fn new(block_pages: u64) -> Self {
        assert!(block_pages > 0, "blocks of {block_pages} pages");
        Self {
            block_pages,
            sizes: [Histogram::default(), Histogram::default()],
            gaps: Histogram::default(),
            distances: Distances::default(),
            places: [Grid::new(), Grid::new()],
            load: Load::new(),
            clock: 0,
            pages: Runs::default(),
            blocks: Runs::default(),
            stack: Stack::default(),
            footprint: Footprint::default(),
            parts: Parts::default(),
            last: None,
            first: 0,
        }
    }

    /// The number of pages in a block.
    #[must_use]
    pub fn block_pages(&self) -> u64 {
        self.block_pages
    }

    /// Adds a request that counts for the pages `pages`. For a flush, a trim and a request without sectors,
    /// `pages` is ignored.
    pub fn add_as(&mut self, request: &Request, pages: RangeInclusive<u64>) {
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
        let (first, last) = pages.into_inner();
        let time = request.arrival.saturating_sub(self.first) / TICKS_PER_MICROSECOND;
        self.places[kind].add([time, first]);
        self.load.add(time, kind, u64::from(request.sectors));
        if request.operation == Operation::Write {
            self.write_blocks(request.volume, first, last);
            self.write_pages(request.volume, first, last);
        }
    }

    /// Does the same as [`super::Collector::prefetch`].
    pub fn prefetch(&self, request: &Request, first: u64) {
        if request.operation == Operation::Write {
            self.pages.prefetch(request.volume, first);
        }
    }

    /// Counts the distance (BIRD) of each write of the pages `first` to `last` to the previous page write in
    /// the same block. Must be called before [`Self::write_pages`].
    fn write_blocks(&mut self, volume: u32, first: u64, last: u64) {
        let pages = self.block_pages;
        let (first_block, last_block) = (first / pages, last / pages);
        // The first and the last block may be written in part; the blocks between them are written as a whole.
        let between = (first_block + 1, last_block.saturating_sub(1));
        let parts = [
            Some((first_block, first_block)),
            (between.0 <= between.1).then_some(between),
            (last_block > first_block).then_some((last_block, last_block)),
        ];
        for (from, to) in parts.into_iter().flatten() {
            let begin = first.max(from * pages);
            let written = (last + 1).min((from + 1) * pages) - begin;
            // The virtual time of the first page write to the first of these blocks.
            let clock = self.clock + 1 + (begin - first);
            let distances = &mut self.distances.block;
            distances.add_times(0, (written - 1) * (to - from + 1));
            self.blocks
                .update(volume, from, to, |offset, length, before| {
                    let (clock, page) = (clock + offset * pages, (from + offset) * pages);
                    if let Some(LastWrite(before)) = before {
                        distances.add_times(clock - before.wrapping_add(page) - 1, length);
                    }
                    LastWrite((clock + written - 1).wrapping_sub(page))
                });
        }
    }

    /// Counts the writes of pages `first` to `last`, one after the other.
    fn write_pages(&mut self, volume: u32, first: u64, last: u64) {
        let (clock, count) = (self.clock, last - first + 1);
        let distances = &mut self.distances.page;
        let Parts { new, again } = &mut self.parts;
        self.pages
            .update(volume, first, last, |offset, length, before| {
                let clock = clock + 1 + offset;
                match before {
                    Some(writes) => {
                        distances.add_times(clock - writes.last - 1, length);
                        again.push(RewrittenRun {
                            offset,
                            length,
                            last: writes.last,
                        });
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
        self.stack
            .write(clock + 1, count, again, &mut self.distances.stack);
        self.footprint.add(clock, clock + count, new);
        again.clear();
        new.clear();
        self.clock += count;
    }

    /// The number of different pages written after 1, 2, 4 and so on page writes, and after all page writes.
    #[must_use]
    pub fn footprint(&self) -> Vec<(u64, u64)> {
        self.footprint.rows(self.clock)
    }

    /// Rows about the 1, 2, 4 and so on pages written most often, and a last row about all pages. Pages written
    /// equally often are ranked by volume and number.
    #[must_use]
    pub fn hot_pages(&self) -> Vec<HotPages> {
        let mut ranked = Hottest::new(usize::MAX);
        self.pages
            .for_each(|page, length, writes| ranked.add(page, length, writes));
        self.rows_of(ranked.sorted(), |rank| (rank + 1).next_power_of_two())
    }

    /// Rows about the pages written most often, which `ranked` lists first. Each row has more pages than the row
    /// before, and the last row has all pages. `next` gets the number of pages counted so far, and returns the number
    /// of pages of the smallest row that has more pages.
    fn rows_of(&self, ranked: &[Ranked], next: impl Fn(u64) -> u64) -> Vec<HotPages> {
        let (mut blocks, mut rows) = (Runs::<()>::default(), Vec::new());
        let (mut rank, mut block_count, mut sum) = (0u64, 0, 0);
        let (mut distances, mut rewrites) = (0u128, 0);
        for ((volume, mut page), mut length, writes) in ranked.iter().copied() {
            while length > 0 {
                let row = next(rank);
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
                distances += u128::from(writes.between()) * u128::from(part);
                (rank, page, length) = (rank + part, page + part, length - part);
                if rank == row || rank == self.footprint.pages {
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

    /// The numbers that describe how soon pages and blocks are written again.
    #[must_use]
    pub fn locality(&self) -> Locality {
        let Distances {
            page: pird,
            block: bird,
            stack,
        } = &self.distances;
        // No row has more pages than the last band, and each run has at least one page.
        let mut hottest = Hottest::new(BANDS[2] as usize);
        let mut rewritten: Vec<Pairs> = Vec::new();
        self.pages.for_each(|page, length, writes| {
            hottest.add(page, length, writes);
            rewritten.extend(rewrites(length, writes));
        });
        let ranked = hottest.sorted();
        let rows = |of: &'static [u64]| {
            self.rows_of(ranked, |rank| {
                let above = of.iter().find(|pages| **pages > rank);
                above.copied().unwrap_or(u64::MAX)
            })
        };
        let (hot, bands) = (rows(&HOTTEST), rows(&BANDS));
        let hot_blocks = HOTTEST.map(|pages| {
            let row = hot.iter().find(|row| row.pages == pages);
            row.map(|row| row.blocks)
        });
        let [first_100, next_900, next_9000] = BANDS.map(|pages| {
            let row = bands.iter().find(|row| row.pages == pages);
            row.and_then(|row| row.mean_distance)
        });
        let mut written_blocks = 0;
        self.blocks
            .for_each(|_, length, _| written_blocks += length);
        Locality {
            block_pages: self.block_pages,
            written_blocks,
            rewritten_pages: rewritten.iter().map(|pages| pages.times).sum(),
            pird_p50: pird.percentile(50),
            pird_p90: pird.percentile(90),
            pird_p99: pird.percentile(99),
            pird_within_10: pird.share_within(10),
            pird_within_50: pird.share_within(50),
            pird_within_100: pird.share_within(100),
            pird_within_200: pird.share_within(200),
            pird_within_500: pird.share_within(500),
            pird_within_1000: pird.share_within(1000),
            pird_within_10000: pird.share_within(10_000),
            pird_rank_correlation: rank_correlation(&rewritten),
            pird_of_first_100: first_100,
            pird_of_next_900: next_900,
            pird_of_next_9000: next_9000,
            stack_p50: stack.percentile(50),
            stack_p90: stack.percentile(90),
            stack_p99: stack.percentile(99),
            bird_p50: bird.percentile(50),
            bird_p90: bird.percentile(90),
            bird_p99: bird.percentile(99),
            bird_within_10: bird.share_within(10),
            bird_within_50: bird.share_within(50),
            bird_within_100: bird.share_within(100),
            bird_within_200: bird.share_within(200),
            bird_within_500: bird.share_within(500),
            bird_within_1000: bird.share_within(1000),
            bird_within_10000: bird.share_within(10_000),
            hot_10_pages_blocks: hot_blocks[0],
            hot_50_pages_blocks: hot_blocks[1],
            hot_100_pages_blocks: hot_blocks[2],
            hot_500_pages_blocks: hot_blocks[3],
        }
    }
}

/// [`Locality`] counts the blocks that contain the hottest pages, for each of these numbers of pages.
const HOTTEST: [u64; 4] = [10, 50, 100, 500];
/// The last ranks of the bands of hot pages whose mean distances are computed.
const BANDS: [u64; 3] = [100, 1000, 10_000];

/// A run of pages: the volume and the first page, the number of pages, and the writes of the first page.
type Ranked = ((u32, u64), u64, Writes);

/// Finds the runs of the pages that are written most often.
struct Hottest {
    /// The number of runs wanted.
    most: usize,
    /// The runs found, which may be up to twice as many.
    found: Vec<Ranked>,
    /// Runs whose pages are written as often as this or less often are not among those wanted.
    count: u64,
}

impl Hottest {
    fn new(most: usize) -> Self {
        Self {
            most,
            found: Vec::new(),
            count: 0,
        }
    }

    /// Adds a run behind all runs added before.
    fn add(&mut self, page: (u32, u64), length: u64, writes: Writes) {
        if writes.count <= self.count {
            return;
        }
        self.found.push((page, length, writes));
        if self.found.len() / 2 >= self.most {
            let last = self.most - 1;
            let (_, last, _) = self.found.select_nth_unstable_by_key(last, Self::rank);
            self.count = last.2.count;
            self.found.truncate(self.most);
        }
    }

    /// The runs found, with the pages written most often first.
    fn sorted(&mut self) -> &[Ranked] {
        self.found.sort_unstable_by_key(Self::rank);
        &self.found
    }

    /// The order of the runs: pages written equally often are ranked by volume and number.
    fn rank((page, _, writes): &Ranked) -> (Reverse<u64>, (u32, u64)) {
        (Reverse(writes.count), *page)
    }
}

/// The number of writes of each page in a run, and its mean PIRD. `None` if the pages are written once.
fn rewrites(length: u64, writes: Writes) -> Option<Pairs> {
    (writes.count > 1).then(|| Pairs {
        times: length,
        whole: writes.count,
        numerator: writes.between(),
        denominator: writes.count - 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(sector: u64, sectors: u32) -> Request {
        Request {
            sector,
            sectors,
            operation: Operation::Write,
            ..Request::BLANK
        }
    }

    /// Adds `request` to `shape`. Each sector is a page.
    fn add(shape: &mut Shape, request: &Request) {
        shape.add_as(request, request.sector..=request.end() - 1);
    }

    #[test]
    fn distances_count_the_page_writes_between() {
        // The worked example of the paper: two references at 10 and 34 have the distance 23, and two
        // consecutive references have the distance 0.
        let mut shape = Shape::new(4);
        for time in 1..=34 {
            let page = if time == 10 || time == 34 {
                1000
            } else {
                time * 4
            };
            add(&mut shape, &write(page, 1));
        }
        assert_eq!(shape.distances.page.cumulative(), [(31, 1)]);
        assert_eq!(shape.distances.block.cumulative(), [(31, 1)]);
        add(&mut shape, &write(34, 1));
        add(&mut shape, &write(1000, 2));
        let expected = [(1, 1), (3, 1), (7, 1), (15, 1), (31, 2)];
        assert_eq!(shape.distances.page.cumulative(), expected);
        // Pages 1000 and 1001 are in the same block.
        assert_eq!(shape.distances.block.cumulative()[0], (0, 1));
    }

    #[test]
    fn hot_pages_are_ranked_and_their_blocks_counted_once() {
        let mut shape = Shape::new(4);
        for (page, times) in [(0, 5), (1, 4), (9, 4), (2, 1), (20, 1)] {
            for _ in 0..times {
                add(&mut shape, &write(page, 1));
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
            .for_each(|page| add(&mut shape, &write(page, 1)));
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
    fn the_hottest_runs_are_found_among_many() {
        let mut random = destage_base::Random::new(12);
        for most in [1, 2, 10, 999, 1000, 3000] {
            let (mut hottest, mut all) = (Hottest::new(most), Vec::new());
            for page in 0..1000 {
                let writes = Writes {
                    first: 0,
                    last: 0,
                    count: 1 + random.below(20),
                };
                hottest.add((0, page), 1, writes);
                all.push(((0, page), 1, writes));
            }
            all.sort_by_key(|(_, _, writes)| Reverse(writes.count));
            let most = most.min(1000);
            assert_eq!(hottest.sorted()[..most], all[..most]);
        }
    }

    #[test]
    fn locality_counted_by_hand() {
        let mut shape = Shape::new(4);
        // Page 0 has the distances 0, 1 and 2, page 9 has 1, and page 20 has none.
        for page in [0, 0, 9, 0, 9, 20, 0] {
            add(&mut shape, &write(page, 1));
        }
        let locality = shape.locality();
        assert_eq!((locality.written_blocks, locality.rewritten_pages), (3, 2));
        let pird = (locality.pird_p50, locality.pird_p90);
        assert_eq!(pird, (Some(1), Some(2)));
        // Different pages written in between: 0, 1, 1 and 2.
        let stack = (locality.stack_p50, locality.stack_p90);
        assert_eq!(stack, (Some(1), Some(2)));
        assert_eq!(locality.bird_p99, Some(2));
        assert_eq!(locality.pird_within_10, Some(1.0));
        // Both rewritten pages have the mean distance 1, and equal values have no correlation.
        assert_eq!(locality.pird_rank_correlation, None);
        assert_eq!(locality.hot_10_pages_blocks, None);
        // Page 9 is written again after 1 page write, so its mean stays 1. Page 0 gets one more distance of 1.
        add(&mut shape, &write(9, 1));
        add(&mut shape, &write(0, 1));
        assert_eq!(shape.locality().pird_rank_correlation, Some(-1.0));
    }

    #[test]
    fn bands_of_heat_have_their_own_mean_distances() {
        let mut shape = Shape::new(4);
        // Pages 0 to 99 are written in turn three times, then pages 100 to 999 in turn twice.
        for page in (0..100)
            .cycle()
            .take(300)
            .chain((100..1000).cycle().take(1800))
        {
            add(&mut shape, &write(page, 1));
        }
        let bands = |shape: &Shape| {
            let all = shape.locality();
            [
                all.pird_of_first_100,
                all.pird_of_next_900,
                all.pird_of_next_9000,
            ]
        };
        assert_eq!(bands(&shape), [Some(99.0), Some(899.0), None]);
    }

    #[test]
    fn the_blocks_of_the_hottest_pages_are_those_of_a_plain_count() {
        let mut random = destage_base::Random::new(8);
        let mut shape = Shape::new(4);
        let mut counts = [0u64; 700];
        for _ in 0..5000 {
            let page = random.below(700).min(random.below(700));
            add(&mut shape, &write(page, 1));
            counts[page as usize] += 1;
        }
        let mut ranked: Vec<usize> = (0..700).filter(|page| counts[*page] > 0).collect();
        ranked.sort_by_key(|page| (Reverse(counts[*page]), *page));
        let blocks = |pages: usize| {
            let mut blocks: Vec<_> = ranked.iter().take(pages).map(|page| page / 4).collect();
            blocks.sort_unstable();
            blocks.dedup();
            Some(blocks.len() as u64)
        };
        let locality = shape.locality();
        assert_eq!(locality.hot_10_pages_blocks, blocks(10));
        assert_eq!(locality.hot_50_pages_blocks, blocks(50));
        assert_eq!(locality.hot_100_pages_blocks, blocks(100));
        assert_eq!(locality.hot_500_pages_blocks, blocks(500));
    }

    #[test]
    fn pages_may_be_others_than_those_touched() {
        let mut shape = Shape::new(4);
        shape.add_as(&write(9, 1), 0..=4);
        let locality = shape.locality();
        assert_eq!((shape.footprint.pages, locality.written_blocks), (5, 2));
    }

    #[test]
    fn long_requests_count_as_their_pages_one_by_one() {
        let mut random = destage_base::Random::new(3);
        let (mut whole, mut single) = (Shape::new(4), Shape::new(4));
        for _ in 0..500 {
            let mut request = write(random.below(200), 1 + random.below(40) as u32);
            request.volume = random.below(2) as u32;
            add(&mut whole, &request);
            for sector in request.sector..request.end() {
                single.add_as(&request, sector..=sector);
            }
        }
        assert_eq!(whole.distances.page, single.distances.page);
        assert_eq!(whole.distances.block, single.distances.block);
        assert_eq!(whole.distances.stack, single.distances.stack);
        assert_eq!(whole.footprint(), single.footprint());
        assert_eq!(whole.hot_pages(), single.hot_pages());
        assert_eq!(whole.locality(), single.locality());
    }

    #[test]
    fn one_request_of_any_length_is_one_entry() {
        let mut shape = Shape::new(64);
        add(&mut shape, &write(5, u32::MAX));
        add(&mut shape, &write(5, u32::MAX));
        let (mut runs, mut blocks) = (0, 0);
        shape.pages.for_each(|_, _, _| runs += 1);
        shape.blocks.for_each(|_, _, _| blocks += 1);
        assert_eq!((runs, shape.footprint.pages), (1, u64::from(u32::MAX)));
        assert_eq!(shape.hot_pages().len(), 33);
        assert!(blocks <= 3);
    }
}
