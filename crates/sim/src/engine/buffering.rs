//! The buffer's side of a run: pages are presented one by one, and records become programs.

use destage_base::Lpn;
use destage_buffer::destage::{Destage, DestageCause, Slot};
use destage_buffer::{Buffer, ReadStep, Step};

use super::{Active, Engine, IdleTime, Outcome};
use crate::operation::{PageOperation, Work};
use crate::paging::Span;
use crate::untimed::{bypass_record, is_next};

impl Engine<'_> {
    /// Presents the pages of write `id` one by one. All of them are taken in at once, so that their victims
    /// are programmed side by side; the request is complete when each page has a slot.
    pub(super) fn write_through(&mut self, id: u32) -> Outcome {
        let Active { request, span, .. } = self.active[id];
        let Some(buffer) = &mut self.buffer else {
            return Ok(());
        };
        buffer.begin_request(span.pages);
        if buffer.bypasses(span.pages) {
            return self.bypass(id, &span);
        }
        for offset in 0..span.pages {
            let page = self.page(&span, offset);
            let now = self.events.now();
            let Some(buffer) = &mut self.buffer else {
                return Ok(());
            };
            let step = buffer.write(page, now, &self.dies);
            if step != Step::Hit {
                self.make_room(id, step)?;
                self.fill_partial(id, &span, offset)?;
            }
        }
        if request.fua && self.config.honor_flush {
            self.force(id, &span)?;
        }
        Ok(())
    }

    /// Pages of read `id` in the buffer are served from there, the others from the flash.
    pub(super) fn read_through(&mut self, id: u32) -> Outcome {
        let span = self.active[id].span;
        if let Some(buffer) = &mut self.buffer {
            buffer.begin_request(span.pages);
        }
        for offset in 0..span.pages {
            let page = self.page(&span, offset);
            let now = self.events.now();
            let Some(buffer) = &mut self.buffer else {
                return Ok(());
            };
            let found = buffer.read(page, now);
            if matches!(found, ReadStep::Miss | ReadStep::MissAllocates) {
                self.submit(id, PageOperation::new(page, Work::HostRead(id)))?;
            }
            if matches!(found, ReadStep::HitAllocates | ReadStep::MissAllocates) {
                let Some(buffer) = &mut self.buffer else {
                    return Ok(());
                };
                let step = buffer.place(now, &self.dies);
                self.make_room(id, step)?;
            }
        }
        Ok(())
    }

    /// Issues records until the pending page of request `id` is in, and lets the request wait for its slot.
    fn make_room(&mut self, id: u32, mut step: Step) -> Outcome {
        while step == Step::Destage {
            self.issue(None, None)?;
            let now = self.events.now();
            let Some(buffer) = &mut self.buffer else {
                break;
            };
            step = buffer.place(now, &self.dies);
        }
        debug_assert!(step != Step::Wait, "with staging every page is taken in");
        self.wait_for_room(id);
        Ok(())
    }

    /// Lets request `id` wait for what the page it placed last needs, if that is not there yet.
    fn wait_for_room(&mut self, id: u32) {
        if let Some(buffer) = &mut self.buffer
            && buffer.waits_for_its_place()
        {
            while let Some(slot) = buffer.next_pending_victim() {
                self.place_waiters.insert(slot.0, id);
                self.active[id].remaining += 1;
            }
            return;
        }
        let over = self.buffer.as_ref().map_or(0, Buffer::over_capacity);
        if over as usize > self.slot_waiters.len() {
            self.slot_waiters.push_back(id);
            self.active[id].remaining += 1;
        }
    }

    /// A program of `slot` is done: the page that waits for just this slot may have it now.
    pub(super) fn hand_out_place(&mut self, slot: Slot) -> Outcome {
        let leaves = |buffer: &Buffer| buffer.is_leaving(slot);
        if self.place_waiters.is_empty() || self.buffer.as_ref().is_some_and(leaves) {
            return Ok(());
        }
        match self.place_waiters.remove(&slot.0) {
            Some(id) => self.lower(id),
            None => Ok(()),
        }
    }

    /// Gives slots that have become free to the pages that wait for one, in order.
    pub(super) fn hand_out_slots(&mut self) -> Outcome {
        let over = self.buffer.as_ref().map_or(0, Buffer::over_capacity);
        while self.slot_waiters.len() > over as usize {
            if let Some(id) = self.slot_waiters.pop_front() {
                self.lower(id)?;
            }
        }
        Ok(())
    }

    /// All pages of write `id` go past the buffer.
    fn bypass(&mut self, id: u32, span: &Span) -> Outcome {
        for offset in 0..span.pages {
            let page = self.page(span, offset);
            let now = self.events.now();
            if let Some(buffer) = &mut self.buffer {
                buffer.bypass(page, now);
            }
        }
        self.observe_bypass(span);
        self.write_past(id, span)
    }

    /// Destages the pages of FUA write `id`, which waits for them.
    pub(super) fn force(&mut self, id: u32, span: &Span) -> Outcome {
        // Pages of a large write may have left already: their programs are waited for as well.
        self.wait_for_issued(id);
        for offset in 0..span.pages {
            let page = self.page(span, offset);
            let now = self.events.now();
            let Some(buffer) = &mut self.buffer else {
                return Ok(());
            };
            if buffer.fua(page, now, &self.dies) {
                self.issue(Some(id), None)?;
            }
        }
        Ok(())
    }

    /// Destages everything dirty for flush `id`, which waits for that and for what is on its way.
    pub(super) fn flush(&mut self, id: u32) -> Outcome {
        if !self.config.honor_flush {
            return Ok(());
        }
        self.wait_for_issued(id);
        while self.flush_next(DestageCause::Flush) {
            self.issue(Some(id), None)?;
        }
        Ok(())
    }

    pub(super) fn flush_next(&mut self, cause: DestageCause) -> bool {
        let now = self.events.now();
        match &mut self.buffer {
            Some(buffer) => buffer.flush_next(cause, now, &self.dies),
            None => false,
        }
    }

    pub(super) fn wait_for_issued(&mut self, id: u32) {
        let mut waits = 0;
        for issued in self.issued.iter_mut() {
            issued.waiters.push(id);
            waits += 1;
        }
        self.active[id].remaining += waits;
    }

    pub(super) fn trim(&mut self, id: u32) -> Outcome {
        let span = self.active[id].span;
        for offset in 0..span.pages {
            let page = self.page(&span, offset);
            let now = self.events.now();
            if let Some(buffer) = &mut self.buffer {
                buffer.trim(page, now);
            }
            self.submit(id, PageOperation::new(page, Work::Trim(id)))?;
        }
        self.hand_out_slots()
    }

    /// Sends the buffer's latest record to the dies; `waiter` is lowered when it is done. `idle` says in
    /// which idle time it is written back, if that is why.
    pub(super) fn issue(&mut self, waiter: Option<u32>, idle: Option<IdleTime>) -> Outcome {
        let Some(buffer) = &self.buffer else {
            return Ok(());
        };
        let now = self.events.now();
        let record = buffer.record();
        self.observer.destage(now, record);
        let id = self.issued.insert_reused(|issued| {
            issued.at = now;
            issued.keep = record.retain;
            issued.idle = idle;
            issued.waiters.clear();
            issued.waiters.extend(waiter);
            issued.programs.clear();
        });
        let issued = &mut self.issued[id];
        issued.writes_left = (record.pages.len() + record.pads.len()) as u32;
        merge_programs(id, record, &mut issued.programs);
        if let Some(least) = self.dies.ftl().long_write_pages() {
            mark_long(&mut issued.programs, least);
        }
        let reads: Vec<Lpn> = record
            .pads
            .iter()
            .filter(|pad| pad.read)
            .map(|pad| pad.page)
            .collect();
        issued.reads_left = reads.len() as u32;
        if let Some(waiter) = waiter {
            self.active[waiter].remaining += 1;
        }
        if reads.is_empty() {
            return self.submit_programs(id);
        }
        for page in reads {
            self.dies
                .submit(
                    PageOperation::new(page, Work::PadRead(id)),
                    &mut self.events,
                )
                .map_err(|full| self.device_full(full))?;
        }
        Ok(())
    }

    pub(super) fn submit_programs(&mut self, record: u32) -> Outcome {
        let programs = std::mem::take(&mut self.issued[record].programs);
        for operation in &programs {
            self.dies
                .submit(*operation, &mut self.events)
                .map_err(|full| self.device_full(full))?;
        }
        self.issued[record].programs = programs;
        Ok(())
    }

    /// One program of `record` is done.
    pub(super) fn program_done(&mut self, record: u32) -> Outcome {
        let issued = &mut self.issued[record];
        issued.writes_left -= 1;
        let idle = issued.idle;
        if issued.writes_left > 0 {
            return self.go_on_idling(idle, false);
        }
        if !self.closed {
            self.measured
                .destage_response
                .push(self.events.now() - issued.at, true);
        }
        let waiters = std::mem::take(&mut issued.waiters);
        self.issued.free(record);
        for waiter in waiters {
            self.lower(waiter)?;
        }
        self.go_on_idling(idle, true)
    }

    /// Without a buffer a write request is its own destage.
    pub(super) fn observe_bypass(&mut self, span: &Span) {
        if self.observer.wants_destages() {
            let pages = (0..span.pages).map(|offset| self.page(span, offset));
            self.observer
                .destage(self.events.now(), &bypass_record(pages));
        }
    }

    pub(super) fn drain(&mut self) -> Outcome {
        while self.flush_next(DestageCause::Drain) {
            self.issue(None, None)?;
        }
        while !self.issued.is_empty() {
            let Some(event) = self.events.take() else {
                break;
            };
            self.handle(event)?;
        }
        Ok(())
    }
}

/// The programs of `record` in the order of issue: dirty pages as they come, or with pads in page order.
fn merge_programs(id: u32, record: &Destage, programs: &mut Vec<PageOperation>) {
    let dirty = record
        .pages
        .iter()
        .map(|dirty| PageOperation::new(dirty.page, Work::Destage(id, dirty.slot)));
    programs.extend(dirty);
    if !record.pads.is_empty() {
        let pads = record
            .pads
            .iter()
            .map(|pad| PageOperation::new(pad.page, Work::PadWrite(id)));
        programs.extend(pads);
        programs.sort_by_key(|operation| operation.page());
    }
}

/// Marks the programs of pages that follow one another, `least` of them or more, as long writes.
fn mark_long(programs: &mut [PageOperation], least: u32) {
    for run in programs.chunk_by_mut(|one, next| is_next(one.page(), next.page())) {
        let is_long = run.len() >= least as usize;
        for program in run {
            *program = program.with_long(is_long);
        }
    }
}
