//! The memory an input may take: the file that asks for more is kept as a finding.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use destage_memory::{Excess, on_excess, set_limit};

/// More than any reader needs for an input of at most 1 MiB, decoders and the corpus included.
pub const BYTES: u64 = 256 << 20;

/// The input that is read, and where it is kept if it asks for too much.
static READ: Mutex<Option<(PathBuf, PathBuf)>> = Mutex::new(None);

/// From here on a request for more ends the program, status 1.
pub fn install() {
    on_excess(end);
    set_limit(BYTES);
}

/// The input at `path` is read now; it would be kept as `kept`.
pub fn reading(path: &Path, kept: &Path) {
    let pair = (path.to_owned(), kept.to_owned());
    if let Ok(mut read) = READ.lock() {
        *read = Some(pair);
    }
}

#[allow(
    clippy::print_stderr,
    reason = "a program for developers that says what it found"
)]
fn end(excess: Excess) -> ! {
    let read = READ.lock().ok().and_then(|pair| pair.clone());
    if let Some((path, kept)) = read {
        let copied = std::fs::copy(path, &kept);
        eprintln!("destage-fuzz: {}: {excess:?}, {copied:?}", kept.display());
    }
    eprintln!("destage-fuzz: beyond a budget of {BYTES} bytes");
    std::process::exit(1)
}
