//! The memory budget of an input: a file whose reading asks for more is kept as a finding.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use destage_memory::{Excess, on_excess, set_limit};

/// More than any reader needs for an input of at most 1 MiB, including decoders and the corpus; in bytes.
pub const BYTES: u64 = 256 << 20;

/// The input that is being read, and the path under which it is kept if it exceeds the budget.
static READ: Mutex<Option<(PathBuf, PathBuf)>> = Mutex::new(None);

/// From here on a request for more memory than [`BYTES`] ends the program with status 1.
pub fn install() {
    on_excess(end);
    set_limit(BYTES);
}

/// Records that the input at `path` is being read, and that a finding would be kept as `kept`.
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
