//! The resources that a crash test has to release, however the command ends: mounts, loop devices, FUSE files,
//! processes and folders.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use destage::files::lock_at_end;
use rustix::process::{Pid, Signal, kill_process_group};

/// The number of attempts to release a resource that is in use, and the pause between two attempts.
const ATTEMPTS: u32 = 50;
const PAUSE: Duration = Duration::from_millis(100);

/// The folders inside the folder of a test in which file systems are mounted: the one of nbdfuse, and the tested one.
pub(super) const MOUNT_POINTS: [&str; 2] = ["fuse", "mount"];

/// A resource that has to be released at the end.
#[derive(Clone, Debug)]
enum What {
    /// The processes of a group.
    Group(Pid),
    /// The file system that is mounted at this folder.
    Mount(PathBuf),
    /// The loop device with this path.
    Loop(PathBuf),
    /// The FUSE file system in this folder.
    Fuse(PathBuf),
    /// This folder and everything in it, unless a file system is still mounted at one of the [`MOUNT_POINTS`].
    Folder(PathBuf),
}

/// All resources that are not yet released, in the order of their creation. Each has a number.
static HELD: Mutex<Vec<(u64, What)>> = Mutex::new(Vec::new());

fn all() -> MutexGuard<'static, Vec<(u64, What)>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Releases all resources, before the process ends without running destructors. The lock is never released, so that no
/// other thread releases a resource as well.
///
/// The processes are killed first, and then the newest resource is released first. The reason is that the server may
/// answer no more. An unmount would then wait for nbdfuse, which would wait for the server.
pub fn abandon() {
    let Some(mut all) = lock_at_end(&HELD) else {
        return;
    };
    let whats = all.drain(..).map(|(_, what)| what);
    let (groups, others): (Vec<What>, Vec<What>) =
        whats.partition(|what| matches!(what, What::Group(_)));
    for what in groups.into_iter().chain(others.into_iter().rev()) {
        what.take_back();
    }
    std::mem::forget(all);
}

/// A resource that is released when this value is dropped.
pub(super) struct Held(u64);

impl Held {
    fn new(what: What) -> Self {
        let mut all = all();
        let number = all.last().map_or(0, |(number, _)| number + 1);
        all.push((number, what));
        Self(number)
    }

    /// The group of processes whose leader is `leader`.
    pub fn group(leader: u32) -> Option<Self> {
        let pid = Pid::from_raw(i32::try_from(leader).ok()?)?;
        Some(Self::new(What::Group(pid)))
    }

    /// The file system that is mounted at `folder`.
    pub fn mount(folder: PathBuf) -> Self {
        Self::new(What::Mount(folder))
    }

    /// The loop device with the path `path`.
    pub fn loop_device(path: PathBuf) -> Self {
        Self::new(What::Loop(path))
    }

    /// The FUSE file system in `folder`.
    pub fn fuse(folder: PathBuf) -> Self {
        Self::new(What::Fuse(folder))
    }

    /// The folder with the path `path`.
    pub fn folder(path: PathBuf) -> Self {
        Self::new(What::Folder(path))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut all = all();
        let Some(position) = all.iter().position(|(number, _)| *number == self.0) else {
            return;
        };
        let (_, what) = all.remove(position);
        drop(all);
        what.take_back();
    }
}

impl What {
    fn take_back(self) {
        match self {
            Self::Group(leader) => {
                // This call fails if all processes of the group have ended. Then nothing has to be done.
                let _ = kill_process_group(leader, Signal::KILL);
            }
            Self::Mount(folder) => {
                let folder = folder.as_os_str();
                if !retry(|| quiet("umount", &[folder])) {
                    // A process still uses the file system. A lazy unmount completes when the last process stops
                    // using it.
                    quiet("umount", &["-l".as_ref(), folder]);
                }
            }
            Self::Loop(device) => {
                retry(|| quiet("losetup", &["-d".as_ref(), device.as_os_str()]));
            }
            Self::Fuse(folder) => {
                let folder = folder.as_os_str();
                if !retry(|| {
                    quiet("fusermount3", &["-u".as_ref(), folder]) || quiet("umount", &[folder])
                }) {
                    quiet("umount", &["-l".as_ref(), folder]);
                }
            }
            Self::Folder(path) => {
                if MOUNT_POINTS.iter().all(|name| is_free(&path.join(name))) {
                    // What cannot be removed now cannot be removed later either.
                    let _ = std::fs::remove_dir_all(path);
                }
            }
        }
    }
}

/// Removes the folder `point` if it is empty. Returns whether no file system is mounted there, so that the files in it
/// can be deleted. A deletion of the folder with all of its contents (`remove_dir_all`) would not fail at a mounted file
/// system, but would first delete all files of that file system.
fn is_free(point: &Path) -> bool {
    match std::fs::remove_dir(point) {
        Ok(()) => true,
        // A folder in which a file system is mounted is busy, whether it is empty or not.
        Err(cause) => matches!(
            cause.kind(),
            ErrorKind::NotFound | ErrorKind::DirectoryNotEmpty
        ),
    }
}

/// Calls `act` until it returns `true`, at most [`ATTEMPTS`] times. Returns whether it did.
fn retry(act: impl Fn() -> bool) -> bool {
    (0..ATTEMPTS).any(|attempt| {
        if attempt > 0 {
            sleep(PAUSE);
        }
        act()
    })
}

/// Runs a program without showing its output. Returns whether it succeeded.
fn quiet(program: &str, arguments: &[&OsStr]) -> bool {
    use std::os::unix::process::CommandExt;
    let mut command = Command::new(program);
    command.args(arguments).process_group(0);
    command.stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_removed_with_all_files_in_it() {
        let outside = tempfile::tempdir().unwrap();
        let folder = outside.path().join("test");
        for name in ["fuse", "mount", "notes"] {
            std::fs::create_dir_all(folder.join(name)).unwrap();
        }
        // A program wrote these files after the file system was unmounted.
        std::fs::write(folder.join("mount/late"), "x").unwrap();
        std::fs::write(folder.join("notes/done"), "x").unwrap();
        drop(Held::folder(folder.clone()));
        assert!(!folder.exists());
        // Where nothing is, nothing is mounted.
        assert!(is_free(&folder.join("mount")));
    }

    #[test]
    fn a_folder_with_a_mounted_file_system_is_not_free() {
        // No program can remove the root folder.
        assert!(!is_free(Path::new("/")));
    }
}
