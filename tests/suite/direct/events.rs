//! A list of events in the order of their times. Events with equal times are in the order in which they were
//! scheduled.

use std::collections::BTreeMap;

use destage_base::Ticks;

/// The scheduled events and the clock. This list shares no code with the simulator's list, so a mistake in one
/// list is not repeated in the other.
#[derive(Default)]
pub(super) struct EventList<E> {
    now: Ticks,
    scheduled: u64,
    due: BTreeMap<(Ticks, u64), E>,
}

impl<E> EventList<E> {
    /// The time of the last event that was removed from the list.
    pub fn now(&self) -> Ticks {
        self.now
    }

    /// The time of the next event, or `None`.
    pub fn next_time(&self) -> Option<Ticks> {
        self.due.first_key_value().map(|(&(time, _), _)| time)
    }

    /// Schedules `event` at `time`, or now if that time has passed.
    pub fn at(&mut self, time: Ticks, event: E) {
        self.scheduled += 1;
        self.due.insert((time.max(self.now), self.scheduled), event);
    }

    /// Schedules `event` after `delay`.
    pub fn after(&mut self, delay: Ticks, event: E) {
        self.at(self.now + delay, event);
    }

    /// Removes and returns the next event, and advances the clock to the time of this event.
    pub fn take(&mut self) -> Option<E> {
        let ((time, _), event) = self.due.pop_first()?;
        self.now = time;
        Some(event)
    }
}
