//! The results so far of a measurement, in a file. With this file, an interrupted measurement continues where it
//! stopped.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::Error;
use crate::files::PendingFile;
use crate::json;

/// The name of the file in the folder of the measurement.
pub(super) const FILE: &str = "state.json";

/// What the measurement has written to the drive so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Contents {
    /// The measurement has not written to the drive.
    AsItCame,
    /// The first fill in order has begun, and may have been interrupted.
    Begun,
    /// The used capacity was written once in order.
    InOrder,
    /// After a fill in order, the used capacity was overwritten at random this many times.
    AtRandom(u64),
}

/// The drive and the options of a measurement. An interrupted measurement continues only with the same drive and
/// options.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Of {
    pub drive: String,
    pub bytes: u64,
    pub used_bytes: u64,
    pub passes: u64,
    pub requests: u64,
    pub seconds: f64,
    pub seed: u64,
}

#[derive(Serialize, Deserialize)]
struct File {
    of: Of,
    contents: Contents,
    found: Map<String, Value>,
}

/// The file of results in the folder of a measurement.
pub(super) struct Kept {
    path: PathBuf,
    file: File,
}

impl Kept {
    /// Opens the results of the measurement `of` in `folder`. If the folder has no file of results yet, the results
    /// are empty.
    pub fn open(folder: &Path, of: Of) -> Result<Self, Error> {
        let path = folder.join(FILE);
        let wrong = |what: String| Error::Input(format!("{}: {what}", path.display()));
        let file = match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => File {
                of,
                contents: Contents::AsItCame,
                found: Map::new(),
            },
            Err(error) => return Err(wrong(format!("cannot be read: {error}"))),
            Ok(text) => {
                let file: File = serde_json::from_str(&text).map_err(|error| {
                    wrong(format!(
                        "{error}; expected a file that an earlier measurement left"
                    ))
                })?;
                if file.of != of {
                    let [was, is] =
                        [&file.of, &of].map(|of| serde_json::to_string(of).unwrap_or_default());
                    return Err(wrong(format!(
                        "is of another measurement ({was}), and not of this one ({is}); expected the same drive and options, or another folder"
                    )));
                }
                file
            }
        };
        Ok(Self { path, file })
    }

    pub fn contents(&self) -> Contents {
        self.file.contents
    }

    pub fn has(&self, name: &str) -> bool {
        self.file.found.contains_key(name)
    }

    /// The result of the step `name`; `None` if the step was not done.
    pub fn found<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, Error> {
        let Some(value) = self.file.found.get(name) else {
            return Ok(None);
        };
        let found = T::deserialize(value).map_err(|error| {
            let path = self.path.display();
            Error::Input(format!(
                "{path}: {name}: {error}; expected a file that an earlier measurement left"
            ))
        })?;
        Ok(Some(found))
    }

    /// Adds the result `found` of a step, if there is one, and the `contents` of the drive after the step. Then it
    /// writes the file.
    pub fn keep(
        &mut self,
        found: Option<(&str, &impl Serialize)>,
        contents: Contents,
    ) -> Result<(), Error> {
        if let Some((name, found)) = found {
            let value = serde_json::to_value(found)
                .map_err(|error| Error::Internal(format!("{name}: {error}")))?;
            self.file.found.insert(name.to_owned(), value);
        }
        self.file.contents = contents;
        put(&self.path, &json::text(&self.file))
    }
}

/// Writes `text` to the file at `path`; after a failure the file is unchanged.
pub(super) fn put(path: &Path, text: &str) -> Result<(), Error> {
    let mut file = PendingFile::create(path)?;
    file.put(text)?;
    file.commit()
}
