//! `destage run`: one simulation.

use std::time::Instant;

use clap::ArgMatches;
use destage::{Combination, Facts, Manifest, Outcome, Record, words};
use destage_report::Watched;
use destage_sim::metrics::{self, Metrics};

use crate::args::{Noise, RunArguments};
use crate::choices;
use crate::errors::{Failure, command, report_line, warn};
use crate::explain;
use crate::fio::Job;
use crate::logs::Logs;
use crate::output::chosen::Chosen;
use crate::output::report::{self, Form, ResultFile, check_distinct, machine_form};
use crate::output::table::{Side, Table};
use crate::output::{self, numbers, summary};
use crate::power;
use crate::progress::Progress;

/// Runs the command.
pub(crate) fn run(arguments: &RunArguments, typed: &ArgMatches) -> Result<(), Failure> {
    let started = Instant::now();
    let common = &arguments.common;
    let mut settings = choices::settings(common, typed)?;
    if arguments.explain {
        settings.explain();
    }
    let input = choices::input(arguments.trace.as_ref(), common)?;
    input.set_host(&mut settings);
    let combination = Combination::new(&settings)?;
    let is_parameter = |name: &str| {
        combination.config.parameters().contains_key(name) || input.parameters().contains_key(name)
    };
    let chosen = Chosen::new(&arguments.table, is_parameter)?;

    let wanted = [
        ("-o", &common.results.output),
        ("--response-log", &arguments.response_log),
        ("--destage-log", &arguments.destage_log),
        ("--erase-log", &arguments.erase_log),
        ("--fio-json", &arguments.fio_json),
        ("--watch", &arguments.watch),
    ];
    let outputs: Vec<_> = wanted
        .iter()
        .filter_map(|(option, path)| Some((*option, path.as_ref()?)))
        .collect();
    let files = choices::files(
        &arguments.trace,
        &common.device.settings,
        common.workload.as_deref(),
        &settings,
    )?;
    check_distinct(&outputs, &files)?;
    let plan = arguments.power.plan(combination.config.typed.sim.seed)?;
    // A run that loses its power has a clock in any case.
    let is_timed = plan.is_some() || combination.config.is_timed();
    for (option, wanted, has_it, what, needed) in [
        (
            "--response-log",
            &arguments.response_log,
            is_timed,
            "response times",
            "sim.costing=event and an FTL other than none",
        ),
        (
            "--fio-json",
            &arguments.fio_json,
            is_timed,
            "response times",
            "sim.costing=event and an FTL other than none",
        ),
        (
            "--erase-log",
            &arguments.erase_log,
            combination.config.has_flash(),
            "blocks",
            "an FTL other than none",
        ),
    ] {
        if let (Some(path), false) = (wanted, has_it) {
            return Err(Failure::input(format!(
                "{option} {}: this run has no {what}; expected {needed}",
                path.display()
            )));
        }
    }
    let file = common.results.output.as_deref();
    let file = file.map(|path| match plan {
        None => ResultFile::create(path),
        Some(_) => ResultFile::of_cut(path),
    });
    let file = file.transpose()?;
    let mut logs = Logs::create(
        arguments.response_log.as_ref(),
        arguments.destage_log.as_ref(),
        arguments.erase_log.as_ref(),
    )?;
    let host = &combination.config.typed.host;
    let job = Job {
        name: input.name(),
        engine: "destage",
        depth: u64::from(host.queue_depth),
    };
    logs = logs.with_fio(arguments.fio_json.as_ref(), job)?;

    let page = arguments
        .watch
        .as_deref()
        .map(|path| ResultFile::page("--watch", path, "a run to watch"))
        .transpose()?;

    if let Some(plan) = plan {
        let json = common.results.machine.json;
        let results = power::Results { file, page, json };
        return power::cut(&input, &combination, &plan, common.noise, results, logs);
    }
    let progress = Progress::new(common.noise, input.expected_requests());
    let done = match page {
        None => destage::run(&input, &combination, &progress, &mut logs)
            .map(|done| (done, None))
            .map_err(Failure::from),
        Some(page) => destage_report::watch(&input, &combination, &progress, &mut logs)
            .map_err(Failure::from)
            .and_then(|watched| {
                let page = page.fill_with(|form| of_watched(&watched, form))?;
                Ok((watched.outcome, Some(page)))
            }),
    };
    drop(progress);
    // A log that could not be written has stopped the run. Then the error of the log has to be reported, and not the
    // error of the stopped run. So the logs are finished before the outcome is checked.
    let mut files = logs.finish()?;
    let (mut outcome, page) = done?;
    files.extend(page);
    outcome.manifest.command = command();
    outcome.manifest.wall_time_s = started.elapsed().as_secs_f64();

    destage_memory::doing("writing results");
    let Outcome { manifest, record } = &outcome;
    let records = std::slice::from_ref(record);
    warn_about(manifest, record, common.noise);
    chosen.warn_of_empty(records);
    let is_row = arguments.table.is_given();
    let content = |form| match form {
        Form::Json => outcome.to_json().into_bytes(),
        Form::Table(report::Table::MarkedUp(markup)) if is_row => {
            chosen.whole(records).marked_up(markup).into_bytes()
        }
        Form::Table(report::Table::MarkedUp(markup)) => {
            let mut table = Table::new(vec![Side::Left, Side::Right, Side::Left]);
            table.row(["metric", "value", "unit"]);
            table.rule();
            add_metrics(&mut table, &record.metrics);
            table.marked_up(markup).into_bytes()
        }
        Form::Table(table) => table.of(records),
        Form::Html => report::page(&outcome.to_json(), None),
    };
    let file = file.map(|file| file.fill_with(content)).transpose()?;
    for file in files.into_iter().chain(file) {
        file.commit()?;
    }
    match machine_form(common.results.machine) {
        Some(form) => output::print(&content(form)),
        None => {
            let table = match is_row {
                true => chosen.table(records),
                false => metrics_table(&record.metrics).text(),
            };
            output::show(&for_people(manifest, record, &table))
        }
    }
}

