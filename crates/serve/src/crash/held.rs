//! Things that are mounted, attached or running, and are taken back however the command ends.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

/// How often the release of something in use is tried again, and after which time.
const ATTEMPTS: u32 = 50;
const PAUSE: Duration = Duration::from_millis(100);

/// Something that has to be released at the end.
#[derive(Clone, Debug)]
enum What {
    /// Processes of a group.
    Group(Pid),
    /// A file system at a folder.
    Mount(PathBuf),
    /// A loop device.
    Loop(PathBuf),
    /// A file that FUSE shows in a folder.
    Fuse(PathBuf),
}

/// All of them, in the order in which they were made.
static HELD: Mutex<Vec<(u64, What)>> = Mutex::new(Vec::new());

fn all() -> MutexGuard<'static, Vec<(u64, What)>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes back everything that is held: the process is about to end without the usual way.
pub fn abandon() {
    while let Some((_, what)) = { all().pop() } {
        what.take_back();
    }
}

/// One of these things; it is taken back when this value is dropped.
pub(super) struct Held(u64);

impl Held {
    fn new(what: What) -> Self {
        let mut all = all();
        let number = all.last().map_or(0, |(number, _)| number + 1);
        all.push((number, what));
        Self(number)
    }

    /// The group of processes `leader`.
    pub fn group(leader: u32) -> Option<Self> {
        let pid = Pid::from_raw(i32::try_from(leader).ok()?)?;
        Some(Self::new(What::Group(pid)))
    }

    /// The file system at `folder`.
    pub fn mount(folder: PathBuf) -> Self {
        Self::new(What::Mount(folder))
    }

    /// The loop device `path`.
    pub fn loop_device(path: PathBuf) -> Self {
        Self::new(What::Loop(path))
    }

    /// The files that FUSE shows in `folder`.
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
                // Nobody is left, perhaps.
                let _ = kill_process_group(leader, Signal::KILL);
            }
            Self::Mount(folder) => {
                let folder = folder.as_os_str();
                if !again_and_again(|| quiet("umount", &[folder])) {
                    // Somebody still uses it: it goes with its last user.
                    quiet("umount", &["-l".as_ref(), folder]);
                }
            }
            Self::Loop(device) => {
                again_and_again(|| quiet("losetup", &["-d".as_ref(), device.as_os_str()]));
            }
            Self::Fuse(folder) => {
                let folder = folder.as_os_str();
                if !again_and_again(|| {
                    quiet("fusermount3", &["-u".as_ref(), folder]) || quiet("umount", &[folder])
                }) {
                    quiet("umount", &["-l".as_ref(), folder]);
                }
            }
        }
    }
}

fn again_and_again(act: impl Fn() -> bool) -> bool {
    (0..ATTEMPTS).any(|attempt| {
        if attempt > 0 {
            sleep(PAUSE);
        }
        act()
    })
}

/// Runs a program whose output does not matter; whether it succeeded.
fn quiet(program: &str, arguments: &[&OsStr]) -> bool {
    use std::os::unix::process::CommandExt;
    let mut command = Command::new(program);
    command.args(arguments).process_group(0);
    command.stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
