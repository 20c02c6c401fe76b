//! Results as CSV: one row for each run.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use destage_sim::metrics;

use crate::record::Record;
use crate::words;

/// The columns of a table of runs that follow the column `trace`.
pub struct Columns<'a> {
    /// The names of all parameters of any run, in ascending order.
    pub parameters: BTreeSet<&'a str>,
    /// The names of all metrics that any run has. The metrics of the registry come first, in the order of the
    /// registry. All other names follow in ascending order.
    pub metrics: Vec<String>,
}

impl<'a> Columns<'a> {
    /// The columns that `records` need.
    #[must_use]
    pub fn of(records: &'a [Record]) -> Self {
        Self {
            parameters: records
                .iter()
                .flat_map(|record| record.parameters.keys().map(String::as_str))
                .collect(),
            metrics: metric_columns(records),
        }
    }

    /// The names of these columns, each only once: those of the parameters, then those of the metrics.
    pub fn names(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let has = |name: &str| self.metrics.iter().any(|metric| metric == name);
        let parameters = self.parameters.iter();
        let parameters = parameters.map(move |name| parameter_column(name, has(name)));
        parameters.chain(self.metrics.iter().map(|name| Cow::from(name.as_str())))
    }
}

/// The name of the column of the parameter `name`. If a metric of the same table `has_metric` this name as well, such
/// as `ftl.merge_copies`, the metric keeps the name, and the column of the parameter is `parameter.NAME`.
#[must_use]
pub fn parameter_column(name: &str, has_metric: bool) -> Cow<'_, str> {
    match has_metric {
        true => format!("parameter.{name}").into(),
        false => name.into(),
    }
}

/// A CSV line of `fields`, with its line break.
pub fn line(fields: &[String]) -> String {
    let fields: Vec<_> = fields.iter().map(|field| quoted(field)).collect();
    format!("{}\n", fields.join(","))
}

/// A table of `records`: the column `trace`, all [`Columns`], `warnings` if any run has a warning, and `error` if
/// any run failed. A value that a run does not have is an empty cell.
#[must_use]
pub fn runs(records: &[Record]) -> String {
    runs_with(records, &[])
}

/// A table of `records` as [`runs`] makes it. Each of `words`, a name with a word for each record, is a column after
/// `trace`.
#[must_use]
pub fn runs_with(records: &[Record], words: &[(&str, Vec<String>)]) -> String {
    let columns = Columns::of(records);
    let mut text = String::from("trace");
    let named = words.iter().map(|(name, _)| Cow::from(*name));
    for name in named.chain(columns.names()) {
        text.push(',');
        text.push_str(&name);
    }
    let Columns {
        parameters,
        metrics,
    } = &columns;
    let warnings = records.iter().map(words::warnings_of);
    let warnings: Vec<String> = warnings.map(|all| joined(&all)).collect();
    let any_warned = warnings.iter().any(|text| !text.is_empty());
    if any_warned {
        text.push_str(",warnings");
    }
    let any_failed = records.iter().any(|record| record.error.is_some());
    if any_failed {
        text.push_str(",error");
    }
    text.push('\n');
    for (index, (record, warnings)) in records.iter().zip(warnings).enumerate() {
        text.push_str(&quoted(&record.trace));
        for (_, words) in words {
            text.push(',');
            text.push_str(&quoted(&words[index]));
        }
        for name in parameters {
            text.push(',');
            let value = record.parameters.get(*name).map(ToString::to_string);
            text.push_str(&quoted(&value.unwrap_or_default()));
        }
        for name in metrics {
            text.push(',');
            let number = record.metrics.get(name);
            text.push_str(&number.map(|number| number.to_string()).unwrap_or_default());
        }
        if any_warned {
            text.push(',');
            text.push_str(&quoted(&warnings));
        }
        if any_failed {
            let error = record.error.as_ref().map(ToString::to_string);
            text.push(',');
            text.push_str(&quoted(&error.unwrap_or_default()));
        }
        text.push('\n');
    }
    text
}

/// The warnings of one run as the text of one cell.
#[must_use]
pub fn joined(warnings: &[String]) -> String {
    warnings.join("; ")
}

fn metric_columns(records: &[Record]) -> Vec<String> {
    let mut present: BTreeMap<&str, ()> = records
        .iter()
        .flat_map(|record| record.metrics.iter().map(|(name, _)| (name, ())))
        .collect();
    let mut columns: Vec<String> = metrics::names()
        .filter(|name| present.remove(name.as_str()).is_some())
        .collect();
    // Metrics whose names end in the name of a scheme, a layer or a queue are not in the registry. Their columns
    // follow, sorted by name.
    columns.extend(present.into_keys().map(str::to_owned));
    columns
}

/// `text` as a CSV cell, in quotation marks if it needs them.
#[must_use]
pub fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
