//! The file systems, and the external programs that make, mount and check them.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{CODES_OF_NO_RUN, CrashError};

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
    /// Whether the exit code of the check, which is not 0, says that the check has found errors. Otherwise the check
    /// could not be done.
    is_finding: fn(i32) -> bool,
}

/// The meaning of an exit code of e2fsck, which is a sum: 1, 2 and 4 stand for errors of the file system, and 8 stands
/// for an error of the check itself, which may have found errors nevertheless. From 16 on, the check was not done: the
/// command line is wrong, or the user or the loader of libraries has ended e2fsck.
fn is_finding_of_e2fsck(code: i32) -> bool {
    code & 7 != 0 && code < 16
}

/// The meaning of an exit code of a check that has only one code for all errors. The check may also have been too
/// confused by the errors to continue.
fn is_finding_of_others(code: i32) -> bool {
    !CODES_OF_NO_RUN.contains(&code)
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
                is_finding: is_finding_of_e2fsck,
            },
            Self::Xfs => Row {
                name: "xfs",
                make: &["mkfs.xfs", "-q", "-f"],
                check: &["xfs_repair", "-n"],
                is_finding: is_finding_of_others,
            },
            Self::Btrfs => Row {
                name: "btrfs",
                make: &["mkfs.btrfs", "-q", "-f"],
                check: &["btrfs", "check", "--readonly"],
                is_finding: is_finding_of_others,
            },
            Self::None => return None,
        })
    }

    /// Makes the file system on `device`.
    pub(super) fn make(self, device: &Path) -> Result<(), CrashError> {
        match self.row() {
            Some(row) => Ok(run(row.make, &[device.as_os_str()])?),
            None => Ok(()),
        }
    }

    /// Checks the file system on `device`, which must not be mounted. Returns the output of the check if it has found
    /// errors.
    pub(super) fn check(self, device: &Path) -> Result<Option<String>, CrashError> {
        let Some(row) = self.row() else {
            return Ok(None);
        };
        match run(row.check, &[device.as_os_str()]) {
            Ok(()) => Ok(None),
            Err(failure) if failure.code.is_some_and(row.is_finding) => Ok(Some(failure.text)),
            Err(failure) => Err(failure.into()),
        }
    }

    /// Mounts the file system of `device` at `folder`. The mount replays the journal of the file system.
    pub(super) fn mount(self, device: &Path, folder: &Path) -> Result<(), String> {
        let kind = self.row().map_or("", |row| row.name);
        let mounted = run(
            &["mount", "-t", kind],
            &[device.as_os_str(), folder.as_os_str()],
        );
        mounted.map_err(|failure| failure.text)
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

/// The failure of a program.
pub(super) struct Failure {
    /// The exit code; `None` if the program could not be started, or was ended by a signal.
    code: Option<i32>,
    /// A sentence with the last lines of the program's output.
    text: String,
}

impl From<Failure> for CrashError {
    fn from(failure: Failure) -> Self {
        Self::Tool(failure.text)
    }
}

/// Runs a program to its end.
fn run(words: &[&str], more: &[&OsStr]) -> Result<(), Failure> {
    output(words, more).map(|_| ())
}

/// Runs a program to its end, and returns its standard output.
pub(super) fn output(words: &[&str], more: &[&OsStr]) -> Result<String, Failure> {
    use std::os::unix::process::CommandExt;
    let name = words.join(" ");
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).args(more).stdin(Stdio::null());
    // Ctrl-C must reach only this process, which then releases all resources.
    command.process_group(0);
    let output = command.output().map_err(|cause| Failure {
        code: None,
        text: format!("{name}: {cause}"),
    })?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(said);
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    let said = last_lines(&format!("{said}{errors}"));
    Err(Failure {
        code: output.status.code(),
        text: format!("{name}: {}: {said}", output.status),
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_says_whether_the_check_has_found_errors() {
        let codes = [1, 4, 8, 12, 16, 20, 32, 128];
        let found = codes.map(is_finding_of_e2fsck);
        assert_eq!(found, [true, true, false, true, false, false, false, false]);
        let codes = [1, 2, 8, 255, 126, 127];
        let found = codes.map(is_finding_of_others);
        assert_eq!(found, [true, true, true, true, false, false]);
    }
}
