//! `Metrics`: every name, its unit and meaning, and how it is computed from [`Measured`].
//!
//! Counts and times are integers until here; this is where they become milliseconds and ratios. A metric
//! that has no meaning in a run (no reads, no buffer, no flash) is absent.

use destage_base::Ticks;
use destage_base::time::{TICKS_PER_SECOND, to_ms};
use destage_buffer::destage::DestageCause;
use destage_flash::Cause;
use destage_flash::operation::{MergeCause, MergeKind, Tally};

use crate::error::SimError;
use crate::latencies::Summary;
use crate::measured::Measured;
use crate::renamed;
use crate::settings::suggestion;

/// A metric's row.
#[derive(Clone, Copy, Debug)]
pub struct MetricRow {
    /// Dotted name; `*` stands for each of `mean std p50 p95 p99 p999 max`, or for a scheme's own word.
    pub name: &'static str,
    /// Unit, or nothing for counts and ratios.
    pub unit: &'static str,
    /// One sentence.
    pub about: &'static str,
}

/// A metric's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A count.
    Integer(u64),
    /// A time or a ratio.
    Real(f64),
}

impl Number {
    /// The value as a decimal number.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Integer(number) => number as f64,
            Self::Real(number) => number,
        }
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Integer(number) => write!(formatter, "{number}"),
            Self::Real(number) => write!(formatter, "{number}"),
        }
    }
}

const fn row(name: &'static str, unit: &'static str, about: &'static str) -> MetricRow {
    MetricRow { name, unit, about }
}

