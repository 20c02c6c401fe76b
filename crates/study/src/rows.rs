//! The results of runs, each with its labels and its input.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use destage_base::parameter::read_bytes;
use destage_sim::settings::kind_of;
use serde_core::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::cells::InputFacts;
use super::drives;
use destage::Record;
use destage::words;

/// The name of the list of destage records in results and in formulas.
pub(super) const DESTAGES: &str = "destages";
/// The name of a field of results: warnings about the input of a run and about parameters that have no effect on
/// the run. The texts do not contain the name of the input.
pub(super) const ODDITIES: &str = "oddities";

/// The axes of all runs that simulate an input. Each parameter that a grid varies is a further axis.
pub(super) const AXES: [&str; 6] = ["input", "variant", "seed", "buffer", "size", "ftl"];

/// If `result` contains an error, a text with the labels of the run and the error message; otherwise `None`.
pub(super) fn failure(labels: &BTreeMap<String, String>, result: &Value) -> Option<String> {
    let error = result["error"].as_str()?;
    Some(format!("{}: {error}", identity(labels)))
}

/// The labels of a run as text, for error messages.
pub(super) fn identity(labels: &BTreeMap<String, String>) -> String {
    let labels = labels.iter().map(|(axis, value)| format!("{axis}={value}"));
    labels.collect::<Vec<_>>().join(" ")
}

/// The result of one run.
#[derive(Clone, Debug)]
pub struct Row {
    /// The labels, which are the values of the run on each axis. The axes are `input`, `variant`, `seed`,
    /// `buffer`, `size` (in bytes), `ftl`, and each parameter that a grid varies.
    pub labels: BTreeMap<String, String>,
    /// The input of the run.
    pub input: InputFacts,
    /// The result, a JSON object. It has the fields `parameters`, `metrics`, `destages`, `oddities` and `error`,
    /// except those that do not apply to the run.
    pub result: Arc<Value>,
}

impl Row {
    /// The error message of the run; `None` if the run did not fail.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        self.result["error"].as_str()
    }

    /// The run in the form in which a comparison returns runs.
    fn record(&self) -> Record {
        Record::from_json(&self.result, &self.input.name)
    }

    fn oddities(&self) -> impl Iterator<Item = &str> {
        let all = self.result[ODDITIES].as_array().into_iter().flatten();
        all.filter_map(Value::as_str)
    }

    /// Warnings about the metrics, the input and the parameters of the run; one sentence for each warning.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let mut all = words::warnings_of(&self.record());
        all.extend(self.oddities().map(str::to_owned));
        all
    }

    /// Whether the result contains the parameters of the run.
    pub(super) fn has_parameters(&self) -> bool {
        self.result.get("parameters").is_some()
    }

    /// The kinds of the scheme and the layer of the run, without the parameters in their labels.
    pub(super) fn kinds(&self) -> impl Iterator<Item = String> + use<> {
        let labels = ["buffer", "ftl"].map(|axis| self.labels.get(axis).cloned());
        labels
            .into_iter()
            .flatten()
            .map(|label| kind_of(&label).to_owned())
    }

    /// Whether the label of the run on `axis` is equal to `value`.
    #[must_use]
    pub fn is(&self, axis: &str, value: &str) -> bool {
        self.labels
            .get(axis)
            .is_some_and(|label| same(axis, label, value))
    }

    /// The value called `name`: the list of destage records if the name is `destages`, otherwise the metric or
    /// the parameter of this name. `None` if the run has no such value.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&Value> {
        let result = &self.result;
        let within = |part: &str| result.get(part)?.get(name);
        match name {
            DESTAGES => result.get(name),
            _ => within("metrics").or_else(|| within("parameters")),
        }
    }
}

impl Serialize for Row {
    /// Writes the fields `labels` and `input`, the fields of the result except `oddities`, and `warnings` if the
    /// run has any.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("labels", &self.labels)?;
        map.serialize_entry("input", &self.input.name)?;
        let kept = self.result.as_object().into_iter().flatten();
        for (name, value) in kept.filter(|(name, _)| *name != ODDITIES) {
            map.serialize_entry(name, value)?;
        }
        let warnings = self.warnings();
        if !warnings.is_empty() {
            map.serialize_entry("warnings", &warnings)?;
        }
        map.end()
    }
}

/// Whether two values of `axis` are equal. Different texts are equal if they are the same number, or on the axis
/// `size` the same number of bytes: `1MiB` is equal to `1048576`.
pub(super) fn same(axis: &str, one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    if axis == "size" {
        return read_bytes(one).is_some_and(|bytes| read_bytes(other) == Some(bytes));
    }
    let number = |text: &str| text.parse::<f64>().ok();
    number(one).is_some_and(|value| number(other) == Some(value))
}

/// A value of `axis` as text for readers. A size in bytes is shown with the largest unit in which it is a whole
/// number.
#[must_use]
pub fn spoken(axis: &str, value: &str) -> String {
    let bytes = || read_bytes(value).filter(|_| axis == "size");
    let Some(bytes) = bytes() else {
        return value.to_owned();
    };
    for (unit, shift) in [("GiB", 30), ("MiB", 20), ("KiB", 10)] {
        if bytes > 0 && bytes.trailing_zeros() >= shift {
            return format!("{} {unit}", bytes >> shift);
        }
    }
    format!("{bytes} B")
}

/// The results of the runs of a study, and those of its inputs whose traces were not found.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// The runs, in the order of the study's grids. A run that compares a profile with measurements has a row for each
    /// measured value.
    pub all: Vec<Row>,
    /// The number of runs.
    pub runs: usize,
    /// The inputs whose traces were not found: for the name of each input, the name of the trace.
    pub missing: BTreeMap<String, String>,
}

impl Rows {
    /// The results `runs`, one for each run.
    pub(super) fn of(runs: impl Iterator<Item = Row>, missing: BTreeMap<String, String>) -> Self {
        let mut rows = Self {
            missing,
            ..Self::default()
        };
        for run in runs {
            rows.runs += 1;
            rows.all.extend(drives::compared_rows(run));
        }
        rows
    }

    /// The runs in the form in which a comparison returns runs.
    #[must_use]
    pub fn records(&self) -> Vec<Record> {
        self.all.iter().map(Row::record).collect()
    }

    /// The warnings about all runs, one sentence for each warning. Warnings about metrics are those that a
    /// comparison of the runs would have. A warning about an input occurs only once, even if several runs have
    /// this input.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let mut all = words::warnings(&self.records());
        let mut told = BTreeSet::new();
        for row in &self.all {
            for oddity in row.oddities() {
                if told.insert((&row.input.name, oddity)) {
                    all.push(format!("{}: {oddity}", row.input.name));
                }
            }
        }
        all
    }

    /// A text for each run that failed: its labels and the error message.
    #[must_use]
    pub fn failures(&self) -> Vec<String> {
        let rows = self.all.iter();
        rows.filter_map(|row| failure(&row.labels, &row.result))
            .collect()
    }

    /// The different values that the runs with the labels `only` have on `axis`, in the order in which they first
    /// occur in the study.
    #[must_use]
    pub fn values_of(&self, axis: &str, only: &BTreeMap<String, String>) -> Vec<String> {
        let mut values: Vec<String> = Vec::new();
        for row in &self.all {
            if only.iter().all(|(axis, value)| row.is(axis, value))
                && let Some(value) = row.labels.get(axis)
                && !values.contains(value)
            {
                values.push(value.clone());
            }
        }
        values
    }
}

#[cfg(test)]
mod tests;
