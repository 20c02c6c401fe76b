//! Files that appear whole or not at all. A file is written under a temporary name in the same folder, and then
//! renamed.
//!
//! Every file of results is written through [`PendingFile`]. If the path is a symbolic link, the target of the link
//! is replaced, or created if it does not exist. If the path is a device node, a pipe or a name for an open file
//! (`/dev/stdout`), the data is written into it, and nothing is replaced.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use tempfile::NamedTempFile;

use crate::error::Error;

/// The temporary files that exist now. [`abandon`] removes these files. A thread must hold this lock while it renames
/// a temporary file.
static PENDING: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
/// The folders that were already searched for temporary files of killed programs. Each folder is searched only once,
/// because many files may be written to one folder.
static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// How often [`lock_at_end`] tries to lock, and the pause between two attempts.
const ATTEMPTS: u32 = 50;
const PAUSE: Duration = Duration::from_millis(10);

/// The beginning and the end of the names of temporary files.
const PREFIX: &str = ".destage-";
const SUFFIX: &str = ".partial";
/// A temporary file whose last write is not older than this may not be locked yet, so it is not removed.
const FRESH: Duration = Duration::from_secs(60);
/// The largest number of symbolic links that are followed for one path. Operating systems have a similar limit.
const LINKS_MAX: usize = 40;

/// The permissions of a new file: all users may read and write it, except where the umask of the user forbids it.
const FOR_ALL: u32 = 0o666;
/// The permissions of a new file that only its owner may read and write.
const FOR_OWNER: u32 = 0o600;

fn pending() -> MutexGuard<'static, Vec<PathBuf>> {
    PENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the temporary files in `folder` that belong to killed programs. A program holds a lock on its
/// temporary file as long as it lives. If the file system has no locks, nothing is removed.
fn remove_orphans(folder: &Path) {
    let is_new = |mut swept: MutexGuard<'_, BTreeSet<PathBuf>>| swept.insert(folder.to_owned());
    if !is_new(SWEPT.lock().unwrap_or_else(PoisonError::into_inner)) {
        return;
    }
    let Ok(entries) = folder.read_dir() else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_ours = name
            .to_str()
            .is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX));
        let is_old = || {
            let data = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
            let age = data.modified().ok()?.elapsed().ok()?;
            (age > FRESH).then_some(())
        };
        if !is_ours || is_old().is_none() {
            continue;
        }
        let file = File::options().append(true).open(entry.path());
        if file.is_ok_and(|file| file.try_lock().is_ok()) {
            // Another program may have removed the file meanwhile.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Removes all temporary files, before the process ends. The lock is never released, so that no other thread can
/// rename a file to its final name.
pub fn abandon() {
    let Some(mut paths) = lock_at_end(&PENDING) else {
        return;
    };
    for path in paths.drain(..) {
        // A file that cannot be removed now cannot be removed later either.
        let _ = std::fs::remove_file(path);
    }
    std::mem::forget(paths);
}

/// Locks `mutex` before the process ends, for a list of things that have to be removed. Returns `None` if the mutex
/// stays locked. If this thread ran out of memory while it held the list, it already holds the lock and can never lock
/// it again.
#[must_use]
pub fn lock_at_end<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    (0..ATTEMPTS).find_map(|attempt| {
        if attempt > 0 {
            std::thread::sleep(PAUSE);
        }
        match mutex.try_lock() {
            Ok(held) => Some(held),
            Err(TryLockError::Poisoned(held)) => Some(held.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    })
}

/// The path of the regular file or block device in which data that are written to `path` stay, after all links were
/// followed. `None` for other devices, pipes and sockets, to which several programs may write, and for a path that
/// cannot be used.
#[must_use]
pub fn storage(path: &Path) -> Option<PathBuf> {
    place(path).ok()?.or_else(|| block_device(path))
}

#[cfg(unix)]
fn block_device(path: &Path) -> Option<PathBuf> {
    use std::os::unix::fs::FileTypeExt;
    let target = path.canonicalize().ok()?;
    let kind = target.metadata().ok()?.file_type();
    kind.is_block_device().then_some(target)
}

#[cfg(not(unix))]
fn block_device(_: &Path) -> Option<PathBuf> {
    None
}

/// The path of the regular file that writing to `path` creates or replaces, after all links were followed. `None` if
/// `path` is a device node, a pipe, a socket, or the name of an open file.
///
/// # Errors
/// If `path` is a folder or a read-only file, or cannot be inspected.
pub fn place(path: &Path) -> io::Result<Option<PathBuf>> {
    let mut place = path.to_owned();
    for _ in 0..LINKS_MAX {
        let folder = folder_of(&place).canonicalize()?;
        if holds_open_files(&folder) {
            return Ok(None);
        }
        if let Some(name) = place.file_name() {
            place = folder.join(name);
        }
        match place.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Some(place)),
            Err(error) => return Err(error),
            Ok(data) if data.is_symlink() => place = folder.join(place.read_link()?),
            Ok(data) if data.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(data) if !data.is_file() => return Ok(None),
            // Renaming checks only the permissions of the folder, so the permissions of the file are checked here.
            Ok(data) if data.permissions().readonly() => {
                return Err(io::ErrorKind::PermissionDenied.into());
            }
            Ok(_) => return Ok(Some(place)),
        }
    }
    // Links that form a loop give the error of the operating system.
    let looped = path.metadata().err();
    Err(looped.unwrap_or_else(|| io::ErrorKind::InvalidInput.into()))
}

