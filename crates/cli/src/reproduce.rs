//! `destage reproduce`: runs the papers' experiments, and gives a verdict for each claim.

use destage_study::reproduce::{Cost, Paper, Plan, Thresholds, shipped_traces};
use destage_study::{Extra, Store, Traces};

use crate::args::ReproduceArguments;
use crate::errors::{Failure, command, report_line, warn};
use crate::output::report::{Form, ResultFile, page};
use crate::output::{self, experiments};
use crate::progress::Progress;
use crate::study::{effort, scale, traces};

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
        // Interpretations of a paper can be compared only by all claims of the paper. So they are not compared if a
        // single experiment of the paper runs.
        readings: what.is_none_or(|name| !name.contains('/')),
    };
    let store = Store::open(&kept.results)?;
    // Verdicts and figures are not a single table, so the output is a page or JSON.
    let output = arguments.output.as_deref();
    let file = output
        .map(|path| ResultFile::page("-o", path, "a report"))
        .transpose()?;
    let progress = Progress::new(kept.noise, None);
    let effort = effort(kept, &progress);
    let asked = plan.asked(&effort)?;
    if !kept.noise.quiet {
        for Cost {
            paper,
            runs,
            missing,
        } in asked.cost(&store)?
        {
            report_line(&format!("{paper}: {runs} runs, {missing} of them to do"));
        }
    }
    let report = asked.carry_out(&store, &effort);
    drop(progress);
    store.damaged().iter().for_each(warn);
    let mut report = report?;
    report.manifest.command = command();
    if destage::commit().ends_with("-dirty") {
        warn("this program was built from sources with changes that are in no commit");
    }
    report.write(&kept.results, |document| {
        destage_report::html(document, None)
    })?;
    let document = report.to_json();
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
