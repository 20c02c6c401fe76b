//! A cross product: every combination on every input, each input decoded once.

use std::thread::available_parallelism;
use std::time::Instant;

use crate::error::Error;
use crate::grid::Combination;
use crate::input::Input;
use crate::manifest::Manifest;
use crate::pool::Pool;
use crate::progress::{Counter, Progress, Silent};
use crate::record::Record;
use crate::results::Results;

/// How a comparison is carried out. Nothing here changes its results.
pub struct Effort<'a> {
    /// Worker threads, never more than there are runs; 0: one for each core.
    pub threads: usize,
    /// Who is told how far the work is.
    pub progress: &'a dyn Progress,
}

impl Default for Effort<'_> {
    fn default() -> Self {
        Self {
            threads: 0,
            progress: &Silent,
        }
    }
}

/// Runs every one of `combinations` on every one of `inputs`.
///
/// One decoder feeds all runs of an input in batches, of which a few exist at a time: memory is that of the models, and
/// does not depend on the input's length. A run that fails says so in its row, and the others finish.
///
/// # Errors
/// What is wrong with an input, that combinations would read it in different ways, or that `progress` asked to stop.
pub fn compare(
    inputs: &[Input],
    combinations: &[Combination],
    effort: &Effort<'_>,
) -> Result<Results, Error> {
    let started = Instant::now();
    let Some(first) = combinations.first().filter(|_| !inputs.is_empty()) else {
        return Err(Error::Input(
            "expected at least one input and one combination".to_owned(),
        ));
    };
    check_reading(combinations)?;
    for input in inputs {
        input.check_exists()?;
    }
    let runs = inputs.len() * combinations.len();
    let threads = match effort.threads {
        0 => available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    let known = inputs.iter().map(Input::expected_requests);
    let known: Option<u64> = known.sum();
    let expected = known.map(|requests| requests.saturating_mul(combinations.len() as u64));
    let counter = Counter::new(effort.progress, expected);
    let pool = Pool::new(inputs, combinations, &counter, threads.min(runs));
    let finished = pool.run()?;
    let mut records = Vec::with_capacity(runs);
    let mut facts = Vec::with_capacity(inputs.len());
    for (input, (of_input, results)) in inputs.iter().zip(finished) {
        facts.push(of_input);
        let rows = combinations.iter().zip(results);
        records.extend(rows.map(|(combination, (config, result))| {
            Record::new(input, combination, &config, result)
        }));
    }
    Ok(Results {
        manifest: Manifest {
            command: Vec::new(),
            inputs: facts,
            seed: first.config.global.integer("sim.seed"),
            wall_time_s: started.elapsed().as_secs_f64(),
        },
        runs: records,
    })
}

/// All runs see the same requests.
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
                "{name}: differs between combinations of one comparison, whose runs read the same requests; expected one value, or a comparison for each"
            )));
        }
    }
    Ok(())
}
