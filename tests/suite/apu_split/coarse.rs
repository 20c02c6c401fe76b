//! The coarse model. It serves one request at a time, and rounds of idle work do not delay the host.
//!
//! The model computes times in milliseconds, in floating point. The number of rounds in a gap between requests is
//! a quotient that is truncated to an integer. If the transfer from the host takes no time, many gaps are whole
//! multiples of a round, so floating-point rounding affects the last digits of the counts. The test reproduces
//! this rounding, too.

use destage_base::time::to_ms;
use destage_trace::Request;

use crate::apu_split::lines::{Found, Lines, PACKAGES, Split};

/// Time to program and transfer a page.
const PROGRAM_MS: f64 = 0.3024;
const IDLE_MS: f64 = 2.0;

/// Counts on-demand updates; `sector_ms` is the transfer time of a sector from the host.
pub fn updates(requests: &[Request], split: Split, sector_ms: f64) -> u64 {
    let mut lines = Lines::new(split);
    let mut updates = 0;
    let mut free: f64 = 0.0;
    for request in requests {
        let arrival = to_ms(request.arrival);
        let idle = arrival - free - IDLE_MS;
        if idle > 0.0 {
            // The last round cleans its lines even if the request arrives before the round ends. The round does
            // not delay the request.
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
