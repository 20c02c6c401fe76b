//! `destage reproduce`: the papers' experiments, with a verdict for each claim.

use destage::reproduce::{Paper, Plan, shipped_traces};
use destage::study::{Extra, Store, Traces};

use crate::args::ReproduceArguments;
use crate::errors::{Failure, command, warn};
use crate::output::report::page;
use crate::output::{self, experiments};
use crate::progress::Progress;
use crate::study::{effort, scale, traces, write, write_figures};

/// Runs the command.
pub(crate) fn run(arguments: &ReproduceArguments) -> Result<(), Failure> {
    let kept = &arguments.kept;
    let what = arguments.what.as_deref();
    let (papers, known) = match &arguments.experiments {
        Some(folder) => (
            Paper::read_all(folder)?,
            Traces::read(&folder.join("traces.toml"))?,
        ),
        None => (Paper::shipped()?, shipped_traces()?),
    };
    let plan = Plan {
        papers: Plan::choose(papers, what)?,
        scale: scale(kept),
        traces: traces(kept, known)?,
        extra: Extra::default(),
        // One experiment cannot choose between readings: all claims of the paper do.
        readings: what.is_none_or(|name| !name.contains('/')),
    };
    let store = Store::open(&kept.results)?;
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
    match kept.json {
        true => output::print(&document),
        false => output::show(&experiments::reproduction(&report, &kept.results)),
    }
}
