//! The command line of `destage`: arguments in, text out.
//!
//! | module | contents |
//! | --- | --- |
//! | `args` `usage` | the arguments, the commands in groups, and the errors about wrong arguments |
//! | `choices` | settings, made from the arguments in the order in which they were typed |
//! | `run` `compare` `fleet` `precondition` `demo` `drive` `info` `fit` `list` `show` | one command each |
//! | `measure` | `drive measure`: the experiments on a real drive |
//! | `lookup` | `explain`: the meaning of a word or a message |
//! | `power` | `run --payload`: a run that stores the bytes of pages, and in which the power is cut |
//! | `rewrite` | `trace convert`, `cut`, `merge`, `anonymize`, `scale` and `generate` |
//! | `partition` | `trace partition`: one file for each volume of a trace |
//! | `serve` `operate` `replay` `crash` `serve_args` | the commands for a live device, and their arguments |
//! | `trace_args` `trace_file` | the arguments of `trace`; the trace file that is written |
//! | `fleet_args` | the arguments of `fleet` |
//! | `output` | results as Parquet, tables and HTML; result files, which appear complete or not at all |
//! | `logs` `fio` | logs of responses, destages and erases; responses as fio's JSON |
//! | `progress` `interrupt` | progress and interrupts during a run |
//! | `budget` | the memory limit, and the end of a command that exceeds it |
//! | `errors` | error messages and the exit status |
//!
//! The crate `destage` does the simulation. Only this crate prints.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is the one crate whose business is to print"
)]

mod about;
mod args;
mod budget;
mod choices;
mod compare;
#[cfg(unix)]
mod crash;
mod curve;
mod demo;
mod drive;
mod errors;
mod explain;
mod fio;
mod fit;
mod fleet;
mod fleet_args;
mod info;
mod interrupt;
mod list;
mod logs;
mod lookup;
#[cfg(unix)]
mod measure;
#[cfg(unix)]
mod operate;
mod output;
mod partition;
mod power;
mod precondition;
mod progress;
#[cfg(unix)]
mod replay;
mod reproduce;
mod rewrite;
mod run;
#[cfg(unix)]
mod serve;
#[cfg(unix)]
mod serve_args;
mod show;
mod size;
mod study;
mod trace_args;
mod trace_file;
mod usage;
mod work;

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches};

use crate::args::{Arguments, Command, DriveCommand, TraceCommand};
use crate::errors::Failure;

/// Runs the command in `arguments`, whose first item is the name of the program. Returns the exit status.
///
/// This function takes over the process: it installs a panic hook and an interrupt handler.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    errors::report_panics();
    budget::install();
    interrupt::install();
    match command(arguments) {
        Ok(()) => 0,
        Err(failure) => failure.report(),
    }
}

fn command(arguments: impl IntoIterator<Item = OsString>) -> Result<(), Failure> {
    let words: Vec<OsString> = arguments.into_iter().collect();
    // Building the grouped help takes longer than a short run. So the grouped help is built only if the words are not
    // a valid command.
    let parsed = Arguments::command()
        .try_get_matches_from(&words)
        .or_else(|_| usage::command().try_get_matches_from(&words))
        .and_then(|matches| Ok((Arguments::from_arg_matches(&matches)?, matches)));
    let (arguments, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => {
            if let Some(refusal) = usage::refusal(&error, &words) {
                return Err(Failure::Input(refusal));
            }
            // Help and version go to standard output and are not failures. An error while printing means that the
            // reader has closed the pipe.
            let _ = error.print();
            return match error.exit_code() {
                0 => Ok(()),
                _ => Err(Failure::Usage),
            };
        }
    };
    budget::set(arguments.memory_limit.as_deref())?;
    // Only the matches of the subcommand contain the order of the options.
    let typed = matches.subcommand().map_or(&matches, |(_, inner)| inner);
    match &arguments.command {
        Command::Run(arguments) => run::run(arguments, typed),
        Command::Compare(arguments) => compare::run(arguments, typed),
        Command::Curve(arguments) => curve::run(arguments, typed),
        Command::Size(arguments) => size::run(arguments, typed),
        Command::Fleet(arguments) => fleet::run(arguments),
        Command::Reproduce(arguments) => reproduce::run(arguments),
        Command::Study(arguments) => study::run(arguments),
        Command::Precondition(arguments) => precondition::run(arguments),
        Command::Demo(arguments) => demo::run(arguments),
        #[cfg(unix)]
        Command::Serve(arguments) => serve::run(arguments, typed),
        #[cfg(unix)]
        Command::Device(arguments) => operate::run(arguments),
        #[cfg(unix)]
        Command::Replay(arguments) => replay::run(arguments),
        #[cfg(unix)]
        Command::Crash(arguments) => crash::run(arguments, typed),
        Command::Drive { command } => match command {
            DriveCommand::Check(arguments) => drive::check(arguments),
            DriveCommand::Fit(arguments) => drive::fit(arguments),
            #[cfg(unix)]
            DriveCommand::Measure(arguments) => measure::run(arguments),
        },
        Command::Trace { command } => match command {
            TraceCommand::Info(arguments) => info::run(arguments),
            TraceCommand::Fit(arguments) => fit::run(arguments),
            TraceCommand::Convert(arguments) => rewrite::convert(arguments),
            TraceCommand::Cut(arguments) => rewrite::cut(arguments),
            TraceCommand::Merge(arguments) => rewrite::merge(arguments),
            TraceCommand::Partition(arguments) => partition::run(arguments),
            TraceCommand::Anonymize(arguments) => rewrite::anonymize(arguments),
            TraceCommand::Scale(arguments) => rewrite::scale(arguments),
            TraceCommand::Generate(arguments) => rewrite::generate(arguments),
        },
        Command::List(arguments) => list::run(arguments),
        Command::Show(arguments) => show::run(arguments),
        Command::Explain(arguments) => lookup::run(arguments),
        Command::Completions(arguments) => about::completions(arguments),
        Command::Man(arguments) => about::manual(arguments),
        Command::Version(arguments) => about::version(arguments),
    }
}
