//! Makes settings from the arguments.
//!
//! The profile overrides defaults, the configuration file overrides the profile, and the command line overrides the
//! file. On the command line, `--buffer`, `--size`, `--capacity`, `--op`, `--ftl` and `--set` apply in the order in
//! which they were typed.

use std::path::PathBuf;

use clap::ArgMatches;
use destage::{Input, Origin, Settings, workload_pair};
use destage_sim::capacity::{CAPACITY, OVER_PROVISIONING};
use destage_sim::settings::kind_of;
use destage_sim::{profiles, state};

use crate::args::{Common, DeviceArguments, OnBadLine, Reading, SettingArguments, Slice};
use crate::errors::{Failure, warn};

/// Settings from files and `--set`, for commands that have no buffer or translation layer. If a workload is given,
/// settings of the `workload` section are left out.
pub(crate) fn plain(
    arguments: &SettingArguments,
    workload: Option<&str>,
) -> Result<Settings, Failure> {
    let mut settings = from_files(arguments)?;
    for pair in &arguments.set {
        set_pair(&mut settings, pair, workload)?;
    }
    Ok(settings)
}

/// Removes the pairs of `--set` that a command about traces does not use, and prints a warning about each. `used` are
/// the beginnings of the names that the command uses. Returns the warnings.
pub(crate) fn remove_unused(
    settings: &mut Settings,
    used: &[&str],
) -> Result<Vec<String>, Failure> {
    // An illegal value is an error, even though it has no effect.
    settings.read()?;
    let is_used = |key: &str| used.iter().any(|prefix| key.starts_with(prefix));
    let pairs = settings.pairs().filter(|(key, _)| !is_used(key));
    let keys: Vec<String> = pairs.map(|(key, _)| key.to_owned()).collect();
    keys.iter().for_each(|key| settings.remove(key));
    let all = |prefix: &&str| match prefix.ends_with('.') {
        true => format!("{prefix}*"),
        false => (*prefix).to_owned(),
    };
    let names: Vec<String> = used.iter().map(all).collect();
    let names = names.join(", ");
    let sentence =
        |key: &String| format!("{key} was set, but has no effect: this command uses only {names}");
    let unused: Vec<String> = keys.iter().map(sentence).collect();
    unused.iter().for_each(warn);
    Ok(unused)
}

/// The files that a command reads: `traces`, the profile with those on which it builds, the configuration file, the file
/// of the workload, and the file with the state of the device.
pub(crate) fn files<'a>(
    traces: impl IntoIterator<Item = &'a PathBuf>,
    arguments: &SettingArguments,
    workload: Option<&str>,
    settings: &Settings,
) -> Result<Vec<PathBuf>, Failure> {
    let mut files: Vec<PathBuf> = traces.into_iter().cloned().collect();
    if let Some(profile) = &arguments.profile {
        files.extend(files_of_profile(profile)?);
    }
    files.extend(arguments.config.clone());
    let workload = workload.map(kind_of);
    let is_file = |name: &&str| name.ends_with(".toml") || name.ends_with(".fio");
    files.extend(workload.filter(is_file).map(PathBuf::from));
    let precondition = settings.text("sim.precondition").unwrap_or_default();
    files.extend(state::file_of(&precondition).map(PathBuf::from));
    Ok(files)
}

/// The files of `profile` and of the profiles on which it builds. Profiles that are part of the program have no file.
pub(crate) fn files_of_profile(profile: &str) -> Result<Vec<PathBuf>, Failure> {
    let names = profiles::chain(profile)?.into_iter().map(|read| read.name);
    let own = names.filter(|name| name.ends_with(".toml"));
    Ok(own.map(PathBuf::from).collect())
}

/// Settings from the profile and the configuration file.
fn from_files(arguments: &SettingArguments) -> Result<Settings, Failure> {
    let mut settings = Settings::new();
    if let Some(profile) = &arguments.profile {
        settings.load_profile(profile)?;
    }
    if let Some(path) = &arguments.config {
        destage_memory::doing(format!("reading {}", path.display()));
        settings.load_file(path)?;
    }
    Ok(settings)
}

/// Settings from all options, applied in the order in which they were typed, which `typed` records. If a workload is
/// given, settings of the `workload` section are left out.
pub(crate) fn settings(arguments: &Common, typed: &ArgMatches) -> Result<Settings, Failure> {
    of_device(&arguments.device, arguments.workload.as_deref(), &[], typed)
}

/// An option, the parameter for which the option is short, and the text that was typed.
pub(crate) type Short<'a> = (&'static str, &'static str, &'a Option<String>);

