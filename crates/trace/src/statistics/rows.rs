//! The finished statistics: plain named numbers, and the same as rows for printing.

use destage_base::Ticks;
use destage_base::time::TICKS_PER_SECOND;

/// The statistics of a trace. Shares are from 0 to 1; what has no meaning (the mean of no requests) is `None`.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    /// Bytes in the pages counted here.
    pub page_bytes: u64,
    /// All requests.
    pub requests: u64,
    /// Read requests.
    pub reads: u64,
    /// Write requests.
    pub writes: u64,
    /// Flush requests.
    pub flushes: u64,
    /// Trim requests.
    pub trims: u64,
    /// Write requests that are forced unit access.
    pub fua_writes: u64,
    /// Streams that occur.
    pub streams: u64,
    /// Write requests over read and write requests.
    pub write_share: Option<f64>,
    /// Volumes that occur.
    pub volumes: u64,
    /// Lowest first sector of any request but a flush.
    pub sector_min: Option<u64>,
    /// The sector after the last one touched by any request but a flush.
    pub sector_end: Option<u64>,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Mean size of a read, in bytes.
    pub read_mean_bytes: Option<f64>,
    /// Mean size of a write, in bytes.
    pub write_mean_bytes: Option<f64>,
    /// Pages touched by reads, each time counted.
    pub read_pages: u64,
    /// Pages touched by writes, each time counted.
    pub written_pages: u64,
    /// Different pages touched by reads or writes.
    pub unique_pages: u64,
    /// Different pages touched by writes.
    pub unique_written_pages: u64,
    /// Bytes of the pages touched by reads or writes.
    pub footprint_bytes: u64,
    /// Page writes that hit a page written before, over all page writes.
    pub rewrite_share: Option<f64>,
    /// Reads and writes that start where the last one of their volume ended, over all.
    pub sequential_share: Option<f64>,
    /// Writes that start where the last write of their volume ended, over all writes.
    pub sequential_write_share: Option<f64>,
    /// Reads and writes that begin on a multiple of 4 KiB, over all.
    pub aligned_4kib_share: Option<f64>,
    /// The same of 8 KiB.
    pub aligned_8kib_share: Option<f64>,
    /// The same of 16 KiB.
    pub aligned_16kib_share: Option<f64>,
    /// By how many sectors most reads and writes begin past a multiple of 4 KiB; of equals the smallest.
    pub common_offset_sectors: Option<u64>,
    /// Reads and writes that begin with that offset, over all.
    pub common_offset_share: Option<f64>,
    /// Half of the reads are at most this large.
    pub read_p50_bytes: Option<u64>,
    /// 99 of 100 reads are at most this large.
    pub read_p99_bytes: Option<u64>,
    /// The largest read.
    pub read_max_bytes: Option<u64>,
    /// Half of the writes are at most this large.
    pub write_p50_bytes: Option<u64>,
    /// 99 of 100 writes are at most this large.
    pub write_p99_bytes: Option<u64>,
    /// The largest write.
    pub write_max_bytes: Option<u64>,
    /// Requests over the span.
    pub requests_per_s: Option<f64>,
    /// Most requests in a second, of those that follow one another from the first arrival on.
    pub requests_per_s_peak: Option<u64>,
    /// Bytes read and written over the span, in 10^6 per second.
    pub mb_per_s: Option<f64>,
    /// Most bytes read and written in a second, in 10^6.
    pub mb_per_s_peak: Option<f64>,
    /// From the first arrival to the last, in ticks.
    pub span: Ticks,
    /// The same over the number of gaps, in milliseconds.
    pub interarrival_mean_ms: Option<f64>,
}

/// What a volume's requests come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VolumeStatistics {
    /// The volume.
    pub volume: u32,
    /// Requests of all kinds.
    pub requests: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
}

/// One line of a printed summary.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The name, as in [`Statistics`].
    pub name: &'static str,
    /// The value.
    pub value: Number,
    /// The unit, or nothing for counts and shares.
    pub unit: &'static str,
    /// One sentence: what it is.
    pub about: &'static str,
}

/// A value of a [`Row`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// Exact.
    Whole(u64),
    /// A mean or a share.
    Decimal(f64),
}

impl Statistics {
    /// The span in seconds.
    #[must_use]
    pub fn span_s(&self) -> f64 {
        self.span as f64 / TICKS_PER_SECOND as f64
    }

    /// The value of `trace.lba_shift` that would let most requests begin on a multiple of 4 KiB, and the share that then
    /// would. Nothing if most do so already, or no shift helps most of them.
    ///
    /// A classic partition begins at sector 63, so that is preferred where it does as well. Where it would move a
    /// request below 0, addresses move up.
    #[must_use]
    pub fn better_shift(&self) -> Option<(i64, f64)> {
        let (offset, share) = (self.common_offset_sectors?, self.common_offset_share?);
        if offset == 0 || share <= 0.5 {
            return None;
        }
        let lowest = self.sector_min.unwrap_or(0);
        let shift = match offset {
            7 if lowest >= 63 => 63,
            _ if lowest >= offset => offset as i64,
            _ => offset as i64 - 8,
        };
        Some((shift, share))
    }

