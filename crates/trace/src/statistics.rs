//! Statistics of a trace, from one pass.
//!
//! The caller gives the pages for which a request counts. Pages of different volumes are different pages even if
//! their addresses are equal.

mod grid;
mod histogram;
mod load;
mod pages;
mod ranks;
mod rates;
mod rows;
mod shape;
mod sizes;
mod stack;

pub use grid::Grid;
pub use histogram::Histogram;
pub use load::{Interval, Load};
pub use rows::{Locality, Number, Row, StatisticRow, Statistics, VolumeStatistics};
pub use shape::{Distances, HotPages, Shape};

use crate::request::{Operation, Request, SECTOR_BYTES};
use destage_base::Ticks;
use destage_base::time::{TICKS_PER_SECOND, to_ms};
use pages::Touched;
use rates::Rates;
use sizes::Sizes;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

/// Collects the statistics of a trace, request by request.
///
/// ```
/// use destage_trace::{Operation, Request, Collector};
/// let mut collector = Collector::new(4096);
/// for sector in [0, 8, 0] {
///     let request = Request { sector, sectors: 8, operation: Operation::Write, ..Request::BLANK };
///     collector.add_as(&request, sector / 8..=sector / 8);
/// }
/// let statistics = collector.finish();
/// assert_eq!((statistics.written_pages, statistics.unique_written_pages), (3, 2));
/// ```
#[derive(Debug)]
pub struct Collector {
    page_bytes: u64,
    counts: [u64; 4],
    fua_writes: u64,
    streams: BTreeSet<u16>,
    sectors: [u64; 4],
    pages: Pages,
    volumes: BTreeMap<u32, Volume>,
    sequential: u64,
    sequential_writes: u64,
    /// The number of reads and writes by their first sector modulo 32.
    starts: [u64; ALIGNED_SECTORS],
    sizes: [Sizes; 2],
    rates: Rates,
    arrivals: Arrivals,
    range: SectorRange,
}

/// The sectors from the first one to the last one that requests address.
#[derive(Debug)]
struct SectorRange {
    min: u64,
    end: u64,
}

impl SectorRange {
    /// The range before the first request.
    const NONE: Self = Self {
        min: u64::MAX,
        end: 0,
    };

    fn add(&mut self, request: &Request) {
        self.min = self.min.min(request.sector);
        self.end = self.end.max(request.end());
    }
}

/// The pages of reads and writes.
#[derive(Debug, Default)]
struct Pages {
    /// The number of pages that were read, and that were written, with repetitions.
    counts: [u64; 2],
    unique: Touched,
}

impl Pages {
    /// Adds the pages `first` to `last` of a read or write.
    fn add(&mut self, operation: Operation, volume: u32, first: u64, last: u64) {
        self.counts[operation as usize] += last - first + 1;
        let are_written = operation == Operation::Write;
        self.unique.insert(are_written, volume, first, last);
    }
}

/// The arrival times.
#[derive(Debug, Default)]
struct Arrivals {
    first: Option<Ticks>,
    last: Ticks,
    /// The number of requests that arrived at the same time as the one before.
    zero_gaps: u64,
}

impl Arrivals {
    fn add(&mut self, arrival: Ticks) {
        self.zero_gaps += u64::from(self.first.is_some() && arrival == self.last);
        self.first.get_or_insert(arrival);
        self.last = self.last.max(arrival);
    }

    /// The time between the first and the last arrival.
    fn span(&self) -> Ticks {
        self.last - self.first.unwrap_or(self.last)
    }
}

/// Sectors in the largest unit of alignment that is reported, 16 KiB.
const ALIGNED_SECTORS: usize = 32;

/// The state of a volume: the end of its last read or write, the end of its last write, and its counts.
#[derive(Clone, Copy, Debug, Default)]
struct Volume {
    end: Option<u64>,
    write_end: Option<u64>,
    requests: u64,
    /// Sectors of reads, and sectors of writes.
    sectors: [u64; 2],
}

impl Collector {
    /// Creates a collector for pages of `page_bytes` bytes.
    ///
    /// # Panics
    /// If `page_bytes` is not a positive multiple of 512.
    #[must_use]
    pub fn new(page_bytes: u64) -> Self {
        assert!(
            page_bytes > 0 && page_bytes.is_multiple_of(SECTOR_BYTES),
            "pages of {page_bytes} bytes"
        );
        Self {
            page_bytes,
            counts: [0; 4],
            fua_writes: 0,
            streams: BTreeSet::new(),
            sectors: [0; 4],
            pages: Pages::default(),
            volumes: BTreeMap::new(),
            sequential: 0,
            sequential_writes: 0,
            starts: [0; ALIGNED_SECTORS],
            sizes: [Sizes::default(), Sizes::default()],
            rates: Rates::default(),
            arrivals: Arrivals::default(),
            range: SectorRange::NONE,
        }
    }

