//! The values that a run with a clock has measured before its end.

use destage_base::Ticks;
use destage_trace::Operation;

use super::{Engine, Probe};
use crate::error::SimError;
use crate::limits::{SoFar, Unanswered};

impl<P: Probe> Engine<'_, P> {
    /// The values measured so far; `None` once statistics are closed.
    pub(crate) fn so_far(&self) -> Option<SoFar<'_>> {
        let (tally, gc_runs) = self.link.meter.counted();
        (!self.link.closed).then(|| SoFar {
            counts: self.device.buffer().counts(),
            tally,
            gc_runs,
            response: &self.measured.responses.host,
            unanswered: Some(self),
        })
    }

    /// Handles at most `events` of the remaining events, after all requests were fed. Returns whether the run
    /// continues. If the run has not begun, returns `false`.
    pub(crate) fn work_down(&mut self, events: u64) -> Result<bool, SimError> {
        if self.has_begun && !self.has_ended {
            let served = self.work_off(&mut [].iter(), true, events);
            self.unless_worn_out(served).map_err(|error| *error)?;
        }
        Ok(self.has_begun && !self.has_ended)
    }
}

impl<P: Probe> Unanswered for Engine<'_, P> {
    fn count(&self) -> usize {
        self.link.active.len()
    }

    fn each(&self, visit: &mut dyn FnMut(bool, Ticks)) {
        let now = self.link.events.now();
        for active in self.link.active.iter() {
            let is_read = active.identity.operation == Operation::Read;
            visit(!is_read, now - active.identity.arrival);
        }
    }
}
