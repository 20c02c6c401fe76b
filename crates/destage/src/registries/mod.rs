//! The registries as values: one row for each scheme, layer, profile, format, workload and metric.
//!
//! | module | content |
//! | --- | --- |
//! | `page` | one row of a registry with its parameters |
//! | `explanation` | the meaning of a name, whatever it denotes |
//! | `problems` | messages of the program, each with its cause and a remedy |

mod explanation;
mod page;
mod problems;

use destage_buffer::SCHEMES;
use destage_ftl::FTLS;
use destage_sim::metrics::METRICS;
use destage_sim::profiles::PROFILES;
use destage_trace::FORMATS;
use destage_trace::statistics::StatisticRow;
use destage_workload::WORKLOADS;
use serde_json::{Map, Value};

pub use explanation::{Explanation, explain, parameters_named};
pub use page::{Entry, Page, buffer, ftl, parameters, profile, quantity, workload};

/// The registries that can be listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Registry {
    /// Buffer schemes.
    Buffers,
    /// Translation layers.
    Ftls,
    /// Device profiles.
    Profiles,
    /// Trace formats.
    Formats,
    /// Synthetic workloads.
    Workloads,
    /// Metrics, both of runs and of inputs.
    Metrics,
}

/// A row of a registry.
#[derive(Clone, Debug)]
pub struct Row {
    /// The name that users type.
    pub name: String,
    /// The description, in one sentence.
    pub about: String,
    /// Further facts about the entry, each with its name.
    pub fields: Vec<(&'static str, Value)>,
}

impl Row {
    /// A row that has only a name and a description.
    #[must_use]
    pub fn new(name: impl Into<String>, about: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            about: about.into(),
            fields: Vec::new(),
        }
    }

    /// The row with the fact `value` added under `name`.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.fields.push((name, value.into()));
        self
    }

    /// The row as a JSON object with the members `name`, one for each fact in `fields`, and
    /// `about`.
    #[must_use]
    pub fn to_json(self) -> Value {
        let mut map = Map::new();
        map.insert("name".into(), self.name.into());
        map.extend(
            self.fields
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value)),
        );
        map.insert("about".into(), self.about.into());
        Value::Object(map)
    }
}

/// The rows of `registry`, in the order of the registry.
#[must_use]
pub fn rows(registry: Registry) -> Vec<Row> {
    match registry {
        Registry::Buffers => SCHEMES
            .iter()
            .map(|row| {
                Row::new(row.name, row.about)
                    .with("family", row.family)
                    .with("source", row.source)
                    .with("reconstructed", row.reconstructed)
            })
            .collect(),
        Registry::Ftls => FTLS
            .iter()
            .map(|row| Row::new(row.name, row.about).with("source", row.source))
            .collect(),
        Registry::Profiles => PROFILES
            .iter()
            .map(|profile| {
                let describe = |key| profile.describe(key).unwrap_or_default();
                Row::new(profile.name, describe("about")).with("source", describe("source"))
            })
            .collect(),
        Registry::Formats => FORMATS
            .iter()
            .map(|format| {
                Row::new(format.name, format.about)
                    .with("columns", format.columns)
                    .with("time_unit", format.time_unit.name())
                    .with("extensions", format.extensions.to_vec())
                    .with("example", format.example)
            })
            .collect(),
        Registry::Workloads => WORKLOADS
            .iter()
            .map(|row| Row::new(row.name, row.about))
            .collect(),
        Registry::Metrics => METRICS
            .iter()
            .map(|row| Row::new(row.name, row.about).with("unit", row.unit))
            // The metrics of inputs follow the metrics of runs.
            .chain(
                StatisticRow::all()
                    .map(|row| Row::new(row.metric(), row.about).with("unit", row.unit)),
            )
            .collect(),
    }
}
