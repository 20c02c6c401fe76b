//! The folder of a fleet, which contains a manifest, a file with the requests of all volumes in the order of
//! their arrival, and a file with the requests of each volume.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use destage_trace::writers::partition::Part;
use serde::{Deserialize, Serialize};

use destage::Error;

/// The name of the manifest file.
pub(super) const MANIFEST: &str = "fleet.json";
/// The text in the manifest that states what the file is, and which version of the format it has.
pub(super) const SCHEMA: &str = "fleet 1";

/// The manifest of the folder of a fleet.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Contents {
    pub(super) schema: String,
    /// The version and the commit of the program that wrote the folder.
    pub made_by: BTreeMap<String, String>,
    /// The traces whose requests are in the folder.
    pub inputs: Vec<InputFacts>,
    /// The file with the requests of all volumes, in the order of their arrival.
    pub all: FileFacts,
    /// The volumes, in ascending order of their numbers.
    pub volumes: Vec<VolumeFacts>,
}

/// A trace that was split into volumes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct InputFacts {
    /// The path of the trace, as the user typed it.
    pub trace: String,
    /// The SHA-256 of the uncompressed trace, in hexadecimal digits; `None` if the trace was not read to its end.
    pub digest: Option<String>,
    /// The format of the trace.
    pub format: Option<String>,
}

/// A file in the folder of a fleet.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FileFacts {
    /// The path of the file, relative to the folder.
    pub file: String,
    /// The number of requests in the file.
    pub requests: u64,
    /// The number of writes in the file.
    pub writes: u64,
    /// The sum of the lengths of all writes, in sectors.
    pub written_sectors: u64,
    /// The number of the sector behind the last sector that any request accesses.
    pub end_sector: u64,
    /// The SHA-256 of the uncompressed file, in hexadecimal digits.
    pub digest: String,
}

/// A volume of the fleet, with the file of its requests.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct VolumeFacts {
    /// The number of the volume in the folder.
    pub volume: u32,
    /// The trace of the volume and its number in that trace; `None` if the number in the trace is also the number
    /// in the folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// The file with the requests of the volume.
    #[serde(flatten)]
    pub file: FileFacts,
}

/// The original trace and number of a volume that was renumbered.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Origin {
    /// The path of the trace, as the user typed it.
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

/// A fleet: a folder with the requests of several volumes.
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
    /// If the folder has no manifest, if the manifest cannot be parsed or has another format version, or if it
    /// lists no volumes.
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

    /// The name of the fleet in results, which is the name of its folder.
    #[must_use]
    pub fn name(&self) -> String {
        let whole = self.folder.canonicalize();
        let folder = whole.as_ref().unwrap_or(&self.folder);
        let name = folder.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }
}
