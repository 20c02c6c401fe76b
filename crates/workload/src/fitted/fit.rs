//! From requests to a profile.

use destage_trace::{Operation, Request};

use super::blocks::{Blocks, PAGE_SECTORS};
use super::classes::GapClasses;
use super::profile::{CONTEXTS, Profile, Tally, Before};
use super::sweep::Sweeps;

/// Phases of a profile where nobody says how many.
pub const PHASES: u64 = 128;
/// Requests of a phase, at least.
const LEAST_PHASE: u64 = 40;
/// Stretches of a profile, at most, and requests of each, at least.
const STRETCHES: u64 = 8192;
const LEAST_STRETCH: u64 = 16;

/// Takes in the requests of a trace, in the order of their arrival, and makes a profile of them. Keeps all of them,
/// since phases are parts of the whole.
#[derive(Debug, Default)]
pub struct Fitter {
    requests: Vec<Request>,
}

impl Fitter {
    /// Takes in the next request. Flushes and trims are left out.
    pub fn add(&mut self, request: &Request) {
        if matches!(request.operation, Operation::Read | Operation::Write) {
            self.requests.push(*request);
        }
    }

    /// The requests so far.
    #[must_use]
    pub fn requests(&self) -> &[Request] {
        &self.requests
    }

    /// The profile of all requests, with gaps in at most so many phases; none if there were none.
    #[must_use]
    pub fn finish(self, phases: u64) -> Option<Profile> {
        (!self.requests.is_empty()).then(|| profile(&self.requests, phases.max(1)))
    }
}

fn profile(requests: &[Request], phases: u64) -> Profile {
    let count = requests.len() as u64;
    let phase_requests = count.div_ceil(phases.min(count.div_ceil(LEAST_PHASE)));
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
        phase_requests,
        phases: phases_of(requests, &gaps, phase_requests, &classes),
        extents,
        blocks,
        sweeps: sweeps.finish(),
    }
}

/// Time since the request before, in ticks.
fn gaps(requests: &[Request]) -> Vec<u64> {
    let mut last = requests.first().map_or(0, |request| request.arrival);
    let since = |request: &Request| {
        request
            .arrival
            .saturating_sub(std::mem::replace(&mut last, request.arrival))
    };
    requests.iter().map(since).collect()
}

/// What a gap depends on of a request.
pub(super) fn side(request: &Request) -> (bool, u32) {
    (request.operation == Operation::Write, request.sectors)
}

fn phases_of(
    requests: &[Request],
    gaps: &[u64],
    phase_requests: u64,
    classes: &GapClasses,
) -> Vec<Vec<Tally>> {
    let mut before = Before::default();
    let phases = requests
        .chunks(phase_requests as usize)
        .zip(gaps.chunks(phase_requests as usize));
    let phase = |(requests, gaps): (&[Request], &[u64])| {
        let mut contexts = vec![Tally::new(); CONTEXTS];
        for (request, gap) in requests.iter().zip(gaps) {
            let class = classes.class(*gap);
            let context = before.context(side(request));
            before = Before::new(side(request), class);
            *contexts[context].entry(class as u32).or_default() += 1;
        }
        contexts
    };
    phases.map(phase).collect()
}
