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
    /// The file it came from.
    pub origin: String,
    /// Its format.
    pub format: &'static Format,
    /// Its requests, in the order of their arrival.
    pub requests: Vec<Request>,
    /// SHA-256 of the uncompressed file, in hexadecimal; `None` if it was not read to the end, or not asked for.
    pub digest: Option<String>,
    /// The counts of the reader.
    pub report: ReadReport,
    /// The first bad line that was skipped, as an error message.
    pub first_skipped: Option<String>,
}

/// Reads all of a trace.
///
/// # Errors
/// As [`Reader::open`] and [`Reader::fill`].
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
