//! Mutates the corpus for some seconds: `destage-fuzz CORPUS SECONDS [SEED]`. If an input shows a defect, the program
//! adds the input to the corpus and ends.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for developers that says what it found"
)]

use destage_base::Random;
use destage_fuzz::budget;
use destage_fuzz::check::{format_of, options, survives};
use destage_fuzz::corpus;
use destage_fuzz::mutate::mutate;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// No input is longer than 1 MiB, so reading must not take longer than this time.
const SECONDS_MAX: f64 = 5.0;

#[global_allocator]
static MEMORY: destage_memory::Budget = destage_memory::Budget;

fn main() -> ExitCode {
    budget::install();
    let (folder, time, seed) = match corpus::arguments() {
        Ok(told) => told,
        Err(expected) => {
            eprintln!("destage-fuzz: {expected}");
            return ExitCode::from(2);
        }
    };
    #[cfg(feature = "parquet")]
    {
        let told = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !destage_trace::containment::holds() {
                told(panic);
            }
        }));
    }
    match run(&folder, time, seed) {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("destage-fuzz: {text}");
            ExitCode::FAILURE
        }
    }
}

fn run(corpus: &Path, time: Duration, seed: u64) -> Result<(), String> {
    let failed = |cause: std::io::Error| format!("{}: {cause}", corpus.display());
    let inputs = corpus::read(corpus)?;
    let folder = tempfile::tempdir().map_err(failed)?;
    let (mut random, started) = (Random::new(seed), Instant::now());
    let (mut rounds, mut requests) = (0u64, 0u64);
    while started.elapsed() < time {
        let pick = usize::try_from(random.below(inputs.len() as u64)).unwrap_or(0);
        let (name, content) = &inputs[pick];
        let mut content = content.clone();
        mutate(&mut content, &mut random);
        // For half of the inputs no format is given, so that the reader must detect the format.
        let format = format_of(name).filter(|_| random.below(2) == 0);
        let options = options(format, &mut random);
        let path = folder.path().join(name);
        std::fs::write(&path, &content).map_err(failed)?;
        let kept = corpus.join(format!(
            "{}-found-{seed}-{rounds}",
            name.split(['-', '.']).next().unwrap_or(name)
        ));
        budget::reading(&path, &kept);
        let begun = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| survives(&path, &options)));
        let finding = match outcome {
            Ok(Ok(read)) => {
                requests += read;
                let seconds = begun.elapsed().as_secs_f64();
                (seconds > SECONDS_MAX).then(|| format!("it took {seconds:.1} s"))
            }
            Ok(Err(finding)) => Some(finding),
            Err(_) => Some("it panicked".to_owned()),
        };
        if let Some(finding) = finding {
            std::fs::write(&kept, &content).map_err(failed)?;
            return Err(format!("{}: {finding}\n{options:?}", kept.display()));
        }
        rounds += 1;
    }
    println!(
        "{rounds} inputs out of {} in {:.0} s, seed {seed}: {requests} requests read, nothing found",
        inputs.len(),
        started.elapsed().as_secs_f64()
    );
    Ok(())
}
