//! Divides a study among several workers. This module lists the runs of a study, the runs of one worker, and the
//! runs that have no result yet.
//!
//! The list of all runs of a study, the plan, is stored in the folder of the results. With the plan, the commands
//! for the status, the missing runs and the report need neither the study file nor its traces. Workers share only
//! the folder of the results. A worker does not repeat runs whose results are in this folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::cells::{Cells, Extra, InputFacts, Scale};
use super::execute::make;
use super::rows::{Row, Rows, failure};
use super::store::{Key, Store};
use super::traces::Traces;
use super::{Study, StudyReport};
use destage::Effort;
use destage::Error;
use destage::Manifest;

/// One part of a study that is divided into parts of about equal numbers of runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shard {
    /// The number of the part, counted from 1.
    pub index: u64,
    /// The number of all parts.
    pub of: u64,
}

impl Shard {
    /// Parses a part in the form in which users type it: `I/N`.
    ///
    /// # Errors
    /// If `text` does not have this form, or if `I` is not between 1 and `N`.
    pub fn read(text: &str) -> Result<Self, Error> {
        let numbers = text
            .split_once('/')
            .and_then(|(index, of)| Some((index.trim().parse().ok()?, of.trim().parse().ok()?)));
        match numbers {
            Some((index, of)) if (1..=of).contains(&index) => Ok(Self { index, of }),
            _ => Err(Error::argument(
                "shard",
                format!(" {text:?}: expected I/N with I from 1 to N, such as 3/8"),
            )),
        }
    }
}

/// The work that a worker has done for one part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Share {
    /// The number of different runs of the study.
    pub runs: usize,
    /// The number of runs in the part.
    pub own: usize,
    /// The number of runs in the part that this worker executed. The other runs of the part already had results.
    pub made: usize,
    /// A text for each run in the part that failed, now or earlier: its labels and the error message.
    pub failures: Vec<String>,
}

/// The list of the runs of a study, stored with their results.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// The name of the study.
    pub name: String,
    /// The path of the study file, or of the folder of a fleet, which distinguishes two studies of the same name.
    #[serde(default)]
    origin: String,
    /// The text of the study file; empty for a fleet.
    text: String,
    runs: Vec<Planned>,
    /// The inputs whose traces were not found: for the name of each input, the name of the trace.
    missing: BTreeMap<String, String>,
}

/// A run in a plan.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Planned {
    /// The name of the result file, without the ending.
    key: String,
    /// The labels of the run.
    pub labels: BTreeMap<String, String>,
    input: InputFacts,
}

/// A study with the list of its runs and their keys. A worker that executes several parts prepares the study only
/// once.
pub struct Prepared {
    pub(super) cells: Cells,
    keys: Vec<Key>,
    /// The indices of the runs without repetitions: of several runs with the same key, only the first one.
    different: Vec<usize>,
    plan: Plan,
}

impl Study {
    /// Builds the list of the runs of the study, and checks its figures.
    ///
    /// # Errors
    /// An error in the study or in an input.
    pub fn prepare(&self, scale: Scale, traces: &Traces) -> Result<Prepared, Error> {
        let cells = self.cells(scale, traces, &Extra::default())?;
        self.check_figures(&cells)?;
        let keys = cells.cells.iter().map(Key::of);
        let keys = keys.collect::<Result<Vec<_>, _>>()?;
        let runs = cells.cells.iter().zip(&keys).map(|(cell, key)| Planned {
            key: key.name().to_owned(),
            labels: cell.labels.clone(),
            input: cell.input.facts.clone(),
        });
        let plan = Plan {
            name: self.name.clone(),
            origin: origin_of(Path::new(&self.origin)),
            text: self.text.clone(),
            runs: runs.collect(),
            missing: cells.missing.clone(),
        };
        let mut known = BTreeSet::new();
        let different = (0..keys.len()).filter(|index| known.insert(keys[*index].name()));
        Ok(Prepared {
            different: different.collect(),
            cells,
            plan,
            keys,
        })
    }

    /// Writes the plan to `store`, and executes the runs of one part that have no result in `store` yet. A part
    /// consists of consecutive runs of the study, so most runs of a part have the same input.
    ///
    /// # Errors
    /// An error in the study, an input or the store, or an interrupt if `effort.progress` asks to stop.
    pub fn carry_out_part(
        &self,
        scale: Scale,
        traces: &Traces,
        store: &Store,
        shard: Shard,
        effort: &Effort<'_>,
    ) -> Result<Share, Error> {
        let prepared = self.prepare(scale, traces)?;
        prepared.keep_plan(store)?;
        prepared.carry_out_part(store, shard, effort)
    }
}

impl std::fmt::Debug for Prepared {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = formatter.debug_struct("Prepared");
        shown.field("study", &self.plan.name);
        shown.field("runs", &self.runs()).finish_non_exhaustive()
    }
}

