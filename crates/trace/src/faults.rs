//! Bad lines: their treatment, and the report about them.

use crate::error::TraceError;
use crate::options::BadLines;

/// The number and the first of the bad lines.
pub(crate) struct Faults {
    pub policy: BadLines,
    pub skipped: u64,
    pub first: Option<String>,
    /// Handed out after the requests of the lines above.
    pub pending: Option<TraceError>,
}

impl Faults {
    /// None so far.
    pub fn new(policy: BadLines) -> Self {
        Self {
            policy,
            skipped: 0,
            first: None,
            pending: None,
        }
    }

    /// Notes an error. It is only made if it will be shown, because its text needs a walk through the block.
    /// Whether reading goes on with the next line.
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
