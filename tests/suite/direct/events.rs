//! Events in the order of their times; of equal times, in the order in which they were scheduled.

use std::collections::BTreeMap;

use destage_base::Ticks;

/// What is due, and the clock. It shares nothing with the list of the simulator, so that neither can hide a mistake of the
/// other.
#[derive(Default)]
pub(super) struct EventList<E> {
    now: Ticks,
    scheduled: u64,
    due: BTreeMap<(Ticks, u64), E>,
}

impl<E> EventList<E> {
    /// The time of the event that was taken last.
    pub fn now(&self) -> Ticks {
        self.now
    }

    /// When the next event is due, if there is one.
    pub fn next_time(&self) -> Option<Ticks> {
        self.due.first_key_value().map(|(&(time, _), _)| time)
    }

    /// Schedules `event` at `time`; a time that has passed means now.
    pub fn at(&mut self, time: Ticks, event: E) {
        self.scheduled += 1;
        self.due.insert((time.max(self.now), self.scheduled), event);
    }

    /// Schedules `event` when `delay` has passed.
    pub fn after(&mut self, delay: Ticks, event: E) {
        self.at(self.now + delay, event);
    }

    /// Takes the next event and moves the clock to it.
    pub fn take(&mut self) -> Option<E> {
        let ((time, _), event) = self.due.pop_first()?;
        self.now = time;
        Some(event)
    }
}
