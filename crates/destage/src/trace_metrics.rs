//! Statistics of an input as metrics.

use destage_sim::metrics::Metrics;
use destage_sim::settings::Config;

use crate::error::Error;
use crate::input::Input;

/// Placeholder until the statistics are here.
///
/// # Errors
/// Always.
pub fn trace_metrics(_: &Input, _: &Config) -> Result<Metrics, Error> {
    Err(Error::Input("no statistics yet".to_owned()))
}
