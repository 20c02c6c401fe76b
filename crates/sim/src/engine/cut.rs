//! A run whose power fails: it goes on until a moment that is known only when something has happened.

use destage_base::Ticks;
use destage_device::Device;
use destage_trace::Request;

use super::{Engine, Mover};
use crate::error::SimError;
use crate::observer::Observer;

impl<'a, B: Mover> Engine<'a, B> {
    /// Goes on with `requests`, which follow those fed before, until the power fails; with `last` there are no more, and the device
    /// goes on by itself for as long as it has something to do. `fails_at` is asked after each moment that has passed, and gives
    /// the time of the failure once that is known: all that is due until then happens. Whether the power has not failed.
    ///
    /// # Errors
    /// As of [`Engine::feed`].
    pub fn feed_until(
        &mut self,
        requests: &[Request],
        last: bool,
        fails_at: &mut impl FnMut(&mut B, Ticks) -> Option<Ticks>,
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
            if let Some(at) = fails_at(&mut self.link.mover, now)
                && next.is_none_or(|next| next > at)
            {
                return Ok(false);
            }
            let Some(event) = self.link.events.take() else {
                break;
            };
            self.handle_once(event, &mut coming)
                .map_err(|error| *error)?;
        }
        Ok(true)
    }

    /// What is left when the power fails.
    #[must_use]
    pub fn into_parts(self) -> Parts<'a, B> {
        Parts {
            device: self.device,
            mover: self.link.mover,
            observer: self.link.observed.by,
            arrivals: self.arrived.first_index + self.arrived.count,
            begins: self.link.meter.begins(),
            now: self.link.events.now(),
        }
    }
}

/// The parts of an engine that goes on no more.
pub struct Parts<'a, B> {
    /// The device.
    pub device: Device,
    /// The mover of its bytes.
    pub mover: B,
    /// Its observer.
    pub observer: Box<dyn Observer + 'a>,
    /// Requests that arrived, those before the device was made anew included.
    pub arrivals: u64,
    /// By die, when its latest flash command began.
    pub begins: Vec<Ticks>,
    /// The time of the last event.
    pub now: Ticks,
}
