//! `destage study`: an experiment file of the user's own.

use std::path::Path;

use destage::reproduce::shipped_traces;
use destage::study::figure::Figure;
use destage::study::{Scale, Store, Study, Traces};
use destage::{Effort, csv};

use crate::args::{Kept, ScaleArgument, StudyArguments};
use crate::errors::{Failure, command};
use crate::output::files::PendingFile;
use crate::output::{self, experiments, verdicts};
use crate::progress::Progress;

/// Runs the command.
pub(crate) fn run(arguments: &StudyArguments) -> Result<(), Failure> {
    let kept = &arguments.kept;
    let study = Study::read(&arguments.file)?;
    let (store, traces) = (
        Store::open(&kept.results)?,
        traces(kept, shipped_traces()?)?,
    );
    let progress = Progress::new(kept.noise, None);
    let report = study.carry_out(scale(kept), &traces, &store, &effort(kept, &progress));
    drop(progress);
    let mut report = report?;
    report.manifest.command = command();
    let folder = kept.results.join(&study.name);
    write_figures(&folder, "", &report.figures)?;
    write(&folder, "results.json", &report.to_json())?;
    write(&folder, "report.html", &verdicts::study(&report))?;
    write(&folder, "results.csv", &csv::rows(&report.rows))?;
    match kept.json {
        true => output::print(&report.to_json()),
        false => output::show(&experiments::study(&report, &folder)),
    }
}

/// Where the user keeps traces that `known` names.
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

/// How much is run.
pub(crate) fn scale(kept: &Kept) -> Scale {
    match kept.scale {
        ScaleArgument::Reduced => Scale::Reduced,
        ScaleArgument::Full => Scale::Full,
    }
}

/// With how many threads, and who watches.
pub(crate) fn effort<'a>(kept: &Kept, progress: &'a Progress) -> Effort<'a> {
    Effort {
        threads: kept.threads.map_or(0, usize::from),
        progress,
        ..Effort::default()
    }
}

/// Writes the data of `figures` into `folder`, with `prefix` before their names.
pub(crate) fn write_figures(
    folder: &Path,
    prefix: &str,
    figures: &[Figure],
) -> Result<(), Failure> {
    for figure in figures {
        write(
            folder,
            &format!("{prefix}{}.csv", figure.id),
            &figure.to_csv(),
        )?;
    }
    Ok(())
}

/// Writes the file `name` into `folder`, which is made if it is not there.
pub(crate) fn write(folder: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let path = folder.join(name);
    std::fs::create_dir_all(folder).map_err(|cause| output::files::unwritable(&path, &cause))?;
    let mut file = PendingFile::create(&path)?;
    file.put(text)?;
    file.commit()
}
