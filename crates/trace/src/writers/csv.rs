//! Writes requests, without loss, as a table that other programs can read.

use crate::request::Request;
use std::io::{self, Write};

/// The first line of the table, with the names of the columns.
pub const HEADER: &str = "time,volume,op,sector,sectors,fua,stream";

/// Writes one request as one line below [`HEADER`]. The time is in ns with one decimal, which is a tick of 0.1
/// ns.
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
