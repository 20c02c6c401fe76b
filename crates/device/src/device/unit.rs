//! Program units in the device. Operations end when their unit ends, and units are completed for requests that wait
//! for durable data.

use destage_base::{Lpn, Ticks};

use super::{Device, Outcome};
use crate::driver::Driver;
use crate::operation::{PageOperation, Work};

impl Device {
    /// Handles the end of the step in service at `die`, if pages are programmed in units.
    #[inline(never)]
    pub(super) fn complete_in_units<D: Driver>(
        &mut self,
        die: u32,
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        let mut ended = core::mem::take(&mut self.ended);
        self.dies.finish_units(die, &mut ended);
        for operation in ended.drain(..) {
            self.page_done(operation, now, driver)?;
        }
        self.ended = ended;
        self.activate(die, now, driver)
    }

    /// Handles the end of an operation that programs pages of a unit, or of fillers. The transaction is at `place` of
    /// the table, and no longer occupies `die`.
    #[inline(never)]
    pub(super) fn unit_ended<D: Driver>(
        &mut self,
        (place, die): (u32, u32),
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        self.dies.finish_queued(die);
        for operation in self.dies.finish_unit(die, place) {
            self.page_done(operation, now, driver)?;
        }
        self.activate_if_busy(die, now, driver)
    }

    /// Called when `operation` has joined the queue of its die. If a request waits until the page is durable, its
    /// unit has to be completed.
    #[inline(never)]
    pub(super) fn want_if_awaited(&mut self, operation: PageOperation) {
        let is_awaited = match operation.work() {
            Work::Destage(record, _) | Work::PadWrite(record) => {
                !self.records[record].waiters.is_empty()
            }
            _ => false,
        };
        // A request that waits for a particular slot may wait for the program of this page.
        if is_awaited || self.is_drained || !self.waiters.of_one.is_empty() {
            self.dies.want(self.dies.ftl().die_of(operation.page()));
        }
    }

    /// Lets dies complete the units of the emitted `pages`, because a request waits until they are durable.
    pub(super) fn want_pages<D: Driver>(
        &mut self,
        pages: &[Lpn],
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        if !self.dies.has_units() {
            return Ok(());
        }
        for page in pages {
            self.want(self.dies.ftl().die_of(*page), now, driver)?;
        }
        Ok(())
    }

    /// Lets dies complete all units, because a request waits until everything that has been emitted is durable.
    pub(super) fn want_all<D: Driver>(&mut self, now: Ticks, driver: &mut D) -> Outcome {
        if !self.dies.has_units() {
            return Ok(());
        }
        for die in 0..self.config.dies {
            self.want(die, now, driver)?;
        }
        Ok(())
    }

    /// Lets `die` complete its units, because a request waits until their pages are durable.
    fn want<D: Driver>(&mut self, die: u32, now: Ticks, driver: &mut D) -> Outcome {
        self.dies.want(die);
        match self.dies.may_fill(die) {
            true => self.activate(die, now, driver),
            false => Ok(()),
        }
    }

    /// Called when a unit of `die` has been incomplete for the longest allowed time.
    pub(super) fn time_of_unit_is_up<D: Driver>(
        &mut self,
        die: u32,
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        self.dies.alarm_units(die);
        self.activate(die, now, driver)
    }
}
