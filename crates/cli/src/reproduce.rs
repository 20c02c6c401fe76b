//! `destage reproduce`: the papers' experiments, with a verdict for each claim.

use std::path::Path;

use destage_study::reproduce::{Cost, Paper, Plan, Thresholds, shipped_traces};
use destage_study::{Extra, Store, Traces};

use crate::args::ReproduceArguments;
use crate::errors::{Failure, command, report_line, warn};
use crate::output::report::{Form, ResultFile, page};
use crate::output::{self, experiments};
use crate::progress::Progress;
use crate::study::{effort, scale, traces, write, write_figures};

/// Runs the command.
pub(crate) fn run(arguments: &ReproduceArguments) -> Result<(), Failure> {
    let kept = &arguments.kept;
    let what = arguments.what.as_deref();
    let (papers, known, thresholds) = match &arguments.experiments {
        Some(folder) => (
            Paper::read_all(folder)?,
            Traces::read(&folder.join("traces.toml"))?,
            Thresholds::read(&folder.join("thresholds.toml"))?,
        ),
        None => (Paper::shipped()?, shipped_traces()?, Thresholds::shipped()?),
    };
    let plan = Plan {
        papers: Plan::choose(papers, what)?,
        scale: scale(kept),
        traces: traces(kept, known)?,
        thresholds,
        extra: Extra::default(),
        // One experiment cannot choose between readings: all claims of the paper do.
        readings: what.is_none_or(|name| !name.contains('/')),
    };
    let store = Store::open(&kept.results)?;
    let file = arguments.output.as_deref().map(report_file).transpose()?;
    if !kept.noise.quiet {
        for Cost {
            paper,
            runs,
            missing,
        } in plan.cost(&store)?
        {
            report_line(&format!("{paper}: {runs} runs, {missing} of them to do"));
        }
    }
    let progress = Progress::new(kept.noise, None);
    let report = plan.carry_out(&store, &effort(kept, &progress));
    drop(progress);
    store.damaged().iter().for_each(warn);
    let mut report = report?;
    report.manifest.command = command();
    if destage::commit().ends_with("-dirty") {
        warn("this program was built from sources with changes that are in no commit");
    }
    for paper in &report.papers {
        let folder = kept.results.join(&paper.name);
        write(&folder, "README.md", paper.to_markdown())?;
        for experiment in &paper.experiments {
            write_figures(
                &folder,
                &format!("{}-", experiment.name),
                &experiment.figures,
            )?;
        }
    }
    write(&kept.results, "README.md", report.to_markdown())?;
    let document = report.to_json();
    write(&kept.results, "report.html", page(&document, None))?;
    write(&kept.results, "verdicts.json", &document)?;
    if let Some(file) = file {
        let content = |form| match form {
            Form::Html => page(&document, None),
            Form::Json | Form::Table(_) => document.clone().into_bytes(),
        };
        file.fill_with(content)?.commit()?;
    }
    match kept.json {
        true => output::print(&document),
        false => output::show(&experiments::reproduction(&report, &kept.results)),
    }
}

/// The file of `-o`, which is a page or JSON: verdicts and figures are no one table.
fn report_file(path: &Path) -> Result<ResultFile, Failure> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("html" | "json") => ResultFile::create(path),
        _ => Err(Failure::input(format!(
            "-o {}: the ending names no form of a report; expected .html or .json",
            path.display()
        ))),
    }
}
