//! One simulation of one input under one configuration.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use destage_sim::error::SimError;
use destage_sim::observer::Observer;
use destage_sim::prepass::Prepass;
use destage_sim::run::run as simulate;
use destage_sim::settings::Config;
use destage_sim::source::Source;

use crate::error::Error;
use crate::facts::Facts;
use crate::grid::Combination;
use crate::input::Input;
use crate::manifest::{Manifest, notes, unused_on};
use crate::progress::{Counter, Progress, Watch};
use crate::record::Record;
use crate::results::Outcome;
use crate::survey::{Plan, Survey};

/// Simulates `input` under `combination`, in memory that does not depend on the length of the input. `observer`
/// receives the events of each request.
///
/// # Errors
/// If the configuration or the trace is wrong, if the device is too small, or if `progress` or `observer` asked to
/// stop.
pub fn run(
    input: &Input,
    combination: &Combination,
    progress: &dyn Progress,
    observer: &mut dyn Observer,
) -> Result<Outcome, Error> {
    let (result, config, manifest) = single(input, combination, progress, observer, simulate)?;
    Ok(Outcome {
        manifest,
        record: Record::new(input, combination, &config, Ok(result)),
    })
}

/// Calls `simulate` for `input` under `combination`. Returns the result of `simulate`, the configuration of the run,
/// and the manifest.
pub fn single<T>(
    input: &Input,
    combination: &Combination,
    progress: &dyn Progress,
    observer: &mut dyn Observer,
    simulate: impl FnOnce(
        &Config,
        Source<'static>,
        &Prepass,
        &mut dyn Observer,
    ) -> Result<(T, Source<'static>), SimError>,
) -> Result<(T, Config, Manifest), Error> {
    let started = Instant::now();
    let options = input.options(&combination.config)?;
    let counter = Counter::new(progress, input.expected_requests());
    destage_memory::doing(format!("reading {}", input.name()));
    let Survey { mut plans, sizing } = Survey::of(input, &[&combination.config], &counter)?;
    let Some(Plan { config, prepass }) = plans.pop() else {
        return Err(Error::Internal("a run has no plan".to_owned()));
    };
    let prepass = prepass?;
    let source = input.open_ahead(&config)?;
    destage_memory::doing(combination.doing(&input.name()));
    let mut watch = Watch::new(&counter, observer);
    // If a scheme breaks its contract, the run panics. The panic becomes an error here.
    let simulated = AssertUnwindSafe(|| simulate(&config, source, &prepass, &mut watch));
    let (result, source) = catch_unwind(simulated).map_err(Error::of_panic)??;
    let mut facts = Facts::of_source(&source, &options);
    facts.sizing = sizing;
    if !config.follows_arrivals() {
        facts.forget_times();
    }
    if let Some(merged) = &prepass.merged {
        facts.add_merged(merged);
    }
    facts.add_known(input);
    let manifest = Manifest {
        command: Vec::new(),
        inputs: vec![facts],
        unused: unused_on(&config, input, source.seen()),
        notes: notes([&config]),
        seed: config.typed.sim.seed,
        wall_time_s: started.elapsed().as_secs_f64(),
    };
    Ok((result, config, manifest))
}
