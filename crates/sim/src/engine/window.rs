//! The window of a run: statistics open and close, and requests that are not complete are reported.

use destage_base::Ticks;

use super::{Engine, Mover, Witness};
use crate::observer::Response;

impl<B: Mover, W: Witness> Engine<'_, B, W> {
    /// Opens the window: events before `now` are in no statistic.
    pub(super) fn open(&mut self, now: Ticks) {
        self.link.opened = Some(now);
        self.link.witness.opened();
        let totals = self.link.meter.totals(now);
        self.measured.open(&mut self.device, totals);
        self.measured.front = self.link.front_usage();
    }

    /// Closes the window: events from now on are in no statistic. Does nothing if the window is closed already.
    pub(super) fn close(&mut self) {
        if self.link.closed {
            return;
        }
        self.link.closed = true;
        self.is_under_way = false;
        self.link.witness.closed(&self.device);
        let now = self.link.events.now();
        self.measured.makespan = now - self.link.opened.unwrap_or(now);
        self.measured.responses.destage = std::mem::take(&mut self.link.destage_response);
        let totals = self.link.meter.totals(now);
        self.measured.take_front(self.link.front_usage());
        self.measured
            .take_device(&mut self.device, totals, now, &mut *self.link.observed.by);
    }

    /// Reports the requests that are not complete to the observer, if it wants responses.
    pub fn report_unfinished(&mut self) {
        if !self.link.observed.responses {
            return;
        }
        for active in self.link.active.iter() {
            self.link.observed.by.response(&Response {
                index: active.identity.index,
                arrival: active.identity.arrival,
                response: None,
                sector: active.request.sector,
                sectors: active.request.sectors,
                operation: active.request.operation,
            });
        }
    }
}
