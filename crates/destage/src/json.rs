//! Parameters, metrics and documents as JSON.

use std::collections::BTreeMap;

use destage_base::parameter::Value as Setting;
use destage_sim::metrics::{Metrics, Number};
use serde_core::Serialize;
use serde_json::{Map, Value, json};

/// `document` as indented JSON text, with a line break at its end.
#[must_use]
pub fn text(document: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(document);
    let mut text = text.expect("values to write have text keys and finite numbers");
    text.push('\n');
    text
}

/// The value of a parameter.
#[must_use]
pub fn setting(value: &Setting) -> Value {
    match value {
        Setting::Flag(flag) => json!(flag),
        Setting::Integer(number) => json!(number),
        Setting::Number(number) => json!(number),
        Setting::Text(text) => json!(text),
    }
}

/// Parameters, by name.
#[must_use]
pub fn parameters(parameters: &BTreeMap<String, Setting>) -> Value {
    let pairs = parameters
        .iter()
        .map(|(name, value)| (name.clone(), setting(value)));
    Value::Object(pairs.collect())
}

/// The value of a metric.
#[must_use]
pub fn number(number: Number) -> Value {
    match number {
        Number::Integer(number) => json!(number),
        Number::Real(number) => json!(number),
    }
}

/// Metrics, by name.
#[must_use]
pub fn metrics(metrics: &Metrics) -> Value {
    let pairs = metrics
        .iter()
        .map(|(name, value)| (name.to_owned(), number(value)));
    Value::Object(pairs.collect::<Map<_, _>>())
}
