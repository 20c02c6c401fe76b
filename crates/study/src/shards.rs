//! Studies in parts: the runs of a study, those that a worker makes, and the missing ones.
//!
//! A plan lies in the same folder as the results, so status, the list of missing runs and the report need neither the study's file nor its traces.
//! Workers share only the folder, and never repeat runs whose results are there.

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

/// One of several equal parts of a study.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shard {
    /// The number of this part, from 1 on.
    pub index: u64,
    /// How many parts there are.
    pub of: u64,
}

impl Shard {
    /// Reads `I/N`.
    ///
    /// # Errors
    /// If it is none.
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

/// The work of a worker.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Share {
    /// Different runs of the study.
    pub runs: usize,
    /// Runs of the worker's part.
    pub own: usize,
    /// Runs of its part that it made; the results of the others were there.
    pub made: usize,
    /// Which runs of its part failed, now or earlier, by their labels, and why; one sentence each.
    pub failures: Vec<String>,
}

/// The runs of a study, kept beside their results.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// The study's name.
    pub name: String,
    /// The file of the study, or the folder of a fleet: this tells apart two of one name.
    #[serde(default)]
    origin: String,
    /// The file as it was written; empty for a fleet.
    text: String,
    runs: Vec<Planned>,
    /// Inputs that were not found, and their traces.
    missing: BTreeMap<String, String>,
}

/// A run of a plan.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Planned {
    /// The name of its result.
    key: String,
    /// The labels that identify it.
    pub labels: BTreeMap<String, String>,
    input: InputFacts,
}

/// A study whose runs are known: the data that a worker keeps from part to part.
pub struct Prepared {
    pub(super) cells: Cells,
    keys: Vec<Key>,
    /// The first of each of the different runs.
    different: Vec<usize>,
    plan: Plan,
}

impl Study {
    /// Finds the runs of the study, and the inputs that they need.
    ///
    /// # Errors
    /// An error in the study or an input.
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

    /// Makes those runs of one part that are not yet in `store`, and keeps the plan there. A part consists of consecutive runs of the study, so its
    /// runs mostly share an input.
    ///
    /// # Errors
    /// An error in the study, an input or the store, or an interrupt because `effort.progress` asked to stop.
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
    /// Its plan.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// How many different runs there are.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.different.len()
    }

    /// Keeps the plan in `store`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep_plan(&self, store: &Store) -> Result<(), Error> {
        store.write_plan(&self.plan)
    }

    fn part(&self, shard: Shard) -> &[usize] {
        let at = |part: u64| (self.runs() as u64 * part / shard.of) as usize;
        &self.different[at(shard.index - 1)..at(shard.index)]
    }

    /// The runs of a part that are not in `store`.
    #[must_use]
    pub fn missing_of_part(&self, store: &Store, shard: Shard) -> Vec<usize> {
        let part = self.part(shard).iter().copied();
        part.filter(|index| store.read(&self.keys[*index]).is_none())
            .collect()
    }

    /// Makes those runs of one part that are not yet in `store`.
    ///
    /// # Errors
    /// An error in an input or the store, or an interrupt because `effort.progress` asked to stop.
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
    /// The result under `key`.
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

/// `path` from the root of the file system on.
fn origin_of(path: &Path) -> String {
    let whole = path.canonicalize();
    whole.as_deref().unwrap_or(path).display().to_string()
}

impl Plan {
    /// The curves of a fleet, of which there is no study file.
    pub(crate) fn of_fleet(name: &str, folder: &Path, runs: Vec<Planned>) -> Self {
        Self {
            name: name.to_owned(),
            origin: origin_of(folder),
            text: String::new(),
            runs,
            missing: BTreeMap::new(),
        }
    }

    /// Refuses `other`, a study of the same name that is another study: their plans and reports would overwrite each other.
    /// An edited study still has its place, and a study that was copied whole has its runs.
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

    /// How many different runs there are, and those whose results are not in `store`.
    #[must_use]
    pub fn missing_in(&self, store: &Store) -> (usize, Vec<&Planned>) {
        let mut known = BTreeSet::new();
        let different = self.runs.iter().filter(|run| known.insert(&run.key));
        let missing: Vec<_> = different
            .filter(|run| store.read_named(&run.key).is_none())
            .collect();
        (known.len(), missing)
    }

    /// The outcome of the study, when all of its results are in `store`.
    ///
    /// # Errors
    /// If one is missing, or a figure cannot be made.
    pub fn report(&self, store: &Store) -> Result<StudyReport, Error> {
        let started = Instant::now();
        if self.text.is_empty() {
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
        let rows = Arc::new(Rows {
            all: all.collect(),
            missing: self.missing.clone(),
        });
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
