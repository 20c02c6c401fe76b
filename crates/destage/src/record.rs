//! The results of one run, with the names that identify it.

use std::collections::BTreeMap;
use std::sync::Arc;

use destage_base::parameter::Value;
use destage_buffer::SchemeRow;
use destage_sim::explain::Explained;
use destage_sim::metrics::{MetricRow, Metrics, Number, require, rows};
use destage_sim::run::RunResult;
use destage_sim::settings::Config;
use serde_core::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value as Json;

use crate::error::Error;
use crate::grid::Combination;
use crate::input::Input;
use crate::{explained, json, words};

/// The results of one run, with the names that identify it.
#[derive(Clone, Debug)]
pub struct Record {
    /// The path of the trace, or the workload, as given.
    pub trace: String,
    /// The scheme as given, with its parameters.
    pub buffer: String,
    /// The translation layer as given, with its parameters.
    pub ftl: String,
    /// All parameters, including those of the workload.
    pub parameters: BTreeMap<String, Value>,
    /// The metrics that are defined for this run; empty if the run failed.
    pub metrics: Metrics,
    /// Where the time of the run went, if the settings [request an explained run](crate::Settings::explain).
    pub explained: Option<Arc<Explained>>,
    /// The reason why the run failed; `None` if the run did not fail.
    pub error: Option<Arc<Error>>,
}

impl Record {
    /// The record of the result of `combination` on `input`. `config` is the configuration of the run, in which the
    /// number of blocks is chosen for this input.
    pub fn new(
        input: &Input,
        combination: &Combination,
        config: &Config,
        result: Result<RunResult, Error>,
    ) -> Self {
        let (mut parameters, metrics, explained, error) = match result {
            Ok(result) => {
                let explained = result.explained.map(Arc::from);
                (result.parameters, result.metrics, explained, None)
            }
            Err(error) => {
                let error = Some(Arc::new(error));
                let parameters = config.parameters();
                (parameters, Metrics::default(), None, error)
            }
        };
        parameters.extend(input.parameters());
        Self {
            trace: input.name(),
            buffer: combination.buffer.clone(),
            ftl: combination.ftl.clone(),
            parameters,
            metrics,
            explained,
            error,
        }
    }

    /// The record that was written as the JSON value `run`, but without `explained`. `trace` is the name of the input
    /// if `run` has no name.
    #[must_use]
    pub fn from_json(run: &Json, trace: &str) -> Self {
        let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
        let named = |name: &str, kind: &str| match run[name].as_str() {
            Some(text) => text.to_owned(),
            None => text(&run["parameters"][kind]),
        };
        let setting = |value: &Json| match value {
            Json::Bool(flag) => Value::Flag(*flag),
            Json::Number(number) => match number.as_u64() {
                Some(number) => Value::Integer(number),
                None => Value::Number(number.as_f64().unwrap_or(f64::NAN)),
            },
            other => Value::Text(text(other)),
        };
        let number = |value: &Json| match value.as_u64() {
            Some(number) => Some(Number::Integer(number)),
            None => value.as_f64().map(Number::Real),
        };
        let settings = run["parameters"].as_object().into_iter().flatten();
        let metrics = run["metrics"].as_object().into_iter().flatten();
        let error = run["error"].as_str();
        Self {
            trace: run["trace"].as_str().unwrap_or(trace).to_owned(),
            buffer: named("buffer", "buffer.kind"),
            ftl: named("ftl", "ftl.kind"),
            parameters: settings
                .map(|(name, value)| (name.clone(), setting(value)))
                .collect(),
            metrics: metrics
                .filter_map(|(name, value)| Some((name.clone(), number(value)?)))
                .collect(),
            explained: None,
            error: error.map(|error| Arc::new(Error::Input(error.to_owned()))),
        }
    }

    /// The value of a metric as a decimal number; `None` if the metric is not defined for this run.
    ///
    /// # Errors
    /// If no run has a metric with this name.
    pub fn metric(&self, name: &str) -> Result<Option<f64>, Error> {
        let number = self.number(name);
        if number.is_none() {
            require(name)?;
        }
        Ok(number)
    }

    /// The value of the metric `name`, which has to be a name of the registry.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.metrics.get(name).map(Number::as_f64)
    }

    /// The value of a whole-numbered parameter; `None` if the parameter is absent or not a whole number.
    #[must_use]
    pub fn whole(&self, name: &str) -> Option<u64> {
        match self.parameters.get(name) {
            Some(Value::Integer(number)) => Some(*number),
            _ => None,
        }
    }

    /// Whether the run ended before its input did, because requests piled up (`host.saturation`) or because the flash
    /// was worn out. Its metrics then describe only a part of the input.
    #[must_use]
    pub fn stopped_early(&self) -> bool {
        self.is_true(rows::HOST_SATURATED) || self.is_true(rows::DEVICE_WORN_OUT)
    }

    /// Whether the metric, which is 0 or 1, is 1.
    pub(crate) fn is_true(&self, metric: &MetricRow) -> bool {
        self.number(metric.name) == Some(1.0)
    }

    /// The size of the buffer in bytes; `None` if the scheme buffers no pages.
    #[must_use]
    pub fn capacity(&self) -> Option<u64> {
        // Only a scheme that buffers pages has the metric of hits.
        if self.error.is_none() {
            self.metrics.get(rows::BUFFER_WRITE_HITS.name)?;
        }
        self.whole("buffer.capacity_bytes")
    }

    /// Whether the scheme is a bound, such as one that knows the future. No device can implement such a scheme.
    #[must_use]
    pub fn is_of_bound(&self) -> bool {
        let kind = match self.parameters.get("buffer.kind") {
            Some(Value::Text(kind)) => kind,
            _ => return false,
        };
        destage_buffer::registry::find(kind).is_some_and(SchemeRow::is_bound)
    }

    /// The percentage of page writes that found their page in the buffer; `None` if the scheme buffers no pages.
    #[must_use]
    pub fn write_hit_percent(&self) -> Option<f64> {
        self.number(rows::BUFFER_WRITE_HITS_PERCENT.name)
    }
}

/// An object with `trace`, `buffer` and `ftl` as given, `parameters` and `metrics`, `warnings` if there are any,
/// `explained` if the settings request it, and `error` if the run failed, as in [`crate::Results::to_json`].
impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("trace", &self.trace)?;
        map.serialize_entry("buffer", &self.buffer)?;
        map.serialize_entry("ftl", &self.ftl)?;
        map.serialize_entry("parameters", &json::parameters(&self.parameters))?;
        map.serialize_entry("metrics", &json::metrics(&self.metrics))?;
        let warnings = words::warnings_of(self);
        if !warnings.is_empty() {
            map.serialize_entry("warnings", &warnings)?;
        }
        if let Some(explained) = &self.explained {
            map.serialize_entry("explained", &explained::to_json(explained))?;
        }
        if let Some(error) = &self.error {
            map.serialize_entry("error", &error.to_string())?;
        }
        map.end()
    }
}
