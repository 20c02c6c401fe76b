//! `destage study`: runs an experiment file of the user.

use std::path::Path;

use destage::{Effort, json};
use destage_study::reproduce::shipped_traces;
use destage_study::{Plan, Scale, Shard, Share, Store, Study, StudyReport, Traces};
use serde_json::json;

use crate::args::{
    Kept, MergedArguments, PartsArguments, ScaleArgument, StudyArguments, StudyCommand,
};
use crate::errors::{Failure, command, report_line, warn};
use crate::output::report::{Form, ResultFile, page};
use crate::output::{self, experiments};
use crate::progress::Progress;

/// Runs the command.
pub(crate) fn run(arguments: &StudyArguments) -> Result<(), Failure> {
    match &arguments.command {
        Some(StudyCommand::Status(parts)) => return status(parts),
        Some(StudyCommand::Missing(parts)) => return missing(parts),
        Some(StudyCommand::Merge(parts)) => return merge(parts),
        None => {}
    }
    let kept = &arguments.kept;
    let Some(file) = &arguments.file else {
        return Err(Failure::input("expected a study file"));
    };
    let shard = arguments.shard.as_deref().map(Shard::read).transpose()?;
    let study = Study::read(file)?;
    let (store, traces) = (
        Store::open(&kept.results)?,
        traces(kept, shipped_traces()?)?,
    );
    let progress = Progress::new(kept.noise, None);
    if let Some(shard) = shard {
        let effort = effort(kept, &progress);
        let share = study.carry_out_part(scale(kept), &traces, &store, shard, &effort);
        drop(progress);
        store.damaged().iter().for_each(warn);
        let Share {
            runs,
            own,
            made,
            failures,
        } = share?;
        let Shard { index, of } = shard;
        let failed = failures.len();
        match kept.json {
            true => output::print(&json::text(&json!({
                "shard": index, "of": of, "runs": runs, "own": own, "made": made, "failed": failed,
            })))?,
            false => {
                let failed = match failed {
                    0 => String::new(),
                    failed => format!(", {failed} failed"),
                };
                let were = if made == 1 { "was" } else { "were" };
                output::show(&format!(
                    "{}: part {index} of {of} has {own} of {runs} runs; {made} {were} made, {} existed already{failed}\n",
                    study.title(),
                    own - made
                ))?;
            }
        }
        return all_done(failures);
    }
    let report = study.carry_out(scale(kept), &traces, &store, &effort(kept, &progress));
    drop(progress);
    store.damaged().iter().for_each(warn);
    all_done(finish(report?, &kept.results.join(&study.name), kept.json)?)
}

/// Returns an error that lists the failed runs, if there are any.
fn all_done(failures: Vec<String>) -> Result<(), Failure> {
    match failures.is_empty() {
        true => Ok(()),
        false => Err(Failure::Runs(failures)),
    }
}

/// Writes the results of a study into `folder`, and prints them. Returns the errors of the runs that failed.
fn finish(mut report: StudyReport, folder: &Path, as_json: bool) -> Result<Vec<String>, Failure> {
    report.manifest.command = command();
    report.rows.warnings().iter().for_each(warn);
    report.write(folder, |document| destage_report::html(document, None))?;
    match as_json {
        true => output::print(&report.to_json())?,
        false => output::show(&experiments::study(&report, folder))?,
    }
    Ok(report.rows.failures())
}

/// The results in a folder, and the plans of the studies to which the results belong.
fn parts(arguments: &PartsArguments) -> Result<(Store, Vec<Plan>), Failure> {
    let store = Store::existing(&arguments.folder)?;
    let plans = store.plans()?;
    Ok((store, plans))
}

