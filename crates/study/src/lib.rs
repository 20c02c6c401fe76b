//! Studies of write buffers: grids of runs that are described in a file, made once, and kept; the papers,
//! reproduced from such files; and fleets of volumes.
//!
//! | module | content |
//! | --- | --- |
//! | `file` | the form of a study file |
//! | `cells` | the runs of a study |
//! | `pages` | requests that are listed in a study file |
//! | [`traces`] | traces by name, and the files that hold them |
//! | [`store`] | kept results, one file for each run |
//! | `shards` | parts of a study, and its missing runs |
//! | `execute` | makes the runs whose results are not kept yet |
//! | [`rows`] | results by the labels of their runs |
//! | [`csv`] | results as a table |
//! | [`formula`] | formulas over results |
//! | [`figure`] | the data of figures and tables |
//! | [`shown`] | values in readable form |
//! | [`reproduce`] | the papers: claims, verdicts, reports |
//! | `experiments` | the experiments of the papers as a registry |
//! | [`fleet`] | traces of many volumes, with a buffer for each volume or one for all |
//!
//! docs/STUDIES.md describes how to write a study file.

mod cells;
pub mod csv;
mod execute;
mod experiments;
pub mod figure;
mod file;
pub mod fleet;
pub mod formula;
mod pages;
pub mod reproduce;
pub mod rows;
mod shards;
pub mod shown;
pub mod store;
pub mod traces;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use serde::de::DeserializeOwned;
use serde_core::ser::{Serialize, SerializeMap, Serializer};

use destage::files::{self, NAME, is_name};
use destage::{Effort, Error, Manifest};

pub(crate) use cells::{BASE, Cell, Cells, product};
pub use cells::{Extra, InputFacts, Role, Scale};
pub(crate) use execute::{complete, counted};
pub use experiments::experiments;
pub use file::{FigureKind, VariantKind};
pub use shards::{Plan, Planned, Prepared, Shard, Share};
pub(crate) use store::Key;
pub use store::Store;
pub use traces::Traces;

/// The name, without the ending, of the files with all results of a study.
pub const RESULTS: &str = "results";

/// A study: its inputs, the runs that it makes, and the figures that it shows.
#[derive(Clone, Debug)]
pub struct Study {
    /// The name of the file without its ending.
    pub name: String,
    pub(crate) file: file::File,
    /// The text of the file.
    text: String,
    /// The path of the file, for messages.
    origin: String,
    /// The folder to which paths in the file are relative.
    folder: PathBuf,
}

impl Study {
    /// Reads the study file at `path`.
    ///
    /// # Errors
    /// If the file cannot be read, is not TOML, or has a field or value that a study cannot have.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            Error::Input(format!(
                "{}: {error}; expected a study file, as docs/STUDIES.md describes it",
                path.display()
            ))
        })?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let folder = path.parent().unwrap_or(Path::new(".")).to_owned();
        Self::parse(&name, &text, &path.display().to_string(), folder)
    }

    /// Reads a study from `text`. `origin` names it in messages, and its paths are relative to `folder`.
    ///
    /// # Errors
    /// If the text is not TOML, or has a field or value that a study cannot have.
    pub fn parse(name: &str, text: &str, origin: &str, folder: PathBuf) -> Result<Self, Error> {
        let file = from_toml(text, origin)?;
        let study = Self {
            name: name.to_owned(),
            file,
            text: text.to_owned(),
            origin: origin.to_owned(),
            folder,
        };
        study.check()?;
        Ok(study)
    }

    /// The title, in a few words.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.file.title
    }

    /// The purpose of the study, in sentences.
    #[must_use]
    pub fn about(&self) -> &str {
        self.file.about.trim()
    }

    /// The ids of the figures.
    #[must_use]
    pub fn figure_ids(&self) -> Vec<&str> {
        let figures = self.file.figure.iter();
        figures.map(|figure| figure.id.as_str()).collect()
    }

    /// An error about `what` in this file.
    pub(crate) fn wrong(&self, what: impl std::fmt::Display) -> Error {
        Error::Input(format!("{}: {what}", self.origin))
    }

    /// Checks that names are unique, that names in grids exist, and that entries fit together.
    fn check(&self) -> Result<(), Error> {
        let file = &self.file;
        // The report is written to a folder with the name of the study, next to the folders of results and plans.
        if [".", "..", store::RUNS, store::PLANS].contains(&&*self.name) {
            return Err(self.wrong(format!(
                "the study is called {:?}, which cannot name the folder of its report; expected another name of the file",
                self.name
            )));
        }
        let inputs: Vec<_> = file.input.iter().map(|each| each.name.as_str()).collect();
        let variants: Vec<_> = file.variant.iter().map(|each| each.name.as_str()).collect();
        let figures: Vec<_> = file.figure.iter().map(|each| each.id.as_str()).collect();
        for (what, names) in [
            ("input", &inputs),
            ("variant", &variants),
            ("figure", &figures),
        ] {
            if let Some(twice) = repeated(names) {
                return Err(self.wrong(format!("{what} {twice:?}: occurs twice; expected it once")));
            }
        }
        if variants.contains(&BASE) {
            return Err(self.wrong(format!(
                "variant {:?}: this name stands for the study's own settings; expected another name",
                BASE
            )));
        }
        let known =
            |what: &str, given: &Option<Vec<String>>, names: &[&str], base: Option<&str>| {
                let all = names.iter().copied().chain(base);
                for name in given.iter().flatten() {
                    if !all.clone().any(|other| other == name) {
                        let refusal =
                            format!("{}: {what} {name:?}: is not in this file", self.origin);
                        return Err(Error::unknown(refusal, name, all));
                    }
                }
                Ok(())
            };
        for grid in &file.grid {
            known("input", &grid.inputs, &inputs, None)?;
            known("variant", &grid.variants, &variants, Some(BASE))?;
        }
        for input in &file.input {
            let kinds = [&input.trace, &input.workload, &input.pages];
            if kinds.iter().filter(|kind| kind.is_some()).count() != 1 {
                return Err(self.wrong(format!(
                    "input {:?}: expected one of trace, workload and pages",
                    input.name
                )));
            }
        }
        for input in &file.input {
            if input.differs.is_some() && (input.trace.is_none() || input.stands_for.is_none()) {
                return Err(self.wrong(format!(
                    "input {:?}: differs is for a real trace that is shown beside the trace it stands for; expected trace and stands_for with it",
                    input.name
                )));
            }
            if input.buffers_shrunk.is_some() && input.differs.is_none() {
                return Err(self.wrong(format!(
                    "input {:?}: buffers_shrunk belongs to differs; expected differs with it",
                    input.name
                )));
            }
        }
        for figure in &file.figure {
            // The data of a figure is written to a file with its id as name, next to the file with all results.
            if !is_name(&figure.id) || figure.id == RESULTS {
                return Err(self.wrong(format!(
                    "figure {:?}: names a file; expected {NAME} other than {RESULTS:?}",
                    figure.id
                )));
            }
            if figure.y.is_some() != figure.columns.is_empty() {
                return Err(self.wrong(format!(
                    "figure {:?}: expected y, or columns in place of it",
                    figure.id
                )));
            }
        }
        Ok(())
    }
}

