//! The coarse model: one request at a time, and rounds of idle work that cost the host nothing.
//!
//! Its times are milliseconds in floating point, and the number of rounds in a gap is a quotient cut to a
//! whole number: without the host's transfer many gaps are whole multiples of a round, and the last digits of
//! the counts are then a matter of rounding. The model is reproduced as it is, roundings included.

use destage_base::time::to_ms;
use destage_trace::Request;

use crate::apu_split::lines::{Found, Lines, PACKAGES, Split};

/// Program and transfer of a page.
const PROGRAM_MS: f64 = 0.3024;
const IDLE_MS: f64 = 2.0;

/// On-demand updates, with so long a transfer of each sector from the host.
pub fn updates(requests: &[Request], split: Split, sector_ms: f64) -> u64 {
    let mut lines = Lines::new(split);
    let mut updates = 0;
    let mut free: f64 = 0.0;
    for request in requests {
        let arrival = to_ms(request.arrival);
        let idle = arrival - free - IDLE_MS;
        if idle > 0.0 {
            // A round that the request interrupts has cleaned its lines and does not delay it.
            for _ in 0..=(idle / PROGRAM_MS) as u64 {
                lines.round();
            }
        }
        let mut programs = [0_u32; PACKAGES];
        let first = (request.sector / 8) as usize;
        for page in first..first + (request.sectors / 8) as usize {
            if lines.write(page).1 == Found::Dirty {
                programs[page % PACKAGES] += 1;
                updates += 1;
            }
        }
        let longest = f64::from(*programs.iter().max().expect("eight packages"));
        let transfer = sector_ms * f64::from(request.sectors);
        free = arrival.max(free) + transfer + longest * PROGRAM_MS;
    }
    updates
}
