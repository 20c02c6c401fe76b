//! One run's results with the names it goes by.

use std::collections::BTreeMap;

use destage_base::parameter::Value;
use destage_sim::metrics::{Metrics, Number};
use destage_sim::run::RunResult;

/// One run's results with the names it goes by.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// The trace's path as given, or the workload as given.
    pub(crate) trace: String,
    /// The scheme as given, its parameters included.
    pub(crate) buffer: String,
    /// The translation layer as given, its parameters included.
    pub(crate) ftl: String,
    /// Every parameter, the workload's included.
    pub(crate) parameters: BTreeMap<String, Value>,
    /// Every metric that has a meaning.
    pub(crate) metrics: Metrics,
}

impl Record {
    /// Joins a result with the names; `workload` adds the parameters of the workload, if it was one.
    pub(crate) fn new(
        trace: &str,
        buffer: &str,
        ftl: &str,
        result: RunResult,
        workload: BTreeMap<String, Value>,
    ) -> Self {
        let mut parameters = result.parameters;
        parameters.extend(workload);
        Self {
            trace: trace.to_owned(),
            buffer: buffer.to_owned(),
            ftl: ftl.to_owned(),
            parameters,
            metrics: result.metrics,
        }
    }

    /// A metric as a decimal number.
    pub(crate) fn metric(&self, name: &str) -> Option<f64> {
        self.metrics.get(name).map(Number::as_f64)
    }

    /// A whole-numbered parameter.
    pub(crate) fn whole(&self, name: &str) -> Option<u64> {
        match self.parameters.get(name) {
            Some(Value::Integer(number)) => Some(*number),
            _ => None,
        }
    }

    /// Bytes of the buffer; none without one.
    pub(crate) fn capacity(&self) -> Option<u64> {
        // Only a buffer that keeps pages has hits.
        self.metrics.get("buffer.write_hits")?;
        self.whole("buffer.capacity_bytes")
    }

    /// Page writes that found their page buffered, over all page writes, in percent.
    pub(crate) fn write_hit_percent(&self) -> Option<f64> {
        let hits = self.metric("buffer.write_hits")?;
        let writes = self.metric("host.page_writes")?;
        (writes > 0.0).then(|| 100.0 * hits / writes)
    }
}