    /// The values that have a meaning, in the order they are best read.
    #[must_use]
    pub fn rows(&self) -> Vec<Row> {
        use Number::{Decimal, Whole};
        let rows = [
            (
                "requests",
                Some(Whole(self.requests)),
                "",
                "Requests of all kinds.",
            ),
            ("reads", Some(Whole(self.reads)), "", "Read requests."),
            ("writes", Some(Whole(self.writes)), "", "Write requests."),
            ("flushes", Some(Whole(self.flushes)), "", "Flush requests."),
            ("trims", Some(Whole(self.trims)), "", "Trim requests."),
            (
                "write_share",
                self.write_share.map(Decimal),
                "",
                "Writes among reads and writes.",
            ),
            (
                "fua_writes",
                Some(Whole(self.fua_writes)),
                "",
                "Writes that are forced unit access.",
            ),
            (
                "streams",
                Some(Whole(self.streams)),
                "",
                "Streams that occur, besides none.",
            ),
            (
                "volumes",
                Some(Whole(self.volumes)),
                "",
                "Volumes that occur.",
            ),
            (
                "sector_min",
                self.sector_min.map(Whole),
                "sectors",
                "Lowest sector touched.",
            ),
            (
                "sector_end",
                self.sector_end.map(Whole),
                "sectors",
                "The sector after the highest touched.",
            ),
            (
                "bytes_read",
                Some(Whole(self.bytes_read)),
                "bytes",
                "Bytes read.",
            ),
            (
                "bytes_written",
                Some(Whole(self.bytes_written)),
                "bytes",
                "Bytes written.",
            ),
            (
                "read_mean_bytes",
                self.read_mean_bytes.map(Decimal),
                "bytes",
                "Mean size of a read.",
            ),
            (
                "write_mean_bytes",
                self.write_mean_bytes.map(Decimal),
                "bytes",
                "Mean size of a write.",
            ),
            (
                "read_p50_bytes",
                self.read_p50_bytes.map(Whole),
                "bytes",
                "Half of the reads are at most this large.",
            ),
            (
                "read_p99_bytes",
                self.read_p99_bytes.map(Whole),
                "bytes",
                "99 of 100 reads are.",
            ),
            (
                "read_max_bytes",
                self.read_max_bytes.map(Whole),
                "bytes",
                "The largest read.",
            ),
            (
                "write_p50_bytes",
                self.write_p50_bytes.map(Whole),
                "bytes",
                "Half of the writes are at most this large.",
            ),
            (
                "write_p99_bytes",
                self.write_p99_bytes.map(Whole),
                "bytes",
                "99 of 100 writes are.",
            ),
            (
                "write_max_bytes",
                self.write_max_bytes.map(Whole),
                "bytes",
                "The largest write.",
            ),
            (
                "aligned_4kib_share",
                self.aligned_4kib_share.map(Decimal),
                "",
                "Reads and writes that begin on a multiple of 4 KiB.",
            ),
            (
                "aligned_8kib_share",
                self.aligned_8kib_share.map(Decimal),
                "",
                "Reads and writes that begin on a multiple of 8 KiB.",
            ),
            (
                "aligned_16kib_share",
                self.aligned_16kib_share.map(Decimal),
                "",
                "Reads and writes that begin on a multiple of 16 KiB.",
            ),
            (
                "common_offset_sectors",
                self.common_offset_sectors.map(Whole),
                "sectors",
                "How far past a multiple of 4 KiB most of them begin.",
            ),
            (
                "common_offset_share",
                self.common_offset_share.map(Decimal),
                "",
                "Those that do.",
            ),
            (
                "page_bytes",
                Some(Whole(self.page_bytes)),
                "bytes",
                "Size of the pages counted below.",
            ),
            (
                "read_pages",
                Some(Whole(self.read_pages)),
                "pages",
                "Pages touched by reads, each time counted.",
            ),
            (
                "written_pages",
                Some(Whole(self.written_pages)),
                "pages",
                "Pages touched by writes, each time counted.",
            ),
            (
                "unique_pages",
                Some(Whole(self.unique_pages)),
                "pages",
                "Different pages touched.",
            ),
            (
                "unique_written_pages",
                Some(Whole(self.unique_written_pages)),
                "pages",
                "Different pages touched by writes.",
            ),
            (
                "footprint_bytes",
                Some(Whole(self.footprint_bytes)),
                "bytes",
                "Bytes of the different pages touched.",
            ),
            (
                "rewrite_share",
                self.rewrite_share.map(Decimal),
                "",
                "Page writes to a page written before.",
            ),
            (
                "sequential_share",
                self.sequential_share.map(Decimal),
                "",
                "Requests that start where their volume's last one ended.",
            ),
            (
                "sequential_write_share",
                self.sequential_write_share.map(Decimal),
                "",
                "Writes that start where their volume's last write ended.",
            ),
            (
                "span_s",
                Some(Decimal(self.span_s())),
                "s",
                "From the first arrival to the last.",
            ),
            (
                "interarrival_mean_ms",
                self.interarrival_mean_ms.map(Decimal),
                "ms",
                "Mean gap between arrivals.",
            ),
            (
                "requests_per_s",
                self.requests_per_s.map(Decimal),
                "1/s",
                "Requests over the span.",
            ),
            (
                "requests_per_s_peak",
                self.requests_per_s_peak.map(Whole),
                "1/s",
                "Most requests in a second.",
            ),
            (
                "mb_per_s",
                self.mb_per_s.map(Decimal),
                "MB/s",
                "Bytes moved over the span.",
            ),
            (
                "mb_per_s_peak",
                self.mb_per_s_peak.map(Decimal),
                "MB/s",
                "Most bytes moved in a second.",
            ),
        ];
        rows.into_iter()
            .filter_map(|(name, value, unit, about)| {
                Some(Row {
                    name,
                    value: value?,
                    unit,
                    about,
                })
            })
            .collect()
    }
}
