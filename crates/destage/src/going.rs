//! A run in progress, which the caller may end early.

use std::sync::Arc;

use destage_sim::limits::Limits;
use destage_sim::run::{RunResult, Simulation};
use destage_trace::Request;

use crate::error::Error;

/// Number of requests after which a run is compared with its limits again, or of events if no more requests arrive.
const PIECE: usize = 1 << 8;
const EVENTS: usize = 1 << 12;
/// If many requests wait, the interval is a part of their number, because the check looks at each of them.
const PART: usize = 2;

/// A run that stands still between batches of requests.
pub(crate) struct Going<'a> {
    simulation: Simulation<'a>,
    /// Beyond these limits the run's result is of no interest.
    limits: Option<Limits>,
    /// Requests taken, where there are limits.
    requests: u64,
}

/// The state of the run.
pub(crate) enum Gone<'a> {
    /// It waits for more.
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

    /// Advances the run through `batches`, and to its end if they were the `last`, or if it wants no more, or is beyond its limits.
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

    /// Whether the run takes more requests.
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

    /// There are no more requests: processes the waiting ones, unless the run is found beyond its limits.
    fn work_down(&mut self) -> Result<(), Error> {
        let Some(limits) = &mut self.limits else {
            return Ok(());
        };
        loop {
            // A request takes several events.
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
