//! The device offers idle time to the buffer scheme, which may then write back pages.

use destage_base::Ticks;

use super::{Device, Outcome};
use crate::driver::Driver;
use crate::idle::{Idle, IdleTime};

impl Device {
    /// Asks the scheme for pages to write back, if the idle time `time` still lasts.
    pub(super) fn use_idle_time<D: Driver>(
        &mut self,
        time: IdleTime,
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        let Some(idle) = &mut self.idle else {
            return Ok(());
        };
        if !idle.lasts(time) {
            return Ok(());
        }
        let answered = if idle.groups() == 1 {
            self.buffer.idle(now, &self.dies)
        } else {
            self.buffer.idle_in(time.group, now, &self.dies)
        };
        idle.note(time, answered);
        if answered {
            self.emit(None, Some(time), now, driver)
        } else {
            Ok(())
        }
    }

    /// Called when a page has been programmed. Asks the scheme again, if its idle rule says so. `time` is the idle
    /// time in which the page was written back; `None` if it was written back for another reason. `last` says whether
    /// the page was the last of its record.
    pub(super) fn go_on_idling<D: Driver>(
        &mut self,
        time: Option<IdleTime>,
        last: bool,
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        let Some(idle) = &self.idle else {
            return Ok(());
        };
        let after_page = idle.asks_after_page();
        match time.filter(|time| idle.lasts(*time)) {
            Some(time) if last || after_page => self.use_idle_time(time, now, driver),
            None if after_page => self.ask_who_declined(now, driver),
            _ => Ok(()),
        }
    }

    /// Asks again whether there is something to write back, for each group of pages for which the scheme had nothing in
    /// the present idle time. The scheme may have needed an idle die, and a die may be idle now.
    pub(super) fn ask_who_declined<D: Driver>(&mut self, now: Ticks, driver: &mut D) -> Outcome {
        let groups = self.idle.as_ref().map_or(0, Idle::groups);
        for group in 0..groups {
            let declined = self.idle.as_ref().and_then(|idle| idle.declined(group));
            if let Some(time) = declined {
                self.use_idle_time(time, now, driver)?;
            }
        }
        Ok(())
    }
}
