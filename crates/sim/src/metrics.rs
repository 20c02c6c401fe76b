//! `Metrics`: all metrics by name, with unit and meaning, and their computation from [`Measured`].
//!
//! This module receives counts and times as integers, and converts them to milliseconds and ratios. A metric that has
//! no meaning in a run (no reads, no buffer, no flash) is absent.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use destage_base::Ticks;
use destage_base::time::{TICKS_PER_SECOND, to_ms};
use destage_buffer::destage::DestageCause;
use destage_nand::Cause;
use destage_nand::operation::{MergeCause, MergeKind, Tally};
use destage_trace::statistics::StatisticRow;

use crate::error::SimError;
use crate::latencies::{Counted, Summary};
use crate::measured::Measured;
use crate::renamed;
use crate::run::Learnt;
use crate::settings;

mod front;
pub mod rows;

pub use rows::{METRICS, MetricRow};

/// The value of a metric.
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

/// Metrics by name. The metrics of a run are in the order of [`METRICS`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metrics {
    rows: Vec<(String, Number)>,
}

impl FromIterator<(String, Number)> for Metrics {
    /// Keeps names and values in the given order.
    fn from_iter<T: IntoIterator<Item = (String, Number)>>(rows: T) -> Self {
        Self {
            rows: rows.into_iter().collect(),
        }
    }
}

impl Metrics {
    /// Names and values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Number)> {
        self.rows
            .iter()
            .map(|(name, number)| (name.as_str(), *number))
    }

    /// The value of metric `name`; `None` if it has no meaning in this run.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Number> {
        self.rows
            .iter()
            .find(|(other, _)| other == name)
            .map(|(_, number)| *number)
    }

    fn count(&mut self, row: &MetricRow, number: u64) {
        let name = row.name.to_owned();
        self.rows.push((name, Number::Integer(number)));
    }

    fn real(&mut self, row: &MetricRow, number: f64) {
        self.figure(row, "", number);
    }

    /// Adds a value under the name of `row`, with `word` in place of the star.
    fn figure(&mut self, row: &MetricRow, word: &str, number: f64) {
        // A ratio with denominator 0 has no meaning and is left out.
        if number.is_finite() {
            self.rows.push((row.of(word), Number::Real(number)));
        }
    }

    fn summary(&mut self, row: &MetricRow, summary: Option<Summary>) {
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
        for (word, value) in values {
            self.figure(row, word, value);
        }
    }
}

/// The times that count as merge time.
#[derive(Clone, Copy, Debug)]
pub struct MergeCost {
    /// Ticks for each copied page.
    pub copy: Ticks,
    /// Ticks for each erased block.
    pub erase: Ticks,
}

/// The settings of the path between host and buffer that metrics need: energies in microjoules, and the number of
/// cores.
#[derive(Clone, Copy, Default, Debug)]
pub struct FrontScope {
    /// Energy of a byte on the link.
    pub link_byte: f64,
    /// Energy of a request on a firmware core.
    pub request: f64,
    /// Energy of a page that is read from the DRAM or written to it.
    pub dram_page: f64,
    /// Number of firmware cores.
    pub cores: u32,
}

/// The settings that metrics need.
#[derive(Clone, Copy, Debug)]
pub struct Scope {
    /// Whether the run has a clock.
    pub timed: bool,
    /// Whether the run has flash.
    pub flash: bool,
    /// The number of page writes that made the contents of the device before the first request.
    pub prepared_pages: u64,
    /// The cost of merges; `None` if the FTL does not merge blocks.
    pub merges: Option<MergeCost>,
    /// Number of bytes in a page.
    pub page_bytes: u64,
    /// Whether worn-out blocks are retired.
    pub retires: bool,
    /// The settings of the path between host and buffer.
    pub front: FrontScope,
}

/// Computes all metrics that have a meaning in the run.
#[must_use]
pub fn collect(measured: &Measured, scope: &Scope) -> Metrics {
    let mut metrics = Metrics::default();
    metrics.count(rows::HOST_REQUESTS, measured.host.requests);
    metrics.count(rows::HOST_COMPLETED, measured.host.completed);
    if scope.timed {
        metrics.count(rows::HOST_SATURATED, u64::from(measured.saturated));
    }
    metrics.count(rows::HOST_PAGE_READS, measured.host.page_reads);
    metrics.count(rows::HOST_PAGE_WRITES, measured.host.page_writes);
    metrics.count(rows::HOST_BYTES_WRITTEN, measured.host.bytes_written);
    let all = measured.responses.host.all();
    metrics.summary(rows::RESPONSE, all);
    metrics.summary(rows::RESPONSE_READ, measured.responses.host.reads(all));
    metrics.summary(rows::RESPONSE_WRITE, measured.responses.host.writes(all));
    metrics.summary(rows::DEVICE_RESPONSE, measured.responses.device.all());
    front::queues(&mut metrics, &measured.responses.queues);
    front::servers(&mut metrics, measured, &scope.front);
    metrics.summary(rows::DESTAGE_RESPONSE, measured.responses.destage.all());
    throughput(&mut metrics, measured, scope);
    buffer(&mut metrics, measured, scope);
    device(&mut metrics, measured, scope);
    if scope.flash {
        flash(&mut metrics, measured, scope);
    }
    metrics
}

