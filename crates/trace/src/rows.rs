//! Decodes tables that have a directory at their end. Such a file needs random access and cannot be read from
//! front to back.
//!
//! This module does for rows what [`crate::decode`] does for lines and [`crate::records`] for records. The
//! reader treats the decoded requests of all formats in the same way.

use crate::decode::State;
use crate::error::{Excerpt, TraceError};
use crate::request::Request;
use std::path::Path;

/// Opens the table at a path, and checks that it has the required columns.
pub(crate) type OpenTable = fn(&Path, &State) -> Result<Box<dyn Rows>, TraceError>;

/// An open table.
pub(crate) trait Rows: Send {
    /// Adds requests to `batch`, at most until `batch` holds `room` requests. A bad row ends the call earlier.
    /// After the call, [`State::line`] is the number of the row after the last one read.
    ///
    /// # Errors
    /// If no further row can be read.
    fn read(
        &mut self,
        state: &mut State,
        batch: &mut Vec<Request>,
        room: usize,
    ) -> Result<Step, TraceError>;

    /// The position in the file, in bytes, before which all data were read.
    fn passed(&self) -> u64;
}

/// The result of reading rows.
#[cfg_attr(
    not(feature = "parquet"),
    expect(dead_code, reason = "this build has no Parquet, the only such format")
)]
pub(crate) enum Step {
    /// There may be more rows.
    Some,
    /// The file has no more rows.
    End,
    /// The last row read is not a valid request.
    Bad(TraceError),
}

/// A request as error messages show it, with the names of the columns.
pub(crate) fn shown(request: &Request) -> Excerpt {
    let Request {
        arrival,
        sector,
        sectors,
        volume,
        operation,
        ..
    } = request;
    let operation = operation.name();
    let text = format!(
        "arrival_ticks {arrival}, volume {volume}, op {operation}, sector {sector}, sectors {sectors}"
    );
    Excerpt::new(text.as_bytes())
}
