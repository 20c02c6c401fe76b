//! Results of runs by their labels.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use destage_base::parameter::read_bytes;
use serde_core::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::cells::InputFacts;
use destage::Record;
use destage::words;

/// The name by which formulas ask for the destage records.
pub(super) const DESTAGES: &str = "destages";
/// Warnings about the input of a run, and parameters without effect in it: sentences without the name of the
/// input.
pub(super) const ODDITIES: &str = "oddities";

/// A sentence that the run with `labels` failed, with its error; `None` if `result` has no error.
pub(super) fn failure(labels: &BTreeMap<String, String>, result: &Value) -> Option<String> {
    let error = result["error"].as_str()?;
    let labels = labels.iter().map(|(axis, value)| format!("{axis}={value}"));
    Some(format!("{}: {error}", labels.collect::<Vec<_>>().join(" ")))
}

/// The result of one run.
#[derive(Clone, Debug)]
pub struct Row {
    /// The labels: a value for each axis: `input`, `variant`, `seed`, `buffer`, `size` (bytes), `ftl`, and varied
    /// parameters.
    pub labels: BTreeMap<String, String>,
    /// The input of the run.
    pub input: InputFacts,
    /// The result as an object with those of `parameters`, `metrics`, `destages`, `oddities` and `error` that
    /// exist.
    pub result: Arc<Value>,
}

impl Row {
    /// The error of the run; `None` if it did not fail.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        self.result["error"].as_str()
    }

    /// The run as a record of a comparison.
    fn record(&self) -> Record {
        Record::from_json(&self.result, &self.input.name)
    }

    fn oddities(&self) -> impl Iterator<Item = &str> {
        let all = self.result[ODDITIES].as_array().into_iter().flatten();
        all.filter_map(Value::as_str)
    }

    /// Warnings about the metrics of the run; one sentence each.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let mut all = words::warnings_of(&self.record());
        all.extend(self.oddities().map(str::to_owned));
        all
    }

    /// Whether the result has the parameters of the run.
    pub(super) fn has_parameters(&self) -> bool {
        self.result.get("parameters").is_some()
    }

    /// Whether the run has `value` on `axis`.
    #[must_use]
    pub fn is(&self, axis: &str, value: &str) -> bool {
        self.labels
            .get(axis)
            .is_some_and(|label| same(axis, label, value))
    }

    /// A metric, the destage records (`destages`), or a parameter, by name; `None` if the run has nothing with
    /// this name.
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
    /// `labels`, `input`, the fields of the result, and `warnings` if there are any.
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

/// Whether two values of an axis are equal; sizes and numbers may be written in several ways.
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

/// A value of an axis in readable form: sizes get a unit.
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

/// The runs of a study, and its inputs that are missing.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// The runs, in the order of the study's grids.
    pub all: Vec<Row>,
    /// For each input whose trace was not found: the name of the input, and the trace.
    pub missing: BTreeMap<String, String>,
}

impl Rows {
    /// The runs as records of a comparison.
    #[must_use]
    pub fn records(&self) -> Vec<Record> {
        self.all.iter().map(Row::record).collect()
    }

    /// Warnings about the metrics, one sentence each: about runs as in a comparison, and about each input once.
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

    /// The runs that failed, by their labels, with their errors; one sentence each.
    #[must_use]
    pub fn failures(&self) -> Vec<String> {
        let rows = self.all.iter();
        rows.filter_map(|row| failure(&row.labels, &row.result))
            .collect()
    }

    /// The values of `axis` among the runs with the labels `only`, in the order of the study.
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