/// The series that the scheme recorded, under the names of its metrics.
#[must_use]
pub fn learnt(of_scheme: Vec<destage_buffer::scheme::Series>) -> Learnt {
    let named = of_scheme.into_iter();
    named
        .map(|series| (rows::SCHEME.of(series.name), series.values))
        .collect()
}

fn throughput(metrics: &mut Metrics, measured: &Measured, scope: &Scope) {
    let seconds = measured.makespan as f64 / TICKS_PER_SECOND as f64;
    if scope.timed {
        metrics.real(
            rows::THROUGHPUT_IOPS,
            measured.host.completed as f64 / seconds,
        );
        let bytes = measured.host.bytes_read + measured.host.bytes_written;
        if bytes > 0 {
            metrics.real(rows::THROUGHPUT_MB_PER_S, bytes as f64 / 1e6 / seconds);
        }
    }
    let serial = measured.flash.totals.serial_time as f64 / TICKS_PER_SECOND as f64;
    if measured.host.bytes_written > 0 {
        let megabytes = measured.host.bytes_written as f64 / 1e6;
        metrics.real(rows::THROUGHPUT_OP_MODEL_MB_PER_S, megabytes / serial);
    }
}

fn buffer(metrics: &mut Metrics, measured: &Measured, scope: &Scope) {
    let Some(counts) = &measured.buffer.counts else {
        // Without a buffer every written page is still destaged.
        metrics.count(rows::BUFFER_DESTAGED_PAGES, measured.host.page_writes);
        return;
    };
    let records: u64 = counts.records.iter().sum();
    metrics.count(rows::BUFFER_WRITE_HITS, counts.write_hits);
    if measured.host.page_writes > 0 {
        let share = counts.write_hits as f64 / measured.host.page_writes as f64;
        metrics.real(rows::BUFFER_WRITE_HITS_PERCENT, 100.0 * share);
    }
    if measured.host.page_reads > 0 {
        metrics.count(rows::BUFFER_READ_HITS, counts.read_hits);
    }
    metrics.count(rows::BUFFER_EVICTIONS, counts.evictions());
    metrics.count(rows::BUFFER_DESTAGED_PAGES, counts.destaged());
    metrics.real(
        rows::BUFFER_MEAN_DESTAGE_PAGES,
        counts.destaged() as f64 / records as f64,
    );
    metrics.count(
        rows::BUFFER_ON_DEMAND_UPDATES,
        counts.destaged_pages[DestageCause::Evict as usize],
    );
    metrics.count(rows::BUFFER_PAD_READS, counts.pads.read);
    metrics.count(rows::BUFFER_PAD_FILLS, counts.pads.filled);
    metrics.count(rows::BUFFER_DIRTY_AT_END, u64::from(counts.dirty));
    metrics.count(
        rows::BUFFER_DIRTY_BYTES_MAX,
        u64::from(counts.dirty_max) * scope.page_bytes,
    );
    metrics.real(
        rows::BUFFER_OLDEST_DIRTY_MS_MAX,
        to_ms(counts.oldest_dirty_max),
    );
    let age = measured.dirty_age.as_ref();
    metrics.summary(rows::BUFFER_DIRTY_AGE, age.and_then(Counted::summary));
    if let Some(time) = measured.clean_after {
        metrics.real(rows::BUFFER_CLEAN_AFTER_MS, to_ms(time));
    }
}

/// The figures of the buffer's scheme and of the device around it.
fn device(metrics: &mut Metrics, measured: &Measured, scope: &Scope) {
    if scope.flash {
        metrics.count(
            rows::DEVICE_AT_RISK_BYTES_MAX,
            measured.at_risk_max * scope.page_bytes,
        );
    }
    for (name, value) in &measured.buffer.own {
        metrics.figure(rows::SCHEME, name, *value);
    }
    for series in &measured.buffer.series {
        if let Some(squared) = series.squared_variation {
            let name = format!("{}_cv", series.name);
            metrics.figure(rows::SCHEME, &name, squared.sqrt());
        }
    }
}

