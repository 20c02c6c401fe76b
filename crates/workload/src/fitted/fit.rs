//! From requests to a profile.

use destage_trace::{Operation, Request};

use super::measure::profile;
use super::profile::Profile;

/// Phases of a profile where nobody says how many.
pub const PHASES: u64 = 128;
/// Fewer than that are not made of it, however many segments they have.
const LEAST_PHASES: u64 = 16;
/// Segments of all phases, at most, unless there are few phases.
const MOST_SEGMENTS: usize = 6000;

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

    /// The profile of all requests in at most so many phases; none if there were none.
    #[must_use]
    pub fn finish(self, phases: u64) -> Option<Profile> {
        if self.requests.is_empty() {
            return None;
        }
        let mut phases = phases.max(1);
        loop {
            let profile = profile(&self.requests, phases);
            let segments: usize = profile.phases.iter().map(|phase| phase.map.len()).sum();
            if segments <= MOST_SEGMENTS || phases <= LEAST_PHASES {
                return Some(profile);
            }
            phases /= 2;
        }
    }
}
