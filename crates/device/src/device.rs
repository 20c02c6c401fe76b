//! The device: what becomes of a host request, page by page.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use destage_base::{Lpn, Ticks};
use destage_buffer::destage::{Destage, DestageCause, DirtyPage, Grouping, Slot};
use destage_buffer::{Buffer, ReadStep, Step};
use destage_flash::Ftl;
use destage_flash::ftl::NoSpace;

use crate::dies::Dies;
use crate::driver::{Driver, Progress};
use crate::idle::{Idle, IdleTime};
use crate::operation::{PageOperation, Work};
use crate::order::{Next, Waiting, WriteOrder};
use crate::record::{Record, bypass_record};
use crate::request::{Request, RequestKind, Span};
use crate::slab::Slab;

/// What a step of the device comes to. An error is final: the device is used no more.
pub type Outcome = Result<(), NoSpace>;

/// Whether effects on one page happen in the order of their emission.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ordering {
    /// Always.
    #[default]
    Strict,
    /// As the reference simulator does: nothing waits but a record for its own padding reads. Never with data.
    Reference,
}

/// What a device promises, and how it takes requests in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeviceConfig {
    /// Blocks of a die.
    pub blocks_per_die: u32,
    /// Dies.
    pub dies: u32,
    /// A partly written page that is not in the buffer is completed by a read.
    pub reads_partial: bool,
    /// Order of effects on one page.
    pub ordering: Ordering,
    /// The write cache is volatile and used as such: writes are answered from RAM. Otherwise each is answered as if
    /// it had force unit access.
    pub volatile_cache: bool,
    /// A trim writes zeros, so that it survives a loss of power.
    pub strict_trim: bool,
    /// Commands name every page and what it is to hold.
    pub detailed: bool,
    /// Parallel units of a die are used: the driver serves batches.
    pub batches: bool,
}

impl DeviceConfig {
    /// `dies` dies of `blocks_per_die` blocks that keep write order, with a volatile cache.
    #[must_use]
    pub fn new(dies: u32, blocks_per_die: u32) -> Self {
        Self {
            blocks_per_die,
            dies,
            reads_partial: false,
            ordering: Ordering::Strict,
            volatile_cache: true,
            strict_trim: false,
            detailed: false,
            batches: true,
        }
    }
}

/// One device. See the [crate](crate).
pub struct Device {
    config: DeviceConfig,
    buffer: Buffer,
    dies: Dies,
    /// Pages the device offers.
    pages: u64,
    long_pages: Option<u32>,
    /// By token: page operations not done, and one while the request is being taken in.
    remaining: Vec<u32>,
    records: Slab<Record>,
    order: WriteOrder,
    /// Records that nothing holds back any more.
    ready: VecDeque<u32>,
    /// Requests of the pages that have no slot yet, in order of the pages.
    slot_waiters: VecDeque<u32>,
    /// By slot, the request of the page that waits for just this one.
    place_waiters: BTreeMap<u32, u32>,
    idle: Option<Idle>,
    /// Pages emitted or written past the buffer whose program has not ended.
    leaving: u64,
    at_risk_max: u64,
    /// Kept for its memory only.
    ended: Vec<PageOperation>,
}

impl Device {
    /// An idle device of `buffer` over `ftl`.
    #[must_use]
    pub fn new(config: DeviceConfig, buffer: Buffer, ftl: Box<dyn Ftl>) -> Self {
        let pages = ftl.pages();
        let long_pages = ftl.properties().long_write_pages;
        let idle = Idle::of(&buffer);
        Self {
            dies: Dies::new(ftl, &config),
            config,
            buffer,
            pages,
            long_pages,
            remaining: Vec::new(),
            records: Slab::default(),
            order: WriteOrder::default(),
            ready: VecDeque::new(),
            slot_waiters: VecDeque::new(),
            place_waiters: BTreeMap::new(),
            idle,
            leaving: 0,
            at_risk_max: 0,
            ended: Vec::new(),
        }
    }

    /// Logical pages the device offers.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// The buffer.
    #[must_use]
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// The buffer, for a statistic that closes.
    pub fn buffer_mut(&mut self) -> &mut Buffer {
        &mut self.buffer
    }

