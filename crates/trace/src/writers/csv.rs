//! Requests as a table that any program reads and that loses nothing.

use crate::request::Request;
use std::io::{self, Write};

/// The first line.
pub const HEADER: &str = "time,volume,op,sector,sectors,fua,stream";

/// Writes one request as one line below [`HEADER`]; the time is in ns, whose one decimal is the tick.
///
/// # Errors
/// If `out` fails.
pub fn write(out: &mut impl Write, request: &Request) -> io::Result<()> {
    let Request {
        arrival,
        sector,
        sectors,
        volume,
        operation,
        fua,
        stream,
        ..
    } = request;
    writeln!(
        out,
        "{}.{},{volume},{},{sector},{sectors},{},{stream}",
        arrival / 10,
        arrival % 10,
        operation.name(),
        u8::from(*fua)
    )
}
