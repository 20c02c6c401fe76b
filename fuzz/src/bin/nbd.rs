//! Mutates NBD sessions for some seconds: `nbd CORPUS SECONDS [SEED]`. If a session shows a defect, the program adds
//! the session to the corpus and ends.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for developers that says what it found"
)]

use destage_base::Random;
use destage_fuzz::corpus;
use destage_fuzz::mutate::mutate;
use destage_fuzz::nbd::{distort, survives};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

fn main() -> ExitCode {
    let (folder, time, seed) = match corpus::arguments() {
        Ok(told) => told,
        Err(expected) => {
            eprintln!("nbd: {expected}");
            return ExitCode::from(2);
        }
    };
    match run(&folder, time, seed) {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(text) => {
            eprintln!("nbd: {text}");
            ExitCode::FAILURE
        }
    }
}

fn run(folder: &Path, time: Duration, seed: u64) -> Result<String, String> {
    let failed = |cause: std::io::Error| format!("{}: {cause}", folder.display());
    let inputs = corpus::read(folder)?;
    let (mut random, started) = (Random::new(seed), Instant::now());
    let (mut rounds, mut commands) = (0u64, 0u64);
    while started.elapsed() < time {
        let pick = usize::try_from(random.below(inputs.len() as u64)).unwrap_or(0);
        let mut content = inputs[pick].1.clone();
        if random.below(2) == 0 {
            mutate(&mut content, &mut random);
        }
        distort(&mut content, &mut random);
        let finding = match catch_unwind(AssertUnwindSafe(|| survives(&content, &mut random))) {
            Ok(Ok(heard)) => {
                commands += heard;
                rounds += 1;
                continue;
            }
            Ok(Err(finding)) => finding,
            Err(_) => "it panicked".to_owned(),
        };
        let kept = folder.join(format!("found-{seed}-{rounds}"));
        std::fs::write(&kept, &content).map_err(failed)?;
        return Err(format!("{}: {finding}", kept.display()));
    }
    Ok(format!(
        "{rounds} sessions out of {} in {:.0} s, seed {seed}: {commands} commands, nothing found",
        inputs.len(),
        started.elapsed().as_secs_f64()
    ))
}