fn flash(metrics: &mut Metrics, measured: &Measured, scope: &Scope) {
    let totals = &measured.flash.totals;
    let programs: u64 = totals.tally.programs.iter().sum();
    if scope.retires {
        metrics.count(rows::DEVICE_WORN_OUT, u64::from(measured.worn_out));
    }
    if scope.timed && measured.worn_out {
        metrics.real(rows::DEVICE_WORN_OUT_MS, to_ms(measured.worn_out_after));
    }
    if scope.prepared_pages > 0 {
        metrics.count(rows::SIM_PRECONDITION_PAGES, scope.prepared_pages);
    }
    metrics.count(rows::FLASH_READS, totals.tally.reads.iter().sum());
    metrics.count(rows::FLASH_PROGRAMS, programs);
    metrics.count(rows::FLASH_ERASES, totals.tally.erases.iter().sum());
    metrics.count(
        rows::FLASH_PAGES_MOVED,
        totals.tally.programs[Cause::Copy as usize],
    );
    for cause in Cause::ALL {
        let row = match cause {
            Cause::Host => rows::FLASH_PROGRAMS_HOST,
            Cause::Pad => rows::FLASH_PROGRAMS_PAD,
            Cause::Copy => rows::FLASH_PROGRAMS_COPY,
            Cause::Map => rows::FLASH_PROGRAMS_MAP,
            Cause::Wear => rows::FLASH_PROGRAMS_WEAR,
            // The mount of a device is not part of a run.
            Cause::Mount => continue,
        };
        metrics.count(row, totals.tally.programs[cause as usize]);
    }
    if scope.timed {
        let makespan = measured.makespan as f64;
        let busy = || totals.busy.iter().map(|busy| *busy as f64 / makespan);
        let sum: u64 = totals.busy.iter().sum();
        metrics.real(
            rows::FLASH_UTILIZATION_MEAN,
            sum as f64 / makespan / totals.busy.len() as f64,
        );
        metrics.real(
            rows::FLASH_UTILIZATION_MIN,
            busy().fold(f64::INFINITY, f64::min),
        );
        metrics.real(
            rows::FLASH_UTILIZATION_MAX,
            busy().fold(f64::NEG_INFINITY, f64::max),
        );
        metrics.real(
            rows::FLASH_PARALLELISM_MEAN,
            sum as f64 / totals.any_busy as f64,
        );
    }
    if let Some(cost) = scope.merges {
        merges(metrics, &totals.tally, cost);
    }
    metrics.count(rows::FTL_GC_RUNS, totals.gc_runs);
    metrics.real(rows::FTL_GC_TIME_MS, to_ms(totals.gc_time));
    metrics.count(rows::FTL_MAP_BYTES, measured.flash.map_bytes);
    for (name, value) in &measured.flash.own {
        metrics.figure(rows::FTL, name, *value);
    }
    let bytes = programs as f64 * scope.page_bytes as f64;
    metrics.real(rows::WAF_BYTES, bytes / measured.host.bytes_written as f64);
    metrics.real(
        rows::WAF_HOST,
        programs as f64 / measured.host.page_writes as f64,
    );
    let given = totals.tally.programs[Cause::Host as usize];
    metrics.real(rows::WAF_FTL, programs as f64 / given as f64);

    let wear = &measured.flash.wear;
    let blocks = wear.blocks as f64;
    if scope.retires {
        metrics.count(rows::WEAR_BLOCKS_RETIRED, measured.flash.retired);
    }
    metrics.count(rows::WEAR_ERASE_MIN, wear.min);
    metrics.count(rows::WEAR_ERASE_MAX, wear.max);
    metrics.real(rows::WEAR_ERASE_MEAN, wear.sum as f64 / blocks);
    let spread =
        u128::from(wear.blocks) * wear.sum_of_squares - u128::from(wear.sum) * u128::from(wear.sum);
    metrics.real(rows::WEAR_ERASE_STD, (spread as f64).sqrt() / blocks);
}