fn folder_of(place: &Path) -> &Path {
    match place.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Whether the entries of `folder` are the open files of a process. Such an open file may be a regular file whose
/// beginning another process has already written, so it must not be replaced.
fn holds_open_files(folder: &Path) -> bool {
    folder == Path::new("/dev/fd") || (folder.starts_with("/proc") && folder.ends_with("fd"))
}

/// A file that is being written. If it is dropped without [`commit`](Self::commit), its temporary file is removed.
#[derive(Debug)]
pub struct PendingFile {
    path: PathBuf,
    writer: BufWriter<Target>,
}

#[derive(Debug)]
enum Target {
    /// A temporary file, which will be renamed to `place` in the same folder. `entry` is dropped after the file.
    Beside {
        file: NamedTempFile,
        place: PathBuf,
        entry: Entry,
    },
    /// An open device or pipe, which is not renamed.
    Direct(File),
}

/// The entry of a temporary file in the list of temporary files. Dropping the value removes the entry from the list.
#[derive(Debug)]
struct Entry(PathBuf);

impl Drop for Entry {
    fn drop(&mut self) {
        pending().retain(|other| *other != self.0);
    }
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

#[cfg(unix)]
fn permit(builder: &mut tempfile::Builder<'_, '_>, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(std::fs::Permissions::from_mode(mode));
}

#[cfg(not(unix))]
fn permit(_: &mut tempfile::Builder<'_, '_>, _: u32) {}

impl Target {
    /// The target of `path`. On Unix, a new file gets the permissions `mode`, from which the umask is removed.
    fn of(path: &Path, mode: u32) -> io::Result<Self> {
        let Some(place) = place(path)? else {
            return Ok(Self::Direct(File::options().append(true).open(path)?));
        };
        let folder = folder_of(&place);
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).suffix(SUFFIX);
        permit(&mut builder, mode);
        remove_orphans(folder);
        let file = builder.tempfile_in(folder)?;
        // On a file system without locks, locking fails. The temporary file then remains if the program is killed.
        let _ = file.as_file().try_lock();
        let entry = Entry(file.path().to_owned());
        pending().push(entry.0.clone());
        Ok(Self::Beside { file, place, entry })
    }
}

impl PendingFile {
    /// Begins to write the file at `path`.
    ///
    /// # Errors
    /// If `path` is `-`, or cannot be written.
    pub fn create(path: &Path) -> Result<Self, Error> {
        Self::begin(path, FOR_ALL)
    }

    /// Does the same as [`Self::create`], but only the owner may read and write the file.
    ///
    /// # Errors
    /// Those of [`Self::create`].
    pub fn create_private(path: &Path) -> Result<Self, Error> {
        Self::begin(path, FOR_OWNER)
    }

    fn begin(path: &Path, mode: u32) -> Result<Self, Error> {
        if path == Path::new("-") {
            // As an input, `-` means standard input, so the user hardly means a file of this name.
            return Err(Error::Input(
                "-: is not a file; expected a name, /dev/stdout for standard output, or ./- for a file of that name".to_owned(),
            ));
        }
        let target = Target::of(path, mode).map_err(|cause| unwritable(path, &cause))?;
        Ok(Self::over(path, target))
    }

    /// Does the same as [`Self::create`], but `-` means standard output.
    ///
    /// # Errors
    /// If `path` cannot be written.
    pub fn create_or_print(path: &Path) -> Result<Self, Error> {
        if path != Path::new("-") {
            return Self::create(path);
        }
        let output = standard_output().map_err(|cause| unwritable(path, &cause))?;
        Ok(Self::over(path, Target::Direct(output)))
    }

    fn over(path: &Path, target: Target) -> Self {
        Self {
            path: path.to_owned(),
            writer: BufWriter::with_capacity(1 << 16, target),
        }
    }

    /// Appends the bytes of `text`, which need not be valid UTF-8.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn put(&mut self, text: impl AsRef<[u8]>) -> Result<(), Error> {
        self.writer
            .write_all(text.as_ref())
            .map_err(|cause| unwritable(&self.path, &cause))
    }

    /// Completes the file and renames it to its final name.
    ///
    /// # Errors
    /// If the remaining data cannot be written, or the file cannot be renamed.
    pub fn commit(self) -> Result<(), Error> {
        let path = self.path;
        let target = self
            .writer
            .into_inner()
            .map_err(|error| unwritable(&path, error.error()))?;
        if let Target::Beside { file, place, entry } = target {
            let held = pending();
            let persisted = file.persist(place);
            drop(held);
            persisted.map_err(|error| unwritable(&path, &error.error))?;
            drop(entry);
        }
        Ok(())
    }
}