/// Settings from the options about a device, and from the options in `more`, which only some commands have.
pub(crate) fn of_device(
    arguments: &DeviceArguments,
    workload: Option<&str>,
    more: &[Short<'_>],
    typed: &ArgMatches,
) -> Result<Settings, Failure> {
    let mut settings = from_files(&arguments.settings)?;
    let mut choices: Vec<(usize, Choice<'_>)> = Vec::new();
    let place = |name: &str| typed.indices_of(name).and_then(Iterator::last).unwrap_or(0);
    if let Some(text) = &arguments.buffer {
        choices.push((place("buffer"), Choice::Kind("buffer", text)));
    }
    if let Some(text) = &arguments.ftl {
        choices.push((place("ftl"), Choice::Kind("ftl", text)));
    }
    let short = [
        ("size", "buffer.capacity_bytes", &arguments.size),
        ("capacity", CAPACITY.name, &arguments.capacity),
        ("op", OVER_PROVISIONING.name, &arguments.op),
    ];
    for (option, key, text) in short.iter().chain(more) {
        if let Some(text) = text {
            choices.push((place(option), Choice::Value(option, key, text)));
        }
    }
    let pairs = arguments.settings.set.iter().map(|pair| Choice::Pair(pair));
    choices.extend(typed.indices_of("set").into_iter().flatten().zip(pairs));
    choices.sort_by_key(|(place, _)| *place);
    for (_, choice) in choices {
        match choice {
            Choice::Kind(section, text) => settings.set_kind(section, text)?,
            Choice::Value(option, key, text) => {
                settings.set(key, text, Origin::Given(format!("--{option} {text}")));
            }
            Choice::Pair(pair) => set_pair(&mut settings, pair, workload)?,
        }
    }
    Ok(settings)
}

enum Choice<'a> {
    Kind(&'static str, &'a str),
    /// The name of an option, the parameter for which the option is short, and the value of the option.
    Value(&'static str, &'static str, &'a str),
    Pair(&'a str),
}

/// Applies a `--set` option. With a workload, a pair of the `workload` section is left out, because it is a
/// parameter of the workload and not a setting.
fn set_pair(settings: &mut Settings, pair: &str, workload: Option<&str>) -> Result<(), Failure> {
    if workload.is_none() || workload_pair(pair).is_none() {
        settings.set_pair(pair)?;
    }
    Ok(())
}

/// The inputs: `traces`, or the workload that replaces them.
pub(crate) fn inputs(traces: &[PathBuf], arguments: &Common) -> Result<Vec<Input>, Failure> {
    let inputs = match &arguments.workload {
        Some(text) => vec![Input::workload(text, &arguments.device.settings.set)?],
        None => traces.iter().map(Input::trace).collect(),
    };
    let read = |input: Input| Ok(input.read(reading(&arguments.reading))?);
    inputs.into_iter().map(read).collect()
}

/// The only input: `trace`, or the workload that replaces it.
pub(crate) fn input(trace: Option<&PathBuf>, arguments: &Common) -> Result<Input, Failure> {
    let mut all = inputs(trace.map_or(&[], std::slice::from_ref), arguments)?;
    let missing = || Failure::input("expected a TRACE or --workload");
    all.pop().ok_or_else(missing)
}

/// The capacities in a comma-separated list; `None` without a list.
pub(crate) fn sizes(list: Option<&str>) -> Option<Vec<String>> {
    let items = list?.split(',');
    Some(items.map(|item| item.trim().to_owned()).collect())
}

/// The capacities in a comma-separated list, for commands that try several sizes. Refuses `--size`.
pub(crate) fn only_sizes(
    list: Option<&str>,
    common: &Common,
) -> Result<Option<Vec<String>>, Failure> {
    match &common.device.size {
        Some(text) => Err(Failure::input(format!(
            "--size {text:?}: this command tries several sizes; expected --sizes"
        ))),
        None => Ok(sizes(list)),
    }
}

/// Converts the reading options for the library.
pub(crate) fn reading(arguments: &Reading) -> destage::Reading {
    destage::Reading {
        format: arguments.format.clone(),
        skip_bad_lines: matches!(arguments.on_bad_line, OnBadLine::Skip),
        ..slice(&arguments.slice)
    }
}

/// Converts the options that select a part of an input for the library.
pub(crate) fn slice(arguments: &Slice) -> destage::Reading {
    destage::Reading {
        limit: arguments.limit,
        skip: arguments.skip,
        writes_only: arguments.writes_only,
        ..destage::Reading::default()
    }
}
