//! Makes a profile from the requests of a trace.

use destage_trace::{Operation, Request};

use super::blocks::{Blocks, PAGE_SECTORS};
use super::classes::GapClasses;
use super::profile::Profile;
use super::sweep::Sweeps;

/// The approximate number of stretches into which a long trace is divided. `LEAST_STRETCH` is the least number of
/// requests in a stretch.
const STRETCHES: u64 = 8192;
const LEAST_STRETCH: u64 = 16;

/// Collects the requests of a trace in the order of their arrival, and makes a profile from them. All requests remain
/// in memory.
#[derive(Debug, Default)]
pub struct Fitter {
    requests: Vec<Request>,
}

impl Fitter {
    /// Adds the next request. Flushes and trims are ignored.
    pub fn add(&mut self, request: &Request) {
        if matches!(request.operation, Operation::Read | Operation::Write) {
            self.requests.push(*request);
        }
    }

    /// The requests added so far.
    #[must_use]
    pub fn requests(&self) -> &[Request] {
        &self.requests
    }

    /// The profile of all requests; `None` if no request was added.
    #[must_use]
    pub fn finish(self) -> Option<Profile> {
        (!self.requests.is_empty()).then(|| profile(&self.requests))
    }
}

fn profile(requests: &[Request]) -> Profile {
    let count = requests.len() as u64;
    let pace_requests = (count / STRETCHES).max(LEAST_STRETCH);
    let gaps = gaps(requests);
    let mut sorted: Vec<u64> = gaps.iter().copied().filter(|gap| *gap > 0).collect();
    sorted.sort_unstable();
    let classes = GapClasses::of(&sorted);
    let (mut blocks, mut sweeps) = (Blocks::default(), Sweeps::default());
    for (before, request) in (0..).zip(requests) {
        let place = blocks.touch(request);
        sweeps.add(before, request, place);
    }
    let end = requests.iter().map(Request::end).max().unwrap_or(1);
    let footprint_sectors = end.next_multiple_of(PAGE_SECTORS);
    let (extents, blocks) = blocks.finish(footprint_sectors);
    Profile {
        requests: count,
        footprint_sectors,
        gaps: classes.gaps(&sorted),
        pace_requests,
        pace: gaps
            .chunks(pace_requests as usize)
            .map(|gaps| gaps.iter().sum())
            .collect(),
        classes: gaps.iter().map(|gap| classes.class(*gap)).collect(),
        extents,
        blocks,
        sweeps: sweeps.finish(),
    }
}

/// For each request, the time in ticks since the previous arrival; 0 for the first request.
fn gaps(requests: &[Request]) -> Vec<u64> {
    let mut last = requests.first().map_or(0, |request| request.arrival);
    let since = |request: &Request| {
        request
            .arrival
            .saturating_sub(std::mem::replace(&mut last, request.arrival))
    };
    requests.iter().map(since).collect()
}
