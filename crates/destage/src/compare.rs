//! A comparison simulates every combination on every input. All runs of an input share one decoder.

use std::thread::available_parallelism;
use std::time::Instant;

use destage_sim::limits::Limits;

use crate::error::Error;
use crate::grid::Combination;
use crate::input::{Input, check_read_once};
use crate::manifest::{Manifest, notes, unused};
use crate::passes::plan;
use crate::pool::{Pool, Work};
use crate::progress::{Counter, Progress, Silent};
use crate::record::Record;
use crate::results::Results;
use crate::survey::Survey;

/// The number of threads, the memory limit and the progress report of a comparison. The results do not depend on
/// these fields.
pub struct Effort<'a> {
    /// Number of worker threads; 0 means one for each core. A comparison never uses more threads than it has runs.
    pub threads: usize,
    /// Approximate limit, in bytes, on the total size of the simulated devices (models) that one reading of an input
    /// feeds. If the models of all runs of an input exceed this limit, the input is read several times. If the models
    /// need more than 256 MiB, one reading feeds only as many models as keep the threads busy: four for each thread,
    /// and at least eight. Default: 4 GiB, or half of the program's [memory limit](destage_memory::set_limit) if that
    /// half is less.
    pub memory: u64,
    /// Receives the progress of the work.
    pub progress: &'a dyn Progress,
}

impl Default for Effort<'_> {
    fn default() -> Self {
        Self {
            threads: 0,
            memory: (destage_memory::limit() / 2).min(4 << 30),
            progress: &Silent,
        }
    }
}

impl Effort<'_> {
    /// The number of threads that may be used, at least 1.
    pub(crate) fn all_threads(&self) -> usize {
        match self.threads {
            0 => available_parallelism().map_or(1, usize::from),
            threads => threads,
        }
    }
}

/// Runs every one of `combinations` on every one of `inputs`.
///
/// One decoder reads an input and passes batches of requests to all runs of the input. Only a few batches exist at a
/// time, so the memory depends on the models and not on the length of the input. If the models of all runs of an
/// input need more than [`Effort::memory`], the input is read again for the remaining runs. If a run fails, its
/// record contains the error, and all other runs finish.
///
/// # Errors
/// If an input cannot be read, if the combinations would read different requests from an input, or if
/// `effort.progress` asked to stop.
pub fn compare(
    inputs: &[Input],
    combinations: &[Combination],
    effort: &Effort<'_>,
) -> Result<Results, Error> {
    compare_within(inputs, combinations, &[], effort)
}

/// Does the same as [`compare`], but a run that exceeds the limits of its combination ends with
/// [`Error::OutOfReach`].
pub(crate) fn compare_within(
    inputs: &[Input],
    combinations: &[Combination],
    limits: &[Option<Limits>],
    effort: &Effort<'_>,
) -> Result<Results, Error> {
    let started = Instant::now();
    let Some(first) = combinations.first().filter(|_| !inputs.is_empty()) else {
        return Err(Error::Input(
            "expected at least one input and one combination".to_owned(),
        ));
    };
    check_reading(combinations)?;
    check_read_once(inputs.iter().filter_map(Input::path))?;
    for input in inputs {
        input.check_exists()?;
    }
    let runs = inputs.len() * combinations.len();
    let known = inputs.iter().map(Input::expected_requests);
    let known: Option<u64> = known.sum();
    let expected = known.map(|requests| requests.saturating_mul(combinations.len() as u64));
    let counter = Counter::new(effort.progress, expected);
    let configs: Vec<_> = combinations.iter().map(|each| &each.config).collect();
    let (mut known, mut prepasses) = (Vec::new(), Vec::new());
    for input in inputs {
        let (of_input, of_runs) = Survey::of(input, &configs, &counter)?.split();
        known.push(of_input);
        prepasses.push(of_runs);
    }
    let threads = effort.all_threads().min(runs);
    let passes = plan(inputs, &known, effort.memory, threads);
    let work = Work {
        inputs,
        combinations,
        known: &known,
        passes: &passes,
        limits,
    };
    let pool = Pool::new(work, prepasses, &counter, threads);
    let finished = pool.run()?;
    let mut records = Vec::with_capacity(runs);
    let mut facts = Vec::with_capacity(inputs.len());
    for (pass, (mut of_input, results)) in passes.iter().zip(finished) {
        let input = &inputs[pass.input];
        if pass.combinations.start == 0 {
            of_input.add_known(input);
            facts.push(of_input);
        }
        for (index, result) in pass.combinations.clone().zip(results) {
            let config = &known[pass.input].configs[index];
            records.push(Record::new(input, &combinations[index], config, result));
        }
    }
    Ok(Results {
        manifest: Manifest {
            command: Vec::new(),
            inputs: facts,
            unused: unused(configs, inputs),
            notes: notes(known.iter().flat_map(|of| &of.configs)),
            seed: first.config.typed.sim.seed,
            wall_time_s: started.elapsed().as_secs_f64(),
        },
        runs: records,
    })
}

/// Returns an error if the runs would read different requests. All combinations need equal `trace.*` parameters and
/// equal seeds.
fn check_reading(combinations: &[Combination]) -> Result<(), Error> {
    let reading = |combination: &Combination| {
        let mut parameters = combination.config.parameters();
        parameters.retain(|name, _| name.starts_with("trace.") || name == "sim.seed");
        parameters
    };
    let mut all = combinations.iter().map(reading);
    let first = all.next().unwrap_or_default();
    for other in all {
        if let Some((name, _)) = first
            .iter()
            .find(|(name, value)| other.get(*name) != Some(value))
        {
            return Err(Error::Input(format!(
                "{name}: differs between combinations of one comparison, whose runs have to read the same requests; expected one value, or a comparison for each"
            )));
        }
    }
    Ok(())
}
