//! A whole trace in memory.

use crate::error::TraceError;
use crate::format::Format;
use crate::options::ReadOptions;
use crate::reader::Reader;
use crate::report::ReadReport;
use crate::request::Request;
use std::path::Path;

/// A whole trace in memory.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The path of the file.
    pub origin: String,
    /// The format of the file.
    pub format: &'static Format,
    /// The requests in the order of their arrival.
    pub requests: Vec<Request>,
    /// SHA-256 of the uncompressed file, in hexadecimal; `None` if it was not read to the end, or
    /// [`ReadOptions::digest`] is off.
    pub digest: Option<String>,
    /// The counts of the reader.
    pub report: ReadReport,
    /// The error message of the first bad line that was skipped.
    pub first_skipped: Option<String>,
}

/// Reads a whole trace.
///
/// # Errors
/// The errors of [`Reader::open`] and [`Reader::fill`].
pub fn read_all(path: &Path, options: &ReadOptions) -> Result<Trace, TraceError> {
    let mut reader = Reader::open(path, options)?;
    let mut requests = Vec::new();
    let mut batch = Vec::new();
    while reader.fill(&mut batch)? {
        requests.extend_from_slice(&batch);
    }
    Ok(Trace {
        origin: reader.origin().to_owned(),
        format: reader.format(),
        requests,
        digest: reader.digest(),
        report: reader.report(),
        first_skipped: reader.first_skipped().map(str::to_owned),
    })
}