fn status(arguments: &PartsArguments) -> Result<(), Failure> {
    let (store, plans) = parts(arguments)?;
    let (mut text, mut rows) = (String::new(), Vec::new());
    for plan in &plans {
        let (runs, missing) = plan.missing_in(&store);
        let (name, missing) = (&plan.name, missing.len());
        let done = runs - missing;
        text.push_str(&format!(
            "{name}: {done} of {runs} results, {missing} missing\n"
        ));
        rows.push(json!({ "study": name, "runs": runs, "done": done, "missing": missing }));
    }
    store.damaged().iter().for_each(warn);
    match arguments.json {
        true => output::print(&json::text(&json!({ "studies": rows }))),
        false => output::show(&text),
    }
}

fn missing(arguments: &PartsArguments) -> Result<(), Failure> {
    let (store, plans) = parts(arguments)?;
    let (mut text, mut rows) = (String::new(), Vec::new());
    for plan in &plans {
        for run in plan.missing_in(&store).1 {
            let labels = run
                .labels
                .iter()
                .map(|(axis, value)| format!("{axis}={value}"));
            let labels: Vec<_> = labels.collect();
            text.push_str(&format!("{} {}\n", plan.name, labels.join(" ")));
            rows.push(json!({ "study": plan.name, "labels": run.labels }));
        }
    }
    store.damaged().iter().for_each(warn);
    match arguments.json {
        true => output::print(&json::text(&json!({ "missing": rows }))),
        false if rows.is_empty() => {
            // Standard output has a line for each missing result, and nothing else.
            report_line("destage: no result is missing");
            Ok(())
        }
        false => output::show(&text),
    }
}

fn merge(arguments: &MergedArguments) -> Result<(), Failure> {
    let MergedArguments { parts: of, output } = arguments;
    let (store, mut plans) = parts(of)?;
    // A folder may also have the results of fleets, on which `destage fleet` reports.
    if !plans.iter().all(Plan::is_of_fleet) {
        plans.retain(|plan| !plan.is_of_fleet());
    }
    let file = output.as_deref().map(ResultFile::create).transpose()?;
    if let (Some(_), Some(path), [_, _, ..]) = (&file, output, &plans[..]) {
        let names: Vec<_> = plans.iter().map(|plan| &*plan.name).collect();
        return Err(Failure::input(format!(
            "-o {}: the folder has results of {}; expected those of one study",
            path.display(),
            names.join(", ")
        )));
    }
    // If one report cannot be made, none is written.
    let reports = plans.iter().map(|plan| plan.report(&store));
    let reports = reports.collect::<Result<Vec<_>, _>>();
    store.damaged().iter().for_each(warn);
    let reports = reports?;
    if let (Some(file), Some(report)) = (file, reports.first()) {
        let content = |form| match form {
            Form::Json => report.to_json().into_bytes(),
            Form::Table(table) => table.of_study(&report.rows),
            Form::Html => page(&report.to_json(), None),
        };
        file.fill_with(content)?.commit()?;
    }
    let mut failures = Vec::new();
    for (plan, report) in plans.iter().zip(reports) {
        failures.extend(finish(report, &of.folder.join(&plan.name), of.json)?);
    }
    all_done(failures)
}

/// Adds to `known` the paths at which the user keeps the traces.
pub(crate) fn traces(kept: &Kept, known: Traces) -> Result<Traces, Failure> {
    let mut traces = known;
    for pair in &kept.trace {
        traces.add_pair(pair)?;
    }
    if let Some(folder) = &kept.traces {
        traces.look_in(folder)?;
    }
    Ok(traces)
}

/// The scale of the runs that the user chose: reduced or full.
pub(crate) fn scale(kept: &Kept) -> Scale {
    match kept.scale {
        ScaleArgument::Reduced => Scale::Reduced,
        ScaleArgument::Full => Scale::Full,
    }
}

/// The number of threads that the user chose, and the progress to update.
pub(crate) fn effort<'a>(kept: &Kept, progress: &'a Progress) -> Effort<'a> {
    Effort {
        threads: kept.threads.map_or(0, usize::from),
        progress,
        ..Effort::default()
    }
}
