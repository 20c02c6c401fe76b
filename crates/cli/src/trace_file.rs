//! A trace file that is written: its format, its compression, and the file, which appears complete or not at all.

use std::path::{Path, PathBuf};

use destage_trace::writers::{self, OUTPUTS, OutputForm, Packing, TraceWriter};
use destage_trace::{Request, format};

use crate::args::Written;
use crate::errors::{Failure, report_line};
use crate::interrupt;
use crate::output::numbers;
use crate::output::report::check_distinct;
use crate::progress::Progress;
use destage::files::{PendingFile, unwritable};

/// A trace file to write. The command checks the name of the file before its work begins, and fills the file during
/// the work.
pub(crate) struct TraceFile<'a> {
    written: &'a Written,
    form: &'static OutputForm,
    packing: Packing,
    file: PendingFile,
}

/// The number of requests between two checks for an interrupt.
const PATIENCE: u64 = 1 << 16;

/// The format and compression of the trace that is written to `path`: the format `to`, or the one that the
/// extension names. `option` is the option that gave the path, for errors.
pub(crate) fn form_of(
    option: &str,
    path: &Path,
    to: Option<&str>,
) -> Result<(&'static OutputForm, Packing), Failure> {
    let name = path.to_string_lossy();
    let names = OUTPUTS.iter().map(|form| form.name);
    let form = match to {
        Some(to) => writers::find(to).ok_or_else(|| {
            if let Some(reason) = format::left_out(to) {
                return Failure::input(format!("--to {to}: {reason}"));
            }
            Failure::unknown(format!("--to {to:?}: no such format of traces"), to, names)
        })?,
        None => writers::of_file(&name).ok_or_else(|| {
            let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
            if let Some(reason) = format::left_out(ending) {
                return Failure::input(format!("{option} {name}: {reason}"));
            }
            let listed = names.collect::<Vec<_>>().join(", ");
            let besides = if option == "-o" {
                "--to with one of {}, or a file with such an ending"
            } else {
                "an ending among {}"
            };
            Failure::input(format!(
                "{option} {name}: {}; expected {}",
                match &name[..] {
                    "-" => "standard output has no ending that names a format",
                    _ => "the ending names no format of traces",
                },
                besides.replace("{}", &listed)
            ))
        })?,
    };
    let packing = Packing::of_file(&name).ok_or_else(|| {
        Failure::input(format!(
            "{option} {name}: files with this compression can be read, but not written; expected .zst, .gz or neither"
        ))
    })?;
    Ok((form, packing))
}

impl<'a> TraceFile<'a> {
    /// Opens the file, which must not be one of `inputs`.
    pub(crate) fn create(written: &'a Written, inputs: &[PathBuf]) -> Result<Self, Failure> {
        check_distinct(&[("-o", &written.output)], inputs)?;
        let (form, packing) = form_of("-o", &written.output, written.to.as_deref())?;
        Ok(Self {
            written,
            form,
            packing,
            file: PendingFile::create_or_print(&written.output)?,
        })
    }

    /// Writes the requests of `next` until it returns `None`, and renames the file to its final name.
    pub(crate) fn fill(
        mut self,
        mut next: impl FnMut() -> Result<Option<Request>, Failure>,
    ) -> Result<(), Failure> {
        let path = &self.written.output;
        let refused = |cause: &std::io::Error| match cause.kind() {
            std::io::ErrorKind::BrokenPipe => Failure::BrokenPipe,
            std::io::ErrorKind::Unsupported => Failure::input(format!(
                "{}: {cause}, or --to csv or compact",
                path.display()
            )),
            _ => unwritable(path, cause).into(),
        };
        let mut writer = TraceWriter::new(self.form, self.packing, &mut self.file)
            .map_err(|cause| refused(&cause))?;
        let progress = Progress::new(self.written.noise, None);
        let mut count = 0u64;
        while let Some(request) = next()? {
            if count.is_multiple_of(PATIENCE) {
                interrupt::check()?;
                progress.advance(if count == 0 { 0 } else { PATIENCE });
            }
            writer.write(&request).map_err(|cause| refused(&cause))?;
            count += 1;
        }
        if count == 0 {
            // A trace without requests could not be read again.
            return Err(Failure::input(format!(
                "{}: no request is left to write; expected at least one",
                path.display()
            )));
        }
        writer.finish().map_err(|cause| refused(&cause))?;
        drop(progress);
        self.file.commit()?;
        if self.written.noise.quiet {
            return Ok(());
        }
        report_line(&format!(
            "destage: {}: {} request{}, {}",
            path.display(),
            numbers::whole(count),
            if count == 1 { "" } else { "s" },
            self.form.name
        ));
        Ok(())
    }
}
