//! `destage list`: the registries, a line per row.

use destage::reproduce::Paper;
use destage::study::Study;
use destage_buffer::SCHEMES;
use destage_flash::ftl::FTLS;
use destage_sim::metrics::METRICS;
use destage_sim::profiles::PROFILES;
use destage_trace::FORMATS;
use destage_trace::statistics::StatisticRow;
use destage_workload::WORKLOADS;
use serde_json::{Map, Value};

use crate::args::{ListArguments, Listed};
use crate::errors::Failure;
use crate::output::table::{Side, Table};
use crate::output::{self, json};

/// A row: its name, what stands in the line beside it, and further fields of JSON.
struct Row {
    name: String,
    about: String,
    fields: Vec<(&'static str, Value)>,
}

/// Runs the command.
pub(crate) fn run(arguments: &ListArguments) -> Result<(), Failure> {
    let rows = rows(arguments.what)?;
    if arguments.json {
        let objects = rows.into_iter().map(Row::object).collect();
        return output::print(&json::text(&Value::Array(objects)));
    }
    // Metrics have units, which are worth a column of their own.
    let unit = |row: &Row| {
        let field = row.fields.iter().find(|(name, _)| *name == "unit");
        field
            .and_then(|(_, value)| value.as_str())
            .map(str::to_owned)
    };
    let has_units = rows.iter().any(|row| unit(row).is_some());
    let mut table = Table::new(vec![Side::Left; if has_units { 3 } else { 2 }]);
    for row in &rows {
        let cells = [Some(row.name.clone()), unit(row), Some(row.about.clone())];
        table.row(cells.into_iter().flatten());
    }
    output::print(&table.text())
}

impl Row {
    fn new(name: impl Into<String>, about: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            about: about.into(),
            fields: Vec::new(),
        }
    }

    fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.fields.push((name, value.into()));
        self
    }

    fn object(self) -> Value {
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

fn rows(what: Listed) -> Result<Vec<Row>, Failure> {
    Ok(match what {
        Listed::Buffers => SCHEMES
            .iter()
            .map(|row| {
                Row::new(row.name, row.about)
                    .with("family", row.family)
                    .with("source", row.source)
                    .with("reconstructed", row.reconstructed)
            })
            .collect(),
        Listed::Ftls => FTLS
            .iter()
            .map(|row| Row::new(row.name, row.about).with("source", row.source))
            .collect(),
        Listed::Profiles => PROFILES
            .iter()
            .map(|profile| {
                let describe = |key| profile.describe(key).unwrap_or_default();
                Row::new(profile.name, describe("about")).with("source", describe("source"))
            })
            .collect(),
        Listed::Formats => FORMATS
            .iter()
            .map(|format| {
                Row::new(format.name, format.about)
                    .with("columns", format.columns)
                    .with("time_unit", format.time_unit.name())
                    .with("extensions", format.extensions.to_vec())
                    .with("example", format.example)
            })
            .collect(),
        Listed::Workloads => WORKLOADS
            .iter()
            .map(|row| Row::new(row.name, row.about))
            .collect(),
        Listed::Metrics => METRICS
            .iter()
            .map(|row| Row::new(row.name, row.about).with("unit", row.unit))
            // Those of an input stand beside those of a run.
            .chain(
                StatisticRow::all()
                    .map(|row| Row::new(row.metric(), row.about).with("unit", row.unit)),
            )
            .collect(),
        Listed::Experiments => experiments()?,
    })
}

/// The papers' experiments, by the names that `reproduce` takes.
fn experiments() -> Result<Vec<Row>, Failure> {
    let papers = Paper::shipped()?;
    let of_paper = |paper: &Paper| {
        let row = |study: &Study| {
            let claims = paper.claims_of(&study.name);
            let about = match claims {
                0 => study.title().to_owned(),
                1 => format!("{} (1 claim)", study.title()),
                more => format!("{} ({more} claims)", study.title()),
            };
            Row::new(format!("{}/{}", paper.name, study.name), about).with("claims", claims)
        };
        paper.studies.iter().map(row).collect::<Vec<_>>()
    };
    Ok(papers.iter().flat_map(of_paper).collect())
}
