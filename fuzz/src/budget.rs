//! The memory budget of an input. If a reader needs more memory for a file, the file is saved as a finding.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use destage_memory::{Excess, on_excess, set_limit};

/// The budget in bytes. It exceeds the memory that any reader, its decoders and the corpus need for an input of at
/// most 1 MiB.
pub const BYTES: u64 = 256 << 20;

/// The path of the input that is being read, and the path to which the input is copied if its reading exceeds the
/// budget.
static READ: Mutex<Option<(PathBuf, PathBuf)>> = Mutex::new(None);

/// After this call, the program ends with status 1 if it needs more memory than [`BYTES`].
pub fn install() {
    on_excess(end);
    set_limit(BYTES);
}

/// Records that the input at `path` is being read. If its reading exceeds the budget, the input is copied to `kept`.
pub fn reading(path: &Path, kept: &Path) {
    let pair = (path.to_owned(), kept.to_owned());
    if let Ok(mut read) = READ.lock() {
        *read = Some(pair);
    }
}

#[expect(
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
