//! Traces that can be read only once: those that come through a pipe.

use crate::error::TraceError;
use std::path::Path;

/// Whether the trace at `path` can be read more than once: data that come through a pipe are gone after the first time.
#[must_use]
pub fn can_be_read_again(path: &Path) -> bool {
    let is_kept = |data: std::fs::Metadata| data.is_file() || data.is_dir();
    // A file that does not exist is reported by the code that opens it.
    path.as_os_str() != "-" && path.metadata().map_or(true, is_kept)
}

/// Refuses a trace that can be read only once, because `what` reads it twice. `instead` ends the message with what to do.
///
/// # Errors
/// If the trace at `path` comes through a pipe.
pub fn require_second_pass(
    path: &Path,
    what: &'static str,
    instead: &'static str,
) -> Result<(), TraceError> {
    if can_be_read_again(path) {
        return Ok(());
    }
    Err(TraceError::SecondPass {
        file: path.display().to_string(),
        what,
        instead,
    })
}
