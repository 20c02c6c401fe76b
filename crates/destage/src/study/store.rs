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
use crate::error::Error;
use crate::manifest::MODEL;

/// The folder of kept results.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
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
        let name = hexadecimal(&Sha256::digest(of.to_string().as_bytes()));
        Self { name, of }
    }

    /// The key in hexadecimal, as in the file's name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

impl Store {
    /// Results in `folder`, which is made if it is not there.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let folder = folder.join("runs");
        std::fs::create_dir_all(&folder).map_err(|error| unusable(&folder, &error))?;
        Ok(Self { folder })
    }

    fn path(&self, key: &Key) -> PathBuf {
        self.folder.join(format!("{}.json", key.name))
    }

    /// The result under `key`. What is damaged or belongs to another key is not there.
    pub(super) fn read(&self, key: &Key) -> Option<Value> {
        let text = std::fs::read_to_string(self.path(key)).ok()?;
        let mut kept: Value = serde_json::from_str(&text).ok()?;
        (kept["key"] == key.of).then(|| kept["result"].take())
    }

    /// Keeps `result` under `key`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn write(&self, key: &Key, result: &Value) -> Result<(), Error> {
        let path = self.path(key);
        let kept = json!({
            "key": key.of,
            "made_by": { "version": crate::version(), "commit": crate::commit() },
            "result": result,
        });
        let write = || -> std::io::Result<()> {
            let mut file = tempfile::Builder::new()
                .prefix(".destage-")
                .suffix(".partial")
                .tempfile_in(&self.folder)?;
            file.write_all(crate::json::text(&kept).as_bytes())?;
            file.persist(&path)?;
            Ok(())
        };
        write().map_err(|error| unusable(&path, &error))
    }
}

fn unusable(path: &Path, error: &std::io::Error) -> Error {
    Error::Input(format!(
        "--results: {}: {error}; expected a folder that can be written",
        path.display()
    ))
}
