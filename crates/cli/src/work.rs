//! The steps before and after the runs that all commands with many runs have in common.

use std::path::PathBuf;
use std::time::Instant;

use destage::{Effort, Error, Facts, Manifest, Record, Settings, words};

use crate::args::Common;
use crate::choices;
use crate::errors::{Failure, command, first_of, warn};
use crate::output;
use crate::output::report::{Form, ResultFile, check_distinct, machine_form};
use crate::progress::Progress;
use crate::run::note;

/// The work of a command, and the file for its results.
pub(crate) struct Work<'a> {
    started: Instant,
    common: &'a Common,
    file: Option<ResultFile>,
}

impl<'a> Work<'a> {
    /// Begins a command that started at `started` and reads `traces` with `settings`. Opens the result file, which must
    /// not be one of the files that the command reads.
    pub(crate) fn begin(
        started: Instant,
        common: &'a Common,
        settings: &Settings,
        traces: impl IntoIterator<Item = &'a PathBuf>,
    ) -> Result<Self, Failure> {
        let output = &common.results.output;
        let outputs: Vec<_> = output.iter().map(|path| ("-o", path)).collect();
        let workload = common.workload.as_deref();
        let files = choices::files(traces, &common.device.settings, workload, settings)?;
        check_distinct(&outputs, &files)?;
        Ok(Self {
            started,
            common,
            file: output.as_deref().map(ResultFile::create).transpose()?,
        })
    }

    /// Does the work with the number of threads that the user chose, and shows the progress of the work.
    pub(crate) fn carry_out<T>(
        &self,
        work: impl FnOnce(&Effort<'_>) -> Result<T, Error>,
    ) -> Result<T, Failure> {
        let progress = Progress::new(self.common.noise, None);
        let done = work(&Effort {
            threads: self.common.threads.map_or(0, usize::from),
            progress: &progress,
            ..Effort::default()
        });
        drop(progress);
        Ok(done?)
    }

    /// Records in `manifest` how the results were computed, and warns the user about the inputs.
    pub(crate) fn sign(&self, manifest: &mut Manifest) {
        manifest.command = command();
        manifest.wall_time_s = self.started.elapsed().as_secs_f64();
        note(manifest, self.common.noise);
        let facts = manifest.inputs.iter();
        facts.flat_map(Facts::warnings_of_simulation).for_each(warn);
    }

    /// Writes `content` to the result file. If the user chose a machine-readable form, prints `content` in this form,
    /// otherwise prints `text`. Returns an error if a run in `records` failed.
    pub(crate) fn deliver(
        self,
        records: &[Record],
        content: impl Fn(Form) -> Vec<u8>,
        text: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        if let Some(file) = self.file {
            file.fill_with(&content)?.commit()?;
        }
        let shown = match machine_form(self.common.results.machine) {
            Some(form) => output::print(&content(form)),
            None => output::show(&text()),
        };
        let verdict = match words::failures(records) {
            texts if texts.is_empty() => Ok(()),
            texts => Err(Failure::Runs(texts)),
        };
        first_of([verdict, shown])
    }
}
