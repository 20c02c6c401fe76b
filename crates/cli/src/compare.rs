//! `destage compare`: a cross product, in parallel, each trace read once.

use std::path::Path;
use std::time::Instant;

use clap::ArgMatches;
use destage::{Effort, Facts, Grid, Record, compare};

use crate::args::CompareArguments;
use crate::choices;
use crate::errors::{Failure, command, warn};
use crate::output::chosen::Chosen;
use crate::output::findings::findings;
use crate::output::report::{Form, ResultFile, check_distinct, machine_form};
use crate::output::{self, html, summary};
use crate::progress::Progress;
use crate::run::note;

/// Runs the command.
pub(crate) fn run(arguments: &CompareArguments, typed: &ArgMatches) -> Result<(), Failure> {
    let started = Instant::now();
    let common = &arguments.common;
    let mut grid = Grid::new(choices::settings(common, typed)?);
    if let Some(text) = &arguments.buffers {
        grid = grid.buffers(split_items(text));
    }
    if let Some(text) = &arguments.sizes {
        grid = grid.sizes(text.split(',').map(str::trim));
    }
    if let Some(text) = &arguments.ftls {
        grid = grid.ftls(split_items(text));
    }
    let combinations = grid.combinations()?;
    let inputs = choices::inputs(&arguments.traces, common)?;
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
    let config = common.device.settings.config.as_deref();
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

    let progress = Progress::new(common.noise, None);
    let effort = Effort {
        threads: common.threads.map_or(0, usize::from),
        progress: &progress,
        ..Effort::default()
    };
    let results = compare(&inputs, &combinations, &effort);
    drop(progress);
    let mut results = results?;
    results.manifest.command = command();
    results.manifest.wall_time_s = started.elapsed().as_secs_f64();

    note(&results.manifest.inputs, common.noise);
    let facts = results.manifest.inputs.iter();
    facts.flat_map(Facts::warnings_of_simulation).for_each(warn);
    check_any(&results.runs)?;
    let records = &results.runs;
    let findings = findings(records);
    summary::notes(records).iter().for_each(warn);
    let content = |form| match form {
        Form::Json => results.to_json().into_bytes(),
        Form::Table(table) => table.of(records),
        Form::Html => html::runs(
            "Comparison of write buffers",
            &findings,
            &results.manifest,
            records,
        )
        .into_bytes(),
    };
    if let Some(file) = file {
        file.fill_with(content)?.commit()?;
    }
    match machine_form(common.results.machine) {
        Some(form) => output::print(&content(form))?,
        None => {
            let heading = summary::heading(records);
            let remarks = summary::remarks(records);
            let conclusion = match &findings[..] {
                [] => String::new(),
                sentences => format!("\n{}\n", sentences.join("\n")),
            };
            let table = chosen.table(records);
            output::show(&format!("{heading}\n\n{table}{remarks}{conclusion}"))?;
        }
    }
    match summary::failures(records) {
        texts if texts.is_empty() => Ok(()),
        texts => Err(Failure::Runs(texts)),
    }
}

/// An error if not one run gave a result: each cause once.
pub(crate) fn check_any(records: &[Record]) -> Result<(), Failure> {
    if records.iter().any(|record| record.error.is_none()) {
        return Ok(());
    }
    let mut causes: Vec<String> = Vec::new();
    for error in records.iter().filter_map(|run| run.error.as_ref()) {
        let text = error.to_string();
        if !causes.contains(&text) {
            causes.push(text);
        }
    }
    Err(Failure::Runs(causes))
}

/// Splits a list whose items may have parameters: both are separated by commas, but a parameter has a `=`
/// and begins no item, which would have a `:` before it.
pub(crate) fn split_items(text: &str) -> Vec<String> {
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
}
