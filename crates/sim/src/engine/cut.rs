//! A run in which the power fails, at a moment that may become known only during the run.

use destage_base::Ticks;
use destage_device::Device;
use destage_trace::Request;

use super::{Engine, Probe};
use crate::error::SimError;
use crate::measured::Measured;
use crate::observer::Observer;

impl<'a, P: Probe> Engine<'a, P> {
    /// Simulates `requests`, which follow the requests of earlier calls, until the power fails. With `last` there are
    /// no more requests, and the run continues until no event is left. `fails_at` is called before each event. It
    /// returns the time of the failure, or `None` as long as this time is not known. Events up to the time of the
    /// failure still happen. Returns `true` if the power has not failed.
    ///
    /// # Errors
    /// The errors are those of [`Engine::feed`].
    pub fn feed_until(
        &mut self,
        requests: &[Request],
        last: bool,
        fails_at: &mut impl FnMut(&mut P, Ticks) -> Option<Ticks>,
    ) -> Result<bool, SimError> {
        let mut coming = requests.iter();
        if !self.has_begun {
            let Some(first) = coming.next() else {
                return Ok(true);
            };
            self.begin(Some(*first)).map_err(|error| *error)?;
        }
        while last || !coming.as_slice().is_empty() {
            let now = self.link.events.now();
            let next = self.link.events.next_time();
            if let Some(at) = fails_at(&mut self.link.probe, now)
                && next.is_none_or(|next| next > at)
            {
                return Ok(false);
            }
            let Some(event) = self.link.events.take() else {
                break;
            };
            self.handle_outlined(event, &mut coming)
                .map_err(|error| *error)?;
        }
        Ok(true)
    }

    /// Closes statistics, because the power has failed at `time`, and reports the requests that are not complete to the
    /// observer. Returns the values measured until then; `None` if no request had arrived after the warm-up.
    pub fn close_at_loss(&mut self, time: Ticks) -> Option<Measured> {
        self.link.probe.moment(time, &self.device);
        self.close_at(time);
        self.report_unfinished();
        self.link
            .opened
            .is_some()
            .then(|| std::mem::take(&mut self.measured))
    }

    /// The parts of the engine, after the power has failed.
    #[must_use]
    pub fn into_parts(self) -> Parts<'a, P> {
        Parts {
            device: self.device,
            probe: self.link.probe,
            observer: self.link.observed.by,
            arrivals: self.arrived.first_index + self.arrived.count,
            begins: self.link.meter.begins(),
            now: self.link.events.now(),
        }
    }
}

/// The parts of an engine that has stopped.
pub struct Parts<'a, P> {
    /// The device.
    pub device: Device,
    /// The probe of the run.
    pub probe: P,
    /// The observer of the run.
    pub observer: Box<dyn Observer + 'a>,
    /// Number of requests that arrived, including requests of earlier engines (see [`Engine::go_on_from`]).
    pub arrivals: u64,
    /// For each die: the start of its latest step, or 0 if the die has had none. It is not used if commands are timed
    /// one by one.
    pub begins: Vec<Ticks>,
    /// The time of the last event, in ticks.
    pub now: Ticks,
}