    /// The size of a page in bytes.
    #[must_use]
    pub fn page_bytes(&self) -> u64 {
        self.page_bytes
    }

    /// The number of reads and writes by their first sector modulo 32, that is, by their offset within 16 KiB.
    #[must_use]
    pub fn starts(&self) -> &[u64] {
        &self.starts
    }

    /// Adds a request that counts for the pages `pages`. For a flush, a trim and a request without sectors,
    /// `pages` is ignored.
    pub fn add_as(&mut self, request: &Request, pages: RangeInclusive<u64>) {
        let kind = request.operation as usize;
        self.counts[kind] += 1;
        self.sectors[kind] += u64::from(request.sectors);
        self.fua_writes += u64::from(request.fua);
        if request.stream != 0 {
            self.streams.insert(request.stream);
        }
        self.arrivals.add(request.arrival);
        let is_data = matches!(request.operation, Operation::Read | Operation::Write);
        let moved = if is_data {
            u64::from(request.sectors)
        } else {
            0
        };
        self.rates.add(request.arrival, moved);
        let volume = self.volumes.entry(request.volume).or_default();
        volume.requests += 1;
        if request.operation == Operation::Flush || request.sectors == 0 {
            return;
        }
        self.range.add(request);
        if request.operation == Operation::Trim {
            return;
        }
        volume.sectors[kind] += moved;
        self.starts[request.sector as usize % ALIGNED_SECTORS] += 1;
        self.sizes[kind].add(request.sectors);
        let (first, last) = pages.into_inner();
        self.pages
            .add(request.operation, request.volume, first, last);
        self.sequential += u64::from(volume.end.replace(request.end()) == Some(request.sector));
        if request.operation == Operation::Write {
            self.sequential_writes +=
                u64::from(volume.write_end.replace(request.end()) == Some(request.sector));
        }
    }

    /// Reads the memory that [`Self::add_as`] will need most for `request`, which counts for the pages from `first`
    /// on. If this is done for some requests before they are added, the processor reads for all of them at once.
    pub fn prefetch(&self, request: &Request, first: u64) {
        self.pages.unique.prefetch(request.volume, first);
    }

    /// The statistics of all requests added so far.
    #[must_use]
    pub fn finish(&self) -> Statistics {
        let [reads, writes, flushes, trims] = self.counts;
        let bytes = self.sectors.map(|sectors| sectors * SECTOR_BYTES);
        let requests = self.counts.iter().sum();
        let span = self.arrivals.span();
        let addressed = requests > flushes;
        let pages = &self.pages;
        let [unique, unique_written] = pages.unique.len();
        let size = |kind: usize, percent| {
            let sectors = self.sizes[kind].percentile(percent)?;
            Some(u64::from(sectors) * SECTOR_BYTES)
        };
        let [requests_per_s_peak, sectors_peak] = self.rates.peaks();
        let seconds = span as f64 / TICKS_PER_SECOND as f64;
        let per_second = |amount: f64| (span > 0).then(|| amount / seconds);
        // In less than a second, the busiest second would hold all requests, and be below the mean.
        let has_peak = span >= TICKS_PER_SECOND;
        let mb = |bytes: f64| bytes / 1e6;
        Statistics {
            page_bytes: self.page_bytes,
            requests,
            reads,
            writes,
            flushes,
            trims,
            fua_writes: self.fua_writes,
            streams: self.streams.len() as u64,
            write_share: share(writes, reads + writes),
            volumes: self.volumes.len() as u64,
            sector_min: addressed.then_some(self.range.min),
            sector_end: addressed.then_some(self.range.end),
            bytes_read: bytes[0],
            bytes_written: bytes[1],
            request_mean_sectors: share(self.sectors[0] + self.sectors[1], reads + writes),
            read_mean_bytes: share(bytes[0], reads),
            write_mean_bytes: share(bytes[1], writes),
            read_pages: pages.counts[0],
            written_pages: pages.counts[1],
            unique_pages: unique,
            unique_written_pages: unique_written,
            footprint_bytes: unique * self.page_bytes,
            rewrite_share: share(pages.counts[1] - unique_written, pages.counts[1]),
            sequential_share: share(self.sequential, reads + writes),
            sequential_write_share: share(self.sequential_writes, writes),
            aligned_4kib_share: self.aligned(8),
            aligned_8kib_share: self.aligned(16),
            aligned_16kib_share: self.aligned(32),
            common_offset_sectors: self.common_offset().map(|(offset, _)| offset),
            common_offset_share: self
                .common_offset()
                .and_then(|(_, count)| share(count, reads + writes)),
            read_p50_bytes: size(0, 50),
            read_p99_bytes: size(0, 99),
            read_max_bytes: size(0, 100),
            write_p50_bytes: size(1, 50),
            write_p99_bytes: size(1, 99),
            write_max_bytes: size(1, 100),
            requests_per_s: per_second(requests as f64),
            requests_per_s_peak: has_peak.then_some(requests_per_s_peak),
            mb_per_s: per_second(mb((bytes[0] + bytes[1]) as f64)),
            mb_per_s_peak: has_peak.then(|| mb((sectors_peak * SECTOR_BYTES) as f64)),
            span_s: seconds,
            interarrival_mean_ms: (requests > 1).then(|| to_ms(span) / (requests - 1) as f64),
            zero_gap_share: share(self.arrivals.zero_gaps, requests.saturating_sub(1)),
        }
    }
}

