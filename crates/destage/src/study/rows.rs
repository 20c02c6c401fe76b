//! Results by the labels of their runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use destage_base::parameter::read_bytes;
use serde_core::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::cells::InputFacts;

/// What asks for the destage records.
pub(super) const DESTAGES: &str = "destages";

/// The result of one cell.
#[derive(Clone, Debug)]
pub struct Row {
    /// A value for each axis: `input`, `variant`, `seed`, `buffer`, `size` (bytes), `ftl`, and varied parameters.
    pub labels: BTreeMap<String, String>,
    /// What it read.
    pub input: InputFacts,
    /// `parameters`, `metrics`, `destages`, `error`: those that it has.
    pub result: Arc<Value>,
}

impl Row {
    /// Why the run failed, if it did.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        self.result["error"].as_str()
    }

    /// Whether it tells its parameters.
    pub(super) fn has_parameters(&self) -> bool {
        self.result.get("parameters").is_some()
    }

    /// Whether it has `value` on `axis`.
    #[must_use]
    pub fn is(&self, axis: &str, value: &str) -> bool {
        self.labels
            .get(axis)
            .is_some_and(|label| same(axis, label, value))
    }

    /// A metric, the destage records (`destages`), or a parameter, by name.
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
    /// `labels`, `input`, and what the result has.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("labels", &self.labels)?;
        map.serialize_entry("input", &self.input.name)?;
        for (name, value) in self.result.as_object().into_iter().flatten() {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// Whether two values of an axis are the same: sizes and numbers may be written in several ways.
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

/// A value of an axis as people write it.
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

/// Rows of a study, and its inputs that are missing.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// In the order of the study's grids.
    pub all: Vec<Row>,
    /// Names of inputs, and the trace of each that was not found.
    pub missing: BTreeMap<String, String>,
}

impl Rows {
    /// The values of `axis` among rows with `only`, in the order in which the study has them.
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
