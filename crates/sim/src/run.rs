//! A run: a checked configuration and a stream of requests give results.

pub mod live;
mod simulation;

use std::collections::BTreeMap;

use destage_base::parameter::Value;

pub use self::simulation::Simulation;
use crate::error::SimError;
use crate::explain::Explained;
use crate::metrics::Metrics;
use crate::observer::Observer;
use crate::prepass::Prepass;
use crate::settings::Config;
use crate::source::Source;

/// The values that a scheme learnt, one at the end of each of its periods, by dotted name. `None` replaces a
/// value without a meaning.
pub type Learnt = BTreeMap<String, Vec<Option<f64>>>;

/// The results of a run. They are equal for equal inputs on any machine.
#[derive(Clone, Debug, PartialEq)]
pub struct RunResult {
    /// Every parameter by its dotted name.
    pub parameters: BTreeMap<String, Value>,
    /// Every metric that has a meaning in this run.
    pub metrics: Metrics,
    /// The explanation of where the time of the run went; `None` unless it was requested.
    pub explained: Option<Box<Explained>>,
}

/// Simulates `source` under `config`. `prepass` must be of the same requests if [`Config::needs_prepass`].
/// Returns the source too, for its counts and digest.
///
/// # Errors
/// If the configuration or the trace has an error, or the device is too small.
pub fn run<'a>(
    config: &Config,
    mut source: Source<'a>,
    prepass: &Prepass,
    observer: &mut dyn Observer,
) -> Result<(RunResult, Source<'a>), SimError> {
    let ftl = config.prepared_ftl(observer)?;
    let mut run = Simulation::new(config, source.origin(), ftl, prepass, Box::new(observer))?;
    let mut batch = Vec::new();
    while source.fill(&mut batch)? && run.feed(&batch)? {}
    Ok((run.finish()?, source))
}
