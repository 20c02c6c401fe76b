//! The engine of a live device. Requests arrive one by one, and the engine does not know the next request in advance.

use destage_base::Ticks;
use destage_trace::Request;

use super::{Engine, Event, Probe};
use crate::error::SimError;
use crate::measured::Measured;
use crate::observer::Silent;

impl<P: Probe> Engine<'_, P> {
    /// Starts simulated time at `time`, and gives the next request the index `index`. To be called before the first
    /// event.
    pub fn go_on_from(&mut self, time: Ticks, index: u64) {
        self.link.events.begin_at(time);
        self.arrived.first_index = index;
        self.arrived.counted_from = index + self.config.statistics.warmup;
    }

    /// Schedules the arrival of `request` at its time, or now if that time has passed. Until the request arrives, it
    /// [is coming](Self::is_coming), and this function must not be called with another request.
    pub fn expect(&mut self, request: Request) {
        self.has_begun = true;
        self.next = Some(request);
        self.link.events.at(request.arrival, Event::Arrival);
    }

    /// Whether an expected request has not arrived yet.
    #[must_use]
    pub fn is_coming(&self) -> bool {
        self.next.is_some()
    }

    /// From now on, reports no responses to the observer.
    pub fn stop_responses(&mut self) {
        self.link.observed.responses = false;
    }

    /// Handles the next event. Returns whether there was a next event.
    ///
    /// # Errors
    /// If the device has no room left, or if a request lies beyond the device. The engine must not be used after an
    /// error.
    pub fn step(&mut self) -> Result<bool, SimError> {
        let Some(event) = self.link.events.take() else {
            return Ok(false);
        };
        self.handle_outlined(event, &mut [].iter())
            .map_err(|error| *error)?;
        Ok(true)
    }

    /// The time of the next event in ticks, if there is one.
    #[must_use]
    pub fn next_time(&self) -> Option<Ticks> {
        self.link.events.next_time()
    }

    /// The time of the last event, in ticks.
    #[must_use]
    pub fn now(&self) -> Ticks {
        self.link.events.now()
    }

    /// The probe of the run.
    #[must_use]
    pub fn probe(&self) -> &P {
        &self.link.probe
    }

    /// The probe of the run, as a mutable reference.
    pub fn probe_mut(&mut self) -> &mut P {
        &mut self.link.probe
    }

    /// The values that the run would have measured if it ended now. The device continues.
    #[must_use]
    pub fn measure(&mut self) -> Measured {
        self.measured.take_dirty_ages(&mut self.device);
        let now = self.link.events.now();
        let mut measured = self.measured.clone();
        measured.makespan = now - self.link.opened.unwrap_or(now);
        measured.responses.destage = self.link.destage_response.clone();
        measured.take_front(self.link.front_usage());
        let totals = self.link.totals(now);
        measured.take_device(&mut self.device, totals, now, &mut Silent);
        measured
    }
}
