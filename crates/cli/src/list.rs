//! `destage list`: the registries, one line for each row.

use destage::registries::{Registry, Row, rows};
use destage_study::experiments;
use serde_json::Value;

use crate::args::{ListArguments, Listed};
use crate::errors::Failure;
use crate::output::table::{Side, Table};
use crate::output::{self, json};

/// Runs the command.
pub(crate) fn run(arguments: &ListArguments) -> Result<(), Failure> {
    let rows = match registry(arguments.what) {
        Some(registry) => rows(registry),
        None => experiments()?,
    };
    if arguments.json {
        let objects = rows.into_iter().map(Row::to_json).collect();
        return output::print(&json::text(&Value::Array(objects)));
    }
    // Metrics have units. The units are shown in a separate column.
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

/// The registry to list; `None` for the experiments, which have no registry.
fn registry(what: Listed) -> Option<Registry> {
    Some(match what {
        Listed::Buffers => Registry::Buffers,
        Listed::Ftls => Registry::Ftls,
        Listed::Profiles => Registry::Profiles,
        Listed::Formats => Registry::Formats,
        Listed::Workloads => Registry::Workloads,
        Listed::Metrics => Registry::Metrics,
        Listed::Experiments => return None,
    })
}
