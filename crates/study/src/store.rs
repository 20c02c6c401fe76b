//! Results, stored in one file for each run. The file's name is a key that depends on everything that the result
//! depends on.
//!
//! The key is a digest of the version of the model, the identity of the input, every parameter that is not at its
//! default, and the version of a scheme that is in no registry. Neither the commit nor the study is part of it.
//! So studies share results, and a rebuilt program finds them, even if it has more parameters. If a default
//! changes, the version of the model has to change, too; a test compares the defaults with
//! `tests/golden/defaults.txt`. A file is written under a temporary name and renamed, so it is complete or
//! absent. Each file has a seal, a digest of key and result. A file that was damaged or edited is ignored, and
//! [`Store::damaged`] names it.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use destage_trace::hexadecimal;
use destage_trace::statistics::StatisticRow;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::cells::Cell;
use super::file::What;
use super::shards::Plan;
use destage::Combination;
use destage::Error;
use destage::MODEL;

/// The names of the folders of results and of plans.
pub(super) const RUNS: &str = "runs";
pub(super) const PLANS: &str = "plans";

/// The folder of stored results.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
    plans: PathBuf,
    /// The result files that have changed since they were written. Copies of a store share this set.
    damaged: Arc<Mutex<BTreeSet<PathBuf>>>,
}

/// The identity of a run. Runs with the same key have the same result.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    name: String,
    /// The value whose digest is the name.
    of: Value,
}

impl Key {
    pub(super) fn of(cell: &Cell) -> Result<Self, Error> {
        let mut of = json!({
            "model": MODEL,
            "of": match cell.what {
                What::Run => "run",
                What::Trace => "trace",
            },
            "destages": cell.destages,
            "input": cell.input.identity,
            "parameters": destage::json::parameters(&cell.combination.chosen()),
        });
        if cell.what == What::Trace {
            // Later versions of the program compute more statistics of a trace than earlier ones.
            let names: Vec<_> = StatisticRow::all().map(StatisticRow::metric).collect();
            of["statistics"] = names.into();
        }
        Self::with_scheme(of, &cell.combination)
    }

    /// The key of the results of `combination` at all of `sizes`, for the requests in the file with the SHA-256
    /// `digest`.
    ///
    /// # Errors
    /// If the scheme is in no registry and has no version, because a stored result could then be that of an
    /// earlier scheme of the same name.
    pub(crate) fn of_curve(
        digest: &str,
        sizes: &[u64],
        combination: &Combination,
    ) -> Result<Self, Error> {
        let mut parameters = combination.chosen();
        parameters.remove("buffer.capacity_bytes");
        let of = json!({
            "model": MODEL,
            "of": "curve",
            "input": { "sha256": digest },
            "sizes": sizes,
            "parameters": destage::json::parameters(&parameters),
        });
        Self::with_scheme(of, combination)
    }

    /// The key of a result that depends on `of`, and on the scheme of `combination`.
    fn with_scheme(mut of: Value, combination: &Combination) -> Result<Self, Error> {
        if let Some(version) = combination.config.scheme_version()? {
            of["scheme_version"] = version.into();
        }
        Ok(Self {
            name: digest_of(&of),
            of,
        })
    }

    /// The key in hexadecimal digits, as in the file's name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

impl Store {
    /// The results in `folder`, which is created if it does not exist.
    ///
    /// # Errors
    /// If the folder cannot be created.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let (runs, plans) = (folder.join(RUNS), folder.join(PLANS));
        std::fs::create_dir_all(&runs).map_err(|error| unusable(&runs, &error))?;
        Ok(Self {
            folder: runs,
            plans,
            damaged: Arc::default(),
        })
    }

    /// The results that earlier commands have stored in `folder`.
    ///
    /// # Errors
    /// If the folder has no plans.
    pub fn existing(folder: &Path) -> Result<Self, Error> {
        if !folder.join(PLANS).is_dir() {
            return Err(no_plans(folder));
        }
        Self::open(folder)
    }

    /// The plans of studies, in the order of their names.
    ///
    /// # Errors
    /// If there are no plans, or if one cannot be read.
    pub fn plans(&self) -> Result<Vec<Plan>, Error> {
        let entries = self
            .plans
            .read_dir()
            .map_err(|error| unusable(&self.plans, &error))?;
        let mut paths = Vec::new();
        for entry in entries {
            let path = entry.map_err(|error| unusable(&self.plans, &error))?.path();
            if path.extension().is_some_and(|ending| ending == "json") {
                paths.push(path);
            }
        }
        if paths.is_empty() {
            return Err(no_plans(self.plans.parent().unwrap_or(&self.plans)));
        }
        paths.sort();
        paths.iter().map(|path| read_plan(path)).collect()
    }