/// Prints the notes and the warnings about a run.
pub(crate) fn warn_about(manifest: &Manifest, record: &Record, noise: Noise) {
    note(manifest, noise);
    let facts = manifest.inputs.iter();
    facts.flat_map(Facts::warnings_of_simulation).for_each(warn);
    words::warnings(std::slice::from_ref(record))
        .iter()
        .for_each(warn);
    manifest.unused.iter().for_each(warn);
}

/// The content of the file of a watched run.
pub(crate) fn of_watched(watched: &Watched, form: Form) -> Vec<u8> {
    match form {
        Form::Html => watched.to_html(),
        Form::Json | Form::Table(_) => watched.to_timeline(),
    }
    .into_bytes()
}

/// Prints the sizes of devices that the program has chosen for the inputs of `manifest`, and the notes of `manifest`.
pub(crate) fn note(manifest: &Manifest, noise: Noise) {
    if !noise.quiet {
        let lines = summary::sizings(&manifest.inputs);
        lines
            .iter()
            .chain(&manifest.notes)
            .for_each(|line| report_line(&format!("destage: note: {line}")));
    }
}

/// A table of the metrics, grouped by the first part of their names.
pub(crate) fn metrics_table(metrics: &Metrics) -> Table {
    let mut table = Table::new(vec![Side::Left, Side::Right, Side::Left]);
    add_metrics(&mut table, metrics);
    table
}

fn add_metrics(table: &mut Table, metrics: &Metrics) {
    let mut group = String::new();
    for (name, number) in metrics.iter() {
        let prefix = name.split('.').next().unwrap_or(name);
        if prefix != group {
            table.row([""]);
            group = prefix.to_owned();
        }
        let unit = metrics::find(name).map_or("", |row| row.unit);
        table.row([name, &numbers::metric(number), unit]);
    }
}

/// The text about a run: its combination, and the `table` of its metrics.
fn for_people(manifest: &Manifest, record: &Record, table: &str) -> String {
    let wall = manifest.wall_time_s;
    format!(
        "{}\n{table}{}{}\nwall time {wall:.2} s\n",
        words::describe(record),
        summary::remarks(std::slice::from_ref(record)),
        explain::of_run(record)
    )
}