/// All metrics, in the order of results.
pub const METRICS: &[MetricRow] = &[
    row("host.requests", "", "Requests that arrived."),
    row(
        "host.completed",
        "",
        "Requests that completed before statistics closed.",
    ),
    row(
        "host.saturated",
        "",
        "1 if the run stopped because host.saturation requests were outstanding.",
    ),
    row("host.page_reads", "", "Pages read by the host."),
    row("host.page_writes", "", "Pages written by the host."),
    row("host.bytes_written", "bytes", "Bytes written by the host."),
    row(
        "response.*_ms",
        "ms",
        "Host response time: arrival to completion.",
    ),
    row("response.read.*_ms", "ms", "The same, of reads."),
    row(
        "response.write.*_ms",
        "ms",
        "The same, of writes, flushes and trims.",
    ),
    row(
        "device_response.*_ms",
        "ms",
        "From being sent to the device to completion.",
    ),
    row(
        "destage_response.*_ms",
        "ms",
        "Of destaged records: from issue to the end of the last program.",
    ),
    row(
        "throughput.iops",
        "1/s",
        "Completed requests over the makespan.",
    ),
    row(
        "throughput.mb_per_s",
        "MB/s",
        "Host bytes written over the makespan; MB is 10^6 bytes.",
    ),
    row(
        "throughput.op_model_mb_per_s",
        "MB/s",
        "Host bytes written over the serial sum of all flash operation times.",
    ),
    row(
        "buffer.write_hits",
        "",
        "Page writes that found their page in the buffer.",
    ),
    row("buffer.read_hits", "", "Page reads served from the buffer."),
    row(
        "buffer.evictions",
        "",
        "Destage records because room was needed.",
    ),
    row(
        "buffer.destaged_pages",
        "",
        "Dirty pages destaged, padding excluded.",
    ),
    row(
        "buffer.mean_destage_pages",
        "pages",
        "Dirty pages per destage record.",
    ),
    row(
        "buffer.on_demand_updates",
        "",
        "Dirty pages destaged because room was needed.",
    ),
    row("buffer.pad_reads", "", "Pages read to complete a cluster."),
    row(
        "buffer.pad_fills",
        "",
        "Never-written pages programmed to complete a cluster.",
    ),
    row(
        "buffer.dirty_at_end",
        "",
        "Dirty pages in the buffer when statistics closed.",
    ),
    row(
        "buffer.dirty_bytes_max",
        "bytes",
        "Most bytes of dirty pages in the buffer at one moment; never more than its capacity.",
    ),
    row(
        "buffer.oldest_dirty_ms_max",
        "ms",
        "Longest time a page stayed dirty.",
    ),
    row(
        "device.at_risk_bytes_max",
        "bytes",
        "Most bytes that a loss of power would have lost: resident dirty, leaving, held and bypassed, until their program has ended.",
    ),
    row(
        "scheme.*",
        "",
        "Figures only the chosen scheme has, such as thresholds it learnt; see its page in docs/schemes.",
    ),
    row(
        "sim.precondition_pages",
        "pages",
        "Page writes that made the device's contents before the first request; nothing else counts them.",
    ),
    row(
        "device.worn_out",
        "",
        "1 if the run ended because so many blocks had retired that none was left to write to; only with flash.wearout = retire.",
    ),
    row("device.worn_out_ms", "ms", "First arrival to that end."),
    row("flash.reads", "", "Page reads."),
    row("flash.programs", "", "Page programs."),
    row("flash.erases", "", "Block erases."),
    row(
        "flash.pages_moved",
        "",
        "Valid pages moved by garbage collection or merging.",
    ),
    row(
        "flash.programs.host",
        "",
        "Programs of pages the buffer or host wrote.",
    ),
    row(
        "flash.programs.pad",
        "",
        "Programs that complete a cluster.",
    ),
    row(
        "flash.programs.copy",
        "",
        "Programs by garbage collection or merging.",
    ),
    row(
        "flash.programs.map",
        "",
        "Programs of summary or translation pages.",
    ),
    row("flash.programs.wear", "", "Programs by wear levelling."),
    row("flash.utilization_mean", "", "Busy share, mean over dies."),
    row(
        "flash.utilization_min",
        "",
        "Busy share of the least busy die.",
    ),
    row(
        "flash.utilization_max",
        "",
        "Busy share of the busiest die.",
    ),
    row(
        "flash.parallelism_mean",
        "",
        "Mean number of busy dies while any is busy.",
    ),
    row(
        "ftl.gc_runs",
        "",
        "Garbage collections, each of one or several blocks.",
    ),
    row(
        "ftl.gc_time_ms",
        "ms",
        "Time of garbage collections, summed over dies.",
    ),
    row(
        "ftl.merges.switch",
        "",
        "Merges in which the log block became the data block as it was.",
    ),
    row(
        "ftl.merges.partial",
        "",
        "Merges in which it did after the rest of its pages was copied.",
    ),
    row(
        "ftl.merges.full",
        "",
        "Merges in which all pages were copied to a new block.",
    ),
    row(
        "ftl.merge_causes.own_log",
        "",
        "Merges because a block's own log block could not take a page.",
    ),
    row(
        "ftl.merge_causes.room",
        "",
        "Merges because another block needed room in the log.",
    ),
    row(
        "ftl.merge_causes.eager",
        "",
        "Merges before they were needed.",
    ),
    row("ftl.merge_copies", "pages", "Pages copied by merges."),
    row("ftl.merge_erases", "blocks", "Blocks erased by merges."),
    row(
        "ftl.merge_time_ms",
        "ms",
        "Programs and erases of merges; with sim.merge_time_* also their reads and transfers.",
    ),
    row("ftl.map_bytes", "bytes", "RAM of the mapping tables."),
    row(
        "ftl.*",
        "",
        "Figures only the chosen FTL has, such as a hit ratio of its map; see its page in docs/ftls.",
    ),
    row(
        "waf.bytes",
        "",
        "Bytes of data programmed per byte the host wrote.",
    ),
    row("waf.host", "", "Flash programs per page the host wrote."),
    row("waf.ftl", "", "Flash programs per page given to the FTL."),
    row(
        "wear.blocks_retired",
        "blocks",
        "Blocks erased flash.endurance times, and not used any more; only with flash.wearout = retire.",
    ),
    row("wear.erase_min", "", "Fewest erases of a block."),
    row("wear.erase_max", "", "Most erases of a block."),
    row("wear.erase_mean", "", "Mean erases of a block."),
    row(
        "wear.erase_std",
        "",
        "Standard deviation of the erases of a block.",
    ),
];

/// Metrics by name, in the order of [`METRICS`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metrics {
    rows: Vec<(String, Number)>,
}

impl Metrics {
    /// Names and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Number)> {
        self.rows
            .iter()
            .map(|(name, number)| (name.as_str(), *number))
    }

    /// The value of `name`, if it has a meaning in this run.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Number> {
        self.rows
            .iter()
            .find(|(other, _)| other == name)
            .map(|(_, number)| *number)
    }

    fn count(&mut self, name: &str, number: u64) {
        self.rows.push((name.to_owned(), Number::Integer(number)));
    }

    fn real(&mut self, name: &str, number: f64) {
        // A ratio with nothing below it has no meaning.
        if number.is_finite() {
            self.rows.push((name.to_owned(), Number::Real(number)));
        }
    }

    fn summary(&mut self, prefix: &str, summary: Option<Summary>) {
        let Some(summary) = summary else { return };
        let [p50, p95, p99, p999] = summary.percentiles_ms;
        let values = [
            ("mean", summary.mean_ms),
            ("std", summary.std_ms),
            ("p50", p50),
            ("p95", p95),
            ("p99", p99),
            ("p999", p999),
            ("max", summary.max_ms),
        ];
        for (name, value) in values {
            self.real(&format!("{prefix}.{name}_ms"), value);
        }
    }
}

