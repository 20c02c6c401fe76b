//! Results with their manifest, as values, JSON and CSV.

use serde_core::ser::{Serialize, SerializeMap, Serializer};

use crate::manifest::Manifest;
use crate::record::Record;
use crate::{csv, explained, json, words};

/// The result of one run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How the result was computed.
    pub manifest: Manifest,
    /// The parameters and metrics of the run.
    pub record: Record,
}

/// The results of a comparison: one record for each run.
#[derive(Clone, Debug)]
pub struct Results {
    /// How the results were computed.
    pub manifest: Manifest,
    /// The records of the runs, in the order of the inputs, and for each input in the order of the combinations.
    pub runs: Vec<Record>,
}

impl Outcome {
    /// `{"manifest", "parameters", "metrics"}`, with `"warnings"` if there are any, and `"explained"` if the settings
    /// request it: the output of `destage run --json`.
    #[must_use]
    pub fn to_json(&self) -> String {
        json::text(self)
    }

    /// A CSV header and one row.
    #[must_use]
    pub fn to_csv(&self) -> String {
        csv::runs(std::slice::from_ref(&self.record))
    }
}

impl Results {
    /// The runs that failed.
    pub fn failed(&self) -> impl Iterator<Item = &Record> {
        self.runs.iter().filter(|run| run.error.is_some())
    }

    /// `{"manifest", "runs": [{"trace", "buffer", "ftl", "parameters", "metrics"}]}`: the output of `destage compare
    /// --json`. A run that failed has an `"error"` and no metrics. If any run has warnings, `"warnings"` has the
    /// warnings of all runs.
    #[must_use]
    pub fn to_json(&self) -> String {
        json::text(self)
    }

    /// A CSV header, and one row for each run.
    #[must_use]
    pub fn to_csv(&self) -> String {
        csv::runs(&self.runs)
    }
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        add_run(&mut map, &self.manifest, &self.record)?;
        map.end()
    }
}

/// Adds one run: how it was computed, its parameters, metrics and warnings, and its explanation if it has one.
pub(crate) fn add_run<M: SerializeMap>(
    map: &mut M,
    manifest: &Manifest,
    record: &Record,
) -> Result<(), M::Error> {
    map.serialize_entry("manifest", &manifest.single())?;
    map.serialize_entry("parameters", &json::parameters(&record.parameters))?;
    map.serialize_entry("metrics", &json::metrics(&record.metrics))?;
    add_warnings(map, std::slice::from_ref(record))?;
    match &record.explained {
        Some(explained) => map.serialize_entry("explained", &explained::to_json(explained)),
        None => Ok(()),
    }
}

impl Serialize for Results {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("manifest", &self.manifest.many())?;
        map.serialize_entry("runs", &self.runs)?;
        add_warnings(&mut map, &self.runs)?;
        map.end()
    }
}

/// Adds the warnings about the metrics in `records`, if there are any. The manifest has the warnings about inputs.
pub(crate) fn add_warnings<M: SerializeMap>(
    map: &mut M,
    records: &[Record],
) -> Result<(), M::Error> {
    match words::warnings(records) {
        none if none.is_empty() => Ok(()),
        warnings => map.serialize_entry("warnings", &warnings),
    }
}
