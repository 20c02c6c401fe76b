//! The finished statistics: named numbers, each declared once.

use destage_base::parameter::prose;

/// A statistic: its name, unit and meaning. The row exists even if the statistic has no value for a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StatisticRow {
    /// The name, without the prefix `trace.`.
    pub name: &'static str,
    /// The unit; empty for counts and shares.
    pub unit: &'static str,
    /// One sentence on the meaning of the statistic.
    pub about: &'static str,
}

impl StatisticRow {
    /// All statistics.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        Statistics::ROWS.iter().chain(Locality::ROWS)
    }

    /// The name of the statistic as a metric.
    #[must_use]
    pub fn metric(&self) -> String {
        format!("trace.{}", self.name)
    }
}

/// One line of a printed summary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// The statistic.
    pub of: &'static StatisticRow,
    /// The value.
    pub value: Number,
}

/// The value of a [`Row`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An exact number.
    Whole(u64),
    /// A mean or a share.
    Decimal(f64),
}

/// The types of the values of statistics.
trait Figure {
    /// The value as a number; `None` if the value is not defined.
    fn number(self) -> Option<Number>;
}

impl Figure for u64 {
    fn number(self) -> Option<Number> {
        Some(Number::Whole(self))
    }
}

impl Figure for f64 {
    fn number(self) -> Option<Number> {
        Some(Number::Decimal(self))
    }
}

impl<T: Figure> Figure for Option<T> {
    fn number(self) -> Option<Number> {
        self.and_then(T::number)
    }
}

