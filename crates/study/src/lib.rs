//! Studies of write buffers. A study file describes grids of simulation runs. Each run is executed once, and its
//! result is stored on disk. The reproductions of the papers are studies, too. The module [`fleet`] compares
//! buffers for traces of many volumes.
//!
//! | module | content |
//! | --- | --- |
//! | `file` | the fields of a study file |
//! | `cells` | the list of the runs of a study |
//! | `pages` | requests that a study file lists one by one |
//! | [`traces`] | the names of traces, and the file of each trace |
//! | [`store`] | stored results, one file for each run |
//! | `shards` | parts of a study for several workers, and the list of runs without a result |
//! | `execute` | executes the runs that have no stored result |
//! | [`rows`] | the results, found by the labels of the runs |
//! | [`csv`] | the results as a CSV table |
//! | [`formula`] | formulas that compute values from results |
//! | [`figure`] | computes the data of figures and tables |
//! | [`shown`] | values as text for sentences and tables |
//! | [`reproduce`] | reproduces papers: checks their claims, gives verdicts, and writes reports |
//! | `drives` | runs that compare a profile with measurements of a drive |
//! | `experiments` | the list of the papers' experiments |
//! | [`fleet`] | traces of many volumes: a separate buffer for each volume compared with one shared buffer |
//!
//! docs/STUDIES.md describes how to write a study file.

mod cells;
pub mod csv;
mod drives;
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

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
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

/// The name of the files that hold all results of a study: `results.csv` and `results.json`. The name of no
/// figure may be equal to it.
pub const RESULTS: &str = "results";

/// A study: its inputs, its runs and its figures.
#[derive(Clone, Debug)]
pub struct Study {
    /// The name of the study file without its ending.
    pub name: String,
    pub(crate) file: file::File,
    /// The text of the study file.
    text: String,
    /// The path of the study file, for error messages.
    origin: String,
    /// The folder to which paths in the study file are relative.
    folder: PathBuf,
    /// The texts of those tables of measurements that were read together with the study, by the names of their
    /// files. Other tables are read from the folder.
    tables: Arc<BTreeMap<String, String>>,
    /// The numbers of requests after which limits of writes end, by what identifies the input, the limit and the
    /// settings.
    limits: Arc<Mutex<BTreeMap<String, u64>>>,
}

impl Study {
    /// Reads the study file at `path`.
    ///
    /// # Errors
    /// If the file cannot be read, is not TOML, or has an unknown field, an invalid value, or fields that may not
    /// be combined.
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

    /// Reads a study from `text`. Error messages call the text `origin`. Paths in the text are relative to
    /// `folder`.
    ///
    /// # Errors
    /// If the text is not TOML, or has an unknown field, an invalid value, or fields that may not be combined.
    pub fn parse(name: &str, text: &str, origin: &str, folder: PathBuf) -> Result<Self, Error> {
        let file = from_toml(text, origin)?;
        let study = Self {
            name: name.to_owned(),
            file,
            text: text.to_owned(),
            origin: origin.to_owned(),
            folder,
            tables: Arc::default(),
            limits: Arc::default(),
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

    /// What all runs have in common and no parameter says, as a clause; empty if there is nothing to say.
    pub(crate) fn conditions(&self) -> &str {
        self.file.conditions.trim()
    }

    /// The ids of the figures.
    #[must_use]
    pub fn figure_ids(&self) -> Vec<&str> {
        let figures = self.file.figure.iter();
        figures.map(|figure| figure.id.as_str()).collect()
    }

    /// An error message that names the study file and describes the mistake `what` in it.
    pub(crate) fn wrong(&self, what: impl std::fmt::Display) -> Error {
        Error::Input(format!("{}: {what}", self.origin))
    }

    /// Checks that the names of inputs, variants and figures are unique, that every name in a grid exists, and
    /// that the fields of each entry may be combined.
    fn check(&self) -> Result<(), Error> {
        let file = &self.file;
        // The report is written to a folder that has the name of the study. The folders of results and of plans
        // are in the same parent folder, so the study may not have their names.
        if [".", "..", store::RUNS, store::PLANS].contains(&&*self.name) {
            return Err(self.wrong(format!(
                "the study is called {:?}, which cannot name the folder of its report; expected another name of the file",
                self.name
            )));
        }
        let inputs = file.input.iter().map(|each| each.name.as_str());
        let drives = file.drive.iter().map(|each| each.name.as_str());
        let inputs: Vec<_> = inputs.chain(drives).collect();
        if inputs.is_empty() {
            return Err(self.wrong("no input; expected [[input]] or [[drive]]"));
        }
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
                    "input {:?}: expected exactly one of the keys trace, workload and pages",
                    input.name
                )));
            }
        }
        for input in &file.input {
            if input.differs.is_some() && (input.trace.is_none() || input.stands_for.is_none()) {
                return Err(self.wrong(format!(
                    "input {:?}: the key differs is for a real trace that is shown beside the trace it stands for; expected the keys trace and stands_for as well",
                    input.name
                )));
            }
            if let Some(times) = input.buffers_shrunk
                && !(times > 0.0 && times.is_finite())
            {
                return Err(self.wrong(format!(
                    "input {:?}: buffers_shrunk = {times:?}: expected a number above 0",
                    input.name
                )));
            }
            if input.buffers_shrunk.is_some() && input.differs.is_none() {
                return Err(self.wrong(format!(
                    "input {:?}: the key buffers_shrunk is allowed only together with the key differs; expected differs as well",
                    input.name
                )));
            }
        }
        self.check_measurements()?;
        for figure in &file.figure {
            // The data of a figure is written to a file whose name is the figure's id. The file with all results
            // is in the same folder, so the id may not be equal to its name.
            if !is_name(&figure.id) || figure.id == RESULTS {
                return Err(self.wrong(format!(
                    "figure {:?}: names a file; expected {NAME} other than {RESULTS:?}",
                    figure.id
                )));
            }
            if figure.y.is_some() != figure.columns.is_empty() {
                return Err(self.wrong(format!(
                    "figure {:?}: expected exactly one of the keys y and columns",
                    figure.id
                )));
            }
            if !["", "x", "y", "xy"].contains(&&*figure.log) {
                return Err(self.wrong(format!(
                    "figure {:?}: log = {:?}: expected x, y or xy",
                    figure.id, figure.log
                )));
            }
            self.check_axes(figure)?;
        }
        Ok(())
    }
}

