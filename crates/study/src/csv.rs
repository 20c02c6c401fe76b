//! The results of a study as CSV: one row for each run.

use std::borrow::Cow;
use std::collections::BTreeSet;

use destage::csv::{joined, line, parameter_column};

use crate::rows::Rows;

/// The columns of the results of a study.
pub struct Names<'a> {
    /// The names of the axes of the runs, in alphabetical order.
    pub labels: BTreeSet<&'a str>,
    /// The names of all metrics that occur in any run, in alphabetical order.
    pub metrics: BTreeSet<&'a str>,
}

impl<'a> Names<'a> {
    /// Collects the columns of a table of `rows`.
    #[must_use]
    pub fn of(rows: &'a Rows) -> Self {
        let rows = || rows.all.iter();
        let metrics = rows().filter_map(|row| row.result.get("metrics")?.as_object());
        Self {
            labels: rows()
                .flat_map(|row| row.labels.keys().map(String::as_str))
                .collect(),
            metrics: metrics
                .flat_map(|all| all.keys().map(String::as_str))
                .collect(),
        }
    }

    /// The name of the column of `label`, which may be the name of a parameter that a metric has as well.
    #[must_use]
    pub fn column_of<'b>(&self, label: &'b str) -> Cow<'b, str> {
        parameter_column(label, self.metrics.contains(label))
    }
}

/// The results of a study as CSV, with one row for each run. The columns are the labels, then the metrics, then
/// `warnings` if any run has warnings, and `error` if any run failed.
#[must_use]
pub fn rows(rows: &Rows) -> String {
    let columns = Names::of(rows);
    let Names {
        labels,
        metrics: names,
    } = &columns;
    let warnings = rows.all.iter().map(|row| joined(&row.warnings()));
    let errors = rows
        .all
        .iter()
        .map(|row| row.error().unwrap_or("").to_owned());
    // These columns are omitted if they are empty for all runs.
    let ends = [
        ("warnings", warnings.collect()),
        ("error", errors.collect()),
    ];
    let ends = ends
        .into_iter()
        .filter(|(_, cells): &(&str, Vec<String>)| cells.iter().any(|cell| !cell.is_empty()));
    let ends: Vec<_> = ends.collect();
    let head = labels
        .iter()
        .map(|label| columns.column_of(label))
        .chain(names.iter().map(|name| Cow::from(*name)))
        .chain(ends.iter().map(|(name, _)| Cow::from(*name)));
    let mut text = line(&head.map(Cow::into_owned).collect::<Vec<_>>());
    for (index, row) in rows.all.iter().enumerate() {
        let labels = labels
            .iter()
            .map(|axis| row.labels.get(*axis).cloned().unwrap_or_default());
        let metrics = names.iter().map(|name| {
            let value = row.result.get("metrics").and_then(|all| all.get(*name));
            value.map(ToString::to_string).unwrap_or_default()
        });
        let ends = ends.iter().map(|(_, cells)| cells[index].clone());
        text.push_str(&line(
            &labels.chain(metrics).chain(ends).collect::<Vec<_>>(),
        ));
    }
    text
}
