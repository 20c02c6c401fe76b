//! The content of a folder of volumes: a manifest, all requests in the order of their arrival, and a file for each volume.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use destage_trace::writers::partition::Part;
use serde::{Deserialize, Serialize};

use destage::Error;

/// The manifest.
pub(super) const MANIFEST: &str = "fleet.json";
/// The kind of file, and its version.
pub(super) const SCHEMA: &str = "fleet 1";

/// The manifest of a folder of volumes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Contents {
    pub(super) schema: String,
    /// Version and commit of the program that made it.
    pub made_by: BTreeMap<String, String>,
    /// The traces that it was made of.
    pub inputs: Vec<InputFacts>,
    /// The requests of all volumes, in the order of their arrival.
    pub all: FileFacts,
    /// In ascending number.
    pub volumes: Vec<VolumeFacts>,
}

/// A trace that was taken apart.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct InputFacts {
    /// Its path as given.
    pub trace: String,
    /// SHA-256 of the uncompressed trace, if it was read to its end.
    pub digest: Option<String>,
    /// Its format.
    pub format: Option<String>,
}

/// A file of the folder.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FileFacts {
    /// Where it is, from the folder on.
    pub file: String,
    /// How many requests it has.
    pub requests: u64,
    /// How many of them are writes.
    pub writes: u64,
    /// Sectors that these write, each time.
    pub written_sectors: u64,
    /// The sector after the last one that any of the requests touches.
    pub end_sector: u64,
    /// SHA-256 of the unpacked file.
    pub digest: String,
}

/// A volume.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct VolumeFacts {
    /// Its number.
    pub volume: u32,
    /// Where it comes from, if it was given a number of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Its file.
    #[serde(flatten)]
    pub file: FileFacts,
}

/// A volume of one of several traces.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Origin {
    /// The trace, as given.
    pub trace: String,
    /// The volume's number in it.
    pub volume: u32,
}

impl From<Part> for FileFacts {
    fn from(part: Part) -> Self {
        Self {
            file: part.file,
            requests: part.requests,
            writes: part.writes,
            written_sectors: part.written_sectors,
            end_sector: part.end_sector,
            digest: part.digest,
        }
    }
}

/// Volumes that were taken apart, in their folder.
#[derive(Clone, Debug)]
pub struct Fleet {
    /// Where it is.
    pub folder: PathBuf,
    /// What it holds.
    pub contents: Contents,
}

impl Fleet {
    /// Reads the manifest of `folder`.
    ///
    /// # Errors
    /// If there is none, or it is damaged.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(MANIFEST);
        let expected = "expected a folder that `destage trace partition TRACE -o FOLDER` made";
        let wrong = |what: String| Error::Input(format!("{}: {what}; {expected}", path.display()));
        let text = std::fs::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
        let contents: Contents =
            serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        if contents.schema != SCHEMA || contents.volumes.is_empty() {
            return Err(wrong(format!(
                "schema {:?} with {} volumes",
                contents.schema,
                contents.volumes.len()
            )));
        }
        Ok(Self {
            folder: folder.to_owned(),
            contents,
        })
    }

    /// The name in results: that of its folder.
    #[must_use]
    pub fn name(&self) -> String {
        let whole = self.folder.canonicalize();
        let folder = whole.as_ref().unwrap_or(&self.folder);
        let name = folder.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }
}
