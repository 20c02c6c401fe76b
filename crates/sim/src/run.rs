//! From a checked configuration and a stream of requests to results.

use std::collections::BTreeMap;

use destage_base::parameter::Value;
use destage_trace::Request;
use rayon::prelude::*;

use crate::engine::Engine;
use crate::error::SimError;
use crate::measured::Measured;
use crate::metrics::{Metrics, Scope, collect};
use crate::observer::Observer;
use crate::op_count;
use crate::precondition::{Precondition, Preparation};
use crate::prepass::Prepass;
use crate::settings::Config;
use crate::source::Source;

/// What one run gives: everything here is equal for equal inputs, on any machine.
#[derive(Clone, Debug, PartialEq)]
pub struct RunResult {
    /// Every parameter by its dotted name.
    pub parameters: BTreeMap<String, Value>,
    /// Every metric that has a meaning.
    pub metrics: Metrics,
}

/// Simulates `source` under `config`. `prepass` is of the same requests if [`Config::needs_prepass`].
/// The source comes back for its counts and digest.
///
/// # Errors
/// What is wrong with the configuration, the trace or the device's size.
pub fn run<'a>(
    config: &Config,
    source: Source<'a>,
    prepass: &Prepass,
    observer: &'a mut dyn Observer,
) -> Result<(RunResult, Source<'a>), SimError> {
    let timed = config.is_timed();
    let geometry = config.geometry();
    let mut ftl = config.ftl()?;
    if let Precondition::RandomFill(passes) = config.precondition() {
        let preparation = Preparation {
            ftl: ftl.as_mut(),
            blocks_per_die: geometry.blocks_per_die(),
            seed: config.typed.sim.seed,
        };
        preparation.overwrite(passes, observer)?;
    }
    let scope = Scope {
        timed,
        flash: config.has_flash(),
        prepared_pages: config.precondition().passes().saturating_mul(ftl.pages()),
        merges: ftl.properties().has_merges.then(|| config.merge_cost()),
        page_bytes: geometry.page_bytes,
    };
    let addressing = config.addressing(prepass.span_pages);
    let device = config.device(timed, config.buffer(timed, prepass)?, ftl);
    let timing = config.timing();
    let (measured, source): (Measured, Source<'a>) = if timed {
        let engine = config.engine(prepass.span_pages);
        Engine::new(engine, source, device, timing, geometry.dies, observer).run()?
    } else {
        let drain = config.typed.sim.drain;
        op_count::run(
            source,
            device,
            &addressing,
            timing,
            geometry.dies,
            drain,
            observer,
        )?
    };
    let metrics = collect(&measured, &scope);
    Ok((
        RunResult {
            parameters: config.parameters(),
            metrics,
        },
        source,
    ))
}

/// One run of a cross product.
pub struct Job<'t> {
    /// Its configuration.
    pub config: Config,
    /// What its requests are called in errors.
    pub origin: String,
    /// Its requests, shared among jobs.
    pub requests: &'t [Request],
}

/// Runs all jobs on `threads` threads (0: one per core); results come in the order of the jobs, and do
/// not depend on the number of threads.
///
/// `observe` makes each job's observer; `finished` is called as jobs end, in any order.
///
/// # Errors
/// The first failure in the order of jobs.
pub fn run_all<O: Observer>(
    jobs: &[Job<'_>],
    threads: usize,
    observe: impl Fn(usize) -> O + Sync,
    finished: impl Fn(usize) + Sync,
) -> Result<Vec<RunResult>, SimError> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| SimError::Config(format!("--threads {threads}: {error}")))?;
    let one = |(index, job): (usize, &Job<'_>)| {
        let mut observer = observe(index);
        let mut future = Source::memory(job.origin.clone(), job.requests);
        let prepass = Prepass::of(&job.config, &mut future)?;
        let source = Source::memory(job.origin.clone(), job.requests);
        let result = run(&job.config, source, &prepass, &mut observer).map(|(result, _)| result);
        finished(index);
        result
    };
    let results: Vec<_> = pool.install(|| jobs.par_iter().enumerate().map(one).collect());
    results.into_iter().collect()
}
