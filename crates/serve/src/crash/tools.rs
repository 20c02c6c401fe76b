//! The file systems, and the external programs that make, mount and check them.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::CrashError;

/// The file system on the device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileSystem {
    /// ext4.
    Ext4,
    /// XFS.
    Xfs,
    /// Btrfs.
    Btrfs,
    /// No file system: the program speaks NBD.
    None,
}

/// The commands that make and check a file system. The path of the device is appended to the arguments.
struct Row {
    name: &'static str,
    make: &'static [&'static str],
    check: &'static [&'static str],
}

impl FileSystem {
    fn row(self) -> Option<Row> {
        Some(match self {
            Self::Ext4 => Row {
                name: "ext4",
                // Without these options the kernel would write tables in the background while the tested program
                // runs.
                make: &[
                    "mkfs.ext4",
                    "-q",
                    "-F",
                    "-E",
                    "lazy_itable_init=0,lazy_journal_init=0",
                ],
                check: &["e2fsck", "-fn"],
            },
            Self::Xfs => Row {
                name: "xfs",
                make: &["mkfs.xfs", "-q", "-f"],
                check: &["xfs_repair", "-n"],
            },
            Self::Btrfs => Row {
                name: "btrfs",
                make: &["mkfs.btrfs", "-q", "-f"],
                check: &["btrfs", "check", "--readonly"],
            },
            Self::None => return None,
        })
    }

    /// Makes the file system on `device`.
    pub(super) fn make(self, device: &Path) -> Result<(), CrashError> {
        match self.row() {
            Some(row) => run(row.make, &[device.as_os_str()]).map_err(CrashError::Tool),
            None => Ok(()),
        }
    }

    /// Checks the file system on `device`, which must not be mounted. The error is the output of the check.
    pub(super) fn check(self, device: &Path) -> Result<(), String> {
        match self.row() {
            Some(row) => run(row.check, &[device.as_os_str()]),
            None => Ok(()),
        }
    }

    /// Mounts the file system of `device` at `folder`. The mount replays the journal of the file system.
    pub(super) fn mount(self, device: &Path, folder: &Path) -> Result<(), String> {
        let kind = self.row().map_or("", |row| row.name);
        run(
            &["mount", "-t", kind],
            &[device.as_os_str(), folder.as_os_str()],
        )
    }

    /// Checks that the tools and permissions that the file system needs are available.
    ///
    /// # Errors
    /// The first tool or permission that is missing.
    pub fn check_tools(self) -> Result<(), CrashError> {
        let Some(row) = self.row() else {
            return Ok(());
        };
        let missing = |what: String| CrashError::Missing {
            file_system: row.name,
            what,
        };
        if !rustix::process::geteuid().is_root() {
            return Err(missing("root privileges, which a mount needs".to_owned()));
        }
        let tools = ["nbdfuse", "losetup", "mount", "umount"];
        let own = [row.make[0], row.check[0]];
        for tool in tools.iter().chain(&own) {
            if !is_installed(tool) {
                return Err(missing(format!(
                    "{tool}, which is not in a folder of PATH (make tools)"
                )));
            }
        }
        for device in ["/dev/fuse", "/dev/loop-control"] {
            if !Path::new(device).exists() {
                return Err(missing(format!("{device}, which is not there")));
            }
        }
        let is_known = || {
            let known = std::fs::read_to_string("/proc/filesystems").unwrap_or_default();
            known.split_whitespace().any(|name| name == row.name)
        };
        if !is_known() {
            // If the kernel cannot load modules, this call fails, and the next check finds that the file system is
            // missing.
            let _ = run(&["modprobe"], &[row.name.as_ref()]);
        }
        if !is_known() {
            return Err(missing(format!("a kernel with {}", row.name)));
        }
        Ok(())
    }
}

fn is_installed(tool: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.iter().any(|folder| folder.join(tool).is_file())
}

/// Runs a program to its end. An error contains the last lines of the program's output.
pub(super) fn run(words: &[&str], more: &[&OsStr]) -> Result<(), String> {
    output(words, more).map(|_| ())
}

/// Runs a program to its end, and returns its standard output. An error contains the last lines of the program's
/// output.
pub(super) fn output(words: &[&str], more: &[&OsStr]) -> Result<String, String> {
    use std::os::unix::process::CommandExt;
    let name = words.join(" ");
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).args(more).stdin(Stdio::null());
    // Ctrl-C must reach only this process, which then releases all resources.
    command.process_group(0);
    let output = command
        .output()
        .map_err(|cause| format!("{name}: {cause}"))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(said);
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    Err(format!(
        "{name}: {}: {}",
        output.status,
        last_lines(&format!("{said}{errors}"))
    ))
}

/// The last lines of the file `path`, which may be of any length, joined to one line.
pub(super) fn tail_of(path: &Path) -> io::Result<String> {
    const BYTES: u64 = 64 << 10;
    let mut file = File::open(path)?;
    let end = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(end.saturating_sub(BYTES)))?;
    let mut tail = Vec::new();
    file.take(BYTES).read_to_end(&mut tail)?;
    Ok(last_lines(&String::from_utf8_lossy(&tail)))
}

/// The last lines of a program's output, joined to one line. If they have more than 2,000 characters,
/// the beginning is left out.
pub(super) fn last_lines(text: &str) -> String {
    const LINES: usize = 6;
    const LONGEST: usize = 2000;
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let joined = lines[lines.len().saturating_sub(LINES)..].join(" | ");
    match joined.chars().count().checked_sub(LONGEST) {
        Some(left_out) if left_out > 0 => {
            let rest: String = joined.chars().skip(left_out).collect();
            format!("...{rest}")
        }
        _ => joined,
    }
}
