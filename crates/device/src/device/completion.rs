//! The start and the end of operations at dies, and the answers to requests that waited for these operations.

use destage_base::Ticks;
use destage_buffer::destage::{DirtyPage, Slot};

use super::{Device, Outcome};
use crate::driver::{Driver, Note, Progress, Token};
use crate::operation::{PageOperation, Work};

impl Device {
    /// Adds `operation` to the queue of its die. The method is inlined into the loops over pages, because a call
    /// would cost 9 instructions for each page.
    #[inline(always)]
    pub(super) fn enqueue<D: Driver>(
        &mut self,
        operation: PageOperation,
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        if self.skips_flash::<D>() {
            return self.page_done(operation, now, driver);
        }
        let die = self.dies.die_for(operation);
        if D::TAKES_TIME && self.dies.is_at_hand(die) {
            return self.begin_at_hand(die, operation, now, driver);
        }
        let idle = self.dies.push_at(die, operation, driver);
        if self.dies.has_units() {
            self.want_if_awaited(operation);
        }
        match idle {
            Some(die) => self.activate(die, now, driver),
            None => Ok(()),
        }
    }

    /// Begins `operation` at `die`, which is idle and has an empty queue.
    #[inline(always)]
    fn begin_at_hand<D: Driver>(
        &mut self,
        die: u32,
        operation: PageOperation,
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        let progress = self.dies.begin_at_hand(die, operation, driver)?;
        self.go_on_after(progress, die, now, driver)
    }

    /// Called when `die` has begun work that needs time. `progress` is the state of this work.
    #[inline(always)]
    pub(super) fn go_on_after<D: Driver>(
        &mut self,
        progress: Progress,
        die: u32,
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        match progress {
            Progress::Overlaps => self.hand_over(die, now, driver),
            Progress::Running | Progress::Ended => Ok(()),
        }
    }

    /// Lets `die` begin its next operation, because the operation that the die has begun waits with the driver.
    #[inline(never)]
    fn hand_over<D: Driver>(&mut self, die: u32, now: Ticks, driver: &mut D) -> Outcome {
        self.dies.hand_over(die);
        self.activate_if_busy(die, now, driver)
    }

    /// Lets `die` begin its next operations. Then lets the dies that waited for changes by these operations begin their
    /// own.
    #[inline(never)]
    pub(super) fn activate<D: Driver>(&mut self, die: u32, now: Ticks, driver: &mut D) -> Outcome {
        self.begin_next(die, now, driver)?;
        if self.dies.places_writes() {
            self.activate_stirred(now, driver)?;
        }
        Ok(())
    }

    /// Lets `die` alone begin its next operations.
    #[inline(always)]
    fn begin_next<D: Driver>(&mut self, die: u32, now: Ticks, driver: &mut D) -> Outcome {
        loop {
            match self.dies.start(die, now, driver)? {
                Progress::Ended if !D::TAKES_TIME => {
                    if let Some(operation) = self.dies.finish(die) {
                        self.page_done(operation, now, driver)?;
                    }
                }
                Progress::Overlaps if self.dies.hands_over() => self.dies.hand_over(die),
                _ => return Ok(()),
            }
        }
    }

    /// The driver reports that the transaction `token` no longer occupies its die, although it continues. The
    /// transaction is a page operation or consists of fillers. Lets the die begin the next operation.
    ///
    /// # Errors
    /// [`NoSpace`](destage_ftl::NoSpace) if the next operation finds no room.
    pub fn free<D: Driver>(&mut self, token: Token, now: Ticks, driver: &mut D) -> Outcome {
        let die = self.dies.die_of_token(token);
        self.dies.hand_over(die);
        self.activate(die, now, driver)
    }

    /// Handles the end of `operation`, whose transaction is at `place` of the table and no longer occupies `die`.
    #[inline(always)]
    pub(super) fn left_ended<D: Driver>(
        &mut self,
        (place, die): (u32, u32),
        operation: PageOperation,
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        if self.dies.has_units() && !operation.is_read() {
            return self.unit_ended((place, die), now, driver);
        }
        self.dies.finish_left(die, operation);
        self.page_done(operation, now, driver)?;
        self.activate_if_busy(die, now, driver)
    }

    /// Calls [`Device::activate`], unless `die` is known to have nothing to begin.
    #[inline(always)]
    pub(super) fn activate_if_busy<D: Driver>(
        &mut self,
        die: u32,
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        match self.dies.is_at_hand(die) {
            true => Ok(()),
            false => self.activate(die, now, driver),
        }
    }

    /// Starts the dies that were waiting for an event at another die. Each start may wake further dies. This is a loop,
    /// not a recursion, because an eviction of many pages wakes dies thousands of times.
    #[cold]
    pub(super) fn activate_stirred<D: Driver>(&mut self, now: Ticks, driver: &mut D) -> Outcome {
        while let Some(die) = self.dies.next_stirred() {
            self.begin_next(die, now, driver)?;
        }
        Ok(())
    }