/// Ticks that count as merge time.
#[derive(Clone, Copy, Debug)]
pub struct MergeCost {
    /// For each page copied.
    pub copy: Ticks,
    /// For each block erased.
    pub erase: Ticks,
}

/// What the metrics need to know of the configuration.
#[derive(Clone, Copy, Debug)]
pub struct Scope {
    /// The run had a clock.
    pub timed: bool,
    /// The run had flash.
    pub flash: bool,
    /// Page writes that made the device's contents before the first request.
    pub prepared_pages: u64,
    /// Its FTL merges blocks, and what that is charged.
    pub merges: Option<MergeCost>,
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Blocks retire when they are worn out.
    pub retires: bool,
}

/// Computes all metrics that have a meaning.
#[must_use]
pub fn collect(measured: &Measured, scope: &Scope) -> Metrics {
    let mut metrics = Metrics::default();
    metrics.count("host.requests", measured.requests);
    metrics.count("host.completed", measured.completed);
    if scope.timed {
        metrics.count("host.saturated", u64::from(measured.saturated));
    }
    metrics.count("host.page_reads", measured.page_reads);
    metrics.count("host.page_writes", measured.page_writes);
    metrics.count("host.bytes_written", measured.bytes_written);
    let all = measured.response.all();
    metrics.summary("response", all);
    metrics.summary("response.read", measured.response.reads(all));
    metrics.summary("response.write", measured.response.writes(all));
    metrics.summary("device_response", measured.device_response.all());
    metrics.summary("destage_response", measured.destage_response.all());
    throughput(&mut metrics, measured, scope);
    buffer(&mut metrics, measured, scope);
    device(&mut metrics, measured, scope);
    if scope.flash {
        flash(&mut metrics, measured, scope);
    }
    metrics
}

fn throughput(metrics: &mut Metrics, measured: &Measured, scope: &Scope) {
    let megabytes = measured.bytes_written as f64 / 1e6;
    let seconds = measured.makespan as f64 / TICKS_PER_SECOND as f64;
    if scope.timed {
        metrics.real("throughput.iops", measured.completed as f64 / seconds);
        if measured.bytes_written > 0 {
            metrics.real("throughput.mb_per_s", megabytes / seconds);
        }
    }
    let serial = measured.totals.serial_time as f64 / TICKS_PER_SECOND as f64;
    if measured.bytes_written > 0 {
        metrics.real("throughput.op_model_mb_per_s", megabytes / serial);
    }
}

fn buffer(metrics: &mut Metrics, measured: &Measured, scope: &Scope) {
    let Some(counts) = &measured.counts else {
        // What bypasses the buffer is still destaged.
        metrics.count("buffer.destaged_pages", measured.page_writes);
        return;
    };
    let records: u64 = counts.records.iter().sum();
    metrics.count("buffer.write_hits", counts.write_hits);
    if measured.page_reads > 0 {
        metrics.count("buffer.read_hits", counts.read_hits);
    }
    metrics.count("buffer.evictions", counts.evictions());
    metrics.count("buffer.destaged_pages", counts.destaged());
    metrics.real(
        "buffer.mean_destage_pages",
        counts.destaged() as f64 / records as f64,
    );
    metrics.count(
        "buffer.on_demand_updates",
        counts.destaged_pages[DestageCause::Evict as usize],
    );
    metrics.count("buffer.pad_reads", counts.pad_reads);
    metrics.count("buffer.pad_fills", counts.pad_fills);
    metrics.count("buffer.dirty_at_end", u64::from(counts.dirty));
    metrics.count(
        "buffer.dirty_bytes_max",
        u64::from(counts.dirty_max) * scope.page_bytes,
    );
    metrics.real("buffer.oldest_dirty_ms_max", to_ms(counts.oldest_dirty_max));
}

/// Figures of the buffer's scheme and of the device around it.
fn device(metrics: &mut Metrics, measured: &Measured, scope: &Scope) {
    if scope.flash {
        metrics.count(
            "device.at_risk_bytes_max",
            measured.at_risk_max * scope.page_bytes,
        );
    }
    for (name, value) in &measured.scheme_figures {
        metrics.real(&format!("scheme.{name}"), *value);
    }
}

