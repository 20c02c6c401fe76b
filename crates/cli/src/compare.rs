//! `destage compare`: a cross product of runs in parallel. Each trace is read once.

use std::time::Instant;

use clap::ArgMatches;
use destage::words::{conclusions, heading, warnings};
use destage::{Grid, Record, compare};

use crate::args::CompareArguments;
use crate::choices;
use crate::errors::{Failure, warn};
use crate::explain;
use crate::output::chosen::Chosen;
use crate::output::report::{Form, Table, page};
use crate::output::summary;
use crate::work::Work;

/// Runs the command.
pub(crate) fn run(arguments: &CompareArguments, typed: &ArgMatches) -> Result<(), Failure> {
    let started = Instant::now();
    let common = &arguments.common;
    let mut settings = choices::settings(common, typed)?;
    if arguments.explain {
        settings.explain();
    }
    let inputs = choices::inputs(&arguments.traces, common)?;
    for input in &inputs {
        input.set_host(&mut settings);
    }
    let mut grid = Grid::new(settings.clone());
    if let Some(text) = &arguments.buffers {
        grid = grid.buffers(split_items(text));
    }
    if let Some(items) = choices::sizes(arguments.sizes.as_deref()) {
        grid = grid.sizes(items);
    }
    if let Some(text) = &arguments.ftls {
        grid = grid.ftls(split_items(text));
    }
    let combinations = grid.combinations()?;
    let is_parameter = |name: &str| {
        let mut configs = combinations.iter().map(|combination| &combination.config);
        configs.any(|config| config.parameters().contains_key(name))
            || inputs
                .iter()
                .any(|input| input.parameters().contains_key(name))
    };
    let chosen = Chosen::new(&arguments.table, is_parameter)?;
    let work = Work::begin(started, common, &settings, &arguments.traces)?;
    let mut results = work.carry_out(|effort| compare(&inputs, &combinations, effort))?;
    work.sign(&mut results.manifest);
    check_any(&results.runs)?;
    let records = &results.runs;
    let findings = conclusions(records);
    warnings(records).iter().for_each(warn);
    results.manifest.unused.iter().for_each(warn);
    chosen.warn_of_empty(records);
    let content = |form| match form {
        Form::Json => results.to_json().into_bytes(),
        Form::Table(Table::MarkedUp(markup)) => {
            chosen.whole(records).marked_up(markup).into_bytes()
        }
        Form::Table(table) => table.of(records),
        Form::Html => page(&results.to_json(), None),
    };
    let text = || {
        let heading = heading(records);
        let remarks = summary::remarks(records);
        let conclusion = match &findings[..] {
            [] => String::new(),
            sentences => format!("\n{}\n", sentences.join("\n")),
        };
        let table = chosen.table(records);
        let best = chosen.best(records);
        let explained = explain::of_runs(records);
        format!("{heading}\n\n{table}{best}{remarks}{explained}{conclusion}")
    };
    work.deliver(records, content, text)
}

/// Returns an error if all runs failed. The error names each cause once.
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

/// Splits a list at the commas between its items. Commas also separate the parameters within an item. A piece that
/// contains `=` but no `:` is a parameter of the item before it, if that item contains a `:`.
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