/// Declares a struct of statistics with the name, the unit and the text of each field, and its rows.
macro_rules! statistics {
    (
        $(#[$outer:meta])*
        pub struct $type:ident {
            $( $(#[doc = $about:literal])+ $field:ident: $kind:ty = $name:literal, $unit:literal; )+
        }
    ) => {
        $(#[$outer])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $type {
            $( $(#[doc = $about])+ pub $field: $kind, )+
        }

        impl $type {
            /// All statistics of this struct, in the order in which they are printed.
            pub const ROWS: &[StatisticRow] = &[$(StatisticRow {
                name: $name,
                unit: $unit,
                about: prose(concat!($($about),+)),
            }),+];

            /// The values that are defined, in the order of [`Self::ROWS`].
            #[must_use]
            pub fn rows(&self) -> Vec<Row> {
                let numbers = [$(self.$field.number()),+];
                let rows = Self::ROWS.iter().zip(numbers);
                rows.filter_map(|(of, value)| Some(Row { of, value: value? })).collect()
            }
        }
    };
}

statistics! {
    /// The statistics of a trace. Shares are from 0 to 1. A value that is not defined, such as the mean of no
    /// requests, is `None`.
    pub struct Statistics {
        /// Requests of all kinds.
        requests: u64 = "requests", "";
        /// Read requests.
        reads: u64 = "reads", "";
        /// Write requests.
        writes: u64 = "writes", "";
        /// Flush requests.
        flushes: u64 = "flushes", "";
        /// Trim requests.
        trims: u64 = "trims", "";
        /// Share of writes among reads and writes.
        write_share: Option<f64> = "write_share", "";
        /// Writes with force unit access.
        fua_writes: u64 = "fua_writes", "";
        /// Number of different streams; requests without a stream do not count.
        streams: u64 = "streams", "";
        /// Number of different volumes.
        volumes: u64 = "volumes", "";
        /// Lowest sector touched.
        sector_min: Option<u64> = "sector_min", "sectors";
        /// The sector after the highest one touched.
        sector_end: Option<u64> = "sector_end", "sectors";
        /// Bytes read.
        bytes_read: u64 = "bytes_read", "bytes";
        /// Bytes written.
        bytes_written: u64 = "bytes_written", "bytes";
        /// Mean size of reads and writes together.
        request_mean_sectors: Option<f64> = "request_mean_sectors", "sectors";
        /// Mean size of a read.
        read_mean_bytes: Option<f64> = "read_mean_bytes", "bytes";
        /// Mean size of a write.
        write_mean_bytes: Option<f64> = "write_mean_bytes", "bytes";
        /// Half of the reads are at most this large.
        read_p50_bytes: Option<u64> = "read_p50_bytes", "bytes";
        /// 99 of 100 reads are at most this large.
        read_p99_bytes: Option<u64> = "read_p99_bytes", "bytes";
        /// The largest read.
        read_max_bytes: Option<u64> = "read_max_bytes", "bytes";
        /// Half of the writes are at most this large.
        write_p50_bytes: Option<u64> = "write_p50_bytes", "bytes";
        /// 99 of 100 writes are at most this large.
        write_p99_bytes: Option<u64> = "write_p99_bytes", "bytes";
        /// The largest write.
        write_max_bytes: Option<u64> = "write_max_bytes", "bytes";
        /// Share of reads and writes that begin on a multiple of 4 KiB.
        aligned_4kib_share: Option<f64> = "aligned_4kib_share", "";
        /// Share of reads and writes that begin on a multiple of 8 KiB.
        aligned_8kib_share: Option<f64> = "aligned_8kib_share", "";
        /// Share of reads and writes that begin on a multiple of 16 KiB.
        aligned_16kib_share: Option<f64> = "aligned_16kib_share", "";
        /// Most frequent distance of the beginning of a read or write from the multiple of 4 KiB before it; of
        /// equally frequent ones, the smallest.
        common_offset_sectors: Option<u64> = "common_offset_sectors", "sectors";
        /// Share of reads and writes that begin at `common_offset_sectors` from the multiple of 4 KiB before.
        common_offset_share: Option<f64> = "common_offset_share", "";
        /// Size of the pages in which the next statistics count.
        page_bytes: u64 = "page_bytes", "bytes";
        /// Pages touched by reads, counted each time.
        read_pages: u64 = "read_pages", "pages";
        /// Pages touched by writes, counted each time.
        written_pages: u64 = "written_pages", "pages";
        /// Different pages touched.
        unique_pages: u64 = "unique_pages", "pages";
        /// Different pages touched by writes.
        unique_written_pages: u64 = "unique_written_pages", "pages";
        /// Bytes of the different pages touched.
        footprint_bytes: u64 = "footprint_bytes", "bytes";
        /// Share of page writes to a page that was written before.
        rewrite_share: Option<f64> = "rewrite_share", "";
        /// Share of reads and writes that begin where the previous read or write in their volume ended.
        sequential_share: Option<f64> = "sequential_share", "";
        /// Share of writes that begin where the previous write in their volume ended.
        sequential_write_share: Option<f64> = "sequential_write_share", "";
        /// Time from the first arrival to the last.
        span_s: f64 = "span_s", "s";
        /// Mean time between two arrivals.
        interarrival_mean_ms: Option<f64> = "interarrival_mean_ms", "ms";
        /// Share of requests that arrive at the same time as the one before.
        zero_gap_share: Option<f64> = "zero_gap_share", "";
        /// Requests per second, over the whole span.
        requests_per_s: Option<f64> = "requests_per_s", "1/s";
        /// Largest number of requests in a second, over consecutive seconds from the first arrival on. Absent if the
        /// span is less than a second.
        requests_per_s_peak: Option<u64> = "requests_per_s_peak", "1/s";
        /// Bytes read and written per second, over the whole span.
        mb_per_s: Option<f64> = "mb_per_s", "MB/s";
        /// Largest number of bytes read and written in a second. Absent if the span is less than a second.
        mb_per_s_peak: Option<f64> = "mb_per_s_peak", "MB/s";
    }
}

statistics! {
    /// How soon pages and blocks are written again. A distance is the number of page writes in between: 0 for
    /// two in a row. Distances from 16384 on are exact to one in 8192.
    pub struct Locality {
        /// Size of the blocks in which the next statistics count.
        block_pages: u64 = "block_pages", "pages";
        /// Different blocks written to.
        written_blocks: u64 = "written_blocks", "blocks";
        /// Different pages written more than once.
        rewritten_pages: u64 = "rewritten_pages", "pages";
        /// For half of the rewrites, at most this number of other page writes lie between the rewrite and the previous
        /// write of the page (PIRD).
        pird_p50: Option<u64> = "pird.p50", "page writes";
        /// For 90 of 100 rewrites, at most this number of other page writes lie between the rewrite and the previous
        /// write of the page.
        pird_p90: Option<u64> = "pird.p90", "page writes";
        /// For 99 of 100 rewrites, at most this number of other page writes lie between the rewrite and the previous
        /// write of the page.
        pird_p99: Option<u64> = "pird.p99", "page writes";
        /// Share of rewrites with at most 10 other page writes since the previous write of the page.
        pird_within_10: Option<f64> = "pird.share_within_10", "";
        /// Share of rewrites with at most 50 other page writes since the previous write of the page.
        pird_within_50: Option<f64> = "pird.share_within_50", "";
        /// Share of rewrites with at most 100 other page writes since the previous write of the page.
        pird_within_100: Option<f64> = "pird.share_within_100", "";
        /// Share of rewrites with at most 200 other page writes since the previous write of the page.
        pird_within_200: Option<f64> = "pird.share_within_200", "";
        /// Share of rewrites with at most 500 other page writes since the previous write of the page.
        pird_within_500: Option<f64> = "pird.share_within_500", "";
        /// Share of rewrites with at most 1000 other page writes since the previous write of the page.
        pird_within_1000: Option<f64> = "pird.share_within_1000", "";
        /// Share of rewrites with at most 10000 other page writes since the previous write of the page.
        pird_within_10000: Option<f64> = "pird.share_within_10000", "";
        /// Rank correlation (Spearman) between the number of writes of a page and its mean PIRD, over pages
        /// written more than once.
        pird_rank_correlation: Option<f64> = "pird.rank_correlation", "";
        /// Mean PIRD of the 100 pages that are written most often.
        pird_of_first_100: Option<f64> = "pird.mean_of_first_100", "page writes";
        /// Mean PIRD of the 900 pages with ranks 101 to 1000.
        pird_of_next_900: Option<f64> = "pird.mean_of_next_900", "page writes";
        /// Mean PIRD of the 9000 pages with ranks 1001 to 10000.
        pird_of_next_9000: Option<f64> = "pird.mean_of_next_9000", "page writes";
        /// For half of the rewrites, at most this number of different pages were written since the previous write of
        /// the page (stack distance).
        stack_p50: Option<u64> = "stack.p50", "pages";
        /// For 90 of 100 rewrites, at most this number of different pages were written since the previous write of the
        /// page.
        stack_p90: Option<u64> = "stack.p90", "pages";
        /// For 99 of 100 rewrites, at most this number of different pages were written since the previous write of the
        /// page.
        stack_p99: Option<u64> = "stack.p99", "pages";
        /// For half of the page writes to a block, at most this number of other page writes lie between the write and
        /// the previous page write to the block (BIRD).
        bird_p50: Option<u64> = "bird.p50", "page writes";
        /// For 90 of 100 page writes to a block, at most this number of other page writes lie between the write and the
        /// previous page write to the block.
        bird_p90: Option<u64> = "bird.p90", "page writes";
        /// For 99 of 100 page writes to a block, at most this number of other page writes lie between the write and the
        /// previous page write to the block.
        bird_p99: Option<u64> = "bird.p99", "page writes";
        /// Share of page writes to a block with at most 10 other page writes since the previous page write to the
        /// block.
        bird_within_10: Option<f64> = "bird.share_within_10", "";
        /// Share of page writes to a block with at most 50 other page writes since the previous page write to the
        /// block.
        bird_within_50: Option<f64> = "bird.share_within_50", "";
        /// Share of page writes to a block with at most 100 other page writes since the previous page write to the
        /// block.
        bird_within_100: Option<f64> = "bird.share_within_100", "";
        /// Share of page writes to a block with at most 200 other page writes since the previous page write to the
        /// block.
        bird_within_200: Option<f64> = "bird.share_within_200", "";
        /// Share of page writes to a block with at most 500 other page writes since the previous page write to the
        /// block.
        bird_within_500: Option<f64> = "bird.share_within_500", "";
        /// Share of page writes to a block with at most 1000 other page writes since the previous page write to the
        /// block.
        bird_within_1000: Option<f64> = "bird.share_within_1000", "";
        /// Share of page writes to a block with at most 10000 other page writes since the previous page write to the
        /// block.
        bird_within_10000: Option<f64> = "bird.share_within_10000", "";
        /// Different blocks that contain the 10 pages written most often.
        hot_10_pages_blocks: Option<u64> = "hot_pages.blocks_of_10", "blocks";
        /// Different blocks that contain the 50 pages written most often.
        hot_50_pages_blocks: Option<u64> = "hot_pages.blocks_of_50", "blocks";
        /// Different blocks that contain the 100 pages written most often.
        hot_100_pages_blocks: Option<u64> = "hot_pages.blocks_of_100", "blocks";
        /// Different blocks that contain the 500 pages written most often.
        hot_500_pages_blocks: Option<u64> = "hot_pages.blocks_of_500", "blocks";
    }
}

/// The totals of the requests of a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VolumeStatistics {
    /// The number of the volume.
    pub volume: u32,
    /// Requests of all kinds.
    pub requests: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
}
