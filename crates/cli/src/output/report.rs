//! Result files, in the form that their extension names.

use std::path::{Path, PathBuf};

use destage_trace::format::left_out;

use crate::args::Machine;
use crate::errors::Failure;
#[cfg(feature = "parquet")]
use crate::output::parquet;
use crate::output::table::{Markup, Side};
use crate::output::{self, numbers, summary};
use destage::Record;
use destage::files::{self, PendingFile};
use destage_study::csv::Names;
use destage_study::rows::Rows;

/// The forms of a result file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    Json,
    Table(Table),
    Html,
}

/// The forms that have one row per run and nothing else.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Table {
    Csv,
    /// The columns that the terminal shows, as a table to paste into a text.
    MarkedUp(Markup),
    #[cfg(feature = "parquet")]
    Parquet,
}

impl Table {
    /// The content of a file of runs.
    pub(crate) fn of(self, records: &[Record]) -> Vec<u8> {
        self.with(records, &[], || summary::whole(records))
    }

    /// The content of a file of runs. A file for programs has each of `words`, a name with a word for each run, as
    /// a column after the trace. A table to paste into a text is `shown`.
    pub(crate) fn with(
        self,
        records: &[Record],
        words: &[(&str, Vec<String>)],
        shown: impl FnOnce() -> output::table::Table,
    ) -> Vec<u8> {
        match self {
            Self::Csv => destage::csv::runs_with(records, words).into_bytes(),
            Self::MarkedUp(markup) => shown().marked_up(markup).into_bytes(),
            #[cfg(feature = "parquet")]
            Self::Parquet => parquet::runs(records, words),
        }
    }

    /// The content of a file of a study.
    pub(crate) fn of_study(self, rows: &Rows) -> Vec<u8> {
        match self {
            Self::Csv => destage_study::csv::rows(rows).into_bytes(),
            Self::MarkedUp(markup) => study(rows, rows.all.len()).marked_up(markup).into_bytes(),
            #[cfg(feature = "parquet")]
            Self::Parquet => parquet::rows(rows),
        }
    }
}

/// A table of the first `most` rows of a study: the columns that identify a run, and those of the usual metrics that the
/// runs have.
pub(crate) fn study(rows: &Rows, most: usize) -> output::table::Table {
    let Names { labels, metrics } = Names::of(rows);
    let usual: Vec<_> = summary::metric_columns()
        .filter(|(_, name)| metrics.contains(name.as_str()))
        .collect();
    let sides = labels
        .iter()
        .map(|_| Side::Left)
        .chain(usual.iter().map(|_| Side::Right));
    let mut table = output::table::Table::new(sides.collect());
    for line in 0..2 {
        let names = labels
            .iter()
            .map(|label| if line == 1 { *label } else { "" });
        table.row(names.chain(usual.iter().map(|(head, _)| head[line])));
    }
    table.rule();
    for row in rows.all.iter().take(most) {
        let labels = labels.iter().map(|label| {
            let value = row.labels.get(*label).cloned().unwrap_or_default();
            match value.parse() {
                Ok(bytes) if *label == "size" => numbers::bytes(bytes),
                _ => value,
            }
        });
        let metrics = usual.iter().map(|(_, name)| {
            let value = row.value(name);
            let whole = value.and_then(serde_json::Value::as_u64);
            let real = value.and_then(serde_json::Value::as_f64);
            let shown = whole.map(numbers::whole).or(real.map(numbers::real));
            shown.unwrap_or_else(|| "-".to_owned())
        });
        table.row(labels.chain(metrics));
    }
    table
}

/// The extensions of result files, and the forms that they name.
const ENDINGS: &[(&str, Form)] = &[
    ("json", Form::Json),
    ("csv", Form::Table(Table::Csv)),
    #[cfg(feature = "parquet")]
    ("parquet", Form::Table(Table::Parquet)),
    ("html", Form::Html),
    ("md", Form::Table(Table::MarkedUp(Markup::Markdown))),
    ("tex", Form::Table(Table::MarkedUp(Markup::Latex))),
];
/// The forms of a result that is a page or a document and not a table.
const PAGES: &[(&str, Form)] = &[("html", Form::Html), ("json", Form::Json)];

