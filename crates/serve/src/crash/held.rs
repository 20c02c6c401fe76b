//! The resources that a crash test has to release, however the command ends: mounts, loop devices, FUSE files and
//! processes.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

/// The number of attempts to release a resource that is in use, and the pause between two attempts.
const ATTEMPTS: u32 = 50;
const PAUSE: Duration = Duration::from_millis(100);

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
}

/// All resources that are not yet released, in the order of their creation. Each has a number.
static HELD: Mutex<Vec<(u64, What)>> = Mutex::new(Vec::new());

fn all() -> MutexGuard<'static, Vec<(u64, What)>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Releases all resources, the newest first. The command calls this function before the process exits without running
/// destructors.
pub fn abandon() {
    while let Some((_, what)) = { all().pop() } {
        what.take_back();
    }
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
        }
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
