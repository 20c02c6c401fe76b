//! Program units: operations end with their unit, and requests that need durability have units completed.

use destage_base::{Lpn, Ticks};

use super::{Device, Outcome};
use crate::driver::Driver;
use crate::operation::{PageOperation, Work};

impl Device {
    /// The step in service at `die` has ended, where pages are programmed in units.
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

    /// The operation that programs or fills a unit, stood at `place` of the table, and has left `die` to the next, has ended.
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

    /// `operation` has joined the queue of its die: is it waited for until it is durable?
    #[inline(never)]
    pub(super) fn want_if_awaited(&mut self, operation: PageOperation) {
        let is_awaited = match operation.work() {
            Work::Destage(record, _) | Work::PadWrite(record) => {
                !self.records[record].waiters.is_empty()
            }
            _ => false,
        };
        // A request that needs one certain slot may wait for just this page.
        if is_awaited || self.is_drained || !self.waiters.of_one.is_empty() {
            self.dies.want(self.dies.ftl().die_of(operation.page()));
        }
    }

    /// Programs of `pages` that have been emitted are waited for until they are durable.
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

    /// All that has been emitted is waited for until it is durable.
    pub(super) fn want_all<D: Driver>(&mut self, now: Ticks, driver: &mut D) -> Outcome {
        if !self.dies.has_units() {
            return Ok(());
        }
        for die in 0..self.config.dies {
            self.want(die, now, driver)?;
        }
        Ok(())
    }

    /// A request waits until the pages in units of `die` are durable.
    fn want<D: Driver>(&mut self, die: u32, now: Ticks, driver: &mut D) -> Outcome {
        self.dies.want(die);
        match self.dies.may_fill(die) {
            true => self.activate(die, now, driver),
            false => Ok(()),
        }
    }

    /// A unit of `die` has been open for as long as it may.
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
