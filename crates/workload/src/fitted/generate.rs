//! From a profile to requests.

use std::sync::Arc;

use super::addresses::lay_out;
use super::arrivals::Arrivals;
use super::history::{History, PAGE_SECTORS};
use super::profile::Profile;
use super::reads::Reads;
use super::writes::Writes;
use destage_base::{Random, Ticks};
use destage_trace::{Operation, Request};

/// The requests of a profile, without an end.
#[derive(Debug)]
pub struct Fitted {
    profile: Arc<Profile>,
    random: Random,
    made: u64,
    now: Ticks,
    /// The number on the device of each block of the profile.
    addresses: Vec<u64>,
    arrivals: Arrivals,
    writes: Writes,
    reads: Reads,
    written: History,
    read: History,
}

impl Fitted {
    /// The requests of `profile`, as `seed` has them.
    #[must_use]
    pub fn new(profile: Arc<Profile>, seed: u64) -> Self {
        Self {
            random: Random::new(seed),
            made: 0,
            now: 0,
            addresses: Vec::new(),
            arrivals: Arrivals::new(&profile),
            writes: Writes::new(&profile),
            reads: Reads::default(),
            written: History::default(),
            read: History::default(),
            profile,
        }
    }

    /// Begins the phase of the next request, and before the first of them, gives each block an address.
    fn enter(&mut self) {
        if self.made.is_multiple_of(self.profile.requests) {
            self.addresses = lay_out(&self.profile, &mut self.random);
        }
        let phase = self.profile.phase(self.made % self.profile.requests);
        // A generator of its own: a phase draws as much however many writes it has.
        let mut random = self.random.clone();
        self.writes.enter(phase, &self.profile.sizes, &mut random);
        self.reads.enter(phase);
    }
}

impl Iterator for Fitted {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        if (self.made % self.profile.requests).is_multiple_of(self.profile.phase_requests) {
            self.enter();
        }
        let random = &mut self.random;
        let (kind, gap) = self.arrivals.next(&self.profile, random)?;
        if self.made > 0 {
            self.now = self.now.saturating_add(gap);
        }
        let writes = kind.writes();
        let (sector, sectors, via) = if writes {
            let writes = &mut self.writes;
            writes.place(kind, &self.addresses, &self.written, random)?
        } else {
            let histories = (&self.written, &self.read);
            self.reads.place(kind, &self.profile, histories, random)
        };
        let sector = within(self.profile.footprint_sectors, sector, sectors);
        let history = if writes {
            &mut self.written
        } else {
            &mut self.read
        };
        history.record(sector, sectors, via);
        self.made += 1;
        Some(Request {
            arrival: self.now,
            sector,
            sectors,
            volume: 0,
            line: u32::try_from(self.made).unwrap_or(u32::MAX),
            operation: if writes {
                Operation::Write
            } else {
                Operation::Read
            },
            fua: false,
            stream: 0,
        })
    }
}

/// `sector`, or the last page that the request fits behind if it would end beyond the footprint.
fn within(footprint: u64, sector: u64, sectors: u32) -> u64 {
    let last = footprint.saturating_sub(u64::from(sectors));
    if sector > last {
        last / PAGE_SECTORS * PAGE_SECTORS
    } else {
        sector
    }
}
