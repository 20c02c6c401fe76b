//! A run under way, which its caller may not want to the end.

use std::sync::Arc;

use destage_sim::limits::Limits;
use destage_sim::run::{RunResult, Simulation};
use destage_trace::Request;

use crate::error::Error;

/// Requests after which a run is held against its limits again.
const PIECE: usize = 1 << 10;

/// A run that stands still between batches of requests.
pub(crate) struct Going<'a> {
    simulation: Simulation<'a>,
    /// Beyond them nobody wants to know more of it.
    limits: Option<Limits>,
    /// Requests taken, where there are limits.
    requests: u64,
}

/// What becomes of it.
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

    /// Takes it through `batches`, and to its end if they were the `last`, or it wants no more, or is beyond its limits.
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
            true => self.finish(),
            false => Gone::On(self),
        }
    }

    /// Whether it wants more.
    fn feed(&mut self, requests: &[Request]) -> Result<bool, Error> {
        let Some(limits) = &mut self.limits else {
            return Ok(self.simulation.feed(requests)?);
        };
        for piece in requests.chunks(PIECE) {
            if !self.simulation.feed(piece)? {
                return Ok(false);
            }
            self.requests += piece.len() as u64;
            if self.simulation.is_beyond(limits) {
                return Err(Error::OutOfReach {
                    requests: self.requests,
                });
            }
        }
        Ok(true)
    }

    fn finish(self: Box<Self>) -> Gone<'a> {
        Gone::Ended(self.simulation.finish().map_err(Error::from))
    }
}
