//! The window of a run, from the opening of statistics to their close; and the report of requests that are not
//! complete.

use destage_base::Ticks;

use super::{Engine, Probe};
use crate::observer::Response;

impl<P: Probe> Engine<'_, P> {
    /// Opens the window. No statistic counts events before `now`.
    pub(super) fn open(&mut self, now: Ticks) {
        self.link.opened = Some(now);
        self.link.probe.opened();
        let totals = self.link.totals(now);
        self.measured.open(&mut self.device, totals);
        self.measured.front = self.link.front_usage();
    }

    /// Closes the window. No statistic counts events from now on. Does nothing if the window is already closed.
    pub(super) fn close(&mut self) {
        self.close_at(self.link.events.now());
    }

    /// [`Engine::close`] at `now`, which is not before the last event.
    pub(super) fn close_at(&mut self, now: Ticks) {
        if self.link.closed {
            return;
        }
        self.link.closed = true;
        self.is_under_way = false;
        self.link.probe.closed(&self.device);
        self.link.probe.tells(&mut *self.link.observed.by);
        self.measured.makespan = now - self.link.opened.unwrap_or(now);
        self.measured.responses.destage = std::mem::take(&mut self.link.destage_response);
        let totals = self.link.totals(now);
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
                waited: 0,
                response: None,
                sector: active.request.sector,
                sectors: active.request.sectors,
                operation: active.request.operation,
            });
        }
    }
}