impl Prepared {
    /// The list of the runs of the study.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The number of different runs.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.different.len()
    }

    /// Writes the plan to `store`.
    ///
    /// # Errors
    /// If the plan cannot be written, or if `store` has a plan of a different study with the same name.
    pub fn keep_plan(&self, store: &Store) -> Result<(), Error> {
        store.write_plan(&self.plan)
    }

    fn part(&self, shard: Shard) -> &[usize] {
        let at = |part: u64| (self.runs() as u64 * part / shard.of) as usize;
        &self.different[at(shard.index - 1)..at(shard.index)]
    }

    /// The indices of those runs of a part that have no result in `store`.
    #[must_use]
    pub fn missing_of_part(&self, store: &Store, shard: Shard) -> Vec<usize> {
        let part = self.part(shard).iter().copied();
        part.filter(|index| store.read(&self.keys[*index]).is_none())
            .collect()
    }

    /// Executes the runs of one part that have no result in `store` yet.
    ///
    /// # Errors
    /// An error in an input or the store, or an interrupt if `effort.progress` asks to stop.
    pub fn carry_out_part(
        &self,
        store: &Store,
        shard: Shard,
        effort: &Effort<'_>,
    ) -> Result<Share, Error> {
        let to_do = self.missing_of_part(store, shard);
        make(&self.cells, &self.keys, &to_do, store, effort)?;
        let own = self.part(shard);
        let failure = |index: &usize| {
            let result = store.read(&self.keys[*index])?;
            failure(&self.cells.cells[*index].labels, &result)
        };
        Ok(Share {
            runs: self.runs(),
            own: own.len(),
            made: to_do.len(),
            failures: own.iter().filter_map(failure).collect(),
        })
    }
}

impl Planned {
    /// A planned run whose result has the key `key`.
    pub(crate) fn new<const LABELS: usize>(
        key: &Key,
        labels: [(&str, String); LABELS],
        input: InputFacts,
    ) -> Self {
        Self {
            key: key.name().to_owned(),
            labels: labels.map(|(axis, value)| (axis.to_owned(), value)).into(),
            input,
        }
    }
}

/// The absolute path of `path`, with symbolic links resolved; `path` itself if it cannot be resolved.
fn origin_of(path: &Path) -> String {
    let whole = path.canonicalize();
    whole.as_deref().unwrap_or(path).display().to_string()
}

impl Plan {
    /// The plan of a fleet, whose runs are curves. A fleet has no study file.
    pub(crate) fn of_fleet(name: &str, folder: &Path, runs: Vec<Planned>) -> Self {
        Self {
            name: name.to_owned(),
            origin: origin_of(folder),
            text: String::new(),
            runs,
            missing: BTreeMap::new(),
        }
    }

    /// Returns an error if `other`, a plan of the same name, belongs to a different study, because the plans and
    /// reports of the two studies would overwrite each other. Two plans belong to the same study if the paths of
    /// their study files are equal, so the user may edit the file. Two plans with equal texts and equal runs also
    /// belong to the same study, so the user may copy the file.
    pub(super) fn check_same(&self, other: &Self) -> Result<(), Error> {
        let is_edited = self.origin.is_empty() || self.origin == other.origin;
        let keys = |plan: &Self| -> BTreeSet<String> {
            plan.runs.iter().map(|run| run.key.clone()).collect()
        };
        let is_copied = || self.text == other.text && keys(self) == keys(other);
        if is_edited || is_copied() {
            return Ok(());
        }
        Err(Error::Input(format!(
            "{}: the folder holds results of another study called {:?}, of {}; expected another folder of results, or another name",
            other.origin, self.name, self.origin
        )))
    }

    /// The number of different runs, and the list of those that have no result in `store`.
    #[must_use]
    pub fn missing_in(&self, store: &Store) -> (usize, Vec<&Planned>) {
        let mut known = BTreeSet::new();
        let different = self.runs.iter().filter(|run| known.insert(&run.key));
        let missing: Vec<_> = different
            .filter(|run| store.read_named(&run.key).is_none())
            .collect();
        (known.len(), missing)
    }

    /// Whether this is the plan of a fleet.
    #[must_use]
    pub fn is_of_fleet(&self) -> bool {
        self.text.is_empty()
    }

    /// Builds the report on the study from the results in `store`.
    ///
    /// # Errors
    /// If a result is missing, if a figure cannot be computed, or if the plan is that of a fleet.
    pub fn report(&self, store: &Store) -> Result<StudyReport, Error> {
        let started = Instant::now();
        if self.is_of_fleet() {
            return Err(Error::Input(format!(
                "{}: is the plan of a fleet; expected that of a study (`destage fleet` reports on a fleet)",
                self.name
            )));
        }
        let origin = format!("the plan of {}", self.name);
        let study = Study::parse(&self.name, &self.text, &origin, PathBuf::new())?;
        let different: BTreeSet<&str> = self.runs.iter().map(|run| &*run.key).collect();
        let runs = different.len();
        let results = different.into_iter().filter_map(|key| {
            let result = store.read_named(key)?;
            Some((key, Arc::new(result)))
        });
        let results: BTreeMap<&str, Arc<serde_json::Value>> = results.collect();
        if results.len() < runs {
            return Err(Error::Input(format!(
                "{}: {} of {runs} results are missing; expected all (`destage study missing` names them)",
                self.name,
                runs - results.len()
            )));
        }
        let all = self.runs.iter().map(|run| Row {
            labels: run.labels.clone(),
            input: run.input.clone(),
            result: Arc::clone(&results[&*run.key]),
        });
        let rows = Arc::new(Rows::of(all, self.missing.clone()));
        Ok(StudyReport {
            manifest: Manifest::of_study(started),
            title: study.title().to_owned(),
            about: study.about().to_owned(),
            figures: study.figures(&rows)?,
            rows,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_is_read_as_typed() {
        assert_eq!(Shard::read("3/8").unwrap(), Shard { index: 3, of: 8 });
        for text in ["0/8", "9/8", "3", "3/", "a/b", "-1/2"] {
            let error = Shard::read(text).unwrap_err().to_string();
            assert!(error.contains("expected I/N"), "{error}");
        }
    }
}
