//! Results in whatever form was asked for.

use std::path::{Path, PathBuf};

use crate::args::Machine;
use crate::errors::Failure;
use crate::output::files::PendingFile;

/// The forms of a result file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    Json,
    Csv,
    Html,
}

/// A result file that is wanted: checked before the work, filled after it.
pub(crate) struct ResultFile {
    form: Form,
    file: PendingFile,
}

impl ResultFile {
    /// Begins the file at `path`, in the form its ending names.
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        let ending = path
            .extension()
            .map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        let form = match ending.as_deref() {
            Some("json") => Form::Json,
            Some("csv") => Form::Csv,
            Some("html") => Form::Html,
            Some("parquet") => {
                return Err(Failure::input(format!(
                    "-o {}: this build cannot write Parquet; expected .json, .csv or .html",
                    path.display()
                )));
            }
            _ => {
                return Err(Failure::input(format!(
                    "-o {}: the ending names no form of results; expected .json, .csv or .html",
                    path.display()
                )));
            }
        };
        Ok(Self {
            form,
            file: PendingFile::create(path)?,
        })
    }

    /// Fills the file with what `text` gives for its form; it is not yet in its place.
    pub(crate) fn fill_with(
        mut self,
        text: impl Fn(Form) -> String,
    ) -> Result<PendingFile, Failure> {
        self.file.put(text(self.form))?;
        Ok(self.file)
    }
}

/// The form of standard output; none is text for people.
pub(crate) fn machine_form(machine: Machine) -> Option<Form> {
    match machine {
        Machine { json: true, .. } => Some(Form::Json),
        Machine { csv: true, .. } => Some(Form::Csv),
        _ => None,
    }
}

/// Refuses output files that are each other, or an input.
pub(crate) fn check_distinct(
    outputs: &[(&str, &PathBuf)],
    inputs: &[&Path],
) -> Result<(), Failure> {
    // Devices and pipes take any number of writers; a file that does not exist yet is no input.
    let key = |path: &Path| match path.metadata() {
        Ok(data) if !data.is_file() || path.starts_with("/dev") => None,
        Ok(_) => path.canonicalize().ok(),
        Err(_) => Some(path.to_owned()),
    };
    for (index, (option, path)) in outputs.iter().enumerate() {
        let Some(place) = key(path) else { continue };
        for (other_option, other) in &outputs[..index] {
            if key(other).as_ref() == Some(&place) {
                return Err(Failure::input(format!(
                    "{other_option} and {option} both name {}; expected different files",
                    path.display()
                )));
            }
        }
        if inputs
            .iter()
            .any(|input| key(input).as_ref() == Some(&place))
        {
            return Err(Failure::input(format!(
                "{option} {}: is an input of this run; expected another file",
                path.display()
            )));
        }
    }
    Ok(())
}
