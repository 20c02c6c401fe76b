//! The measurements as tables that [`Measurements`](super::super::Measurements) reads.

use super::super::scaled::GIB;
use super::fill::Written;
use super::latency::OfLoad;
use super::load::Steady;
use super::target::Action;
use crate::csv;

fn table(columns: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let head: Vec<_> = columns.iter().map(|name| (*name).to_owned()).collect();
    let lines = rows.into_iter().map(|row| csv::line(&row));
    std::iter::once(csv::line(&head)).chain(lines).collect()
}

/// The drive of a table.
#[derive(Clone, Copy)]
pub(super) struct Drive<'a> {
    /// The name of the drive.
    pub name: &'a str,
    /// Bytes of the full-size drive.
    pub full_bytes: u64,
    /// Bytes of the full-size drive that are used.
    pub used_bytes: f64,
}

impl Drive<'_> {
    fn used_gib(&self) -> String {
        (self.used_bytes / GIB).to_string()
    }

    /// The table of `columns` and `rows`. If only a part of the drive is used, a further column says so.
    fn table(&self, columns: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
        if self.used_bytes >= self.full_bytes as f64 {
            return table(columns, rows);
        }
        let rows = rows.into_iter().map(|mut row| {
            row.push(self.used_gib());
            row
        });
        table(&[columns, &["used_gib"]].concat(), rows)
    }
}

/// A rate as text, rounded to a tenth.
fn per_s(rate: f64) -> String {
    ((rate * 10.0).round() / 10.0).to_string()
}

/// The table of response times by load.
pub(super) fn latency(drive: Drive<'_>, stream_per_s: f64, loads: &[OfLoad]) -> String {
    let columns = [
        "drive",
        "offered_writes_per_s",
        "stream_per_s",
        "writes_per_s",
        "reads_per_s",
        "op",
        "percentile",
        "us_median_of_3",
        "us_low",
        "us_high",
    ];
    let rows = loads.iter().flat_map(|load| {
        let of = |op: &'static str, spreads: &[super::times::Spread]| {
            let rows = spreads.iter().map(|spread| {
                vec![
                    drive.name.to_owned(),
                    load.offered.to_string(),
                    stream_per_s.to_string(),
                    per_s(load.steady.writes_per_s),
                    per_s(load.steady.reads_per_s),
                    op.to_owned(),
                    spread.percentile.clone(),
                    spread.median.to_string(),
                    spread.low.to_string(),
                    spread.high.to_string(),
                ]
            });
            rows.collect::<Vec<_>>()
        };
        let mut rows = of("read", &load.steady.reads);
        rows.extend(of("write", &load.steady.writes));
        rows
    });
    drive.table(&columns, rows)
}

/// The table of queue depths.
pub(super) fn depth(drive: Drive<'_>, found: &[(Action, u32, Steady)]) -> String {
    let columns = [
        "drive",
        "op",
        "block_bytes",
        "iodepth",
        "jobs",
        "iops",
        "p50_us",
        "p99_us",
    ];
    let rows = found.iter().filter_map(|(action, depth, steady)| {
        let op = match action {
            Action::Write => "randwrite",
            Action::Read | Action::Flush => "randread",
        };
        Some(vec![
            drive.name.to_owned(),
            op.to_owned(),
            "4k".to_owned(),
            depth.to_string(),
            "1".to_owned(),
            per_s(steady.reads_per_s + steady.writes_per_s),
            steady.us(*action, "50")?.to_string(),
            steady.us(*action, "99")?.to_string(),
        ])
    });
    drive.table(&columns, rows)
}

/// The table of saturated rates, with a column for each name.
pub(super) fn rates(drive: Drive<'_>, found: &[(&str, f64)]) -> String {
    let columns = ["drive", "capacity"].into_iter();
    let columns: Vec<_> = columns.chain(found.iter().map(|(name, _)| *name)).collect();
    let capacity = format!("{} GB", (drive.full_bytes as f64 / 1e9).round());
    let first = [drive.name.to_owned(), capacity].into_iter();
    let row = first.chain(found.iter().map(|(_, rate)| per_s(*rate)));
    drive.table(&columns, [row.collect()])
}

/// The table of write amplification by bytes written; `None` if the drive has no counter of programmed bytes.
pub(super) fn fill(drive: Drive<'_>, phases: &[(&str, Vec<Written>)]) -> Option<String> {
    let columns = [
        "drive",
        "run",
        "started",
        "used_gib",
        "pattern",
        "detail",
        "block_bytes",
        "drive_writes",
        "waf",
        "host_mib_per_s",
    ];
    let mut rows = Vec::new();
    for (place, (pattern, passes)) in phases.iter().enumerate() {
        for (pass, written) in passes.iter().enumerate() {
            for part in &written.parts {
                rows.push(vec![
                    drive.name.to_owned(),
                    "measured".to_owned(),
                    (place + 1).to_string(),
                    drive.used_gib(),
                    (*pattern).to_owned(),
                    String::new(),
                    "4096".to_owned(),
                    (pass as f64 + part.drive_writes).to_string(),
                    format!("{:.4}", part.waf?),
                    format!("{:.2}", part.mib_per_s),
                ]);
            }
        }
    }
    Some(table(&columns, rows))
}
