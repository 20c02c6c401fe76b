//! Runs as a table, with the settings in which the runs differ and their metrics. Settings that all runs share are
//! given once.

use std::collections::BTreeSet;

use destage::csv::parameter_column;
use destage_sim::metrics::{METRICS, find};
use serde_json::{Map, Value, json};

/// One run.
#[derive(Default)]
pub(super) struct Row {
    /// The names of the run, such as its trace and its buffer, each with the axis of the comparison that it belongs
    /// to.
    pub(super) names: Vec<(String, Value)>,
    /// The parameters, by dotted name.
    pub(super) parameters: Map<String, Value>,
    /// The metrics, by dotted name.
    pub(super) metrics: Map<String, Value>,
    /// The low and the high end of the interval of a metric, by dotted name, for metrics with an interval.
    pub(super) ranges: Map<String, Value>,
    /// The error of the run, if it failed.
    pub(super) error: Option<String>,
}

/// The name of the axis for buffer sizes, in bytes.
pub(super) const SIZE: &str = "size";

impl Row {
    /// The value of the row in `column`; null if the row has none.
    fn cell(&self, column: &Column) -> Value {
        let found = match column.kind {
            Kind::Name => {
                let name = self.names.iter().find(|(axis, _)| *axis == column.name);
                name.map(|(_, value)| value)
            }
            Kind::Parameter => self.parameters.get(&column.name),
            Kind::Metric => self.metrics.get(&column.name),
            Kind::Error => return self.error.clone().map_or(Value::Null, Value::from),
        };
        found.cloned().unwrap_or(Value::Null)
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Name,
    Parameter,
    Metric,
    Error,
}

struct Column {
    kind: Kind,
    name: String,
    /// Whether another column has the metric of the same name. The columns of CSV then have different names too.
    is_of_metric: bool,
}

impl Column {
    fn new(kind: Kind, name: &str) -> Self {
        Self {
            kind,
            name: name.to_owned(),
            is_of_metric: false,
        }
    }

    fn to_json(&self) -> Value {
        let kind = match self.kind {
            Kind::Name => "name",
            Kind::Parameter => "parameter",
            Kind::Metric => "metric",
            Kind::Error => "error",
        };
        let (unit, about) = match (self.kind, self.name.as_str()) {
            (Kind::Name, SIZE) => ("bytes", "Capacity of the buffer."),
            (Kind::Metric, name) => find(name).map_or(("", ""), |row| (row.unit, row.about)),
            _ => ("", ""),
        };
        let name = parameter_column(&self.name, self.is_of_metric);
        json!({ "name": name, "kind": kind, "unit": unit, "about": about })
    }
}

/// The table of `rows` as JSON: `{"columns": [{"name", "kind", "unit", "about"}], "rows": [[...]], "same": {...}}`,
/// and `"ranges"` if any row has intervals. `ranges` has, for each row, the intervals by metric. A cell without a
/// value is `null`. Parameters that are equal in all rows are only in `same`.
pub(super) fn json(rows: &[Row]) -> Value {
    let mut columns: Vec<Column> = Vec::new();
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in rows.iter().flat_map(|row| &row.names) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    columns.extend(names.iter().map(|name| Column::new(Kind::Name, name)));
    let metrics = metric_names(rows);
    let mut same = Map::new();
    let parameters: BTreeSet<&String> = rows.iter().flat_map(|row| row.parameters.keys()).collect();
    for name in parameters {
        let first = rows.first().and_then(|row| row.parameters.get(name));
        match first {
            Some(value) if rows.iter().all(|row| row.parameters.get(name) == first) => {
                same.insert(name.clone(), value.clone());
            }
            _ => columns.push(Column {
                is_of_metric: metrics.contains(name),
                ..Column::new(Kind::Parameter, name)
            }),
        }
    }
    let of_metrics = metrics.iter().map(|name| Column::new(Kind::Metric, name));
    columns.extend(of_metrics);
    if rows.iter().any(|row| row.error.is_some()) {
        columns.push(Column::new(Kind::Error, "error"));
    }
    let cells = |row: &Row| columns.iter().map(|column| row.cell(column)).collect();
    let cells: Vec<Value> = rows.iter().map(cells).collect();
    let columns: Vec<Value> = columns.iter().map(Column::to_json).collect();
    let mut table = json!({ "columns": columns, "rows": cells, "same": same });
    if rows.iter().any(|row| !row.ranges.is_empty()) {
        let ranges = rows.iter().map(|row| Value::Object(row.ranges.clone()));
        table["ranges"] = ranges.collect();
    }
    table
}

/// The names of all metrics that at least one row has, in the order of the registry of metrics.
fn metric_names(rows: &[Row]) -> Vec<String> {
    let all: BTreeSet<&String> = rows.iter().flat_map(|row| row.metrics.keys()).collect();
    let place = |name: &str| {
        let row = find(name);
        let same = |other: &&destage_sim::metrics::MetricRow| {
            row.is_some_and(|row| row.name == other.name)
        };
        METRICS
            .iter()
            .copied()
            .position(|other| same(&other))
            .unwrap_or(usize::MAX)
    };
    let summary = |name: &str| {
        const ORDER: [&str; 7] = ["mean", "std", "p50", "p95", "p99", "p999", "max"];
        let last = name.rsplit('.').next().unwrap_or(name);
        ORDER
            .iter()
            .position(|each| last.starts_with(&format!("{each}_")))
    };
    let mut names: Vec<String> = all.into_iter().cloned().collect();
    names.sort_by_key(|name| (place(name), summary(name)));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_that_varies_has_another_name_than_the_metric() {
        let row = |copies: &str| Row {
            parameters: [("ftl.merge_copies".to_owned(), json!(copies))]
                .into_iter()
                .collect(),
            metrics: [("ftl.merge_copies".to_owned(), json!(64))]
                .into_iter()
                .collect(),
            ..Row::default()
        };
        let table = json(&[row("valid"), row("all")]);
        let columns = table["columns"].as_array();
        let columns = columns.into_iter().flatten();
        let names: Vec<_> = columns.map(|column| &column["name"]).collect();
        assert_eq!(names, ["parameter.ftl.merge_copies", "ftl.merge_copies"]);
        assert_eq!(table["rows"], json!([["valid", 64], ["all", 64]]));
    }
}