    #[inline(always)]
    pub(super) fn page_done<D: Driver>(
        &mut self,
        operation: PageOperation,
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        driver.note(&Note::Ended(operation));
        match operation.work() {
            Work::HostRead(token) => self.operation_done(token, driver),
            Work::HostWrite(token) => {
                self.at_risk.leaving -= 1;
                self.note_clean(now);
                if self.is_last(token) {
                    driver.answer(token);
                }
            }
            _ => return self.other_done(operation, now, driver),
        }
        if self.dies.places_writes() && !self.order.is_empty() {
            self.effect_ended(operation, now, driver)?;
        }
        Ok(())
    }

    /// [`Device::page_done`] for the less frequent kinds of work. It is not inlined into the frequent path.
    #[inline(never)]
    fn other_done<D: Driver>(
        &mut self,
        operation: PageOperation,
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        match operation.work() {
            Work::HostRead(_) | Work::HostWrite(_) => {}
            Work::Trim(token) => self.operation_done(token, driver),
            Work::Destage(record, slot) => {
                self.at_risk.leaving -= 1;
                let page = DirtyPage {
                    page: operation.page(),
                    slot,
                };
                let retain = self.records[record].retain;
                self.buffer.programmed(page, retain, now);
                driver.note(&Note::Changed(&self.buffer));
                self.program_done(record, now, driver)?;
                self.hand_out_place(slot, driver);
                self.hand_out_slots(driver);
            }
            Work::OwedWrite(record) => {
                self.at_risk.leaving -= 1;
                self.program_done(record, now, driver)?;
            }
            Work::PadWrite(record) | Work::OwedTrim(record) => {
                self.program_done(record, now, driver)?;
            }
            Work::PadRead(record) => {
                let state = &mut self.records[record];
                state.reads_left -= 1;
                if state.may_go() {
                    self.ready.push_back(record);
                    self.release_ready(now, driver)?;
                }
                return Ok(());
            }
            Work::Fill(token) => {
                self.operation_done(token, driver);
                if self.order.fill_ended(operation.page()) {
                    self.advance(operation.page(), now, driver)?;
                    self.release_ready(now, driver)?;
                }
                return Ok(());
            }
        }
        if self.dies.places_writes() && !self.order.is_empty() {
            self.effect_ended(operation, now, driver)?;
        }
        Ok(())
    }

    /// Called when one of the operations for which request `token` waits is done. If it was the last one, answers the
    /// request.
    #[inline(always)]
    pub(super) fn operation_done<D: Driver>(&mut self, token: u32, driver: &mut D) {
        if self.is_last(token) {
            answer(token, driver);
        }
    }

    /// Called when one of the operations for which request `token` waits is done. Returns whether it was the last
    /// one.
    #[inline(always)]
    fn is_last(&mut self, token: u32) -> bool {
        let remaining = &mut self.remaining[token as usize];
        *remaining -= 1;
        *remaining == 0
    }

    /// Handles the end of one program of record `id`.
    pub(super) fn program_done<D: Driver>(
        &mut self,
        id: u32,
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        let record = &mut self.records[id];
        record.writes_left -= 1;
        let idle = record.idle;
        if record.writes_left > 0 {
            return self.go_on_idling(idle, false, now, driver);
        }
        if record.destaged {
            driver.note(&Note::RecordEnded {
                emitted: record.emitted,
                now,
            });
        }
        let waiters = core::mem::take(&mut record.waiters);
        self.records.free(id);
        self.note_clean(now);
        for waiter in waiters {
            self.operation_done(waiter, driver);
        }
        self.go_on_idling(idle, true, now, driver)
    }

    /// Called when the program of the page in `slot` has ended. If another page waits for this slot, it gets the
    /// slot.
    pub(super) fn hand_out_place<D: Driver>(&mut self, slot: Slot, driver: &mut D) {
        if self.waiters.of_one.is_empty() || self.buffer.is_leaving(slot) {
            return;
        }
        if let Some(token) = self.waiters.of_one.remove(slot) {
            driver.note(&Note::SlotGiven);
            self.operation_done(token, driver);
        }
    }

    /// Assigns free slots to the pages that wait for any slot. The page that has waited longest is first.
    #[inline]
    pub(super) fn hand_out_slots<D: Driver>(&mut self, driver: &mut D) {
        if !self.waiters.of_any.is_empty() {
            self.hand_out_slots_in_order(driver);
        }
    }

    #[inline(never)]
    fn hand_out_slots_in_order<D: Driver>(&mut self, driver: &mut D) {
        let over = self.buffer.over_capacity() as usize;
        while self.waiters.of_any.len() > over {
            if let Some(token) = self.waiters.of_any.pop_front() {
                driver.note(&Note::SlotGiven);
                self.operation_done(token, driver);
            }
        }
    }

    /// Called when a program has ended or a page is no longer needed. If the device is clean, records the time.
    #[inline]
    pub(super) fn note_clean(&mut self, now: Ticks) {
        if self.at_risk.leaving == 0 && self.is_clean() {
            self.at_risk.clean_since = now;
        }
    }

    #[inline]
    pub(super) fn note_at_risk(&mut self) {
        let at_risk = self.at_risk.leaving + u64::from(self.buffer.dirty());
        self.at_risk.max = self.at_risk.max.max(at_risk);
    }
}

/// Answers request `token`, which waits for no operation any more.
#[inline(never)]
fn answer<D: Driver>(token: u32, driver: &mut D) {
    driver.answer(token);
}