/// Parses `text` as TOML; `origin` names it in errors.
pub(crate) fn from_toml<T: DeserializeOwned>(text: &str, origin: &str) -> Result<T, Error> {
    toml::from_str(text)
        .map_err(|error| Error::Input(format!("{origin}: {}", error.to_string().trim_end())))
}

/// The first name that occurs twice; `None` if all are different.
fn repeated<'a>(names: &[&'a str]) -> Option<&'a str> {
    let mut known = std::collections::BTreeSet::new();
    names.iter().copied().find(|name| !known.insert(*name))
}

impl Study {
    /// Makes the runs that are not in `store` yet, and computes the data of the figures. The plan is written to
    /// `store` first, so that the missing runs of an interrupted study can be listed.
    ///
    /// # Errors
    /// An error in the study, an input or the store; or an interrupt, because `effort.progress` asked to stop.
    pub fn carry_out(
        &self,
        scale: Scale,
        traces: &Traces,
        store: &Store,
        effort: &Effort<'_>,
    ) -> Result<StudyReport, Error> {
        let started = Instant::now();
        let prepared = self.prepare(scale, traces)?;
        prepared.keep_plan(store)?;
        let cells = [prepared.cells];
        let rows = complete(&cells, store, effort)?.pop().unwrap_or_default();
        Ok(StudyReport {
            manifest: Manifest::of_study(started),
            title: self.title().to_owned(),
            about: self.about().to_owned(),
            figures: self.figures(&rows)?,
            rows,
        })
    }
}

/// The results of a study.
#[derive(Clone, Debug)]
pub struct StudyReport {
    /// How the results were computed.
    pub manifest: Manifest,
    /// The title of the study, in a few words.
    pub title: String,
    /// The purpose of the study, in sentences.
    pub about: String,
    /// The data of the figures.
    pub figures: Vec<figure::Figure>,
    /// The results of all runs.
    pub rows: Arc<rows::Rows>,
}

impl StudyReport {
    /// `{"manifest", "title", "about", "missing", "runs": [{"labels", "input", "parameters", "metrics"}],
    /// "figures"}`. A run, and the whole document, also have `"warnings"` if there are any.
    #[must_use]
    pub fn to_json(&self) -> String {
        destage::json::text(self)
    }

    /// Writes the report into `folder`, which is created if it does not exist: `report.html`, all results as
    /// `results.csv` and `results.json`, and the data of each figure as `FIGURE.csv`. `page` makes the HTML page
    /// from the report's JSON, as the crate `destage-report` does.
    ///
    /// # Errors
    /// If a file cannot be written, or if `page` fails.
    pub fn write(
        &self,
        folder: &Path,
        page: impl FnOnce(&str) -> Result<String, Error>,
    ) -> Result<(), Error> {
        figure::write_all(folder, "", &self.figures)?;
        let table = csv::rows(&self.rows);
        files::write_into(folder, &format!("{RESULTS}.csv"), table)?;
        let document = self.to_json();
        files::write_into(folder, &format!("{RESULTS}.json"), &document)?;
        files::write_into(folder, "report.html", page(&document)?)
    }
}

impl Serialize for StudyReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let figures = self.figures.iter().map(figure::Figure::to_json);
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("manifest", &self.manifest.many())?;
        map.serialize_entry("title", &self.title)?;
        map.serialize_entry("about", &self.about)?;
        map.serialize_entry("missing", &self.rows.missing)?;
        map.serialize_entry("runs", &self.rows.all)?;
        let warnings = self.rows.warnings();
        if !warnings.is_empty() {
            map.serialize_entry("warnings", &warnings)?;
        }
        map.serialize_entry("figures", &figures.collect::<Vec<_>>())?;
        map.end()
    }
}
