//! What happens to bad lines, and what is reported about them.

use crate::error::TraceError;
use crate::options::BadLines;

/// How bad lines are treated, the number of those skipped, and the text of the first one.
pub(crate) struct Faults {
    pub policy: BadLines,
    pub skipped: u64,
    pub first: Option<String>,
    /// The error that stopped reading. It is returned after the requests of the lines before it.
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
    /// text will be shown, because making it needs a search through the block.
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
