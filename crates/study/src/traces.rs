//! The traces that studies may name, their digests, and the files that contain them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use destage_trace::{ReadOptions, Reader};
use serde::Deserialize;

use super::from_toml;
use destage::Error;

/// A trace that a study may name.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// A description of the trace, and where it is available.
    about: String,
    /// The SHA-256 of the uncompressed trace; several if the trace is published in several formats. Empty if no
    /// digest is known.
    #[serde(default)]
    sha256: Vec<String>,
}

/// The traces that studies may name, and the files in which they were found.
#[derive(Clone, Debug, Default)]
pub struct Traces {
    known: BTreeMap<String, Entry>,
    files: BTreeMap<String, Found>,
}

/// A file that contains a trace.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    pub(crate) digest: String,
    /// The format that the file has by its contents and its name; `None` if it is not known. Of some files the name
    /// decides, so equal contents can be different requests.
    pub(crate) format: Option<&'static str>,
}

impl Found {
    /// The file `path`, whose contents have `digest`.
    pub(crate) fn new(path: PathBuf, digest: String) -> Self {
        let reader = Reader::open(&path, &ReadOptions::default()).ok();
        Self {
            format: reader.map(|reader| reader.format().name),
            path,
            digest,
        }
    }
}

impl Traces {
    /// Reads the list of traces from the text of a `traces.toml`. The files of the traces are not known yet.
    ///
    /// # Errors
    /// If the text is not a valid `traces.toml`.
    pub fn parse(text: &str, origin: &str) -> Result<Self, Error> {
        let known = from_toml(text, origin)?;
        Ok(Self {
            known,
            files: BTreeMap::new(),
        })
    }

    /// Reads the list of traces from the `traces.toml` at `path`. The list is empty if the file does not exist.
    ///
    /// # Errors
    /// If the file cannot be read, or is not a valid `traces.toml`.
    pub fn read(path: &Path) -> Result<Self, Error> {
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(&text, &path.display().to_string()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(Error::Input(format!(
                "{}: {error}; expected a list of traces",
                path.display()
            ))),
        }
    }

    /// Computes the digest of every file in `folder`, and notes which trace the file contains. Files that cannot
    /// be read are skipped.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn look_in(&mut self, folder: &Path) -> Result<(), Error> {
        let wrong = |error| {
            let what = format!(
                " {}: {error}; expected a folder with traces",
                folder.display()
            );
            Error::argument("traces", what)
        };
        let mut paths = Vec::new();
        for entry in folder.read_dir().map_err(wrong)? {
            let path = entry.map_err(wrong)?.path();
            if path.is_file() {
                paths.push(path);
            }
        }
        paths.sort();
        for path in paths {
            // If the digest of a file cannot be computed, for example because its compressed data are damaged,
            // the file is not one of the known traces.
            let Ok(digest) = destage_trace::digest(&path) else {
                continue;
            };
            let named = |entry: &&Entry| entry.sha256.contains(&digest);
            let names: Vec<_> = self
                .known
                .iter()
                .filter(|(_, entry)| named(entry))
                .map(|(name, _)| name.clone())
                .collect();
            for name in names {
                let found = || Found::new(path.clone(), digest.clone());
                self.files.entry(name).or_insert_with(found);
            }
        }
        Ok(())
    }

    /// Sets the file of a trace. `pair` has the form `NAME=FILE`.
    ///
    /// # Errors
    /// If no trace has the name `NAME`, if the file cannot be read, or if the digests of the trace are known and
    /// that of the file is none of them.
    pub fn add_pair(&mut self, pair: &str) -> Result<(), Error> {
        let Some((name, path)) = pair.split_once('=') else {
            return Err(Error::argument(
                "trace",
                format!(" {pair:?}: expected NAME=FILE"),
            ));
        };
        let Some(entry) = self.known.get(name) else {
            let names = self.known.keys().map(String::as_str);
            let refusal = format!(" {name:?}: no study uses such a trace");
            return Err(Error::unknown_argument("trace", refusal, name, names));
        };
        let path = PathBuf::from(path);
        let digest = destage_trace::digest(&path)?;
        if !entry.sha256.is_empty() && !entry.sha256.contains(&digest) {
            let what = format!(
                " {name}={}: has SHA-256 {digest}; expected {} ({})",
                path.display(),
                entry.sha256.join(" or "),
                entry.about
            );
            return Err(Error::argument("trace", what));
        }
        self.files.insert(name.to_owned(), Found::new(path, digest));
        Ok(())
    }

    /// The description of the trace `name`; `None` if studies may not name it.
    #[must_use]
    pub fn about(&self, name: &str) -> Option<&str> {
        self.known.get(name).map(|entry| entry.about.as_str())
    }

    /// The file that contains the trace `name`; `None` if no such file was found.
    pub(crate) fn find(&self, name: &str) -> Option<&Found> {
        self.files.get(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The SHA-256 of the three bytes `abc`.
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn a_trace_is_known_by_its_digest() {
        let folder = tempfile::tempdir().unwrap();
        let (right, wrong) = (folder.path().join("x"), folder.path().join("y"));
        std::fs::write(&right, "abc").unwrap();
        std::fs::write(&wrong, "abd").unwrap();
        let text = format!("[one]\nabout = 'the one'\nsha256 = ['{ABC}']\n[other]\nabout = 'o'\n");
        let mut traces = Traces::parse(&text, "traces.toml").unwrap();
        let refusal = traces.add_pair(&format!("one={}", wrong.display()));
        let refusal = refusal.unwrap_err().to_string();
        for part in ["trace one=", "has SHA-256", ABC, "the one"] {
            assert!(refusal.contains(part), "{refusal}");
        }
        assert!(traces.find("one").is_none());
        // The list has no digest for the trace `other`, so any file is accepted for it.
        traces
            .add_pair(&format!("other={}", wrong.display()))
            .unwrap();
        traces.look_in(folder.path()).unwrap();
        assert_eq!(traces.find("one").map(|found| &found.path), Some(&right));
        assert_eq!(traces.find("other").map(|found| &found.path), Some(&wrong));
        assert_eq!(traces.about("one"), Some("the one"));
        let unknown = traces.add_pair("on=x").unwrap_err().to_string();
        assert!(
            unknown.contains("\"on\"") && unknown.contains("one"),
            "{unknown}"
        );
        let none = Traces::read(&folder.path().join("traces.toml")).unwrap();
        assert!(none.about("one").is_none());
        let damaged = Traces::parse("[one]\nabot = 1", "traces.toml")
            .unwrap_err()
            .to_string();
        assert!(
            damaged.contains("traces.toml") && damaged.contains("abot"),
            "{damaged}"
        );
    }
}
