//! What a run with a clock has measured before its end.

use super::{Engine, Mover, Witness};
use crate::limits::SoFar;

impl<B: Mover, W: Witness> Engine<'_, B, W> {
    /// What was measured so far; none once statistics are closed.
    pub(crate) fn so_far(&self) -> Option<SoFar<'_>> {
        let (tally, gc_runs) = self.link.meter.counted();
        (!self.link.closed).then(|| SoFar {
            counts: self.device.buffer().counts(),
            tally,
            gc_runs,
            response: &self.measured.response,
        })
    }
}
