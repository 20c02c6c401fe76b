//! `destage crash`: tests a program on a device whose power fails again and again.

use clap::ArgMatches;
use destage::words::for_shell;
use destage_serve::crash::{CrashError, FileSystem, Moment, Round, Stop, Trial};

use crate::choices;
use crate::errors::{Failure, command, first_of, report_line, warn};
use crate::interrupt;
use crate::output;
use crate::output::table::{Side, Table};
use crate::serve;
use crate::serve_args::{CrashArguments, FileSystemArgument, FixedMoment};

/// The options about the moments of cuts. Each has a value.
const OF_CUTS: [&str; 5] = [
    "--cuts",
    "--seed",
    "--at-write",
    "--at-flush",
    "--at-program",
];

/// Runs the command.
pub(crate) fn run(arguments: &CrashArguments, typed: &ArgMatches) -> Result<(), Failure> {
    let short = arguments.cache.short();
    let settings = choices::of_device(&arguments.device, None, &short, typed)?;
    let (config, notes) = destage_serve::configuration(&settings)?;
    let is_quiet = arguments.noise.quiet;
    let say = |line: String| {
        if !is_quiet {
            report_line(&format!("destage: {line}"));
        }
    };
    for note in notes {
        say(format!("note: {note}"));
    }
    let trial = Trial {
        config: &config,
        pace: serve::pace(arguments.pace),
        file_system: match arguments.fs {
            FileSystemArgument::Ext4 => FileSystem::Ext4,
            FileSystemArgument::Xfs => FileSystem::Xfs,
            FileSystemArgument::Btrfs => FileSystem::Btrfs,
            FileSystemArgument::None => FileSystem::None,
        },
        command: &arguments.command,
        check: arguments.check.as_deref(),
    };
    trial.file_system.check_tools().map_err(failure)?;
    // An interrupt must not end the program before the program has unmounted its file systems and released its
    // devices.
    interrupt::end_in_order();
    let stop = Stop(&interrupt::asked);
    let fixed = fixed(&arguments.moment);
    let extent = match fixed {
        Some(_) => None,
        None => {
            let extent = trial.extent(arguments.seed, stop).map_err(failure)?;
            say(format!(
                "without a cut: {} writes, {} flushes, {} page programs",
                extent.writes, extent.flushes, extent.programs
            ));
            Some(extent)
        }
    };
    let mut result = Found::default();
    // If a round cannot be done, the findings of the earlier rounds are shown nevertheless.
    let mut ended = Ok(());
    for number in 0..arguments.cuts {
        let seed = arguments.seed.wrapping_add(u64::from(number));
        let drawn = extent.map(|extent| extent.moment(seed, number, arguments.cuts));
        let moment = fixed.or(drawn).unwrap_or(Moment::Write(1));
        let round = match trial.round(moment, seed, stop) {
            Ok(round) => round,
            Err(error) => {
                ended = Err(failure(error));
                break;
            }
        };
        let (key, at) = moment.named();
        let verdict = if round.is_sound() {
            "sound"
        } else {
            "NOT SOUND"
        };
        let late = if round.came_late {
            ", or at the end"
        } else {
            ""
        };
        say(format!(
            "cut {} of {}, {} {at}{late}: {verdict}",
            number + 1,
            arguments.cuts,
            key.replace('_', " ")
        ));
        result.take(&round, moment, seed);
    }
    let shown = match ended.is_err() && result.cuts == 0 {
        true => Ok(()),
        false => output::show(&result.text()),
    };
    let verdict = result.verdict();
    // The status says that a cut found an error, whatever ended the command afterwards.
    if let (Err(Failure::Input(text)), Err(_)) = (&ended, &verdict) {
        warn(format!("the command ended before the last cut: {text}"));
    }
    match ended {
        Err(Failure::Interrupted) => Err(Failure::Interrupted),
        ended => first_of([verdict, ended, shown]),
    }
}

/// The moment of all cuts, if an option sets one.
fn fixed(moment: &FixedMoment) -> Option<Moment> {
    let all = [
        moment.at_write.map(Moment::Write),
        moment.at_flush.map(Moment::Flush),
        moment.at_program.map(Moment::Program),
    ];
    all.into_iter().flatten().next()
}

fn failure(error: CrashError) -> Failure {
    match error {
        CrashError::Interrupted => Failure::Interrupted,
        CrashError::Serve(error) => serve::failure(error),
        CrashError::Device(error) => error.into(),
        CrashError::Gone => Failure::Internal(error.to_string()),
        CrashError::Memory(_) => Failure::input(format!("--memory-limit: {error}")),
        other => Failure::input(other),
    }
}

/// The counts and findings of all cuts.
#[derive(Default)]
struct Found {
    cuts: u64,
    late: u64,
    bad_sectors: u64,
    unsound: u64,
    /// The errors of each cut with errors, and the command that repeats this cut.
    findings: Vec<String>,
}

impl Found {
    fn take(&mut self, round: &Round, moment: Moment, seed: u64) {
        self.cuts += 1;
        self.late += u64::from(round.came_late);
        self.bad_sectors += round.bad_sectors;
        if round.is_sound() {
            return;
        }
        self.unsound += 1;
        if round.bad_sectors > 0 {
            self.findings.push(format!(
                "{} sectors do not hold what was promised: this is a bug in destage",
                round.bad_sectors
            ));
        }
        self.findings.extend(round.findings.iter().cloned());
        self.findings
            .push(format!("again: {}", repeating_command(moment, seed)));
    }

    fn text(&self) -> String {
        let mut table = Table::new(vec![Side::Left, Side::Right]);
        let mut row = |name: &str, value: u64| table.row([name, &value.to_string()]);
        row("cuts", self.cuts);
        row("of these, when all was written", self.late);
        row("sectors not as promised", self.bad_sectors);
        row("cuts with something wrong", self.unsound);
        let mut text = table.text();
        for finding in &self.findings {
            text.push_str(finding);
            text.push('\n');
        }
        text
    }

    fn verdict(&self) -> Result<(), Failure> {
        match self.unsound {
            0 => Ok(()),
            _ => Err(Failure::Unsound(format!(
                "something was wrong after {} of {} cuts",
                self.unsound, self.cuts
            ))),
        }
    }
}

/// The command that repeats one cut.
fn repeating_command(moment: Moment, seed: u64) -> String {
    let mut words = command().into_iter().skip(1).peekable();
    let mut line = vec!["destage".to_owned()];
    let (key, number) = moment.named();
    while let Some(word) = words.next() {
        if word == "--" {
            line.push(format!(
                "--cuts 1 --seed {seed} --{} {number} --",
                key.replace('_', "-")
            ));
            line.extend(words.by_ref().map(|word| for_shell(&word)));
        } else if OF_CUTS.contains(&&*word) {
            words.next();
        } else if !OF_CUTS.iter().any(|option| {
            let value = word.strip_prefix(option);
            value.is_some_and(|value| value.starts_with('='))
        }) {
            line.push(for_shell(&word));
        }
    }
    line.join(" ")
}
