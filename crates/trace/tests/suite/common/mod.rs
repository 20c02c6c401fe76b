//! Temporary files that a test reads. The files are removed when the test ends.
#![allow(dead_code, reason = "each test program uses its own part")]
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use destage_trace::{
    Choices, Operation, ReadOptions, Request, Trace, TraceError, format, read_all,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A temporary folder of one test.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path =
            std::env::temp_dir().join(format!("destage-trace-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, content).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Reads `content` as a file called `name`.
pub fn read_as(
    name: &str,
    content: impl AsRef<[u8]>,
    options: &ReadOptions,
) -> Result<Trace, TraceError> {
    let folder = Folder::new();
    read_all(&folder.file(name, content), options)
}

/// Reads the text `content` in the format called `name`; returns its requests.
pub fn read(name: &str, content: &str) -> Result<Vec<Request>, TraceError> {
    let options = ReadOptions {
        format: format::find(name),
        ..ReadOptions::default()
    };
    read_as("trace.txt", content, &options).map(|trace| trace.requests)
}

/// The text of the error of reading `content`, without the path of the folder. Checks the form of the text.
pub fn error(name: &str, content: impl AsRef<[u8]>, options: &ReadOptions) -> String {
    let folder = Folder::new();
    let text = read_all(&folder.file(name, content), options)
        .unwrap_err()
        .to_string();
    assert!(!text.contains('\n'), "{text}");
    assert!(text.contains("; expected "), "{text}");
    text.strip_prefix(&format!("{}/", folder.path().display()))
        .expect("the error starts with the file")
        .to_owned()
}

/// Ticks in a millisecond.
pub const MS: u64 = 10_000_000;
/// Ticks in a microsecond.
pub const US: u64 = 10_000;

/// Options that read the format called `name`.
pub fn options(name: &str) -> ReadOptions {
    ReadOptions {
        format: Some(format::find(name).unwrap()),
        ..ReadOptions::default()
    }
}

/// Options that read the format called `name` with `choices`.
pub fn with(name: &str, choices: Choices) -> ReadOptions {
    ReadOptions {
        choices,
        ..options(name)
    }
}

/// Arrival, volume, operation, sector, sectors, force unit access. Tests that use streams compare them
/// separately.
pub type Plain = (u64, u32, Operation, u64, u32, bool);

/// A request without its line number and stream.
pub fn plain(request: &Request) -> Plain {
    let Request {
        arrival,
        volume,
        operation,
        sector,
        sectors,
        fua,
        ..
    } = *request;
    (arrival, volume, operation, sector, sectors, fua)
}

/// All requests of a file with this `content`.
pub fn read_plain(content: impl AsRef<[u8]>, options: &ReadOptions) -> Vec<Plain> {
    let trace = read_as("t", content, options).unwrap();
    trace.requests.iter().map(plain).collect()
}
