//! What a trace is like, in numbers, from one pass.
//!
//! Pages are those a request touches, also in part, and pages of different volumes are different pages even where
//! their addresses are equal.

mod pages;
mod rows;
mod runs;
mod shape;

pub use rows::{Number, Row, Statistics};
pub use shape::{Grid, Histogram, HotPages, Shape};

use crate::request::{Operation, Request, SECTOR_BYTES};
use destage_base::Ticks;
use destage_base::time::to_ms;
use pages::PageSet;
use std::collections::{BTreeMap, BTreeSet};

/// Collects the statistics of a trace, request by request.
///
/// ```
/// use destage_trace::{Operation, Request, Collector};
/// let mut collector = Collector::new(4096);
/// for sector in [0, 8, 0] {
///     let operation = Operation::Write;
///     collector.add(&Request { arrival: 0, sector, sectors: 8, volume: 0, line: 1, operation, fua: false, stream: 0 });
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
    pages: [u64; 2],
    unique: PageSet,
    unique_written: PageSet,
    volumes: BTreeMap<u32, Volume>,
    sequential: u64,
    sequential_writes: u64,
    first: Option<Ticks>,
    last: Ticks,
    sector_min: u64,
    sector_end: u64,
}

/// What is remembered of a volume, for sequentiality.
#[derive(Clone, Copy, Debug, Default)]
struct Volume {
    end: Option<u64>,
    write_end: Option<u64>,
}

impl Collector {
    /// For pages of `page_bytes` bytes.
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
            pages: [0; 2],
            unique: PageSet::default(),
            unique_written: PageSet::default(),
            volumes: BTreeMap::new(),
            sequential: 0,
            sequential_writes: 0,
            first: None,
            last: 0,
            sector_min: u64::MAX,
            sector_end: 0,
        }
    }

    /// Takes one more request.
    pub fn add(&mut self, request: &Request) {
        let kind = request.operation as usize;
        self.counts[kind] += 1;
        self.sectors[kind] += u64::from(request.sectors);
        self.fua_writes += u64::from(request.fua);
        if request.stream != 0 {
            self.streams.insert(request.stream);
        }
        self.first.get_or_insert(request.arrival);
        self.last = self.last.max(request.arrival);
        let volume = self.volumes.entry(request.volume).or_default();
        if request.operation == Operation::Flush || request.sectors == 0 {
            return;
        }
        self.sector_min = self.sector_min.min(request.sector);
        self.sector_end = self.sector_end.max(request.end());
        if request.operation == Operation::Trim {
            return;
        }
        let page_sectors = self.page_bytes / SECTOR_BYTES;
        let first = request.sector / page_sectors;
        let last = (request.end() - 1) / page_sectors;
        self.pages[kind] += last - first + 1;
        self.unique.insert(request.volume, first, last);
        self.sequential += u64::from(volume.end.replace(request.end()) == Some(request.sector));
        if request.operation == Operation::Write {
            self.unique_written.insert(request.volume, first, last);
            self.sequential_writes +=
                u64::from(volume.write_end.replace(request.end()) == Some(request.sector));
        }
    }

    /// The statistics of all requests added.
    #[must_use]
    pub fn finish(&self) -> Statistics {
        let [reads, writes, flushes, trims] = self.counts;
        let bytes = self.sectors.map(|sectors| sectors * SECTOR_BYTES);
        let requests = self.counts.iter().sum();
        let span = self.last - self.first.unwrap_or(self.last);
        let addressed = requests > flushes;
        let unique_written = self.unique_written.len();
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
            sector_min: addressed.then_some(self.sector_min),
            sector_end: addressed.then_some(self.sector_end),
            bytes_read: bytes[0],
            bytes_written: bytes[1],
            read_mean_bytes: share(bytes[0], reads),
            write_mean_bytes: share(bytes[1], writes),
            read_pages: self.pages[0],
            written_pages: self.pages[1],
            unique_pages: self.unique.len(),
            unique_written_pages: unique_written,
            footprint_bytes: self.unique.len() * self.page_bytes,
            rewrite_share: share(self.pages[1] - unique_written, self.pages[1]),
            sequential_share: share(self.sequential, reads + writes),
            sequential_write_share: share(self.sequential_writes, writes),
            span,
            interarrival_mean_ms: (requests > 1).then(|| to_ms(span) / (requests - 1) as f64),
        }
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
            line: 1,
            operation,
            fua: false,
            stream: 0,
        }
    }

    #[test]
    fn a_trace_counted_by_hand() {
        use Operation::{Flush, Read, Trim, Write};
        let mut collector = Collector::new(4096);
        for one in [
            request(Write, 0, 7, 2),   // pages 0 and 1
            request(Read, 0, 9, 7),    // page 1, goes on after the write
            request(Write, 0, 9, 8),   // pages 1 and 2, goes on after the write
            request(Write, 1, 0, 1),   // page 0 of another volume
            request(Trim, 0, 800, 80), // no page
            request(Flush, 0, 0, 0),
        ] {
            collector.add(&one);
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
        assert_eq!(statistics.span, 800 - 7);
    }

    #[test]
    fn what_has_no_meaning_is_absent() {
        let rows = Collector::new(512).finish().rows();
        assert!(
            rows.iter()
                .all(|row| !row.name.ends_with("share") && !row.name.contains("mean"))
        );
        assert!(
            rows.iter()
                .any(|row| row.name == "requests" && row.value == Number::Whole(0))
        );
    }
}
