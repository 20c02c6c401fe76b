//! A run in progress, which can be ended before its last request.

use std::sync::Arc;

use destage_sim::limits::Limits;
use destage_sim::run::{RunResult, Simulation};
use destage_trace::Request;

use crate::error::Error;

/// The run is compared with its limits after [`PIECE`] requests. When no more requests arrive, it is compared after
/// [`EVENTS`] events.
const PIECE: usize = 1 << 8;
const EVENTS: usize = 1 << 12;
/// The comparison examines every waiting request, which is slow if many requests wait. It is therefore made only
/// after as many new requests as the number of waiting requests divided by this number.
const PART: usize = 2;

/// A run that is paused between batches of requests.
pub(crate) struct Going<'a> {
    simulation: Simulation<'a>,
    /// The limits of the run. If the run exceeds them, its result is not needed.
    limits: Option<Limits>,
    /// The number of requests that the run has received; counted only if there are limits.
    requests: u64,
}

/// The state of a run after it has advanced.
pub(crate) enum Gone<'a> {
    /// The run waits for more requests.
    On(Box<Going<'a>>),
    Ended(Result<RunResult, Error>),
}

impl<'a> Going<'a> {
    pub(crate) fn new(simulation: Simulation<'a>, limits: Option<Limits>) -> Self {
        Self {
            simulation,
            limits,
            requests: 0,
        }
    }

    /// Feeds `batches` to the run. The run ends if no batches follow (`last`), if the run accepts no more requests,
    /// or if it exceeds its limits.
    pub(crate) fn advance(
        mut self: Box<Self>,
        batches: &[Arc<Vec<Request>>],
        last: bool,
    ) -> Gone<'a> {
        for batch in batches {
            match self.feed(batch) {
                Ok(true) => {}
                Ok(false) => return self.finish(),
                Err(error) => return Gone::Ended(Err(error)),
            }
        }
        match last {
            true => match self.work_down() {
                Ok(()) => self.finish(),
                Err(error) => Gone::Ended(Err(error)),
            },
            false => Gone::On(self),
        }
    }

    /// Feeds `requests`. Returns whether the run accepts more.
    fn feed(&mut self, requests: &[Request]) -> Result<bool, Error> {
        let Some(limits) = &mut self.limits else {
            return Ok(self.simulation.feed(requests)?);
        };
        let mut rest = requests;
        while !rest.is_empty() {
            let most = PIECE.max(self.simulation.unanswered() / PART);
            let (piece, behind) = rest.split_at(most.min(rest.len()));
            rest = behind;
            if !self.simulation.feed(piece)? {
                return Ok(false);
            }
            self.requests += piece.len() as u64;
            if self.simulation.is_beyond(limits) {
                return Err(self.out_of_reach());
            }
        }
        Ok(true)
    }

    /// Simulates all waiting requests after the last request has arrived, unless the run exceeds its limits.
    fn work_down(&mut self) -> Result<(), Error> {
        let Some(limits) = &mut self.limits else {
            return Ok(());
        };
        loop {
            // The comparison examines every waiting request, so its interval grows with their number. Each request
            // has several events.
            let events = EVENTS.max(self.simulation.unanswered());
            if !self.simulation.work_down(events as u64)? {
                return Ok(());
            }
            if self.simulation.is_beyond(limits) {
                return Err(self.out_of_reach());
            }
        }
    }

    fn out_of_reach(&self) -> Error {
        Error::OutOfReach {
            requests: self.requests,
            answered: self.requests - self.simulation.unanswered() as u64,
        }
    }

    fn finish(self: Box<Self>) -> Gone<'a> {
        Gone::Ended(self.simulation.finish().map_err(Error::from))
    }
}
