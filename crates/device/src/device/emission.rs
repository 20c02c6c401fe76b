//! Records are emitted, and effects on pages go to the dies in the order of their emission.

use alloc::vec::Vec;

use destage_base::{Lpn, Ticks};
use destage_buffer::destage::{Destage, Grouping, PadContent};

use super::{Device, Ordering, Outcome};
use crate::driver::{Driver, Note};
use crate::idle::IdleTime;
use crate::operation::{PageOperation, Work};
use crate::order::{Next, Waiting};

impl Device {
    /// Emits the latest record of the buffer. If there is a `waiter`, this request waits for the record. `idle` is
    /// the idle time in which the record is written back, if it is written back for that reason.
    pub(super) fn emit<D: Driver>(
        &mut self,
        waiter: Option<u32>,
        idle: Option<IdleTime>,
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        let destage = self.buffer.record();
        driver.note(&Note::Emitted(destage, now));
        driver.note(&Note::Changed(&self.buffer));
        // Pages that stay in the buffer become clean in the order of their programs, which is the order of pages if
        // there is padding.
        if self.skips_flash::<D>() && idle.is_none() && (!destage.retain || destage.pads.is_empty())
        {
            self.buffer.record_programmed(now);
            driver.note(&Note::RecordEnded { emitted: now, now });
            self.note_clean(now);
            return Ok(());
        }
        self.at_risk.leaving += destage.pages.len() as u64;
        let id = self
            .records
            .insert_reused(|record| record.reset(now, waiter));
        let record = &mut self.records[id];
        record.retain = destage.retain;
        record.destaged = true;
        record.idle = idle;
        record.take_programs(id, destage, self.layer.long_pages);
        if let Some(waiter) = waiter {
            self.remaining[waiter as usize] += 1;
        }
        if !destage.pads.is_empty() || destage.grouping == Grouping::Cluster {
            return self.emit_whole(id, now, driver);
        }
        for index in 0..self.records[id].programs.len() {
            // If the last program has ended at once, the record is gone, so its list is looked up in each step.
            let operation = self.records[id].programs[index];
            self.effect(operation, now, driver)?;
        }
        Ok(())
    }

    /// Whether pages need no flash operation, because there is no flash. A driver has to agree to this.
    #[inline(always)]
    pub(super) fn skips_flash<D: Driver>(&self) -> bool {
        D::SKIPS_HOLLOW && self.layer.is_hollow
    }

    /// Emits record `id` as a whole: its programs begin when its padding is read and no earlier effect on any of
    /// its pages is left.
    pub(super) fn emit_whole<D: Driver>(&mut self, id: u32, now: Ticks, driver: &mut D) -> Outcome {
        let reads = pages_to_read(self.buffer.record());
        let record = &mut self.records[id];
        record.reads_left = reads.len() as u32;
        if self.config.ordering == Ordering::Strict {
            let mut blocked = 0;
            for operation in &record.programs {
                let page = operation.page();
                if self.dies.places_writes()
                    && !self.order.has(page)
                    && self.dies.is_programming(page)
                {
                    self.order.push(page, Waiting::Program);
                }
                blocked += u32::from(self.order.has(page));
            }
            record.blocked = blocked;
            record.held = blocked > 0 || !reads.is_empty();
            if record.held {
                for operation in &record.programs {
                    let page = operation.page();
                    self.order.push_record(page, id, !self.order.has(page));
                }
            }
        }
        if reads.is_empty() && record.blocked == 0 {
            return self.release(id, now, driver);
        }
        for page in reads {
            self.enqueue(PageOperation::new(page, Work::PadRead(id)), now, driver)?;
        }
        Ok(())
    }

    /// Releases the records that nothing holds back any more, and then the effects that waited for them.
    pub(super) fn release_ready<D: Driver>(&mut self, now: Ticks, driver: &mut D) -> Outcome {
        while let Some(id) = self.ready.pop_front() {
            if self.dies.places_writes() && self.waits_for_dies(id) {
                continue;
            }
            self.release(id, now, driver)?;
        }
        Ok(())
    }