impl Study {
    /// Checks that each axis that `figure` names is an axis of the study's runs.
    fn check_axes(&self, figure: &file::FigureEntry) -> Result<(), Error> {
        let mut all: Vec<&str> = rows::AXES.to_vec();
        let grids = self.file.grid.iter();
        all.extend(grids.flat_map(|grid| grid.vary.keys().map(String::as_str)));
        if !self.file.drive.is_empty() {
            all.extend_from_slice(&drives::axes());
        }
        let named = [
            ("x", Some(&figure.x.label)),
            ("series", figure.series.label.as_ref()),
        ];
        let named = named
            .into_iter()
            .filter_map(|(key, axis)| Some((key, axis?)));
        for (key, axis) in named.chain(figure.only.keys().map(|axis| ("where", axis))) {
            if !all.contains(&axis.as_str()) {
                let refusal = format!(
                    "{}: figure {:?}: {key}: {axis:?} is not an axis of this study",
                    self.origin, figure.id
                );
                return Err(Error::unknown(refusal, axis, all.iter().copied()));
            }
        }
        Ok(())
    }

    /// The same study, with tables of measurements whose names and texts are `tables`.
    pub(crate) fn with_tables(mut self, tables: Arc<BTreeMap<String, String>>) -> Self {
        self.tables = tables;
        self
    }

    /// Sets the folder to which paths in the study file are relative.
    pub(crate) fn look_in(&mut self, folder: &Path) {
        folder.clone_into(&mut self.folder);
    }

    /// The name, for error messages, and the text of the table of measurements in the file `name`.
    fn table(&self, name: &str) -> Result<(String, Vec<u8>), Error> {
        if let Some(text) = self.tables.get(name) {
            return Ok((name.to_owned(), text.clone().into_bytes()));
        }
        let path = self.folder.join(name);
        match std::fs::read(&path) {
            Ok(text) => Ok((path.display().to_string(), text)),
            Err(error) => Err(Error::Input(format!(
                "{}: {error}; expected a file of measurements, as docs/DRIVES.md describes it",
                path.display()
            ))),
        }
    }

    /// Checks that no grid of measured drives has entries that measurements exclude. The buffer and the layer of a drive
    /// are those of its profile, and measurements hold no requests that could be counted.
    fn check_measurements(&self) -> Result<(), Error> {
        for grid in &self.file.grid {
            let mut drives = self.file.drive.iter();
            let is_in = |name: &String| grid.inputs.as_ref().is_none_or(|all| all.contains(name));
            let Some(drive) = drives.find(|drive| is_in(&drive.name)) else {
                continue;
            };
            let excluded = [
                ("buffers", grid.buffers.is_some()),
                ("sizes", grid.sizes.is_some()),
                ("ftls", grid.ftls.is_some()),
                ("destages", grid.destages),
                ("of = \"trace\"", grid.of == file::What::Trace),
            ];
            if let Some((key, _)) = excluded.iter().find(|(_, is_given)| *is_given) {
                return Err(self.wrong(format!(
                    "drive {:?}: a grid with measured drives may not have {key}; expected variants that set parameters",
                    drive.name
                )));
            }
        }
        Ok(())
    }
}

/// Parses `text` as TOML. Error messages call the text `origin`.
pub(crate) fn from_toml<T: DeserializeOwned>(text: &str, origin: &str) -> Result<T, Error> {
    toml::from_str(text)
        .map_err(|error| Error::Input(format!("{origin}: {}", error.to_string().trim_end())))
}

/// The first of `names` that repeats an earlier one; `None` if all names are different.
fn repeated<'a>(names: &[&'a str]) -> Option<&'a str> {
    let mut known = std::collections::BTreeSet::new();
    names.iter().copied().find(|name| !known.insert(*name))
}

impl Study {
    /// Executes the runs that have no result in `store` yet, and computes the data of the figures. The list of
    /// all runs, the plan, is written to `store` before the first run, so that the missing runs of an interrupted
    /// study can be listed.
    ///
    /// # Errors
    /// An error in the study, an input or the store, or an interrupt if `effort.progress` asks to stop.
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

/// The report on a study: the results of its runs, and the data of its figures.
#[derive(Clone, Debug)]
pub struct StudyReport {
    /// Facts about the computation of the results, such as the version of the program.
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
    /// "figures"}`. Each run that has warnings also has the field `"warnings"`, and so does the document if any
    /// run has warnings.
    #[must_use]
    pub fn to_json(&self) -> String {
        destage::json::text(self)
    }

    /// Writes the report into `folder`, and creates this folder if it does not exist. The files are
    /// `report.html`, all results as `results.csv` and `results.json`, and the data of each figure as
    /// `FIGURE.csv`. The function `page` turns the report's JSON into the HTML page; the crate `destage-report`
    /// has such a function.
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
