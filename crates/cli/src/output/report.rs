//! Results in whatever form was asked for.

use std::path::{Path, PathBuf};

use destage_trace::format::left_out;

use crate::args::Machine;
use crate::errors::Failure;
#[cfg(feature = "parquet")]
use crate::output::parquet;
use destage::Record;
use destage::files::{self, PendingFile};
use destage::study::rows::Rows;

/// The forms of a result file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    Json,
    Table(Table),
    Html,
}

/// The forms that have a row per run and nothing else.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Table {
    Csv,
    #[cfg(feature = "parquet")]
    Parquet,
}

impl Table {
    /// The whole file.
    pub(crate) fn of(self, records: &[Record]) -> Vec<u8> {
        match self {
            Self::Csv => destage::csv::runs(records).into_bytes(),
            #[cfg(feature = "parquet")]
            Self::Parquet => parquet::runs(records),
        }
    }

    /// The whole file of a study.
    pub(crate) fn of_study(self, rows: &Rows) -> Vec<u8> {
        match self {
            Self::Csv => destage::csv::rows(rows).into_bytes(),
            #[cfg(feature = "parquet")]
            Self::Parquet => parquet::rows(rows),
        }
    }
}

/// The endings of result files.
const ENDINGS: &str = if cfg!(feature = "parquet") {
    ".json, .csv, .parquet or .html"
} else {
    ".json, .csv or .html"
};

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
            Some("csv") => Form::Table(Table::Csv),
            #[cfg(feature = "parquet")]
            Some("parquet") => Form::Table(Table::Parquet),
            Some("html") => Form::Html,
            other => {
                let reason = match other.and_then(left_out) {
                    Some(reason) => reason.to_owned(),
                    None => format!("the ending names no form of results; expected {ENDINGS}"),
                };
                return Err(Failure::input(format!("-o {}: {reason}", path.display())));
            }
        };
        Ok(Self {
            form,
            file: PendingFile::create(path)?,
        })
    }

    /// Fills the file with what `content` gives for its form; it is not yet in its place.
    pub(crate) fn fill_with(
        mut self,
        content: impl Fn(Form) -> Vec<u8>,
    ) -> Result<PendingFile, Failure> {
        self.file.put(content(self.form))?;
        Ok(self.file)
    }
}

/// The form of standard output; none is text for people.
pub(crate) fn machine_form(machine: Machine) -> Option<Form> {
    match machine {
        Machine { json: true, .. } => Some(Form::Json),
        Machine { csv: true, .. } => Some(Form::Table(Table::Csv)),
        _ => None,
    }
}

/// The page of what a command prints as JSON; `title` stands in place of the usual one.
pub(crate) fn page(document: &str, title: Option<&str>) -> Vec<u8> {
    let page = destage::report::html(document, title);
    page.expect("a command's own document is one that has a page")
        .into_bytes()
}

/// Refuses output files that are each other, or an input.
pub(crate) fn check_distinct(
    outputs: &[(&str, &PathBuf)],
    inputs: &[&Path],
) -> Result<(), Failure> {
    // Devices and pipes take any number of writers. What cannot be written is refused where it is opened.
    let key = |path: &Path| files::place(path).ok().flatten();
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
