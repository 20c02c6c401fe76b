//! Generates requests from a profile.

use std::collections::VecDeque;
use std::sync::Arc;

use super::addresses::lay_out;
use super::arrivals::Arrivals;
use super::blocks::{BLOCK_SECTORS, PAGE_SECTORS};
use super::profile::Profile;
use super::schedule::{Schedule, Step};
use destage_base::{Random, Ticks};
use destage_trace::{Operation, Request};

/// An endless sequence of requests that are generated from a profile.
#[derive(Debug)]
pub struct Fitted {
    profile: Arc<Profile>,
    random: Random,
    made: u64,
    now: Ticks,
    /// The address of each extent on the device, counted in blocks.
    addresses: Vec<u64>,
    arrivals: Arrivals,
    schedule: Schedule,
    /// The remaining requests of the current stretch. Each request has the gap before it.
    ahead: VecDeque<(Step, u64)>,
}

impl Fitted {
    /// The requests that `profile` and `seed` determine.
    #[must_use]
    pub fn new(profile: Arc<Profile>, seed: u64) -> Self {
        Self {
            random: Random::new(seed),
            made: 0,
            now: 0,
            addresses: Vec::new(),
            arrivals: Arrivals::new(&profile),
            schedule: Schedule::default(),
            ahead: VecDeque::new(),
            profile,
        }
    }

    /// Draws the next stretch of requests. Before the first stretch of the profile, it also draws an address for each
    /// extent.
    fn look_ahead(&mut self) {
        let profile = &self.profile;
        let from = self.made % profile.requests;
        if from == 0 {
            self.addresses = lay_out(profile, &mut self.random);
            self.schedule = Schedule::default();
        }
        let stretch = (from / profile.pace_requests) as usize;
        let gaps = self.arrivals.gaps(profile, stretch, &mut self.random);
        for gap in gaps {
            let step = self.schedule.next(&profile.sweeps, &mut self.random);
            self.ahead.extend(step.map(|step| (step, gap)));
        }
    }
}

impl Iterator for Fitted {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        if self.ahead.is_empty() {
            self.look_ahead();
        }
        let (step, gap) = self.ahead.pop_front()?;
        if self.made > 0 {
            self.now = self.now.saturating_add(gap);
        }
        self.made += 1;
        let place = self.profile.blocks[step.block as usize];
        let start =
            (self.addresses[place.extent as usize] + u64::from(place.offset)) * BLOCK_SECTORS;
        Some(Request {
            arrival: self.now,
            sector: within(
                self.profile.footprint_sectors,
                start + step.sector,
                step.sectors,
            ),
            sectors: step.sectors,
            line: u32::try_from(self.made).unwrap_or(u32::MAX),
            operation: if step.writes {
                Operation::Write
            } else {
                Operation::Read
            },
            ..Request::BLANK
        })
    }
}

/// Returns `sector` if the request ends within the footprint. Otherwise returns the last page boundary from which the
/// request fits.
fn within(footprint: u64, sector: u64, sectors: u32) -> u64 {
    let last = footprint.saturating_sub(u64::from(sectors));
    if sector > last {
        last / PAGE_SECTORS * PAGE_SECTORS
    } else {
        sector
    }
}
