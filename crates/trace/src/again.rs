//! Tells whether a trace can be read twice. A trace that comes through a pipe cannot.

use crate::error::TraceError;
use std::path::Path;

/// Whether the trace at `path` can be read more than once. The bytes of a pipe are lost once they are read.
#[must_use]
pub fn can_be_read_again(path: &Path) -> bool {
    let is_kept = |data: std::fs::Metadata| data.is_file() || data.is_dir();
    // If no such file exists, the code that opens it reports that.
    path.as_os_str() != "-" && path.metadata().map_or(true, is_kept)
}

/// Refuses a trace that can be read only once. In the error message, `what` names the work that needs two
/// passes, and `instead` says what to do.
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