    /// The translation layer.
    #[must_use]
    pub fn ftl(&self) -> &dyn Ftl {
        self.dies.ftl()
    }

    /// The translation layer, to learn from before the first request.
    pub fn ftl_mut(&mut self) -> &mut dyn Ftl {
        self.dies.ftl_mut()
    }

    /// The most pages that a loss of power would have lost at one moment: dirty in the buffer, leaving it, held back,
    /// or written past it, until their programs have ended.
    #[must_use]
    pub fn at_risk_max(&self) -> u64 {
        self.at_risk_max
    }

    /// Whether nothing is on its way to the flash that no request waits for.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.records.is_empty()
    }

    /// The host has a request for `span` for the device: idle time of its pages ends. The request itself may come
    /// later.
    #[inline]
    pub fn announce(&mut self, span: &Span) {
        if let Some(idle) = &mut self.idle {
            idle.end(span, self.pages, &self.buffer);
        }
    }

    /// The host has the answer to a request for `span` that it announced.
    #[inline]
    pub fn retire<D: Driver>(&mut self, span: &Span, driver: &mut D) {
        if let Some(idle) = &mut self.idle {
            let after = idle.rule.after;
            idle.begin(span, self.pages, &self.buffer, |alarm| {
                driver.wake_after(after, alarm);
            });
        }
    }

    /// Takes `request` in. It is answered under `token`, a small number that is free again after that.
    ///
    /// # Errors
    /// [`NoSpace`] if the flash has no room left.
    #[inline]
    pub fn submit<D: Driver>(
        &mut self,
        token: u32,
        request: &Request,
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        if token as usize >= self.remaining.len() {
            self.remaining.resize(token as usize + 1, 0);
        }
        self.remaining[token as usize] = 1;
        match request.kind {
            RequestKind::Read => self.read(token, &request.span, now, driver)?,
            RequestKind::Write | RequestKind::WriteZeroes => {
                self.write(token, request, now, driver)?;
            }
            RequestKind::Trim => self.trim(token, request, now, driver)?,
            RequestKind::Flush => self.flush(token, now, driver)?,
        }
        self.operation_done(token, driver);
        Ok(())
    }

    /// The command in service at `die` has ended.
    ///
    /// # Errors
    /// [`NoSpace`] if what comes next finds no room.
    #[inline]
    pub fn complete<D: Driver>(&mut self, die: u32, now: Ticks, driver: &mut D) -> Outcome {
        if let Some(operation) = self.dies.finish(die) {
            self.page_done(operation, now, driver)?;
            if self.dies.places_writes() {
                self.activate_stirred(now, driver)?;
            }
        }
        self.activate(die, now, driver)
    }

    /// The operation at `position` of the batch in service at `die` has ended.
    ///
    /// # Errors
    /// [`NoSpace`] if what comes next finds no room.
    pub fn complete_batched<D: Driver>(
        &mut self,
        die: u32,
        position: u16,
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        let mut ended = core::mem::take(&mut self.ended);
        self.dies.finish_batched(die, position, &mut ended);
        for operation in ended.drain(..) {
            self.page_done(operation, now, driver)?;
        }
        self.ended = ended;
        self.activate(die, now, driver)
    }

    /// The time of `alarm` has come.
    ///
    /// # Errors
    /// [`NoSpace`] if what is written back finds no room.
    pub fn wake<D: Driver>(&mut self, alarm: u32, now: Ticks, driver: &mut D) -> Outcome {
        let time = self.idle.as_mut().and_then(|idle| idle.take_alarm(alarm));
        match time {
            Some(time) => self.use_idle_time(time, now, driver),
            None => Ok(()),
        }
    }

    /// Destages everything dirty at the end of a run. It is done when the device [is settled](Self::is_settled).
    ///
    /// # Errors
    /// [`NoSpace`] if that finds no room.
    pub fn drain<D: Driver>(&mut self, now: Ticks, driver: &mut D) -> Outcome {
        while self.buffer.flush_next(DestageCause::Drain, now, &self.dies) {
            self.emit(None, None, now, driver)?;
        }
        Ok(())
    }

    // ---- requests ----------------------------------------------------------------------------------------

    /// Pages in the buffer are served from there, the others from the flash.
    fn read<D: Driver>(&mut self, token: u32, span: &Span, now: Ticks, driver: &mut D) -> Outcome {
        self.buffer.begin_request(span.pages);
        for offset in 0..span.pages {
            let page = span.page(offset, self.pages);
            let found = self.buffer.read(page, now);
            let misses = matches!(found, ReadStep::Miss | ReadStep::MissAllocates);
            driver.read(page, offset, !misses);
            if misses {
                self.remaining[token as usize] += 1;
                self.enqueue(PageOperation::new(page, Work::HostRead(token)), now, driver)?;
            }
            if matches!(found, ReadStep::HitAllocates | ReadStep::MissAllocates) {
                let step = self.buffer.place(now, &self.dies);
                self.make_room(token, step, now, driver)?;
            }
        }
        Ok(())
    }

    /// Presents the pages of a write one by one. All of them are taken in at once, so that their victims are
    /// programmed side by side; the request is answered when each page has a slot.
    fn write<D: Driver>(
        &mut self,
        token: u32,
        request: &Request,
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        let span = &request.span;
        self.buffer.begin_request(span.pages);
        if self.buffer.bypasses(span.pages) {
            return self.bypass(token, span, now, driver);
        }
        for offset in 0..span.pages {
            let page = span.page(offset, self.pages);
            let step = self.buffer.write(page, now, &self.dies);
            if step != Step::Hit {
                self.make_room(token, step, now, driver)?;
                if self.config.reads_partial && span.is_partial(offset) {
                    self.fill_partial(token, span, offset, now, driver)?;
                }
            }
            self.note_at_risk();
            driver.taken_in(page, offset);
        }
        if request.fua || !self.config.volatile_cache {
            self.force(token, span, now, driver)?;
        }
        Ok(())
    }

    /// Emits records until the pending page of request `token` is in, and lets the request wait for its slot.
    fn make_room<D: Driver>(
        &mut self,
        token: u32,
        mut step: Step,
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        while step == Step::Destage {
            self.emit(None, None, now, driver)?;
            step = self.buffer.place(now, &self.dies);
        }
        debug_assert!(step != Step::Wait, "every page is taken in");
        self.wait_for_slot(token);
        Ok(())
    }

    /// Lets request `token` wait for what the page it placed last needs, if that is not there yet.
    fn wait_for_slot(&mut self, token: u32) {
        if self.buffer.waits_for_its_place() {
            while let Some(slot) = self.buffer.next_pending_victim() {
                // Its program may have ended when it began.
                if self.buffer.is_leaving(slot) {
                    self.place_waiters.insert(slot.0, token);
                    self.remaining[token as usize] += 1;
                }
            }
        } else if self.buffer.over_capacity() as usize > self.slot_waiters.len() {
            self.slot_waiters.push_back(token);
            self.remaining[token as usize] += 1;
        }
    }

    /// All pages of a write go past the buffer.
    fn bypass<D: Driver>(
        &mut self,
        token: u32,
        span: &Span,
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        let mut dropped = false;
        for offset in 0..span.pages {
            dropped |= self.buffer.bypass(span.page(offset, self.pages), now);
        }
        if driver.wants_records() {
            let pages = (0..span.pages).map(|offset| span.page(offset, self.pages));
            driver.record(&bypass_record(pages), now);
        }
        let work = if dropped && self.config.ordering == Ordering::Strict {
            // A flush has to wait for what takes the place of a page it covers.
            self.remaining[token as usize] += 1;
            let record = self.records.insert_reused(|record| {
                record.reset(now, Some(token));
                record.writes_left = span.pages;
            });
            Work::OwedWrite(record)
        } else {
            self.remaining[token as usize] += span.pages;
            Work::HostWrite(token)
        };
        let is_long = self.long_pages.is_some_and(|least| span.pages >= least);
        self.leaving += u64::from(span.pages);
        self.note_at_risk();
        for offset in 0..span.pages {
            if self.config.reads_partial && span.is_partial(offset) {
                self.fill_partial(token, span, offset, now, driver)?;
            }
            let page = span.page(offset, self.pages);
            driver.bypassed(page, offset);
            self.effect(
                PageOperation::new(page, work).with_long(is_long),
                now,
                driver,
            )?;
        }
        Ok(())
    }

    /// Page `offset` of a write, only partly covered, is read first if the flash has the rest.
    #[cold]
    fn fill_partial<D: Driver>(
        &mut self,
        token: u32,
        span: &Span,
        offset: u32,
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        let page = span.page(offset, self.pages);
        if !self.dies.ftl().is_written(page) {
            return Ok(());
        }
        self.remaining[token as usize] += 1;
        if self.config.ordering == Ordering::Strict {
            self.order.push(page, Waiting::Fill);
        }
        self.enqueue(PageOperation::new(page, Work::Fill(token)), now, driver)
    }

    /// Destages the pages of a write with force unit access, which waits for them.
    fn force<D: Driver>(&mut self, token: u32, span: &Span, now: Ticks, driver: &mut D) -> Outcome {
        if !self.buffer.config().honor_flush {
            return Ok(());
        }
        // Pages of a large write may have left already: their programs are waited for as well.
        self.wait_for_records(token);
        for offset in 0..span.pages {
            let page = span.page(offset, self.pages);
            if self.buffer.fua(page, now, &self.dies) {
                self.emit(Some(token), None, now, driver)?;
            }
        }
        Ok(())
    }

    /// Destages everything dirty for a flush, which waits for that and for what is on its way.
    fn flush<D: Driver>(&mut self, token: u32, now: Ticks, driver: &mut D) -> Outcome {
        if !self.buffer.config().honor_flush {
            return Ok(());
        }
        self.wait_for_records(token);
        while self.buffer.flush_next(DestageCause::Flush, now, &self.dies) {
            self.emit(Some(token), None, now, driver)?;
        }
        Ok(())
    }

    /// Lets request `token` wait for all that has been emitted.
    fn wait_for_records(&mut self, token: u32) {
        for record in self.records.iter_mut() {
            record.waiters.push(token);
            self.remaining[token as usize] += 1;
        }
    }

    /// Drops the pages that a trim covers whole.
    fn trim<D: Driver>(
        &mut self,
        token: u32,
        request: &Request,
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        let whole = request.span.whole_pages();
        if self.config.strict_trim {
            if whole.is_empty() {
                return Ok(());
            }
            let first = request.span.page(whole.start, self.pages).0;
            let zeroes = Request {
                kind: RequestKind::WriteZeroes,
                span: Span::whole(first, whole.len() as u32),
                fua: request.fua,
            };
            return self.write(token, &zeroes, now, driver);
        }
        let answers_late = request.fua || !self.config.volatile_cache;
        for offset in whole {
            let page = request.span.page(offset, self.pages);
            self.buffer.trim(page, now);
            driver.trimmed(page);
            let work = if self.order.has(page) && !answers_late {
                // Answered now: a flush has to wait for it.
                let record = self.records.insert_reused(|record| {
                    record.reset(now, None);
                    record.writes_left = 1;
                });
                Work::OwedTrim(record)
            } else {
                self.remaining[token as usize] += 1;
                Work::Trim(token)
            };
            self.effect(PageOperation::new(page, work), now, driver)?;
        }
        self.hand_out_slots(driver);
        Ok(())
    }

    // ---- records -----------------------------------------------------------------------------------------

    /// Takes the buffer's latest record on its way; request `waiter` waits for it. `idle` is the idle time in which
    /// it is written back, if that is why.
    fn emit<D: Driver>(
        &mut self,
        waiter: Option<u32>,
        idle: Option<IdleTime>,
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        let destage = self.buffer.record();
        driver.record(destage, now);
        self.leaving += destage.pages.len() as u64;
        let id = self
            .records
            .insert_reused(|record| record.reset(now, waiter));
        let record = &mut self.records[id];
        record.retain = destage.retain;
        record.destaged = true;
        record.idle = idle;
        record.take_programs(id, destage, self.long_pages);
        if let Some(waiter) = waiter {
            self.remaining[waiter as usize] += 1;
        }
        if !destage.pads.is_empty() || destage.grouping == Grouping::Cluster {
            return self.emit_whole(id, now, driver);
        }
        for index in 0..self.records[id].programs.len() {
            // When the last one has ended at once, the record is gone.
            let operation = self.records[id].programs[index];
            self.effect(operation, now, driver)?;
        }
        Ok(())
    }

    /// Record `id` goes as a whole: when its padding is read and nothing is ahead of it on any of its pages.
    fn emit_whole<D: Driver>(&mut self, id: u32, now: Ticks, driver: &mut D) -> Outcome {
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

    /// Lets records go that nothing holds back any more, and then whoever waited for that.
    fn release_ready<D: Driver>(&mut self, now: Ticks, driver: &mut D) -> Outcome {
        while let Some(id) = self.ready.pop_front() {
            if self.dies.places_writes() && self.waits_for_dies(id) {
                continue;
            }
            self.release(id, now, driver)?;
        }
        Ok(())
    }

    /// The programs of record `id` join the queues of their dies, and whoever waited for that goes on.
    fn release<D: Driver>(&mut self, id: u32, now: Ticks, driver: &mut D) -> Outcome {
        let record = &mut self.records[id];
        let held = core::mem::take(&mut record.held);
        let programs = core::mem::take(&mut record.programs);
        for operation in &programs {
            if held {
                self.order.pop(operation.page());
            }
            if self.dies.places_writes() {
                // All have a die before anything begins.
                self.dies.push_and_stir(*operation);
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
        // If they have ended at once, another record may have this number by now.
        let record = &mut self.records[id];
        if record.programs.is_empty() {
            record.programs = programs;
        }
        Ok(())
    }

    /// Whether record `id`, held until now, has to wait on: what was ahead of it on a page is being programmed, and
    /// the layer could send the record to another die.
    fn waits_for_dies(&mut self, id: u32) -> bool {
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

    /// An effect on a page has been emitted: it joins the queue of its die, or waits for its turn.
    #[inline]
    fn effect<D: Driver>(
        &mut self,
        operation: PageOperation,
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        if self.config.ordering == Ordering::Strict
            && (!self.order.is_empty() || self.dies.places_writes())
            && self.has_to_wait(operation)
        {
            return Ok(());
        }
        self.enqueue(operation, now, driver)
    }

    fn has_to_wait(&mut self, operation: PageOperation) -> bool {
        let page = operation.page();
        if self.order.has(page) {
            self.order.push(page, Waiting::Operation(operation));
            return true;
        }
        if !self.dies.places_writes() {
            return false;
        }
        // The layer could send the next effect to another die, ahead of one that is served or, as trims do, stays
        // where the page was.
        let is_programming = self.dies.is_programming(page);
        if is_programming {
            self.order.push(page, Waiting::Program);
            self.order.push(page, Waiting::Operation(operation));
        } else if operation.is_trim() {
            self.order.push(page, Waiting::Trim);
        }
        is_programming
    }

    /// Something on `page` has gone or ended: lets those go that waited for it.
    fn advance<D: Driver>(&mut self, page: Lpn, now: Ticks, driver: &mut D) -> Outcome {
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

    /// `operation` has ended, and others may have waited for just that.
    #[cold]
    fn effect_ended<D: Driver>(
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

    // ---- the dies ----------------------------------------------------------------------------------------

    /// `operation` joins the queue of its die.
    #[inline]
    fn enqueue<D: Driver>(
        &mut self,
        operation: PageOperation,
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        match self.dies.push(operation) {
            Some(die) => self.activate(die, now, driver),
            None => Ok(()),
        }
    }

    /// Lets `die` begin what it can.
    #[inline]
    fn activate<D: Driver>(&mut self, die: u32, now: Ticks, driver: &mut D) -> Outcome {
        while self.dies.start(die, now, driver)? == Progress::Ended {
            if let Some(operation) = self.dies.finish(die) {
                self.page_done(operation, now, driver)?;
            }
        }
        if self.dies.places_writes() {
            self.activate_stirred(now, driver)?;
        }
        Ok(())
    }

    /// Lets dies begin what others have made possible.
    #[cold]
    fn activate_stirred<D: Driver>(&mut self, now: Ticks, driver: &mut D) -> Outcome {
        while let Some(die) = self.dies.next_stirred() {
            self.activate(die, now, driver)?;
        }
        Ok(())
    }

    #[inline]
    fn page_done<D: Driver>(
        &mut self,
        operation: PageOperation,
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        driver.ended(operation);
        match operation.work() {
            Work::HostRead(token) => self.operation_done(token, driver),
            Work::HostWrite(token) => {
                self.leaving -= 1;
                self.operation_done(token, driver);
            }
            Work::Trim(token) => self.operation_done(token, driver),
            Work::Destage(record, slot) => {
                self.leaving -= 1;
                let page = DirtyPage {
                    page: operation.page(),
                    slot,
                };
                let retain = self.records[record].retain;
                self.buffer.programmed(page, retain, now);
                self.program_done(record, now, driver)?;
                self.hand_out_place(slot, driver);
                self.hand_out_slots(driver);
            }
            Work::OwedWrite(record) => {
                self.leaving -= 1;
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

    /// One thing request `token` waited for is done.
    #[inline]
    fn operation_done<D: Driver>(&mut self, token: u32, driver: &mut D) {
        let remaining = &mut self.remaining[token as usize];
        *remaining -= 1;
        if *remaining == 0 {
            driver.answer(token);
        }
    }

    /// One program of record `id` has ended.
    fn program_done<D: Driver>(&mut self, id: u32, now: Ticks, driver: &mut D) -> Outcome {
        let record = &mut self.records[id];
        record.writes_left -= 1;
        let idle = record.idle;
        if record.writes_left > 0 {
            return self.go_on_idling(idle, false, now, driver);
        }
        if record.destaged {
            driver.record_ended(record.emitted, now);
        }
        let waiters = core::mem::take(&mut record.waiters);
        self.records.free(id);
        for waiter in waiters {
            self.operation_done(waiter, driver);
        }
        self.go_on_idling(idle, true, now, driver)
    }

    /// A program of `slot` has ended: the page that waits for just this slot may have it now.
    fn hand_out_place<D: Driver>(&mut self, slot: Slot, driver: &mut D) {
        if self.place_waiters.is_empty() || self.buffer.is_leaving(slot) {
            return;
        }
        if let Some(token) = self.place_waiters.remove(&slot.0) {
            self.operation_done(token, driver);
        }
    }

    /// Gives slots that have become free to the pages that wait for one, in order.
    fn hand_out_slots<D: Driver>(&mut self, driver: &mut D) {
        let over = self.buffer.over_capacity() as usize;
        while self.slot_waiters.len() > over {
            if let Some(token) = self.slot_waiters.pop_front() {
                self.operation_done(token, driver);
            }
        }
    }

    #[inline]
    fn note_at_risk(&mut self) {
        let at_risk = self.leaving + u64::from(self.buffer.dirty());
        self.at_risk_max = self.at_risk_max.max(at_risk);
    }

    // ---- idle time ---------------------------------------------------------------------------------------

    /// Asks the scheme for something to write back, if `time` still lasts.
    fn use_idle_time<D: Driver>(&mut self, time: IdleTime, now: Ticks, driver: &mut D) -> Outcome {
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

    /// A page is programmed, written back in `time` if it was for that; `last` of its record.
    fn go_on_idling<D: Driver>(
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

    /// Who had nothing to write back may have had no die to do it: one is free now.
    fn ask_who_declined<D: Driver>(&mut self, now: Ticks, driver: &mut D) -> Outcome {
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

/// The pages of `destage` that are read to pad with them.
fn pages_to_read(destage: &Destage) -> Vec<Lpn> {
    let pads = destage.pads.iter();
    pads.filter(|pad| pad.read).map(|pad| pad.page).collect()
}