    /// Writes `plan`; it replaces an earlier plan of the same study.
    pub(crate) fn write_plan(&self, plan: &Plan) -> Result<(), Error> {
        let path = self.plans.join(format!("{}.json", plan.name));
        if path.exists() {
            read_plan(&path)?.check_same(plan)?;
        }
        let made = std::fs::create_dir_all(&self.plans);
        made.map_err(|error| unusable(&self.plans, &error))?;
        destage::files::write(&path, destage::json::text(&json!(plan)))
    }

    fn path(&self, key: &Key) -> PathBuf {
        self.folder.join(format!("{}.json", key.name))
    }

    /// The result with `key`; `None` if no result has this key. A file that is damaged or has another key is
    /// ignored.
    pub(crate) fn read(&self, key: &Key) -> Option<Value> {
        self.read_if(&key.name, |of| *of == key.of)
    }

    /// The result whose key has the name `name`; `None` if no result has this name. A damaged file is ignored.
    pub(super) fn read_named(&self, name: &str) -> Option<Value> {
        self.read_if(name, |of| digest_of(of) == name)
    }

    fn read_if(&self, name: &str, is_key: impl Fn(&Value) -> bool) -> Option<Value> {
        let path = self.folder.join(format!("{name}.json"));
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return None,
            Err(_) => Vec::new(),
        };
        let kept = serde_json::from_slice(&text).ok();
        let kept = kept.filter(|kept: &Value| {
            kept["result"].is_object()
                && is_key(&kept["key"])
                && kept["seal"].as_str() == Some(&seal_of(&kept["key"], &kept["result"]))
        });
        let mut damaged = self.damaged.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(mut kept) = kept else {
            damaged.insert(path);
            return None;
        };
        Some(kept["result"].take())
    }

    /// A sentence for each result file that had changed when it was read. Such a file is ignored, and its run is
    /// made again.
    #[must_use]
    pub fn damaged(&self) -> Vec<String> {
        let damaged = self.damaged.lock().unwrap_or_else(PoisonError::into_inner);
        let sentence = |path: &PathBuf| {
            format!(
                "{}: has changed since it was written, and is ignored",
                path.display()
            )
        };
        damaged.iter().map(sentence).collect()
    }

    /// Stores `result` under `key`.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn write(&self, key: &Key, result: &Value) -> Result<(), Error> {
        let path = self.path(key);
        let kept = json!({
            "key": key.of,
            "made_by": { "version": destage::version(), "commit": destage::commit() },
            "seal": seal_of(&key.of, result),
            "result": result,
        });
        destage::files::write(&path, destage::json::text(&kept))
    }
}

/// The seal of a key and a result: the digest of both as they are written.
fn seal_of(key: &Value, result: &Value) -> String {
    hexadecimal(&Sha256::digest(format!("{key}\n{result}").as_bytes()))
}

fn digest_of(value: &Value) -> String {
    hexadecimal(&Sha256::digest(value.to_string().as_bytes()))
}

/// Reads the plan in the file at `path`, whose name has to be that of the study.
fn read_plan(path: &Path) -> Result<Plan, Error> {
    let wrong = |what: String| {
        Error::Input(format!(
            "{}: {what}; expected the plan of a study",
            path.display()
        ))
    };
    let text = std::fs::read_to_string(path).map_err(|error| unusable(path, &error))?;
    let plan: Plan = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    // The name becomes the name of a folder, so it may not lead elsewhere.
    if path.file_stem().is_none_or(|stem| *stem != *plan.name) {
        return Err(wrong(format!("is of {:?}", plan.name)));
    }
    Ok(plan)
}

fn no_plans(folder: &Path) -> Error {
    Error::Input(format!(
        "{}: has no plans of studies; expected a folder of results of studies, whole or in parts",
        folder.display()
    ))
}

fn unusable(path: &Path, error: &std::io::Error) -> Error {
    let what = format!(
        ": {}: {error}; expected a folder that can be written",
        path.display()
    );
    Error::argument("results", what)
}
