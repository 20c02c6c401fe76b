//! The folder of a fleet: a manifest, a file with all requests in the order of their arrival, and a file for each
//! volume.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use destage_trace::writers::partition::Part;
use serde::{Deserialize, Serialize};

use destage::Error;

/// The name of the manifest.
pub(super) const MANIFEST: &str = "fleet.json";
/// The kind and the version of the manifest.
pub(super) const SCHEMA: &str = "fleet 1";

/// The manifest of a folder of volumes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Contents {
    pub(super) schema: String,
    /// The version and the commit of the program that wrote the folder.
    pub made_by: BTreeMap<String, String>,
    /// The traces from which the folder was made.
    pub inputs: Vec<InputFacts>,
    /// The file with the requests of all volumes, in the order of their arrival.
    pub all: FileFacts,
    /// The volumes, in ascending order of their numbers.
    pub volumes: Vec<VolumeFacts>,
}

/// A trace that was split into volumes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct InputFacts {
    /// The path of the trace, as given.
    pub trace: String,
    /// The SHA-256 of the uncompressed trace, in hexadecimal digits; `None` if the trace was not read to its end.
    pub digest: Option<String>,
    /// The format of the trace.
    pub format: Option<String>,
}

/// A file of the folder.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FileFacts {
    /// The path of the file, relative to the folder.
    pub file: String,
    /// The number of requests in the file.
    pub requests: u64,
    /// The number of writes among them.
    pub writes: u64,
    /// The sum of the sectors of all writes.
    pub written_sectors: u64,
    /// The sector after the last one that any request touches.
    pub end_sector: u64,
    /// The SHA-256 of the uncompressed file, in hexadecimal digits.
    pub digest: String,
}

/// A volume of the fleet, with the file of its requests.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct VolumeFacts {
    /// The number of the volume in this folder.
    pub volume: u32,
    /// The origin of the volume, if it has another number here than in its trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// The file with the volume's requests.
    #[serde(flatten)]
    pub file: FileFacts,
}

/// The origin of a volume that comes from one of several traces.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Origin {
    /// The trace, as given.
    pub trace: String,
    /// The number of the volume in that trace.
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

/// A trace that was split into volumes, in a folder.
#[derive(Clone, Debug)]
pub struct Fleet {
    /// The path of the folder.
    pub folder: PathBuf,
    /// The manifest of the folder.
    pub contents: Contents,
}

impl Fleet {
    /// Reads the manifest of `folder`.
    ///
    /// # Errors
    /// If there is no manifest, or it cannot be used.
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

    /// The name of the fleet in results: the name of its folder.
    #[must_use]
    pub fn name(&self) -> String {
        let whole = self.folder.canonicalize();
        let folder = whole.as_ref().unwrap_or(&self.folder);
        let name = folder.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }
}
