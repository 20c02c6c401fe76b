//! The results so far of a measurement, in a file. With this file, an interrupted measurement continues where it
//! stopped.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::target::Target;
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
    /// The measurement has written to the drive, and it is not known what the drive holds now: a fill in order may have
    /// been interrupted, or something else has written to the drive.
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
    pub identity: String,
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
    /// The digest of the bytes at both ends of the drive; `None` if the drive does not show them.
    ends: Option<String>,
    found: Map<String, Value>,
}

/// The file of results in the folder of a measurement.
pub(super) struct Kept {
    path: PathBuf,
    file: File,
    /// Whether the drive holds what an earlier part of the measurement has written to it.
    pub is_continued: bool,
}

impl Kept {
    /// Opens the results of the measurement `of` of `target` in `folder`. If the folder has no file of results yet, the
    /// results are empty.
    pub fn open(folder: &Path, of: Of, target: &mut dyn Target) -> Result<Self, Error> {
        let path = folder.join(FILE);
        let wrong = |what: String| Error::Input(format!("{}: {what}", path.display()));
        let mut file = match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => File {
                of,
                contents: Contents::AsItCame,
                ends: None,
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
        let is_same = file.ends == ends(target)?;
        let is_new = !target.is_real() && target.programmed()? == Some(0.0);
        file.contents = match file.contents {
            // Each program makes a new simulated drive, which is empty.
            _ if is_new => Contents::AsItCame,
            // Something else has written to the drive, or the program was killed during a step.
            Contents::InOrder | Contents::AtRandom(_) if !is_same => Contents::Begun,
            contents => contents,
        };
        Ok(Self {
            path,
            is_continued: is_same && file.contents != Contents::AsItCame,
            file,
        })
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

    /// Adds the result `found` of a step, if there is one, and the `contents` of the drive `target` after the step. Then
    /// it writes the file.
    pub fn keep(
        &mut self,
        found: Option<(&str, &impl Serialize)>,
        contents: Contents,
        target: &mut dyn Target,
    ) -> Result<(), Error> {
        if let Some((name, found)) = found {
            let value = serde_json::to_value(found)
                .map_err(|error| Error::Internal(format!("{name}: {error}")))?;
            self.file.found.insert(name.to_owned(), value);
        }
        self.file.contents = contents;
        self.file.ends = ends(target)?;
        put(&self.path, &json::text(&self.file))
    }
}

/// The digest of the bytes at both ends of `target`.
fn ends(target: &mut dyn Target) -> Result<Option<String>, Error> {
    Ok(target.ends()?.map(|bytes| digest(&bytes)))
}

/// The SHA-256 of `bytes` in hexadecimal digits.
pub(super) fn digest(bytes: &[u8]) -> String {
    destage_trace::hexadecimal(&Sha256::digest(bytes))
}

/// Writes `text` to the file at `path`; after a failure the file is unchanged.
pub(super) fn put(path: &Path, text: &str) -> Result<(), Error> {
    let mut file = PendingFile::create(path)?;
    file.put(text)?;
    file.commit()
}
