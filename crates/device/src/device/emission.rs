//! The emission of records. Effects on a page join the queues of the dies in the order of their emission.

use alloc::vec::Vec;

use destage_base::{Lpn, Ticks};
use destage_buffer::destage::{Destage, Grouping, PadContent};

use super::{Device, Ordering, Outcome};
use crate::driver::{Driver, Note};
use crate::idle::IdleTime;
use crate::operation::{PageOperation, Work};
use crate::order::{Next, Waiting};

impl Device {
    /// Emits the latest record of the buffer. If `waiter` is given, this request waits for the record. If the record
    /// is written back because of idle time, `idle` is this idle time.
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
        // Pages that stay in the buffer become clean in the order of their programs. With padding, this is the order
        // of page numbers, so such records are not handled here.
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
            // The program may end at once and change the table of records, so the record is looked up in each step.
            let operation = self.records[id].programs[index];
            self.effect(operation, now, driver)?;
        }
        Ok(())
    }

    /// Whether page operations are left out, because there is no flash and the driver allows this.
    #[inline(always)]
    pub(super) fn skips_flash<D: Driver>(&self) -> bool {
        D::SKIPS_HOLLOW && self.layer.is_hollow
    }

    /// Emits record `id` as a whole. Its programs join their queues when all padding has been read and the record no
    /// longer waits for an earlier effect on any of its pages.
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

    /// Releases the records that no longer wait for padding or earlier effects, and then the effects that waited for
    /// these records.
    pub(super) fn release_ready<D: Driver>(&mut self, now: Ticks, driver: &mut D) -> Outcome {
        while let Some(id) = self.ready.pop_front() {
            if self.dies.places_writes() && self.waits_for_dies(id) {
                continue;
            }
            self.release(id, now, driver)?;
        }
        Ok(())
    }

    /// Adds the programs of record `id` to the queues of their dies. Then handles the effects that waited for the
    /// record.
    pub(super) fn release<D: Driver>(&mut self, id: u32, now: Ticks, driver: &mut D) -> Outcome {
        let record = &mut self.records[id];
        let held = core::mem::take(&mut record.held);
        let programs = core::mem::take(&mut record.programs);
        for operation in &programs {
            if held {
                self.order.pop(operation.page());
            }
            if self.dies.places_writes() {
                // The layer chooses the dies of all programs before the first program begins.
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
        // If the programs have ended at once, the number may already belong to another record.
        let record = &mut self.records[id];
        if record.programs.is_empty() {
            record.programs = programs;
        }
        Ok(())
    }

    /// Whether record `id`, which was held until now, has to wait longer. This is so if one of its pages is being
    /// programmed, because the layer could send the next program of this page to another die.
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

    /// Handles an emitted effect on a page. The effect joins the queue of its die, or waits for its turn.
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
        // The layer could send the next effect to another die. There the next effect could overtake a program that is
        // in service, or a trim in the queue of the page's present die.
        let is_programming = self.dies.is_programming(page);
        if is_programming {
            self.order.push(page, Waiting::Program);
            self.order.push(page, Waiting::Operation(operation));
        } else if operation.is_trim() {
            self.order.push(page, Waiting::Trim);
        }
        is_programming
    }

    /// Called when an effect on `page` has joined a queue or ended. Handles the effects that waited for this effect.
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

    /// Called when `operation` has ended. Handles the effects that waited for its end.
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
