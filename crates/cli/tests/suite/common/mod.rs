//! Functions that run the program in a temporary folder.

#![allow(dead_code, reason = "each test file uses a part of this")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A temporary folder in which the program runs.
pub struct Place {
    folder: TempDir,
}

/// The results of a run of the program.
pub struct Outcome {
    /// Exit status.
    pub status: i32,
    /// Standard output.
    pub output: String,
    /// Standard error.
    pub errors: String,
}

/// A device of one die with 16 blocks of 4 pages, small enough to follow by hand.
pub const TINY: [&str; 12] = [
    "--set",
    "flash.dies=1",
    "--set",
    "flash.planes_per_die=1",
    "--set",
    "flash.blocks_per_plane=16",
    "--set",
    "flash.pages_per_block=4",
    "--set",
    "flash.summary_page=false",
    "--size",
    "32KiB",
];

impl Place {
    /// An empty folder.
    pub fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a temporary folder"),
        }
    }

    /// The path of `name` in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).expect("a file is written");
    }

    /// The data in the HTML page `name`.
    pub fn data(&self, name: &str) -> Value {
        let page = self.read(name);
        let data = page.split("type=\"application/json\" id=\"data\">").nth(1);
        let data = data.and_then(|rest| rest.split("</script>").next());
        json(data.expect("a page with data"))
    }

    /// Reads a file.
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("a file is read")
    }

    /// The names of all files in the folder, including hidden files.
    pub fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).expect("a folder is read");
        let mut names: Vec<_> = entries
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        names.sort();
        names
    }

    /// A command that runs the program with `arguments`. The caller starts the command.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_destage"));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .stdin(Stdio::null());
        command
    }

    /// Runs the program.
    pub fn run(&self, arguments: &[&str]) -> Outcome {
        Outcome::of(
            &self
                .command(arguments)
                .output()
                .expect("the program starts"),
        )
    }

    /// Runs the program with `input` on its standard input.
    pub fn run_with(&self, arguments: &[&str], input: &[u8]) -> Outcome {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut pipe = child.stdin.take().expect("a pipe");
        // If the program stops at an error, it does not read the rest of its input. So this write may fail.
        let _ = pipe.write_all(input);
        drop(pipe);
        Outcome::of(&child.wait_with_output().expect("the program ends"))
    }

    /// Runs the program, which must succeed, and returns its standard output.
    pub fn succeed(&self, arguments: &[&str]) -> String {
        let outcome = self.run(arguments);
        assert_eq!(outcome.status, 0, "{arguments:?}: {}", outcome.errors);
        outcome.output
    }

    /// Runs the program, which must succeed, and returns the JSON that the program prints.
    pub fn json(&self, arguments: &[&str]) -> Value {
        json(&self.succeed(arguments))
    }
}

impl Outcome {
    fn of(output: &std::process::Output) -> Self {
        Self {
            status: output.status.code().unwrap_or(-1),
            output: String::from_utf8_lossy(&output.stdout).into_owned(),
            errors: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// Parses `text` as JSON.
pub fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Writes of one page each, one millisecond apart, in the format of DiskSim.
pub fn page_writes(pages: &[u64]) -> String {
    let line = |(index, page): (usize, &u64)| format!("{index}.0 0 {} 8 0\n", page * 8);
    pages.iter().enumerate().map(line).collect()
}

/// The option of `kill` that stands for Ctrl-C in a test. The program does not react to Ctrl-C where it is ignored, as
/// for a job that a script runs in the background. If the tests run as such a job, they send another signal with the
/// same effect.
pub fn ctrl_c() -> &'static str {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    match mask.is_some_and(|mask| mask & 2 != 0) {
        true => "-TERM",
        false => "-INT",
    }
}

/// Whether `path` exists.
pub fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