/// The forms of the result of a run that loses its power.
const FORMS_OF_CUTS: &[(&str, Form)] = &[
    ("json", Form::Json),
    ("md", Form::Table(Table::MarkedUp(Markup::Markdown))),
    ("tex", Form::Table(Table::MarkedUp(Markup::Latex))),
];

/// The form that the extension of `path` names. `option` and `what` are the option and the kind of result in the
/// error.
fn form(option: &str, path: &Path, what: &str, endings: &[(&str, Form)]) -> Result<Form, Failure> {
    let ending = ending(path);
    let known = endings.iter().find(|(known, _)| *known == ending);
    known.map(|(_, form)| *form).ok_or_else(|| {
        let names = endings.iter().map(|(name, _)| format!(".{name}"));
        let names = names.collect::<Vec<_>>().join(", ");
        let (others, last) = names.rsplit_once(", ").unwrap_or(("", &names));
        let picture = match ending.as_str() {
            "svg" | "png" | "pdf" => "; the charts of a page (.html) can be saved as pictures",
            _ => "",
        };
        Failure::input(format!(
            "{option} {}: the ending names no form of {what}; expected {others} or {last}{picture}",
            path.display()
        ))
    })
}

/// The extension of `path` in lower case.
fn ending(path: &Path) -> String {
    let ending = path.extension().unwrap_or_default().to_string_lossy();
    ending.to_ascii_lowercase()
}

/// A result file. The name of the file is checked before the work of the command begins. The file is filled after the
/// work.
pub(crate) struct ResultFile {
    form: Form,
    file: PendingFile,
}

impl ResultFile {
    /// Opens the file at `path`, whose extension names its form.
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        if let Some(reason) = left_out(&ending(path)) {
            return Err(Failure::input(format!("-o {}: {reason}", path.display())));
        }
        Ok(Self {
            form: form("-o", path, "results", ENDINGS)?,
            file: PendingFile::create(path)?,
        })
    }

    /// Opens the file at `path` for the result of a run that loses its power.
    pub(crate) fn of_cut(path: &Path) -> Result<Self, Failure> {
        Ok(Self {
            form: form("-o", path, "a run that loses its power", FORMS_OF_CUTS)?,
            file: PendingFile::create(path)?,
        })
    }

    /// Opens the file at `path` for a page or for JSON. Error messages name the option `option` and the kind of result
    /// `what`.
    pub(crate) fn page(option: &str, path: &Path, what: &str) -> Result<Self, Failure> {
        Ok(Self {
            form: form(option, path, what, PAGES)?,
            file: PendingFile::create(path)?,
        })
    }

    /// The form that the extension names.
    pub(crate) fn form(&self) -> Form {
        self.form
    }

    /// Fills the file with the `content` for its form. The file is not renamed to its final name yet.
    pub(crate) fn fill_with(
        mut self,
        content: impl Fn(Form) -> Vec<u8>,
    ) -> Result<PendingFile, Failure> {
        self.file.put(content(self.form))?;
        Ok(self.file)
    }
}

/// The form of standard output; `None` for text.
pub(crate) fn machine_form(machine: Machine) -> Option<Form> {
    match machine {
        Machine { json: true, .. } => Some(Form::Json),
        Machine { csv: true, .. } => Some(Form::Table(Table::Csv)),
        _ => None,
    }
}

/// The page that shows a command's JSON. `title` replaces the usual title.
pub(crate) fn page(document: &str, title: Option<&str>) -> Vec<u8> {
    let page = destage_report::html(document, title);
    page.expect("a command's own document is one that has a page")
        .into_bytes()
}

/// Returns an error if two output files are the same file, or if an output file is one of the inputs.
pub(crate) fn check_distinct(
    outputs: &[(&str, &PathBuf)],
    inputs: &[impl AsRef<Path>],
) -> Result<(), Failure> {
    // A file that cannot be used is refused later, when it is opened.
    let key = files::storage;
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
        // An input `-` is standard input.
        let inputs = inputs.iter().map(AsRef::<Path>::as_ref);
        let mut files = inputs.filter(|input| *input != Path::new("-"));
        if files.any(|input| key(input).as_ref() == Some(&place)) {
            return Err(Failure::input(format!(
                "{option} {}: is an input of this run; expected another file",
                path.display()
            )));
        }
    }
    Ok(())
}
