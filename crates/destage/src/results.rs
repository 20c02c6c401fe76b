//! Results with their manifest, as values, JSON and CSV.

use serde_core::ser::{Serialize, SerializeMap, Serializer};

use crate::manifest::Manifest;
use crate::record::Record;
use crate::{csv, explained, json, words};

/// The result of one run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How it came to be.
    pub manifest: Manifest,
    /// Its parameters and metrics.
    pub record: Record,
}

/// The results of a comparison: a row per run.
#[derive(Clone, Debug)]
pub struct Results {
    /// How they came to be.
    pub manifest: Manifest,
    /// In the order of the inputs, and for each input in the order of the combinations.
    pub runs: Vec<Record>,
}

impl Outcome {
    /// `{"manifest", "parameters", "metrics"}`, `"warnings"` if there are some, and `"explained"` if it was asked for: the output of `destage run
    /// --json`.
    #[must_use]
    pub fn to_json(&self) -> String {
        json::text(self)
    }

    /// One row below a line of names.
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

    /// `{"manifest", "runs": [{"trace", "buffer", "ftl", "parameters", "metrics"}]}`: the output of `destage compare --json`. A run that
    /// failed has no metrics, and an `"error"`. `"warnings"` are of all runs, if there are some.
    #[must_use]
    pub fn to_json(&self) -> String {
        json::text(self)
    }

    /// A row per run below a line of names.
    #[must_use]
    pub fn to_csv(&self) -> String {
        csv::runs(&self.runs)
    }
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("manifest", &self.manifest.single())?;
        map.serialize_entry("parameters", &json::parameters(&self.record.parameters))?;
        map.serialize_entry("metrics", &json::metrics(&self.record.metrics))?;
        add_warnings(&mut map, std::slice::from_ref(&self.record))?;
        if let Some(explained) = &self.record.explained {
            map.serialize_entry("explained", &explained::to_json(explained))?;
        }
        map.end()
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

/// Warnings for a reader of the numbers of `records`, if there are any; warnings about inputs stand in the manifest.
pub(crate) fn add_warnings<M: SerializeMap>(
    map: &mut M,
    records: &[Record],
) -> Result<(), M::Error> {
    match words::warnings(records) {
        none if none.is_empty() => Ok(()),
        warnings => map.serialize_entry("warnings", &warnings),
    }
}