fn merges(metrics: &mut Metrics, tally: &Tally, cost: MergeCost) {
    for kind in MergeKind::ALL {
        let row = match kind {
            MergeKind::Switch => rows::FTL_MERGES_SWITCH,
            MergeKind::Partial => rows::FTL_MERGES_PARTIAL,
            MergeKind::Full => rows::FTL_MERGES_FULL,
        };
        metrics.count(row, tally.merges[kind as usize]);
    }
    for cause in MergeCause::ALL {
        let row = match cause {
            MergeCause::OwnLog => rows::FTL_MERGE_CAUSES_OWN_LOG,
            MergeCause::Room => rows::FTL_MERGE_CAUSES_ROOM,
            MergeCause::Eager => rows::FTL_MERGE_CAUSES_EAGER,
        };
        metrics.count(row, tally.merge_causes[cause as usize]);
    }
    metrics.count(rows::FTL_MERGE_COPIES, tally.merge_copies);
    metrics.count(rows::FTL_MERGE_ERASES, tally.merge_erases);
    let copies = tally.merge_copies.saturating_mul(cost.copy);
    let time = copies.saturating_add(tally.merge_erases.saturating_mul(cost.erase));
    metrics.real(rows::FTL_MERGE_TIME_MS, to_ms(time));
}

/// The words that replace `*` if the name continues after it.
const SUMMARIES: [&str; 7] = ["mean", "std", "p50", "p95", "p99", "p999", "max"];

/// Every row by its name. A row that covers several metrics is in a separate list, with the text before and after its
/// `*`. The table makes the search fast, because every printed result looks up dozens of rows.
static ROWS: LazyLock<Rows> = LazyLock::new(|| {
    let mut rows = Rows::default();
    for row in METRICS {
        match row.name.split_once('*') {
            None => drop(rows.single.insert(row.name, row)),
            Some((prefix, suffix)) => rows.several.push((prefix, suffix, row)),
        }
    }
    rows
});

#[derive(Default)]
struct Rows {
    single: BTreeMap<&'static str, &'static MetricRow>,
    several: Vec<(&'static str, &'static str, &'static MetricRow)>,
}

/// The row of metric `name`; `None` if there is none.
#[must_use]
pub fn find(name: &str) -> Option<&'static MetricRow> {
    let of_several = |&&(prefix, suffix, _): &&(&str, &str, _)| {
        let middle = name
            .strip_prefix(prefix)
            .and_then(|rest| rest.strip_suffix(suffix));
        middle.is_some_and(|middle| match suffix {
            // The name ends with a word that belongs to one scheme or layer.
            "" => !middle.is_empty() && !middle.contains('.'),
            _ => SUMMARIES.contains(&middle),
        })
    };
    let single = ROWS.single.get(name).copied();
    single.or_else(|| ROWS.several.iter().find(of_several).map(|&(_, _, row)| row))
}

/// The names that do not depend on the run, in the order of the registry. Names of summaries are included; names
/// that end with a word of a scheme, a layer or a queue are not.
pub fn names() -> impl Iterator<Item = String> {
    METRICS.iter().flat_map(|row| {
        let words: &[&str] = match row.name.split_once('*') {
            None => &[""],
            Some((_, "")) => &[],
            Some(_) => &SUMMARIES,
        };
        words.iter().map(|word| row.of(word))
    })
}

/// Text such as `; did you mean "x"?` for the metric that `name` may mean: one that has `name` as a part between
/// dots, such as `p99`, or one with a similar name. Empty if there is none.
#[must_use]
pub fn suggestion(name: &str) -> String {
    let names: Vec<String> = names().collect();
    let has_part = |metric: &&String| {
        let mut parts = metric.split('.');
        parts.any(|part| part.strip_suffix("_ms").unwrap_or(part) == name.trim())
    };
    match names.iter().find(has_part) {
        Some(metric) => format!("; did you mean {metric:?}?"),
        None => settings::suggestion(name, names.iter().map(String::as_str)),
    }
}

/// The row of metric `name`, which is from a user.
///
/// # Errors
/// If there is no such metric. The message gives the new name of a renamed metric, or a similar name.
pub fn require(name: &str) -> Result<&'static MetricRow, SimError> {
    // This check must be the first one, because a row such as `ftl.*` matches every name of its section.
    if let Some(new) = renamed::metric(name) {
        return Err(SimError::Config(format!(
            "metric {name:?} is now {new}; expected {new}"
        )));
    }
    if StatisticRow::all().any(|row| row.metric() == name) {
        return Err(SimError::Config(format!(
            "metric {name:?} describes an input and not a run: `destage trace info` prints it; expected another name from `destage list metrics`"
        )));
    }
    find(name).ok_or_else(|| {
        SimError::Config(format!(
            "unknown metric {name:?}{}; expected a name from `destage list metrics`",
            suggestion(name)
        ))
    })
}

#[cfg(test)]
mod tests;
