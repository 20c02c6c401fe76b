//! Writes requests as DiskSim ASCII, which most simulators of this field can read.

use crate::request::{Operation, Request};
use destage_base::time::TICKS_PER_MS;
use std::io::{self, Write};

/// Ticks in the sixth decimal of a millisecond, the last decimal that other writers of this format print.
const TICKS_PER_SIXTH_DECIMAL: u64 = TICKS_PER_MS / 1_000_000;

/// Writes one request as one line. The time has six decimals, or seven if the exact tick needs them, so that a
/// reader gets the same tick.
///
/// # Errors
/// If `out` fails, or (as [`io::ErrorKind::Unsupported`]) if the request is not a plain read or write: the
/// format has no flushes, trims, FUA or streams.
pub fn write(out: &mut impl Write, request: &Request) -> io::Result<()> {
    let flag = match request.operation {
        Operation::Read => 1,
        Operation::Write => 0,
        other => {
            let text = format!(
                "DiskSim ASCII has no {}; expected reads and writes only",
                other.name()
            );
            return Err(io::Error::new(io::ErrorKind::Unsupported, text));
        }
    };
    if request.fua || request.stream != 0 {
        let lost = if request.fua {
            "force unit access"
        } else {
            "streams"
        };
        let text = format!("DiskSim ASCII has no {lost}; expected plain reads and writes only");
        return Err(io::Error::new(io::ErrorKind::Unsupported, text));
    }
    let Request {
        arrival,
        sector,
        sectors,
        volume,
        ..
    } = request;
    let (whole, rest) = (arrival / TICKS_PER_MS, arrival % TICKS_PER_MS);
    if rest.is_multiple_of(TICKS_PER_SIXTH_DECIMAL) {
        let rest = rest / TICKS_PER_SIXTH_DECIMAL;
        writeln!(out, "{whole}.{rest:06} {volume} {sector} {sectors} {flag}")
    } else {
        writeln!(out, "{whole}.{rest:07} {volume} {sector} {sectors} {flag}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_look_like_the_format_and_hold_the_exact_tick() {
        let mut request = Request {
            arrival: 5_265_313 * 10_000,
            sector: 6_357_144,
            sectors: 8,
            volume: 3,
            operation: Operation::Write,
            ..Request::BLANK
        };
        let mut out = Vec::new();
        write(&mut out, &request).unwrap();
        request.arrival = 7;
        request.operation = Operation::Read;
        write(&mut out, &request).unwrap();
        assert_eq!(out, b"5265.313000 3 6357144 8 0\n0.0000007 3 6357144 8 1\n");
        request.fua = true;
        assert!(write(&mut out, &request).is_err());
        request.fua = false;
        request.stream = 1;
        assert!(write(&mut out, &request).is_err());
        request.stream = 0;
        request.operation = Operation::Flush;
        assert_eq!(
            write(&mut out, &request).unwrap_err().kind(),
            io::ErrorKind::Unsupported
        );
    }
}
