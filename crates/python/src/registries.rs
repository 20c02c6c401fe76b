//! The registries as JSON.

use destage::Error;
use destage::json;
use destage::registries::{self, Registry, Row};
use destage_study::experiments;
use pyo3::prelude::*;
use serde_json::Value;

use crate::errors::raised;

/// The rows of a registry, as JSON like that of `destage list NAME --json`.
#[pyfunction]
pub(crate) fn rows(registry: &str) -> PyResult<String> {
    let registry = match registry {
        "buffers" => Registry::Buffers,
        "ftls" => Registry::Ftls,
        "profiles" => Registry::Profiles,
        "formats" => Registry::Formats,
        "workloads" => Registry::Workloads,
        "metrics" => Registry::Metrics,
        "experiments" => return experiments().map(text).map_err(|error| raised(&error)),
        other => return Err(raised(&Error::Internal(format!("no registry {other:?}")))),
    };
    Ok(text(registries::rows(registry)))
}

fn text(rows: Vec<Row>) -> String {
    json::text(&Value::Array(rows.into_iter().map(Row::to_json).collect()))
}

/// Returns an error if no run has a metric with this name.
#[pyfunction]
pub(crate) fn require_metric(name: &str) -> PyResult<()> {
    let found = destage::sim::metrics::require(name);
    found
        .map(|_| ())
        .map_err(|error| raised(&Error::from(error)))
}

/// A row with its parameters, as JSON like that of `destage show WHAT NAME --json`.
#[pyfunction]
pub(crate) fn page(what: &str, name: &str) -> PyResult<String> {
    let page = match what {
        "buffer" => registries::buffer(name),
        "ftl" => registries::ftl(name),
        "profile" => registries::profile(name),
        "workload" => registries::workload(name),
        _ => Ok(registries::parameters()),
    };
    page.map(|page| json::text(&page.to_json()))
        .map_err(|error| raised(&error))
}

/// The explanation of a name or a message, as JSON like that of `destage explain TEXT --json`.
#[pyfunction]
pub(crate) fn explain(text: &str) -> PyResult<String> {
    let found = experiments().and_then(|experiments| registries::explain(text, &experiments));
    let found = found.map_err(|error| raised(&error))?;
    let found = found.iter().map(registries::Explanation::to_json);
    Ok(json::text(&Value::Array(found.collect())))
}
