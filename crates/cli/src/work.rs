//! What commands with results of many runs do before and after their work.

use std::path::Path;
use std::time::Instant;

use destage::{Effort, Error, Facts, Manifest, Record, words};

use crate::args::Common;
use crate::errors::{Failure, command, warn};
use crate::output;
use crate::output::report::{Form, ResultFile, check_distinct, machine_form};
use crate::progress::Progress;
use crate::run::note;

/// A command's work, and where its results go.
pub(crate) struct Work<'a> {
    started: Instant,
    common: &'a Common,
    file: Option<ResultFile>,
}

impl<'a> Work<'a> {
    /// What began at `started` and reads `traces`. The file of its results is begun, and is none of its inputs.
    pub(crate) fn begin(
        started: Instant,
        common: &'a Common,
        traces: impl Iterator<Item = &'a Path>,
    ) -> Result<Self, Failure> {
        let output = &common.results.output;
        let outputs: Vec<_> = output.iter().map(|path| ("-o", path)).collect();
        let config = common.device.settings.config.as_deref();
        check_distinct(&outputs, &traces.chain(config).collect::<Vec<_>>())?;
        Ok(Self {
            started,
            common,
            file: output.as_deref().map(ResultFile::create).transpose()?,
        })
    }

    /// Does it with a bar of progress, and as many threads as were asked for.
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

    /// Says in `manifest` how its results came to be, and to the user what is odd about the inputs.
    pub(crate) fn sign(&self, manifest: &mut Manifest) {
        manifest.command = command();
        manifest.wall_time_s = self.started.elapsed().as_secs_f64();
        note(&manifest.inputs, self.common.noise);
        let facts = manifest.inputs.iter();
        facts.flat_map(Facts::warnings_of_simulation).for_each(warn);
    }

    /// Gives `content` in the forms that were asked for, or `text` to people. An error if one of `records` is of a run that
    /// failed.
    pub(crate) fn deliver(
        self,
        records: &[Record],
        content: impl Fn(Form) -> Vec<u8>,
        text: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        if let Some(file) = self.file {
            file.fill_with(&content)?.commit()?;
        }
        match machine_form(self.common.results.machine) {
            Some(form) => output::print(&content(form))?,
            None => output::show(&text())?,
        }
        match words::failures(records) {
            texts if texts.is_empty() => Ok(()),
            texts => Err(Failure::Runs(texts)),
        }
    }
}
