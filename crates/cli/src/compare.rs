//! `destage compare`: a cross product, in parallel, each trace read once.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use clap::ArgMatches;
use destage_sim::run::{Job, run_all};
use destage_sim::settings::{Config, Settings, split_kind};

use crate::args::{CompareArguments, Noise};
use crate::choices;
use crate::errors::{Failure, warn};
use crate::input::{self, Input, Loaded};
use crate::logs::Logs;
use crate::manifest::Manifest;
use crate::output::chosen::Chosen;
use crate::output::report::{Form, ResultFile, check_distinct, machine_form};
use crate::output::{self, html, json, summary};
use crate::progress::Progress;
use crate::record::Record;
use crate::watch::{self, Watch};

/// One column of the cross product, to be run on every trace.
pub(crate) struct Combination {
    /// The scheme as given.
    pub(crate) buffer: String,
    /// The translation layer as given.
    pub(crate) ftl: String,
    /// Everything.
    pub(crate) config: Config,
}

/// Runs the command.
pub(crate) fn run(arguments: &CompareArguments, typed: &ArgMatches) -> Result<(), Failure> {
    let started = Instant::now();
    let common = &arguments.common;
    let workload = common.workload.as_deref();
    let settings = choices::settings(common, typed)?;
    let combinations = combinations(
        &settings,
        arguments.buffers.as_deref(),
        arguments.sizes.as_deref(),
        arguments.ftls.as_deref(),
    )?;
    let Some(first) = combinations.first().map(|combination| &combination.config) else {
        return Err(Failure::input(
            "--buffers, --sizes, --ftls: expected at least one of each",
        ));
    };
    let options = input::read_options(first, &common.reading)?;
    let inputs: Vec<Input> = match workload {
        Some(_) => vec![Input::new(None, workload, &common.settings.set)?],
        None => {
            let traces = arguments.traces.iter();
            traces
                .map(|path| Input::new(Some(path), None, &[]))
                .collect::<Result<_, _>>()?
        }
    };
    for input in &inputs {
        input.accept(&common.reading)?;
    }
    let is_parameter = |name: &str| {
        let mut configs = combinations.iter().map(|combination| &combination.config);
        configs.any(|config| config.parameters().contains_key(name))
            || inputs
                .iter()
                .any(|input| input.parameters().contains_key(name))
    };
    let chosen = Chosen::new(
        arguments.columns.as_deref(),
        arguments.sort.as_deref(),
        is_parameter,
    )?;
    let outputs: Vec<_> = common
        .results
        .output
        .iter()
        .map(|path| ("-o", path))
        .collect();
    let config = common.settings.config.as_deref();
    let read: Vec<&Path> = arguments
        .traces
        .iter()
        .map(AsRef::as_ref)
        .chain(config)
        .collect();
    check_distinct(&outputs, &read)?;
    let file = common
        .results
        .output
        .as_deref()
        .map(ResultFile::create)
        .transpose()?;

    let loaded: Vec<Loaded> = inputs
        .iter()
        .map(|input| input.load(first, &options))
        .collect::<Result<_, _>>()?;
    loaded
        .iter()
        .for_each(|loaded| loaded.facts.warn_of_simulation(&options));
    let threads = common.threads.map_or(0, usize::from);
    let records = run_combinations(&inputs, &loaded, &combinations, threads, common.noise)?;

    summary::notes(&records).iter().for_each(warn);
    let seed = first.global.integer("sim.seed");
    let facts = loaded.into_iter().map(|loaded| loaded.facts).collect();
    let manifest = Manifest::new(facts, seed, started);
    let content = |form| match form {
        Form::Json => json::runs(&manifest, &records).into_bytes(),
        Form::Table(table) => table.of(&records),
        Form::Html => {
            html::runs("Comparison of write buffers", &[], &manifest, &records).into_bytes()
        }
    };
    if let Some(file) = file {
        file.fill_with(content)?.commit()?;
    }
    match machine_form(common.results.machine) {
        Some(form) => output::print(&content(form)),
        None => {
            let heading = summary::heading(&records);
            let remarks = summary::remarks(&records);
            output::show(&format!("{heading}\n\n{}{remarks}", chosen.table(&records)))
        }
    }
}

/// Runs every combination on every input; results are in the order of inputs, then combinations.
pub(crate) fn run_combinations(
    inputs: &[Input],
    loaded: &[Loaded],
    combinations: &[Combination],
    threads: usize,
    noise: Noise,
) -> Result<Vec<Record>, Failure> {
    let pairs: Vec<_> = inputs
        .iter()
        .zip(loaded)
        .flat_map(|(input, loaded)| {
            combinations
                .iter()
                .map(move |combination| (input, loaded, combination))
        })
        .collect();
    let jobs: Vec<Job<'_>> = pairs
        .iter()
        .map(|(_, loaded, combination)| Job {
            config: combination.config.clone(),
            origin: loaded.facts.name.clone(),
            requests: &loaded.requests,
        })
        .collect();
    let total = jobs.iter().map(|job| job.requests.len() as u64).sum();
    let progress = Progress::new(noise, Some(total));
    let watch = |index: usize| {
        let (_, loaded, combination) = pairs[index];
        let (buffer, ftl) = (&combination.buffer, &combination.ftl);
        destage_memory::doing(watch::run_of(buffer, ftl, &loaded.facts.name));
        Watch::new(&progress, Logs::default())
    };
    let results = run_all(&jobs, threads, watch, |_| {})?;
    drop(progress);
    destage_memory::doing("writing results");
    let record = |((input, loaded, combination), result): (&(&Input, &Loaded, &Combination), _)| {
        let name = &loaded.facts.name;
        Record::new(
            name,
            &combination.buffer,
            &combination.ftl,
            result,
            input.parameters(),
        )
    };
    Ok(pairs.iter().zip(results).map(record).collect())
}