impl Collector {
    /// The totals of each volume, in ascending order of the numbers of the volumes.
    pub fn by_volume(&self) -> impl Iterator<Item = VolumeStatistics> {
        self.volumes
            .iter()
            .map(|(number, volume)| VolumeStatistics {
                volume: *number,
                requests: volume.requests,
                bytes_read: volume.sectors[0] * SECTOR_BYTES,
                bytes_written: volume.sectors[1] * SECTOR_BYTES,
            })
    }

    /// The share of reads and writes whose first sector is a multiple of `sectors`.
    fn aligned(&self, sectors: usize) -> Option<f64> {
        let aligned: u64 = self.starts.iter().step_by(sectors).sum();
        share(aligned, self.starts.iter().sum())
    }

    /// The most frequent value of first sector modulo 8 among reads and writes, and the number of reads and
    /// writes with this value.
    fn common_offset(&self) -> Option<(u64, u64)> {
        let count = |offset: usize| self.starts.iter().skip(offset).step_by(8).sum::<u64>();
        // Of equally frequent values, the smallest is returned. So 0, which means that there is no offset, is
        // preferred.
        let (offset, most) = (0..8)
            .map(|offset| (offset, count(offset)))
            .rev()
            .max_by_key(|(_, count)| *count)?;
        (most > 0).then_some((offset as u64, most))
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(operation: Operation, volume: u32, sector: u64, sectors: u32) -> Request {
        Request {
            arrival: sector,
            sector,
            sectors,
            volume,
            operation,
            ..Request::BLANK
        }
    }

    #[test]
    fn a_trace_counted_by_hand() {
        use Operation::{Flush, Read, Trim, Write};
        let mut collector = Collector::new(4096);
        for one in [
            request(Write, 0, 7, 2),   // pages 0 and 1
            request(Read, 0, 9, 7),    // page 1, starts at the end of the first write
            request(Write, 0, 9, 8),   // pages 1 and 2, starts at the end of the first write
            request(Write, 1, 0, 1),   // page 0 of another volume
            request(Trim, 0, 800, 80), // no page
            request(Flush, 0, 0, 0),
        ] {
            collector.add_as(&one, one.sector / 8..=one.end().saturating_sub(1) / 8);
        }
        let statistics = collector.finish();
        assert_eq!(
            (statistics.requests, statistics.reads, statistics.writes),
            (6, 1, 3)
        );
        assert_eq!(
            (statistics.flushes, statistics.trims, statistics.volumes),
            (1, 1, 2)
        );
        assert_eq!(statistics.write_share, Some(0.75));
        assert_eq!(
            (statistics.sector_min, statistics.sector_end),
            (Some(0), Some(880))
        );
        assert_eq!(
            (statistics.written_pages, statistics.unique_written_pages),
            (5, 4)
        );
        assert_eq!((statistics.read_pages, statistics.unique_pages), (1, 4));
        assert_eq!(statistics.rewrite_share, Some(0.2));
        assert_eq!(statistics.sequential_share, Some(0.25));
        assert_eq!(statistics.sequential_write_share, Some(1.0 / 3.0));
        assert_eq!(
            (statistics.bytes_written, statistics.bytes_read),
            (11 * 512, 7 * 512)
        );
        assert_eq!(statistics.span_s, (800 - 7) as f64 / 1e10);
        assert_eq!(statistics.request_mean_sectors, Some(18.0 / 4.0));
        // The third request arrives at the same time as the second.
        assert_eq!(statistics.zero_gap_share, Some(0.2));
        // The requests arrive within less than a second.
        assert_eq!(statistics.requests_per_s_peak, None);
        assert_eq!(statistics.mb_per_s_peak, None);
        let mut late = request(Write, 0, 0, 1);
        late.arrival = TICKS_PER_SECOND + 7;
        collector.add_as(&late, 0..=0);
        assert_eq!(collector.finish().requests_per_s_peak, Some(6));
    }

    #[test]
    fn what_has_no_meaning_is_absent() {
        let rows = Collector::new(512).finish().rows();
        assert!(
            rows.iter()
                .all(|row| !row.of.name.ends_with("share") && !row.of.name.contains("mean"))
        );
        assert!(
            rows.iter()
                .any(|row| row.of.name == "requests" && row.value == Number::Whole(0))
        );
    }
}