fn flash(metrics: &mut Metrics, measured: &Measured, scope: &Scope) {
    let totals = &measured.totals;
    let programs: u64 = totals.tally.programs.iter().sum();
    if scope.retires {
        metrics.count("device.worn_out", u64::from(measured.worn_out));
    }
    if scope.timed && measured.worn_out {
        metrics.real("device.worn_out_ms", to_ms(measured.makespan));
    }
    if scope.prepared_pages > 0 {
        metrics.count("sim.precondition_pages", scope.prepared_pages);
    }
    metrics.count("flash.reads", totals.tally.reads.iter().sum());
    metrics.count("flash.programs", programs);
    metrics.count("flash.erases", totals.tally.erases.iter().sum());
    metrics.count(
        "flash.pages_moved",
        totals.tally.programs[Cause::Copy as usize],
    );
    for cause in Cause::ALL {
        let name = format!("flash.programs.{}", cause.name());
        metrics.count(&name, totals.tally.programs[cause as usize]);
    }
    if scope.timed {
        let makespan = measured.makespan as f64;
        let busy = || totals.busy.iter().map(|busy| *busy as f64 / makespan);
        let sum: u64 = totals.busy.iter().sum();
        metrics.real(
            "flash.utilization_mean",
            sum as f64 / makespan / totals.busy.len() as f64,
        );
        metrics.real(
            "flash.utilization_min",
            busy().fold(f64::INFINITY, f64::min),
        );
        metrics.real(
            "flash.utilization_max",
            busy().fold(f64::NEG_INFINITY, f64::max),
        );
        metrics.real(
            "flash.parallelism_mean",
            sum as f64 / totals.any_busy as f64,
        );
    }
    if let Some(cost) = scope.merges {
        merges(metrics, &totals.tally, cost);
    }
    metrics.count("ftl.gc_runs", totals.gc_runs);
    metrics.real("ftl.gc_time_ms", to_ms(totals.gc_time));
    metrics.count("ftl.map_bytes", measured.map_bytes);
    for (name, value) in &measured.ftl_figures {
        metrics.real(&format!("ftl.{name}"), *value);
    }
    let bytes = programs as f64 * scope.page_bytes as f64;
    metrics.real("waf.bytes", bytes / measured.bytes_written as f64);
    metrics.real("waf.host", programs as f64 / measured.page_writes as f64);
    let given = totals.tally.programs[Cause::Host as usize];
    metrics.real("waf.ftl", programs as f64 / given as f64);

    let wear = &measured.wear;
    let blocks = wear.blocks as f64;
    if scope.retires {
        metrics.count("wear.blocks_retired", measured.retired);
    }
    metrics.count("wear.erase_min", wear.min);
    metrics.count("wear.erase_max", wear.max);
    metrics.real("wear.erase_mean", wear.sum as f64 / blocks);
    let spread =
        u128::from(wear.blocks) * wear.sum_of_squares - u128::from(wear.sum) * u128::from(wear.sum);
    metrics.real("wear.erase_std", (spread as f64).sqrt() / blocks);
}

fn merges(metrics: &mut Metrics, tally: &Tally, cost: MergeCost) {
    for kind in MergeKind::ALL {
        let name = format!("ftl.merges.{}", kind.name());
        metrics.count(&name, tally.merges[kind as usize]);
    }
    for cause in MergeCause::ALL {
        let name = format!("ftl.merge_causes.{}", cause.name());
        metrics.count(&name, tally.merge_causes[cause as usize]);
    }
    metrics.count("ftl.merge_copies", tally.merge_copies);
    metrics.count("ftl.merge_erases", tally.merge_erases);
    let copies = tally.merge_copies.saturating_mul(cost.copy);
    let time = copies.saturating_add(tally.merge_erases.saturating_mul(cost.erase));
    metrics.real("ftl.merge_time_ms", to_ms(time));
}

/// What `*` stands for where the name goes on behind it.
const SUMMARIES: [&str; 7] = ["mean", "std", "p50", "p95", "p99", "p999", "max"];

/// The row of metric `name`.
#[must_use]
pub fn find(name: &str) -> Option<&'static MetricRow> {
    METRICS.iter().find(|row| match row.name.split_once('*') {
        None => row.name == name,
        Some((prefix, suffix)) => name
            .strip_prefix(prefix)
            .and_then(|rest| rest.strip_suffix(suffix))
            .is_some_and(|middle| match suffix {
                // A scheme's or layer's own word.
                "" => !middle.is_empty() && !middle.contains('.'),
                _ => SUMMARIES.contains(&middle),
            }),
    })
}

/// The row of metric `name`, which a user gave.
///
/// # Errors
/// If there is none; the message has the new name of one that was renamed, or the nearest.
pub fn require(name: &str) -> Result<&'static MetricRow, SimError> {
    // First: a row such as `ftl.*` takes every name of its section.
    if let Some(new) = renamed::metric(name) {
        return Err(SimError::Config(format!(
            "metric {name:?} is now {new}; expected {new}"
        )));
    }
    find(name).ok_or_else(|| {
        SimError::Config(format!(
            "unknown metric {name:?}{}; expected a name from `destage list metrics`",
            suggestion(name, METRICS.iter().map(|row| row.name))
        ))
    })
}

#[cfg(test)]
mod tests;
