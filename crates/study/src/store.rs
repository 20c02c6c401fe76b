//! Stores results, one file for each run. The name of a file is a key. Runs that could have different results
//! have different keys.
//!
//! The key is a digest of the version of the model, the data that identify the input, and every parameter whose
//! value is not the default. If the scheme is in no registry, the version of the scheme is also part of the key.
//! The key contains neither the name of the study nor the commit of the program. Studies therefore share results,
//! and a program that was rebuilt finds the results of the earlier build, even if the new build has more
//! parameters.
//!
//! A parameter at its default is not part of the key, so a change of a default requires a new version of the
//! model. A test compares the defaults with `tests/golden/defaults.txt`.
//!
//! Each file is written under a temporary name and then renamed, so no file is incomplete. Each file contains a
//! seal, which is a digest of the key and the result. The store ignores a file that was damaged or edited, and
//! [`Store::damaged`] lists such files.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use destage_trace::hexadecimal;
use destage_trace::statistics::StatisticRow;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::cells::{Cell, Subject};
use super::file::What;
use super::shards::Plan;
use destage::Combination;
use destage::Error;
use destage::MODEL;

/// The names of the two folders in the store: one with the results, and one with the plans of studies.
pub(super) const RUNS: &str = "runs";
pub(super) const PLANS: &str = "plans";

/// A folder with stored results and with the plans of studies.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
    plans: PathBuf,
    /// The result files that were found to be damaged or edited. Clones of a store share this set.
    damaged: Arc<Mutex<BTreeSet<PathBuf>>>,
}

/// The key of a run or of a curve. Runs with equal keys have equal results.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    name: String,
    /// Everything on which the result depends, as JSON. The name is the digest of this value.
    of: Value,
}

impl Key {
    pub(super) fn of(cell: &Cell) -> Result<Self, Error> {
        let mut of = json!({
            "model": MODEL,
            "of": match (&cell.input.subject, cell.what) {
                (Subject::Drive(_), _) => "drive",
                (Subject::Requests(_), What::Run) => "run",
                (Subject::Requests(_), What::Trace) => "trace",
            },
            "destages": cell.destages,
            "input": cell.input.identity,
            "parameters": destage::json::parameters(&cell.combination.chosen()),
        });
        if cell.what == What::Trace {
            // A later version of the program can have statistics that a stored result lacks. The names of all
            // statistics are therefore part of the key.
            let names: Vec<_> = StatisticRow::all().map(StatisticRow::metric).collect();
            of["statistics"] = names.into();
        }
        Self::with_scheme(of, &cell.combination)
    }

    /// The key of a curve: the results of `combination` with each buffer size in `sizes`, on the requests in the
    /// file with the SHA-256 `digest`.
    ///
    /// # Errors
    /// If the scheme is in no registry and has no version. Without a version, the result of an earlier scheme of
    /// the same name could be used by mistake.
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

    /// The key of a result that depends on `of`. If the scheme of `combination` has a version, the key depends on
    /// the version, too.
    fn with_scheme(mut of: Value, combination: &Combination) -> Result<Self, Error> {
        // A requested size of the device is no parameter, but the number of blocks follows from it.
        if let Some(bytes) = combination.config.capacity_bytes {
            of["capacity_bytes"] = bytes.into();
        }
        if let Some(version) = combination.config.scheme_version()? {
            of["scheme_version"] = version.into();
        }
        Ok(Self {
            name: digest_of(&of),
            of,
        })
    }

    /// The key in hexadecimal digits, which is also the name of the result file without its ending.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

impl Store {
    /// Opens the store in `folder`, and creates this folder if it does not exist.
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

    /// Opens the store in `folder` if earlier commands have written plans there.
    ///
    /// # Errors
    /// If the folder has no plans.
    pub fn existing(folder: &Path) -> Result<Self, Error> {
        if !folder.join(PLANS).is_dir() {
            return Err(no_plans(folder));
        }
        Self::open(folder)
    }

    /// Reads all plans in the store, in the alphabetical order of the studies' names.
    ///
    /// # Errors
    /// If the store has no plans, or if a plan cannot be read.
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

    /// Writes `plan` to the store. An earlier plan of the same study is replaced; a plan of a different study
    /// with the same name is an error.
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

    /// Reads the result with `key`; `None` if no result with this key is stored. A file that is damaged or
    /// contains another key is ignored.
    pub(crate) fn read(&self, key: &Key) -> Option<Value> {
        self.read_if(&key.name, |of| *of == key.of)
    }

    /// Reads the result in the file called `name`; `None` if there is no such file. A damaged file is ignored.
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

    /// A sentence for each result file that this store found to be damaged or edited. The store ignores such a
    /// file, so a study executes the run again.
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

/// The seal of a result file: the SHA-256 of the JSON text of the key and of the result.
fn seal_of(key: &Value, result: &Value) -> String {
    hexadecimal(&Sha256::digest(format!("{key}\n{result}").as_bytes()))
}

fn digest_of(value: &Value) -> String {
    hexadecimal(&Sha256::digest(value.to_string().as_bytes()))
}

/// Reads the plan in the file at `path`. The name of the file has to be the name of the study.
fn read_plan(path: &Path) -> Result<Plan, Error> {
    let wrong = |what: String| {
        Error::Input(format!(
            "{}: {what}; expected the plan of a study",
            path.display()
        ))
    };
    let text = std::fs::read_to_string(path).map_err(|error| unusable(path, &error))?;
    let plan: Plan = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    // The name of the study becomes the name of a folder. An edited plan could have a name such as `../x`, which
    // would lead to a folder outside the store.
    if path.file_stem().is_none_or(|stem| *stem != *plan.name) {
        return Err(wrong(format!("is of {:?}", plan.name)));
    }
    Ok(plan)
}

fn no_plans(folder: &Path) -> Error {
    Error::Input(format!(
        "{}: no study has stored results here; expected the folder of a study's results",
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
