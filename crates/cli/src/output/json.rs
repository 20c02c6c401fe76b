//! Results as JSON.

use std::collections::BTreeMap;

use destage_base::parameter::Value as Setting;
use destage_sim::metrics::{Metrics, Number};
use serde_json::{Map, Value, json};

use crate::manifest::Manifest;
use crate::record::Record;

/// The document of one run.
pub(crate) fn run(manifest: &Manifest, record: &Record) -> String {
    text(&json!({
        "manifest": manifest.single(),
        "parameters": parameters(&record.parameters),
        "metrics": metrics(&record.metrics),
    }))
}

/// The document of several runs.
pub(crate) fn runs(manifest: &Manifest, records: &[Record]) -> String {
    let runs: Vec<Value> = records
        .iter()
        .map(|record| {
            json!({
                "trace": record.trace,
                "parameters": parameters(&record.parameters),
                "metrics": metrics(&record.metrics),
            })
        })
        .collect();
    text(&json!({ "manifest": manifest.many(), "runs": runs }))
}

/// A document as text.
pub(crate) fn text(document: &Value) -> String {
    // Values made here have text keys and finite numbers, so nothing can go wrong.
    format!("{document:#}\n")
}

/// A parameter's value.
pub(crate) fn setting(value: &Setting) -> Value {
    match value {
        Setting::Flag(flag) => json!(flag),
        Setting::Integer(number) => json!(number),
        Setting::Number(number) => json!(number),
        Setting::Text(text) => json!(text),
    }
}

fn parameters(parameters: &BTreeMap<String, Setting>) -> Value {
    let pairs = parameters
        .iter()
        .map(|(name, value)| (name.clone(), setting(value)));
    Value::Object(pairs.collect())
}

fn metrics(metrics: &Metrics) -> Value {
    let pairs = metrics.iter().map(|(name, number)| {
        let value = match number {
            Number::Integer(number) => json!(number),
            Number::Real(number) => json!(number),
        };
        (name.to_owned(), value)
    });
    Value::Object(pairs.collect::<Map<_, _>>())
}
