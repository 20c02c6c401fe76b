//! Requests out of tables with a directory at their end. Such files need random access and are not read from front to back.
//!
//! The sibling of [`crate::decode`] and [`crate::records`]. Decoded requests are treated in the same way.

use crate::decode::State;
use crate::error::{Excerpt, TraceError};
use crate::request::Request;
use std::path::Path;

/// How such a format is recognised and opened.
#[derive(Clone, Copy)]
pub(crate) struct Table {
    /// Whether a file with this beginning is in this format.
    pub begins: fn(&[u8]) -> bool,
    /// Opens the file at a path, and checks that it has the columns that are needed.
    pub open_file: fn(&Path, &State) -> Opened,
    /// A file of some requests, all the same.
    pub example: fn(usize) -> Vec<u8>,
}

impl Table {
    /// Opens the file at `path`, unless it comes `through` something that is read from front to back.
    pub fn open(
        &self,
        path: &Path,
        through: Option<&'static str>,
        format: &'static str,
        state: &State,
    ) -> Opened {
        match through {
            None => (self.open_file)(path, state),
            Some(through) => Err(TraceError::FrontToBack {
                file: path.display().to_string(),
                format,
                through,
            }),
        }
    }
}

/// An open file, or why it is not one.
pub(crate) type Opened = Result<Box<dyn Rows>, TraceError>;

/// An open file.
pub(crate) trait Rows: Send {
    /// Adds requests to `batch` until it holds `room`, or another event ends it; [`State::line`] then is the number of
    /// the row after the last one done.
    ///
    /// # Errors
    /// If no further row can be read.
    fn read(
        &mut self,
        state: &mut State,
        batch: &mut Vec<Request>,
        room: usize,
    ) -> Result<Step, TraceError>;

    /// The place in the file up to which everything was read.
    fn passed(&self) -> u64;
}

/// The outcome of reading.
#[cfg_attr(
    not(feature = "parquet"),
    expect(dead_code, reason = "this build has no Parquet, the only such format")
)]
pub(crate) enum Step {
    /// There may be more.
    Some,
    /// The file has no more rows.
    End,
    /// The row done last is no request.
    Bad(TraceError),
}

/// A request as an error message shows it, by the names of its columns.
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