/// Writes a file with `content` at `path`.
///
/// # Errors
/// The errors of [`PendingFile`].
pub fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), Error> {
    let mut file = PendingFile::create(path)?;
    file.put(content)?;
    file.commit()
}

/// Writes a file `name` with `content` into `folder`, which is created if it does not exist.
///
/// # Errors
/// The errors of [`PendingFile`], or an error if the folder cannot be created.
pub fn write_into(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> Result<(), Error> {
    let path = folder.join(name);
    std::fs::create_dir_all(folder).map_err(|cause| unwritable(&path, &cause))?;
    write(&path, content)
}

/// Makes a file at `path` that only its owner may read and write. `fill` writes its contents. The file appears complete
/// or not at all, and replaces no other file. When this function returns, the file and its name are durable, and the
/// file is locked if the file system has locks.
///
/// # Errors
/// The error of the system or of `fill`, or an error if there is something at `path` already.
pub fn make_private(path: &Path, fill: impl FnOnce(&File) -> io::Result<()>) -> io::Result<File> {
    let target = Target::of(path, FOR_OWNER).map_err(|cause| nameless(&cause))?;
    // The entry is dropped after the file.
    let Target::Beside { entry, place, file } = target else {
        return Err(io::ErrorKind::AlreadyExists.into());
    };
    fill(file.as_file())?;
    file.as_file().sync_all()?;
    let held = pending();
    let persisted = file.persist_noclobber(&place);
    drop(held);
    drop(entry);
    let file = persisted.map_err(|error| error.error)?;
    sync_folder_of(&place)?;
    Ok(file)
}

/// Makes the name of the new file at `path` durable.
///
/// # Errors
/// The error of the system. A folder that cannot be opened is no error, since not every system can open one.
pub fn sync_folder_of(path: &Path) -> io::Result<()> {
    match File::open(folder_of(path)) {
        Ok(folder) => folder.sync_all(),
        Err(_) => Ok(()),
    }
}

/// Used by writers of logs, which produce text piece by piece.
impl Write for PendingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// Used for files whose beginning is known only at their end.
impl Seek for PendingFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.writer.seek(to)
    }
}

/// The error that `path` cannot be written because of `cause`.
#[must_use]
pub fn unwritable(path: &Path, cause: &io::Error) -> Error {
    let cause = nameless(cause);
    Error::Input(format!(
        "{}: cannot be written: {cause}; expected a path in an existing, writable folder",
        path.display()
    ))
}

/// `cause` without the name of the temporary file, because the user does not know this name.
fn nameless(cause: &io::Error) -> io::Error {
    let system = cause.raw_os_error().map(io::Error::from_raw_os_error);
    system.unwrap_or_else(|| cause.kind().into())
}

/// The allowed letters of a [name](is_name), for error messages.
pub const NAME: &str = "a name of the letters a-z, 0-9, - and _";

/// Whether `text` may be part of a file name. All allowed letters are harmless: none can lead to another folder.
#[must_use]
pub fn is_name(text: &str) -> bool {
    let fits = |letter: char| {
        letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-_".contains(letter)
    };
    !text.is_empty() && text.chars().all(fits)
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
