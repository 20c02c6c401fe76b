//! Writes the folder of a fleet. The folder is first written under a temporary name in the same parent folder,
//! and is renamed when all of its files are complete.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use destage_trace::Request;
use destage_trace::writers::partition::{PartitionWriter, Unwritten};

use super::folder::{Contents, Fleet, InputFacts, MANIFEST, Origin, SCHEMA, VolumeFacts};
use destage::Error;
use destage::Facts;

/// The temporary name of a folder is its final name followed by this text.
const PARTIAL: &str = ".partial";
/// A file in the temporary folder, which the writing process keeps locked. If a folder with the temporary name
/// lacks this file, another program created the folder, and it is not changed.
const LOCK: &str = ".destage-partition";

/// The folder of a fleet while it is written. If the value is dropped without [`Self::commit`], the temporary
/// folder is removed. If the process is killed, the temporary folder remains, and the next process that writes a
/// folder of the same name removes it.
pub struct Partition {
    place: PathBuf,
    beside: Beside,
    writer: PartitionWriter,
}

/// The temporary folder.
struct Beside {
    path: PathBuf,
    /// The lock file, which stays open and locked as long as this value exists.
    _lock: File,
    is_kept: bool,
}

impl Drop for Beside {
    fn drop(&mut self) {
        if !self.is_kept {
            // If the folder cannot be removed now, the next process that writes a folder of the same name removes
            // it.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

impl Partition {
    /// Creates the temporary folder for the final folder `place`.
    ///
    /// # Errors
    /// If `place` exists and is not an empty folder, if the temporary folder cannot be created, or if another
    /// process writes to it.
    pub fn create(place: &Path) -> Result<Self, Error> {
        let Some(name) = place.file_name() else {
            return Err(Error::Input(format!(
                "{}: expected the name of a folder that does not exist",
                place.display()
            )));
        };
        let is_free = match place.read_dir() {
            Ok(mut entries) => entries.next().is_none(),
            Err(error) => error.kind() == ErrorKind::NotFound,
        };
        if !is_free {
            return Err(Error::Input(format!(
                "{}: exists already; expected the name of a folder that does not exist",
                place.display()
            )));
        }
        let mut partial = name.to_owned();
        partial.push(PARTIAL);
        let beside = Beside::make(place.with_file_name(partial))?;
        let writer = PartitionWriter::new(&beside.path).map_err(unwritten)?;
        Ok(Self {
            place: place.to_owned(),
            beside,
            writer,
        })
    }

    /// Adds `requests`, which have to be in the order of their arrival. Each request is written to the file of
    /// its volume.
    ///
    /// # Errors
    /// If the requests cannot be written.
    pub fn add(&mut self, requests: &[Request]) -> Result<(), Error> {
        self.writer.write(requests).map_err(unwritten)
    }

    /// Completes all files, and renames the folder to its final name. `inputs` describes the traces from which
    /// the requests were read. `renumbered` has an entry for each volume whose number in the folder differs from
    /// its number in the trace: the index of the trace in `inputs`, the number in the trace, and the number in
    /// the folder.
    ///
    /// # Errors
    /// If a file or the folder cannot be written.
    pub fn commit(
        self,
        inputs: &[Facts],
        renumbered: impl Iterator<Item = (usize, u32, u32)>,
    ) -> Result<Fleet, Error> {
        let Self {
            place,
            mut beside,
            writer,
        } = self;
        let parts = writer.finish().map_err(unwritten)?;
        let mut volumes: Vec<_> = parts
            .volumes
            .into_iter()
            .map(|(volume, part)| VolumeFacts {
                volume,
                origin: None,
                file: part.into(),
            })
            .collect();
        for (input, there, here) in renumbered {
            let found = volumes.binary_search_by_key(&here, |volume| volume.volume);
            if let (Ok(found), Some(input)) = (found, inputs.get(input)) {
                volumes[found].origin = Some(Origin {
                    trace: input.name.clone(),
                    volume: there,
                });
            }
        }
        let of_input = |facts: &Facts| InputFacts {
            trace: facts.name.clone(),
            digest: facts.digest.clone(),
            format: facts.format.map(str::to_owned),
        };
        let made_by = [
            ("version", destage::version()),
            ("commit", destage::commit()),
        ];
        let contents = Contents {
            schema: SCHEMA.to_owned(),
            made_by: made_by
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            inputs: inputs.iter().map(of_input).collect(),
            all: parts.all.into(),
            volumes,
        };
        let text = destage::json::text(&contents);
        let manifest = beside.path.join(MANIFEST);
        std::fs::write(&manifest, text).map_err(|error| unusable(&manifest, &error))?;
        std::fs::remove_file(beside.path.join(LOCK))
            .and_then(|()| std::fs::rename(&beside.path, &place))
            .map_err(|error| unusable(&place, &error))?;
        beside.is_kept = true;
        Ok(Fleet {
            folder: place,
            contents,
        })
    }
}

impl Beside {
    fn make(path: PathBuf) -> Result<Self, Error> {
        let lock = path.join(LOCK);
        if path.symlink_metadata().is_ok() {
            let is_folder = path.symlink_metadata().is_ok_and(|data| data.is_dir());
            let is_ours = is_folder && lock.symlink_metadata().is_ok_and(|data| data.is_file());
            if !is_ours {
                return Err(Error::Input(format!(
                    "{}: exists already, and an interrupted partition did not leave it; expected no such file or folder, because the volumes are written there first",
                    path.display()
                )));
            }
            let held = File::options().append(true).open(&lock);
            if held.is_ok_and(|held| held.try_lock().is_err()) {
                return Err(Error::Input(format!(
                    "{}: another process is writing to it; expected another folder, or the end of that process",
                    path.display()
                )));
            }
            std::fs::remove_dir_all(&path).map_err(|error| unusable(&path, &error))?;
        }
        std::fs::create_dir(&path).map_err(|error| unusable(&path, &error))?;
        let lock = File::create(lock).map_err(|error| unusable(&path, &error))?;
        // An error is ignored, because some file systems have no locks. There, two processes could write to the
        // same temporary folder.
        let _ = lock.try_lock();
        Ok(Self {
            path,
            _lock: lock,
            is_kept: false,
        })
    }
}

fn unwritten(error: Unwritten) -> Error {
    unusable(&error.file, &error.cause)
}

fn unusable(path: &Path, error: &std::io::Error) -> Error {
    Error::Input(format!(
        "{}: cannot be written: {error}; expected a path in an existing, writable folder with room for the trace twice",
        path.display()
    ))
}
