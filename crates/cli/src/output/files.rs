//! Files that appear whole or not at all: written beside their place and renamed.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use tempfile::NamedTempFile;

use crate::errors::Failure;

/// Temporary files that exist now. They are removed when the process ends. Renaming one takes the lock.
static PENDING: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// How often, and after which time, the files of a program that ends are asked for again.
const ATTEMPTS: u32 = 50;
const PAUSE: Duration = Duration::from_millis(10);

fn pending() -> MutexGuard<'static, Vec<PathBuf>> {
    PENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the names of temporary files begin and end with.
const PREFIX: &str = ".destage-";
const SUFFIX: &str = ".partial";
/// A temporary file that was written to within this time may not be locked yet.
const FRESH: Duration = Duration::from_secs(60);

/// Removes the temporary files in `folder` of programs that were killed. A program holds the lock of its own for as long
/// as it lives; where the file system has no locks, nothing is removed.
fn remove_orphans(folder: &Path) {
    let Ok(entries) = folder.read_dir() else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_ours = name
            .to_str()
            .is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX));
        let is_old = || {
            let written = entry.metadata().and_then(|data| data.modified()).ok()?;
            written.elapsed().ok().filter(|age| *age > FRESH)
        };
        if !is_ours || is_old().is_none() {
            continue;
        }
        let file = File::options().append(true).open(entry.path());
        if file.is_ok_and(|file| file.try_lock().is_ok()) {
            // Somebody else may have been faster.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Removes all files that are not complete. The process is about to end: the lock is kept, so that no file
/// is renamed into place any more.
pub(crate) fn abandon() {
    let held = (0..ATTEMPTS).find_map(|attempt| {
        if attempt > 0 {
            std::thread::sleep(PAUSE);
        }
        match PENDING.try_lock() {
            Ok(paths) => Some(paths),
            Err(TryLockError::Poisoned(paths)) => Some(paths.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    });
    // This thread itself ran out of memory while it held the list.
    let Some(mut paths) = held else { return };
    for path in paths.drain(..) {
        // What cannot be removed now cannot be removed later either.
        let _ = std::fs::remove_file(path);
    }
    std::mem::forget(paths);
}

/// A file being written.
pub(crate) struct PendingFile {
    path: PathBuf,
    writer: BufWriter<Target>,
}

enum Target {
    /// Beside `place`, where it will be renamed to.
    Beside { file: NamedTempFile, place: PathBuf },
    /// A device or pipe: there is nothing to rename.
    Direct(File),
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Beside { file, .. } => file.write(bytes),
            Self::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Beside { file, .. } => file.flush(),
            Self::Direct(file) => file.flush(),
        }
    }
}

impl Seek for Target {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Self::Beside { file, .. } => file.seek(to),
            Self::Direct(file) => file.seek(to),
        }
    }
}

impl PendingFile {
    /// Begins the file at `path`; fails at once if it could not be written later.
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        if path == Path::new("-") {
            // Elsewhere it is standard input, so it is not meant as the name of a file.
            return Err(Failure::input(
                "-: is no file; expected a name, /dev/stdout for standard output, or ./- for a file of that name",
            ));
        }
        let target = Self::target(path).map_err(|cause| unwritable(path, &cause))?;
        if let Target::Beside { file, .. } = &target {
            pending().push(file.path().to_owned());
        }
        Ok(Self {
            path: path.to_owned(),
            writer: BufWriter::with_capacity(1 << 16, target),
        })
    }

    /// As [`Self::create`], but `-` is standard output.
    pub(crate) fn create_or_print(path: &Path) -> Result<Self, Failure> {
        if path != Path::new("-") {
            return Self::create(path);
        }
        let output = standard_output().map_err(|cause| unwritable(path, &cause))?;
        Ok(Self {
            path: path.to_owned(),
            writer: BufWriter::with_capacity(1 << 16, Target::Direct(output)),
        })
    }

    fn target(path: &Path) -> io::Result<Target> {
        let place = match path.metadata() {
            Ok(data) if data.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            // What stands for an open file (/dev/stdout) may be a regular file in the end, of which
            // another process holds the beginning.
            Ok(data) if !data.is_file() || path.starts_with("/dev") => {
                return Ok(Target::Direct(File::options().append(true).open(path)?));
            }
            // Renaming over it would ask the folder only.
            Ok(data) if data.permissions().readonly() => {
                return Err(io::ErrorKind::PermissionDenied.into());
            }
            // The target of a link is replaced, not the link.
            Ok(_) => path.canonicalize()?,
            Err(_) => path.to_owned(),
        };
        let folder = match place.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        // Checked first, because the builder's own error does not contain the system's message.
        folder.metadata()?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).suffix(SUFFIX);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // As any new file: what the user's mask allows.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        remove_orphans(folder);
        let file = builder.tempfile_in(folder)?;
        // Without locks, what a killed program leaves stays.
        let _ = file.as_file().try_lock();
        Ok(Target::Beside { file, place })
    }

    /// Writes `text`, or the bytes of what is none.
    pub(crate) fn put(&mut self, text: impl AsRef<[u8]>) -> Result<(), Failure> {
        self.writer
            .write_all(text.as_ref())
            .map_err(|cause| unwritable(&self.path, &cause))
    }

    /// Puts the file in its place.
    pub(crate) fn commit(self) -> Result<(), Failure> {
        let path = self.path;
        let target = self
            .writer
            .into_inner()
            .map_err(|error| unwritable(&path, error.error()))?;
        if let Target::Beside { file, place } = target {
            let mut paths = pending();
            let temporary = file.path().to_owned();
            file.persist(place)
                .map_err(|error| unwritable(&path, &error.error))?;
            paths.retain(|other| *other != temporary);
        }
        Ok(())
    }
}

/// The writer of logs, for text assembled piece by piece.
impl Write for PendingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// For files whose beginning is known at their end.
impl Seek for PendingFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.writer.seek(to)
    }
}

/// The failure that `path` cannot be written.
pub(crate) fn unwritable(path: &Path, cause: &io::Error) -> Failure {
    // Without the name of the temporary file, which means nothing to the user.
    let system = cause.raw_os_error().map(io::Error::from_raw_os_error);
    let kind = io::Error::from(cause.kind());
    let cause = system.unwrap_or(kind);
    Failure::input(format!(
        "{}: cannot be written: {cause}; expected a path in an existing, writable folder",
        path.display()
    ))
}

#[cfg(unix)]
fn standard_output() -> io::Result<File> {
    use std::os::fd::AsFd;
    Ok(io::stdout().as_fd().try_clone_to_owned()?.into())
}

#[cfg(not(unix))]
fn standard_output() -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}
