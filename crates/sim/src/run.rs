//! A run: a checked configuration and a stream of requests give results.

pub mod live;
mod simulation;

use std::collections::BTreeMap;

use destage_base::parameter::Value;

pub use self::simulation::Simulation;
use crate::error::SimError;
use crate::explain::Explained;
use crate::measured::Measured;
use crate::metrics::{Metrics, Scope, collect, learnt};
use crate::observer::Observer;
use crate::prepass::Prepass;
use crate::settings::Config;
use crate::source::Source;

/// The values that a scheme learnt, by dotted name: one value for the end of each of the scheme's periods. `None`
/// means that the value has no meaning in the period.
pub type Learnt = BTreeMap<String, Vec<Option<f64>>>;

/// The results of a run. They are equal for equal inputs on any machine.
#[derive(Clone, Debug, PartialEq)]
pub struct RunResult {
    /// Every parameter by its dotted name.
    pub parameters: BTreeMap<String, Value>,
    /// Every metric that has a meaning in this run.
    pub metrics: Metrics,
    /// The explanation of where the time of the run went; `None` unless the user requested an explanation.
    pub explained: Option<Box<Explained>>,
}

impl RunResult {
    /// The results of a run of `config` that has `measured` these values.
    pub(crate) fn of(
        config: &Config,
        measured: Measured,
        scope: &Scope,
        explained: Option<Explained>,
    ) -> Self {
        Self {
            parameters: config.parameters(),
            metrics: collect(&measured, scope),
            explained: explained.map(|explained| {
                Box::new(Explained {
                    scheme: learnt(measured.buffer.series),
                    ..explained
                })
            }),
        }
    }
}

/// Simulates `source` under `config`. If [`Config::needs_prepass`], `prepass` must be the prepass over the same
/// requests. Returns the results, and the source, from which the caller can read counts and digest.
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