    /// Adds the programs of record `id` to the queues of their dies. Then effects that waited for the record go on.
    pub(super) fn release<D: Driver>(&mut self, id: u32, now: Ticks, driver: &mut D) -> Outcome {
        let record = &mut self.records[id];
        let held = core::mem::take(&mut record.held);
        let programs = core::mem::take(&mut record.programs);
        for operation in &programs {
            if held {
                self.order.pop(operation.page());
            }
            if self.dies.places_writes() {
                // All programs get their dies before any of them begins.
                self.dies.push_and_stir(*operation, driver);
                if self.dies.has_units() {
                    self.want_if_awaited(*operation);
                }
            } else {
                self.enqueue(*operation, now, driver)?;
            }
        }
        if self.dies.places_writes() {
            self.activate_stirred(now, driver)?;
        }
        if held {
            for operation in &programs {
                self.advance(operation.page(), now, driver)?;
            }
        }
        // If the programs have ended at once, another record may have this number by now.
        let record = &mut self.records[id];
        if record.programs.is_empty() {
            record.programs = programs;
        }
        Ok(())
    }

    /// Whether record `id`, which was held until now, has to wait longer, because an earlier effect on one of its
    /// pages is being programmed and the layer could send the record to another die.
    pub(super) fn waits_for_dies(&mut self, id: u32) -> bool {
        let record = &mut self.records[id];
        if record.held {
            for operation in &record.programs {
                let page = operation.page();
                if self.dies.is_programming(page) {
                    self.order.push_program_before_record(page);
                    record.blocked += 1;
                }
            }
        }
        record.blocked > 0
    }

    /// Handles an effect on a page that has been emitted: it joins the queue of its die, or waits for its turn.
    #[inline]
    pub(super) fn effect<D: Driver>(
        &mut self,
        operation: PageOperation,
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        if !self.joins_at_once() && self.has_to_wait(operation) {
            return Ok(());
        }
        self.enqueue(operation, now, driver)
    }

    /// Whether every effect that is emitted now can join the queue of its die without waiting.
    #[inline]
    pub(super) fn joins_at_once(&self) -> bool {
        self.config.ordering != Ordering::Strict
            || (self.order.is_empty() && !self.dies.places_writes())
    }

    pub(super) fn has_to_wait(&mut self, operation: PageOperation) -> bool {
        let page = operation.page();
        if self.order.has(page) {
            self.order.push(page, Waiting::Operation(operation));
            return true;
        }
        if !self.dies.places_writes() {
            return false;
        }
        // The layer could send the next effect to another die. There it would overtake an effect that is being
        // served, or a trim, which stays at the page's present die.
        let is_programming = self.dies.is_programming(page);
        if is_programming {
            self.order.push(page, Waiting::Program);
            self.order.push(page, Waiting::Operation(operation));
        } else if operation.is_trim() {
            self.order.push(page, Waiting::Trim);
        }
        is_programming
    }

    /// Called when an effect on `page` has joined a queue or ended: lets the effects go that waited for it.
    pub(super) fn advance<D: Driver>(&mut self, page: Lpn, now: Ticks, driver: &mut D) -> Outcome {
        loop {
            if self.dies.places_writes() && self.order.has(page) {
                if self.order.is_under_way(page) {
                    return Ok(());
                }
                if self.dies.is_programming(page) {
                    self.order.push_first(page, Waiting::Program);
                    return Ok(());
                }
            }
            match self.order.next(page) {
                Next::Nobody | Next::Stays => return Ok(()),
                Next::Operation(operation) => {
                    if self.dies.places_writes() && operation.is_trim() {
                        self.order.push_first(page, Waiting::Trim);
                    }
                    self.enqueue(operation, now, driver)?;
                }
                Next::Record(id) => {
                    let record = &mut self.records[id];
                    record.blocked -= 1;
                    if record.may_go() {
                        self.ready.push_back(id);
                    }
                    return Ok(());
                }
            }
        }
    }

    /// Called when `operation` has ended: lets the effects go that waited for its end.
    #[cold]
    pub(super) fn effect_ended<D: Driver>(
        &mut self,
        operation: PageOperation,
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        let page = operation.page();
        if self.order.effect_ended(operation) {
            self.advance(page, now, driver)?;
            self.release_ready(now, driver)?;
        }
        Ok(())
    }
}

/// The pages that have to be read to pad `destage`.
fn pages_to_read(destage: &Destage) -> Vec<Lpn> {
    let pads = destage.pads.iter();
    pads.filter(|pad| pad.content == PadContent::Read)
        .map(|pad| pad.page)
        .collect()
}
