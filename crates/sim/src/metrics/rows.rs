//! The rows of all metrics. The name of a metric is written here and nowhere else.

use destage_base::parameter::prose;

/// A metric's row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MetricRow {
    /// Dotted name. `*` is replaced by each of `mean std p50 p95 p99 p999 max`, by the number of a queue, or by a
    /// word of one scheme or layer.
    pub name: &'static str,
    /// Unit; empty for counts and ratios.
    pub unit: &'static str,
    /// The meaning, in one sentence.
    pub about: &'static str,
}

impl MetricRow {
    /// The name with `word` in place of the star.
    #[must_use]
    pub fn of(&self, word: &str) -> String {
        self.name.replace('*', word)
    }
}

/// Declares the rows and the list of all rows, so that the list is complete.
macro_rules! metrics {
    ($( $(#[doc = $about:literal])+ $constant:ident = $name:literal, $unit:literal; )+) => {
        $(
            $(#[doc = $about])+
            pub const $constant: &MetricRow = &MetricRow {
                name: $name,
                unit: $unit,
                about: prose(concat!($($about),+)),
            };
        )+

        /// All metrics, in the order of results.
        pub const METRICS: &[&MetricRow] = &[$($constant),+];
    };
}

metrics! {
    /// Requests that arrived.
    HOST_REQUESTS = "host.requests", "";
    /// Requests that completed before statistics closed.
    HOST_COMPLETED = "host.completed", "";
    /// 1 if the run stopped because host.saturation requests were outstanding.
    HOST_SATURATED = "host.saturated", "";
    /// Pages read by the host.
    HOST_PAGE_READS = "host.page_reads", "";
    /// Pages written by the host; also by its trims, if device.trim = strict.
    HOST_PAGE_WRITES = "host.page_writes", "";
    /// Bytes written by the host; also by its trims, if device.trim = strict.
    HOST_BYTES_WRITTEN = "host.bytes_written", "bytes";
    /// Host response time: arrival to completion.
    RESPONSE = "response.*_ms", "ms";
    /// Host response time of reads.
    RESPONSE_READ = "response.read.*_ms", "ms";
    /// Host response time of writes, flushes and trims.
    RESPONSE_WRITE = "response.write.*_ms", "ms";
    /// Time from the sending of a request to the device until the completion of the request.
    DEVICE_RESPONSE = "device_response.*_ms", "ms";
    /// Completed requests of each queue; metrics of queues exist only with host.queues above 1.
    HOST_QUEUE_COMPLETED = "host.queue_completed.*", "";
    /// Mean response time of each queue.
    HOST_QUEUE_MEAN_MS = "host.queue_mean_ms.*", "ms";
    /// 99th percentile of the response times of each queue; at most a thousandth too large.
    HOST_QUEUE_P99_MS = "host.queue_p99_ms.*", "ms";
    /// Largest response time of each queue.
    HOST_QUEUE_MAX_MS = "host.queue_max_ms.*", "ms";
    /// Fraction of time for which the link to the device is busy; only with a link.
    HOST_LINK_IN_UTILIZATION = "host.link_in_utilization", "";
    /// Mean wait of a message for the link to the device.
    HOST_LINK_IN_WAIT_MS = "host.link_in_wait_ms", "ms";
    /// Fraction of time for which the link to the host is busy.
    HOST_LINK_OUT_UTILIZATION = "host.link_out_utilization", "";
    /// Mean wait of a message for the link to the host.
    HOST_LINK_OUT_WAIT_MS = "host.link_out_wait_ms", "ms";
    /// Fraction of time for which the firmware's cores are busy; only with device.firmware_ns,
    /// device.firmware_read_ns, device.firmware_page_ns or device.firmware_program_ns.
    DEVICE_FIRMWARE_UTILIZATION = "device.firmware_utilization", "";
    /// Mean wait of a request for a core.
    DEVICE_FIRMWARE_WAIT_MS = "device.firmware_wait_ms", "ms";
    /// Fraction of time for which the DRAM is busy; only with device.dram_access_ns,
    /// device.dram_ns_per_byte or device.dram_program_ns.
    DEVICE_DRAM_UTILIZATION = "device.dram_utilization", "";
    /// Mean time for which requests, and pages from or to the dies, wait for the DRAM.
    DEVICE_DRAM_WAIT_MS = "device.dram_wait_ms", "ms";
    /// Energy of the link; only with host.link_uj_per_byte.
    ENERGY_LINK_MJ = "energy.link_mj", "mJ";
    /// Energy of the firmware's cores; only with device.firmware_uj.
    ENERGY_FIRMWARE_MJ = "energy.firmware_mj", "mJ";
    /// Energy of the DRAM; only with device.dram_uj_per_byte.
    ENERGY_DRAM_MJ = "energy.dram_mj", "mJ";
    /// Response time of destages: from the moment at which pages leave the scheme together to the end of their last
    /// program.
    DESTAGE_RESPONSE = "destage_response.*_ms", "ms";
    /// Completed requests divided by the makespan.
    THROUGHPUT_IOPS = "throughput.iops", "1/s";
    /// Bytes that the host read and wrote, divided by the makespan; MB is 10^6 bytes.
    THROUGHPUT_MB_PER_S = "throughput.mb_per_s", "MB/s";
    /// Bytes that the host wrote, divided by the sum of the times of all flash operations.
    THROUGHPUT_OP_MODEL_MB_PER_S = "throughput.op_model_mb_per_s", "MB/s";
    /// Page writes that found their page in the buffer.
    BUFFER_WRITE_HITS = "buffer.write_hits", "";
    /// Percentage of the page writes that found their page in the buffer.
    BUFFER_WRITE_HITS_PERCENT = "buffer.write_hits_percent", "%";
    /// Page reads served from the buffer.
    BUFFER_READ_HITS = "buffer.read_hits", "";
    /// Number of destages of pages that were evicted because the buffer needed room, one for each call of the scheme.
    BUFFER_EVICTIONS = "buffer.evictions", "";
    /// Dirty pages destaged, padding excluded.
    BUFFER_DESTAGED_PAGES = "buffer.destaged_pages", "";
    /// Mean number of dirty pages per destage: the pages that the scheme hands over in one call.
    BUFFER_MEAN_DESTAGE_PAGES = "buffer.mean_destage_pages", "pages";
    /// Dirty pages that were evicted because the buffer needed room.
    BUFFER_ON_DEMAND_UPDATES = "buffer.on_demand_updates", "";
    /// Pages read to complete a cluster.
    BUFFER_PAD_READS = "buffer.pad_reads", "";
    /// Never-written pages programmed to complete a cluster.
    BUFFER_PAD_FILLS = "buffer.pad_fills", "";
    /// Dirty pages in the buffer when statistics closed.
    BUFFER_DIRTY_AT_END = "buffer.dirty_at_end", "";
    /// Largest number of bytes of dirty pages in the buffer at one moment; never more than the capacity of the
    /// buffer.
    BUFFER_DIRTY_BYTES_MAX = "buffer.dirty_bytes_max", "bytes";
    /// Longest time for which a page stayed dirty.
    BUFFER_OLDEST_DIRTY_MS_MAX = "buffer.oldest_dirty_ms_max", "ms";
    /// Times for which pages were dirty, each until the page was programmed or dropped, or until the run ended; only
    /// with sim.dirty_ages.
    BUFFER_DIRTY_AGE = "buffer.dirty_age.*_ms", "ms";
    /// Time from the last arrival until no page is dirty and all programs have ended; only with sim.run_out or
    /// sim.drain, and only if the device becomes clean.
    BUFFER_CLEAN_AFTER_MS = "buffer.clean_after_ms", "ms";
    /// Largest number of bytes at risk of a loss of power at one moment: dirty pages, pages on their way to flash,
    /// held pages, and pages that bypass the buffer, each until its program has ended.
    DEVICE_AT_RISK_BYTES_MAX = "device.at_risk_bytes_max", "bytes";
    /// Figures that only the chosen scheme has, such as thresholds that the scheme learnt; see the page of the scheme
    /// in docs/schemes.
    SCHEME = "scheme.*", "";
    /// Page writes of the precondition, before the first request; no other metric counts them.
    SIM_PRECONDITION_PAGES = "sim.precondition_pages", "pages";
    /// 1 if the run ended because so many blocks were retired that no free block was left; only with
    /// flash.wearout = retire.
    DEVICE_WORN_OUT = "device.worn_out", "";
    /// Time from the first arrival until the device was worn out.
    DEVICE_WORN_OUT_MS = "device.worn_out_ms", "ms";
    /// Page reads.
    FLASH_READS = "flash.reads", "";
    /// Page programs.
    FLASH_PROGRAMS = "flash.programs", "";
    /// Block erases.
    FLASH_ERASES = "flash.erases", "";
    /// Valid pages moved by garbage collection, by merges, or by folds of the pSLC cache.
    FLASH_PAGES_MOVED = "flash.pages_moved", "";
    /// Programs of pages that the buffer or the host wrote.
    FLASH_PROGRAMS_HOST = "flash.programs.host", "";
    /// Programs of padding: pages that complete a cluster, and fillers that complete a program unit or a zone.
    FLASH_PROGRAMS_PAD = "flash.programs.pad", "";
    /// Programs of copies, by garbage collection, by merges, and by folds of the pSLC cache.
    FLASH_PROGRAMS_COPY = "flash.programs.copy", "";
    /// Programs of metadata: summary pages, pages of the map or of its journal, and with the layer striped the drive's
    /// own data.
    FLASH_PROGRAMS_MAP = "flash.programs.map", "";
    /// Programs by wear levelling.
    FLASH_PROGRAMS_WEAR = "flash.programs.wear", "";
    /// Fraction of time for which a die is busy; mean over the dies.
    FLASH_UTILIZATION_MEAN = "flash.utilization_mean", "";
    /// Fraction of time for which the least busy die is busy.
    FLASH_UTILIZATION_MIN = "flash.utilization_min", "";
    /// Fraction of time for which the busiest die is busy.
    FLASH_UTILIZATION_MAX = "flash.utilization_max", "";
    /// Mean number of busy dies while at least one die is busy.
    FLASH_PARALLELISM_MEAN = "flash.parallelism_mean", "";
    /// Steps of garbage collection; a collection of one or several blocks is one step, or several with
    /// ftl.gc_step_pages and with the layer striped.
    FTL_GC_RUNS = "ftl.gc_runs", "";
    /// Time of garbage collections, summed over dies.
    FTL_GC_TIME_MS = "ftl.gc_time_ms", "ms";
    /// Merges in which the log block became the data block unchanged.
    FTL_MERGES_SWITCH = "ftl.merges.switch", "";
    /// Merges in which the log block became the data block after the missing pages were copied to it.
    FTL_MERGES_PARTIAL = "ftl.merges.partial", "";
    /// Merges in which all pages were copied to a new block.
    FTL_MERGES_FULL = "ftl.merges.full", "";
    /// Merges that were done because the log block of the written block had no room for the page.
    FTL_MERGE_CAUSES_OWN_LOG = "ftl.merge_causes.own_log", "";
    /// Merges that were done because another block needed room in the log.
    FTL_MERGE_CAUSES_ROOM = "ftl.merge_causes.room", "";
    /// Merges that were done before they were needed.
    FTL_MERGE_CAUSES_EAGER = "ftl.merge_causes.eager", "";
    /// Pages copied by merges.
    FTL_MERGE_COPIES = "ftl.merge_copies", "pages";
    /// Blocks erased by merges.
    FTL_MERGE_ERASES = "ftl.merge_erases", "blocks";
    /// Time of the programs and erases of merges; with sim.merge_time_* also of their reads and transfers.
    FTL_MERGE_TIME_MS = "ftl.merge_time_ms", "ms";
    /// Size of the mapping tables in RAM.
    FTL_MAP_BYTES = "ftl.map_bytes", "bytes";
    /// Figures that only the chosen FTL has, such as the hit ratio of a cached mapping table; see the page of the FTL
    /// in docs/ftls.
    FTL = "ftl.*", "";
    /// Write amplification in bytes: bytes of data programmed per byte that the host wrote.
    WAF_BYTES = "waf.bytes", "";
    /// Write amplification in pages: flash programs per page that the host wrote.
    WAF_HOST = "waf.host", "";
    /// Write amplification below the buffer: flash programs, padding included, per program of a page that the host or
    /// the buffer wrote.
    WAF_FTL = "waf.ftl", "";
    /// Blocks that were erased flash.endurance times and are no longer used; only with flash.wearout = retire.
    WEAR_BLOCKS_RETIRED = "wear.blocks_retired", "blocks";
    /// Smallest number of erases of a block.
    WEAR_ERASE_MIN = "wear.erase_min", "";
    /// Largest number of erases of a block.
    WEAR_ERASE_MAX = "wear.erase_max", "";
    /// Mean number of erases of a block.
    WEAR_ERASE_MEAN = "wear.erase_mean", "";
    /// Standard deviation of the number of erases of a block.
    WEAR_ERASE_STD = "wear.erase_std", "";
}