/// Every scheme at every size on every translation layer. What is not listed is as `base` has it.
///
/// A setting of `base` that only some of the schemes or translation layers know applies to those; one that
/// none of them knows is an error.
pub(crate) fn combinations(
    base: &Settings,
    buffers: Option<&str>,
    sizes: Option<&str>,
    ftls: Option<&str>,
) -> Result<Vec<Combination>, Failure> {
    let buffers = optional(buffers.map(split_items));
    let sizes =
        optional(sizes.map(|text| text.split(',').map(|size| size.trim().to_owned()).collect()));
    let ftls = optional(ftls.map(split_items));
    let mut foreign: BTreeSet<String> = base.keys().map(str::to_owned).collect();
    let mut combinations = Vec::new();
    for ftl in &ftls {
        for buffer in &buffers {
            for size in &sizes {
                let mut settings = base.clone();
                let mut own = BTreeSet::new();
                for (option, section, item) in
                    [("--ftls", "ftl", ftl), ("--buffers", "buffer", buffer)]
                {
                    let Some(item) = item else { continue };
                    settings.set_kind_by(option, section, item)?;
                    let (_, pairs) = split_kind(option, item)?;
                    own.extend(pairs.iter().map(|(key, _)| format!("{section}.{key}")));
                }
                if let Some(size) = size {
                    choices::set_size(&mut settings, "--sizes", size);
                }
                for key in base.keys() {
                    if settings.accepts(key) {
                        foreign.remove(key);
                    } else if !own.contains(key) {
                        settings.remove(key);
                    }
                }
                let config = settings.resolve()?;
                combinations.push(Combination {
                    buffer: buffer
                        .clone()
                        .unwrap_or_else(|| config.scheme.name.to_owned()),
                    ftl: ftl
                        .clone()
                        .unwrap_or_else(|| config.ftl_row.name.to_owned()),
                    config,
                });
            }
        }
    }
    if let (Some(first), false) = (combinations.first(), foreign.is_empty()) {
        // Resolving one run reports what is wrong with such a setting, and passes over those of a profile.
        let mut settings = base.clone();
        for key in base.keys().filter(|key| !foreign.contains(*key)) {
            settings.remove(key);
        }
        settings.set_kind("buffer", first.config.scheme.name)?;
        settings.set_kind("ftl", first.config.ftl_row.name)?;
        settings.resolve()?;
    }
    Ok(combinations)
}

/// The items, or one that leaves things as they are.
fn optional(items: Option<Vec<String>>) -> Vec<Option<String>> {
    items.map_or_else(|| vec![None], |items| items.into_iter().map(Some).collect())
}

/// Splits a list whose items may have parameters: both are separated by commas, but a parameter has a `=`
/// and begins no item, which would have a `:` before it.
fn split_items(text: &str) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    for piece in text.split(',') {
        match items.last_mut() {
            Some(item) if item.contains(':') && piece.contains('=') && !piece.contains(':') => {
                item.push(',');
                item.push_str(piece);
            }
            _ => items.push(piece.trim().to_owned()),
        }
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_separate_items_and_their_parameters() {
        assert_eq!(split_items("a:k=1,j=2,b"), ["a:k=1,j=2", "b"]);
        assert_eq!(
            split_items("a, b:k=1,c:j=2,l=3"),
            ["a", "b:k=1", "c:j=2,l=3"]
        );
        assert_eq!(split_items("a"), ["a"]);
    }

    #[test]
    fn a_setting_applies_to_the_schemes_that_know_it() {
        let mut settings = Settings::new();
        settings.set_pair("buffer.lru_unit=request").unwrap();
        let all = combinations(&settings, Some("fifo,lru"), Some("4MiB,8MiB"), None).unwrap();
        assert_eq!(all.len(), 4);
        let unit = |index: usize| all[index].config.buffer.get("lru_unit").is_some();
        assert_eq!(
            (0..4).map(unit).collect::<Vec<_>>(),
            [false, false, true, true]
        );
        assert_eq!(all[2].config.buffer.text("lru_unit"), "request");
    }

    #[test]
    fn a_setting_that_no_scheme_knows_is_refused() {
        let refusal = |key: &str, buffers| {
            let mut settings = Settings::new();
            settings.set_pair(key).unwrap();
            match combinations(&settings, Some(buffers), None, None) {
                Err(Failure::Input(text)) => text,
                _ => panic!("no refusal"),
            }
        };
        assert!(refusal("buffer.lru_unit=page", "nocache,fifo").contains("is a parameter of lru"));
        assert!(refusal("flash.deis=4", "fifo,lru").contains("did you mean \"flash.dies\"?"));
        assert!(refusal("buffer.lru_unit=pages", "fifo,lru").contains("expected one of page"));
        assert!(refusal("host.time_scale=1", "fifo:lru_unit=page,lru").contains("fifo is chosen"));
    }
}
