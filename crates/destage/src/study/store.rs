//! Results kept one file a run, under a key of what they depend on.
//!
//! The key is a digest of the version of the model, the input's identity and every parameter that is not at its default;
//! neither the commit nor the study goes into it, so that studies share results and a rebuilt program finds them, also one
//! that knows more parameters. A default that changes raises the version of the model (`tests/golden/defaults.txt`). A file is written beside its place
//! and renamed: it is whole, or not there.

use std::io::Write;
use std::path::{Path, PathBuf};

use destage_trace::hexadecimal;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::cells::Cell;
use super::file::What;
use super::shards::Plan;
use crate::error::Error;
use crate::grid::Combination;
use crate::manifest::MODEL;

/// The folder of kept results.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
    plans: PathBuf,
}

/// What stands for a run: equal for runs that give the same result.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    name: String,
    /// What the name is a digest of.
    of: Value,
}

impl Key {
    pub(super) fn of(cell: &Cell) -> Self {
        let of = json!({
            "model": MODEL,
            "of": match cell.what {
                What::Run => "run",
                What::Trace => "trace",
            },
            "destages": cell.destages,
            "input": cell.input.identity,
            "parameters": crate::json::parameters(&cell.combination.chosen()),
        });
        Self::new(of)
    }

    /// Of what `combination` gives at all of `sizes` over the requests of a file with this SHA-256.
    pub(crate) fn of_curve(digest: &str, sizes: &[u64], combination: &Combination) -> Self {
        let mut parameters = combination.chosen();
        parameters.remove("buffer.capacity_bytes");
        Self::new(json!({
            "model": MODEL,
            "of": "curve",
            "input": { "sha256": digest },
            "sizes": sizes,
            "parameters": crate::json::parameters(&parameters),
        }))
    }

    fn new(of: Value) -> Self {
        let name = name_of(&of);
        Self { name, of }
    }

    /// The key in hexadecimal, as in the file's name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

impl Store {
    /// Results in `folder`, which is made if it is not there.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let (runs, plans) = (folder.join("runs"), folder.join("plans"));
        std::fs::create_dir_all(&runs).map_err(|error| unusable(&runs, &error))?;
        Ok(Self {
            folder: runs,
            plans,
        })
    }

    /// Results that somebody else keeps in `folder`.
    ///
    /// # Errors
    /// If there are none.
    pub fn existing(folder: &Path) -> Result<Self, Error> {
        if !folder.join("plans").is_dir() {
            return Err(no_plans(folder));
        }
        Self::open(folder)
    }

    /// The plans of studies, by name.
    ///
    /// # Errors
    /// If there is none, or one cannot be read.
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
        let read = |path: &PathBuf| {
            let text = std::fs::read_to_string(path).map_err(|error| unusable(path, &error))?;
            serde_json::from_str(&text).map_err(|error| {
                Error::Input(format!(
                    "{}: {error}; expected the plan of a study",
                    path.display()
                ))
            })
        };
        paths.iter().map(read).collect()
    }

    /// Keeps `plan`, in place of an earlier one of its name.
    pub(crate) fn write_plan(&self, plan: &Plan) -> Result<(), Error> {
        let path = self.plans.join(format!("{}.json", plan.name));
        let made = std::fs::create_dir_all(&self.plans);
        made.map_err(|error| unusable(&self.plans, &error))?;
        put(&self.plans, &path, &json!(plan))
    }

    fn path(&self, key: &Key) -> PathBuf {
        self.folder.join(format!("{}.json", key.name))
    }

    /// The result under `key`. What is damaged or belongs to another key is not there.
    pub(crate) fn read(&self, key: &Key) -> Option<Value> {
        let text = std::fs::read_to_string(self.path(key)).ok()?;
        let mut kept: Value = serde_json::from_str(&text).ok()?;
        (kept["key"] == key.of && kept["result"].is_object()).then(|| kept["result"].take())
    }

    /// The result under the key that is called `name`. What is damaged is not there.
    pub(super) fn read_named(&self, name: &str) -> Option<Value> {
        let path = self.folder.join(format!("{name}.json"));
        let text = std::fs::read_to_string(path).ok()?;
        let mut kept: Value = serde_json::from_str(&text).ok()?;
        (name_of(&kept["key"]) == name && kept["result"].is_object()).then(|| kept["result"].take())
    }

    /// Keeps `result` under `key`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn write(&self, key: &Key, result: &Value) -> Result<(), Error> {
        let path = self.path(key);
        let kept = json!({
            "key": key.of,
            "made_by": { "version": crate::version(), "commit": crate::commit() },
            "result": result,
        });
        put(&self.folder, &path, &kept)
    }
}

/// Writes `what` beside `path`, in `folder`, and renames it.
fn put(folder: &Path, path: &Path, what: &Value) -> Result<(), Error> {
    let write = || -> std::io::Result<()> {
        let mut file = tempfile::Builder::new()
            .prefix(".destage-")
            .suffix(".partial")
            .tempfile_in(folder)?;
        file.write_all(crate::json::text(what).as_bytes())?;
        file.persist(path)?;
        Ok(())
    };
    write().map_err(|error| unusable(path, &error))
}

fn name_of(key: &Value) -> String {
    hexadecimal(&Sha256::digest(key.to_string().as_bytes()))
}

fn no_plans(folder: &Path) -> Error {
    Error::Input(format!(
        "{}: has no plans of studies; expected the folder of results of `destage study FILE.toml --results DIR`, whole or in parts",
        folder.display()
    ))
}

fn unusable(path: &Path, error: &std::io::Error) -> Error {
    Error::Input(format!(
        "--results: {}: {error}; expected a folder that can be written",
        path.display()
    ))
}
