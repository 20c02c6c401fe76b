//! Tells whether a trace can be read twice. A trace in a pipe cannot be read twice.

use crate::error::TraceError;
use std::path::Path;

/// Whether the trace at `path` can be read more than once. The bytes of a pipe can be read only once.
#[must_use]
pub fn allows_second_pass(path: &Path) -> bool {
    let is_kept = |data: std::fs::Metadata| data.is_file() || data.is_dir();
    // For a file that does not exist the result is `true`; the code that opens the file reports the error.
    path.as_os_str() != "-" && path.metadata().map_or(true, is_kept)
}

/// Refuses a trace that can be read only once. In the error message, `what` names the work that needs two
/// passes, and `instead` names an alternative.
///
/// # Errors
/// If the trace at `path` is standard input, a pipe or a device.
pub fn require_second_pass(
    path: &Path,
    what: &'static str,
    instead: &'static str,
) -> Result<(), TraceError> {
    if allows_second_pass(path) {
        return Ok(());
    }
    Err(TraceError::SecondPass {
        file: path.display().to_string(),
        what,
        instead,
    })
}
