//! Handles bad lines: reading stops at the first one, or bad lines are skipped and counted.

use crate::error::TraceError;
use crate::options::BadLines;

/// The treatment of bad lines, the number of skipped lines, and the error message of the first skipped line.
pub(crate) struct Faults {
    pub policy: BadLines,
    pub skipped: u64,
    pub first: Option<String>,
    /// The error that stopped reading. This error is returned after the requests of the lines before it.
    pub pending: Option<TraceError>,
}

impl Faults {
    /// Creates the record of bad lines, with none so far.
    pub fn new(policy: BadLines) -> Self {
        Self {
            policy,
            skipped: 0,
            first: None,
            pending: None,
        }
    }

    /// Notes an error, and returns whether reading continues with the next line. `error` is called only if its
    /// text will be shown, because making the text searches the block for the bad line.
    #[cold]
    pub fn note(&mut self, error: impl FnOnce() -> TraceError) -> bool {
        match self.policy {
            BadLines::Stop => {
                self.pending = Some(error());
                false
            }
            BadLines::Skip => {
                self.skipped += 1;
                self.first.get_or_insert_with(|| error().to_string());
                true
            }
        }
    }
}
