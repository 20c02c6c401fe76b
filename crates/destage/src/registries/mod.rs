//! The registries as values: a row for each scheme, layer, profile, format, workload and metric.
//!
//! | module | holds |
//! | --- | --- |
//! | `page` | one row with its parameters |
//! | `explanation` | the meaning of a word, whatever it names |
//! | `problems` | messages that users meet, each with its cause and a remedy |

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
pub use page::{Entry, Page, buffer, ftl, parameters, profile, workload};

/// The kinds of lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Registry {
    /// Schemes.
    Buffers,
    /// Translation layers.
    Ftls,
    /// Device profiles.
    Profiles,
    /// Formats of traces.
    Formats,
    /// Synthetic workloads.
    Workloads,
    /// Metrics of runs and of inputs.
    Metrics,
}

/// A row.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// One sentence.
    pub about: String,
    /// Further facts.
    pub fields: Vec<(&'static str, Value)>,
}

impl Row {
    /// A row of which no more is known yet.
    #[must_use]
    pub fn new(name: impl Into<String>, about: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            about: about.into(),
            fields: Vec::new(),
        }
    }

    /// The row with `value` for what is called `name`.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.fields.push((name, value.into()));
        self
    }

    /// As an object: `name`, further facts, `about`.
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

/// The rows of `registry`, in its order.
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
            // Metrics of an input stand beside the metrics of a run.
            .chain(
                StatisticRow::all()
                    .map(|row| Row::new(row.metric(), row.about).with("unit", row.unit)),
            )
            .collect(),
    }
}
