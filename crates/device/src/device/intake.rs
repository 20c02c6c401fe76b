//! The acceptance of requests. This module decides which pages enter the buffer, which pages bypass the buffer, and
//! which operations a request waits for.

use alloc::vec::Vec;
use core::ops::Range;

use destage_base::{Lpn, Ticks};
use destage_buffer::destage::DestageCause;
use destage_buffer::view::View;
use destage_buffer::{Buffer, Destager};
use destage_ftl::NoSpace;

use super::{Device, Ordering, Outcome};
use crate::driver::{Driver, Note};
use crate::operation::{PageOperation, Work};
use crate::order::Waiting;
use crate::record::bypass_record;
use crate::request::{Request, Span};

/// Limit for the search of waiting operations when a trim arrives: this number times the pages of the trim. If more
/// operations wait, a search would cost more time than one trim operation for every page.
const WAITING_PER_PAGE: usize = 8;
/// Number of pages of a trim that are looked up together, before the first of these pages is trimmed. This limits the
/// memory for the list of pages that are found.
const LOOKED_AT_TOGETHER: usize = 1 << 16;

/// The device while a page enters the buffer at `now`. The device emits the records of the pages that leave the
/// buffer to make room.
struct TakingIn<'a, D> {
    device: &'a mut Device,
    now: Ticks,
    driver: &'a mut D,
}

impl<'a, D> TakingIn<'a, D> {
    #[inline(always)]
    fn new(device: &'a mut Device, now: Ticks, driver: &'a mut D) -> Self {
        Self {
            device,
            now,
            driver,
        }
    }
}

impl<D: Driver> Destager for TakingIn<'_, D> {
    type Error = NoSpace;

    #[inline(always)]
    fn buffer(&mut self) -> (&mut Buffer, &dyn View) {
        (&mut self.device.buffer, &self.device.dies)
    }

    #[inline(always)]
    fn destage(&mut self) -> Outcome {
        self.device.emit(None, None, self.now, self.driver)
    }
}

impl Device {
    /// Reads pages. Pages in the buffer are read from RAM, all other pages from flash.
    pub(super) fn read<D: Driver>(
        &mut self,
        token: u32,
        span: &Span,
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        self.buffer.begin_request(span.pages);
        for offset in 0..span.pages {
            let page = span.page(offset, self.layer.pages);
            let found = self.buffer.read(page, now);
            driver.note(&Note::Read {
                page,
                in_ram: found.in_ram,
            });
            if !found.in_ram {
                self.remaining[token as usize] += 1;
                self.enqueue(PageOperation::new(page, Work::HostRead(token)), now, driver)?;
            }
            if found.enters {
                Buffer::take_in_read(&mut TakingIn::new(self, now, driver), page, now)?;
                self.wait_for_slot(token);
            }
            driver.note(&Note::Changed(&self.buffer));
        }
        Ok(())
    }

    /// [`Device::write`] for write-zeroes and strict trims. It is not inlined, because these requests are rare.
    #[inline(never)]
    pub(super) fn write_zeroes<D: Driver>(
        &mut self,
        token: u32,
        zeroes: &Request,
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        self.write(token, zeroes, now, driver)
    }

    /// Accepts a write. All pages of the write are presented to the buffer at the same time, one after the other, so
    /// that their victims are programmed in parallel. The request is answered when each page has a slot.
    #[inline(always)]
    pub(super) fn write<D: Driver>(
        &mut self,
        token: u32,
        request: &Request,
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        let span = &request.span;
        self.buffer.begin_request(span.pages);
        if self.layer.handles > 1 {
            self.tell_handle(span);
        }
        if self.buffer.bypasses(span.pages) {
            return self.bypass(token, span, now, driver);
        }
        self.take_in(token, request, now, driver)
    }

    /// Presents the pages of a write that does not bypass the buffer to the buffer.
    #[inline(never)]
    fn take_in<D: Driver>(
        &mut self,
        token: u32,
        request: &Request,
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        let span = &request.span;
        let is_eager = self.buffer.is_eager();
        for offset in 0..span.pages {
            let page = span.page(offset, self.layer.pages);
            let was_resident = Buffer::write(&mut TakingIn::new(self, now, driver), page, now)?;
            if !was_resident {
                self.wait_for_slot(token);
                if self.config.reads_partial && span.is_partial(offset) {
                    self.fill_partial(token, span, offset, now, driver)?;
                }
            }
            self.note_at_risk();
            driver.note(&Note::TakenIn { page, offset });
            driver.note(&Note::Changed(&self.buffer));
            while is_eager && self.buffer.eager_next(now, &self.dies) {
                self.emit(None, None, now, driver)?;
            }
        }
        if request.fua || !self.config.volatile_cache {
            self.force(token, span, now, driver)?;
        }
        if !self.waiters.of_one.is_empty() {
            // A page that waits for a particular slot cannot use another free slot. Units are completed, so that the
            // program from this slot ends.
            self.want_all(now, driver)?;
        }
        Ok(())
    }

    /// Passes to the layer the placement handle with which the pages of `span` are written.
    #[cold]
    fn tell_handle(&mut self, span: &Span) {
        for offset in 0..span.pages {
            let page = span.page(offset, self.layer.pages);
            self.dies.ftl_mut().hint(page, self.handle);
        }
    }

    /// If the page that request `token` has presented last has no slot yet, lets the request wait for a slot.
    pub(super) fn wait_for_slot(&mut self, token: u32) {
        if self.buffer.waits_for_its_place() {
            while let Some(slot) = self.buffer.next_pending_victim() {
                // The program of the page in this slot may have ended at once.
                if self.buffer.is_leaving(slot) {
                    self.waiters.of_one.insert(slot, token);
                    self.remaining[token as usize] += 1;
                }
            }
        } else if self.buffer.over_capacity() as usize > self.waiters.of_any.len() {
            self.waiters.of_any.push_back(token);
            self.remaining[token as usize] += 1;
        }
    }

    /// Writes all pages of `span` so that they bypass the buffer.
    #[inline(always)]
    pub(super) fn bypass<D: Driver>(
        &mut self,
        token: u32,
        span: &Span,
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        let is_whole = self.buffer.bypass_whole(span.pages);
        if !is_whole || self.config.reads_partial || driver.wants_records() || !self.joins_at_once()
        {
            return self.bypass_slow_path(token, span, is_whole, now, driver);
        }
        self.remaining[token as usize] += span.pages;
        let work = Work::HostWrite(token);
        let is_long = self.note_bypass(span.pages);
        for offset in 0..span.pages {
            let page = span.page(offset, self.layer.pages);
            driver.note(&Note::Bypassed { page, offset });
            driver.note(&Note::Changed(&self.buffer));
            let operation = PageOperation::new(page, work).with_long(is_long);
            self.enqueue(operation, now, driver)?;
        }
        Ok(())
    }

    /// Counts the pages of a write that bypasses the buffer as at risk. Returns whether a write of this many pages is
    /// a long write.
    #[inline(always)]
    fn note_bypass(&mut self, pages: u32) -> bool {
        self.at_risk.leaving += u64::from(pages);
        self.note_at_risk();
        self.layer.long_pages.is_some_and(|least| pages >= least)
    }

    /// [`Device::bypass`] in the less frequent cases: the buffer may have some of the pages (unless `is_whole`),
    /// partly written pages are completed by reads, the driver needs records, or effects have to wait for other
    /// effects.
    #[inline(never)]
    fn bypass_slow_path<D: Driver>(
        &mut self,
        token: u32,
        span: &Span,
        is_whole: bool,
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        // A page in the buffer is complete, so no read is needed to complete it.
        let in_ram = |offset| {
            self.buffer
                .find(span.page(offset, self.layer.pages))
                .is_some()
        };
        let reads = if self.config.reads_partial {
            [0, span.pages - 1].map(|offset| span.is_partial(offset) && !in_ram(offset))
        } else {
            [false; 2]
        };
        let mut dropped = false;
        if !is_whole {
            for offset in 0..span.pages {
                dropped |= self.buffer.bypass(span.page(offset, self.layer.pages), now);
            }
        }
        if driver.wants_records() {
            let pages = (0..span.pages).map(|offset| span.page(offset, self.layer.pages));
            driver.note(&Note::Emitted(&bypass_record(pages), now));
        }
        let work = if dropped && self.config.ordering == Ordering::Strict {
            // The write replaces a dirty page that a later flush would destage, so the flush has to wait for this
            // write.
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
        let is_long = self.note_bypass(span.pages);
        for offset in 0..span.pages {
            if (offset == 0 && reads[0]) || (offset > 0 && offset + 1 == span.pages && reads[1]) {
                self.fill_partial(token, span, offset, now, driver)?;
            }
            let page = span.page(offset, self.layer.pages);
            driver.note(&Note::Bypassed { page, offset });
            driver.note(&Note::Changed(&self.buffer));
            self.effect(
                PageOperation::new(page, work).with_long(is_long),
                now,
                driver,
            )?;
        }
        // The pages that were dropped from the buffer have freed their slots.
        self.hand_out_slots(driver);
        Ok(())
    }

    /// Reads page `offset` of a write that covers this page only partly, if the page has contents on flash.
    #[cold]
    pub(super) fn fill_partial<D: Driver>(
        &mut self,
        token: u32,
        span: &Span,
        offset: u32,
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        let page = span.page(offset, self.layer.pages);
        if !self.dies.ftl().is_written(page) {
            return Ok(());
        }
        self.remaining[token as usize] += 1;
        if self.config.ordering == Ordering::Strict {
            self.order.push(page, Waiting::Fill);
        }
        self.enqueue(PageOperation::new(page, Work::Fill(token)), now, driver)
    }

    /// Destages the pages of a write with force unit access, and lets the write wait for their programs.
    pub(super) fn force<D: Driver>(
        &mut self,
        token: u32,
        span: &Span,
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        if !self.buffer.config().honor_flush {
            return Ok(());
        }
        self.wait_for_programs_of(token, span, now, driver)?;
        for offset in 0..span.pages {
            let page = span.page(offset, self.layer.pages);
            if self.buffer.fua(page, now, &self.dies) {
                self.emit(Some(token), None, now, driver)?;
            }
        }
        Ok(())
    }

    /// Request `token` has written the pages of `span`. Some of these pages may have left the buffer already, because
    /// a large write can evict its own pages, and some schemes write pages back at once. Lets the request wait for
    /// the records of these pages.
    fn wait_for_programs_of<D: Driver>(
        &mut self,
        token: u32,
        span: &Span,
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        let has_left = |page| !self.buffer.is_dirty(page);
        let mut pages = (0..span.pages).map(|offset| span.page(offset, self.layer.pages));
        if !pages.any(has_left) {
            return Ok(());
        }
        let mut awaited = Vec::new();
        for record in self.records.iter_mut() {
            let is_own = |program: &PageOperation| {
                let is_data = matches!(program.work(), Work::Destage(..));
                is_data && span.has(program.page(), self.layer.pages) && has_left(program.page())
            };
            if record.programs.iter().any(is_own) {
                // The request waits for the whole record. Other pages of the record may be in units of other dies, so
                // all pages are listed.
                awaited.extend(record.programs.iter().map(|program| program.page()));
                record.waiters.push(token);
                self.remaining[token as usize] += 1;
            }
        }
        self.want_pages(&awaited, now, driver)
    }

    /// Destages all dirty pages for a flush. Lets the flush wait for their programs, and for all records that were
    /// emitted before.
    pub(super) fn flush<D: Driver>(&mut self, token: u32, now: Ticks, driver: &mut D) -> Outcome {
        if !self.buffer.config().honor_flush {
            return Ok(());
        }
        self.wait_for_records(token);
        while self.buffer.flush_next(DestageCause::Flush, now, &self.dies) {
            self.emit(Some(token), None, now, driver)?;
        }
        self.want_all(now, driver)
    }

    /// Lets request `token` wait for all records that have been emitted.
    pub(super) fn wait_for_records(&mut self, token: u32) {
        for record in self.records.iter_mut() {
            record.waiters.push(token);
            self.remaining[token as usize] += 1;
        }
    }

    /// Trims the pages that a trim covers completely.
    pub(super) fn trim<D: Driver>(
        &mut self,
        token: u32,
        request: &Request,
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        let span = &request.span;
        driver.note(&Note::Trimming(span));
        let answers_late = request.fua || !self.config.volatile_cache;
        let whole = span.whole_pages();
        let is_short = || whole.len() <= self.config.dies as usize;
        let is_crowded = || self.dies.waiting() / WAITING_PER_PAGE > whole.len();
        if is_short() || is_crowded() {
            for offset in whole {
                let page = span.page(offset, self.layer.pages);
                self.trim_page(token, page, answers_late, now, driver)?;
            }
        } else {
            self.trim_long(token, span, answers_late, now, driver)?;
        }
        self.note_clean(now);
        self.hand_out_slots(driver);
        Ok(())
    }

    /// Trims those pages of `span` that have contents in the buffer or on flash, or that a waiting operation will
    /// write. On each die, the first page is trimmed in any case, so that the request waits for its turn in the queue
    /// of every die. Trims of other pages are left out, because the trim of a page without contents has no effect and
    /// needs no time. If nothing is in progress on the device, the layer trims many pages in one call where it can.
    fn trim_long<D: Driver>(
        &mut self,
        token: u32,
        span: &Span,
        answers_late: bool,
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        let mut pages = Vec::new();
        let is_at_rest = !self.dies.trims_take_time()
            && self.dies.are_at_rest()
            && self.is_settled()
            && self.order.is_empty();
        for part in span.whole_parts(self.layer.pages) {
            let known = self.known_among(&part);
            let (mut firsts, mut trimmed) = (Vec::new(), Vec::new());
            if is_at_rest {
                firsts.extend(self.first_of_each_die(&part));
                for page in &firsts {
                    self.trim_page(token, *page, answers_late, now, driver)?;
                }
                if !self.dies.is_held_up() {
                    trimmed = self.trim_at_rest(&part, &known, driver);
                }
            }
            let mut known = known.into_iter().peekable();
            for from in part.clone().step_by(LOOKED_AT_TOGETHER) {
                let among = from..(from + LOOKED_AT_TOGETHER as u64).min(part.end);
                while let Some(page) = known.next_if(|page| page.0 < among.end) {
                    pages.push(page);
                }
                for left in gaps(&among, &trimmed) {
                    self.dies.ftl().mapped(left, &mut |page| pages.push(page));
                }
                pages.retain(|page| !firsts.contains(page));
                pages.sort_unstable();
                pages.dedup();
                for page in pages.drain(..) {
                    self.trim_page(token, page, answers_late, now, driver)?;
                }
            }
        }
        Ok(())
    }

    /// Lets the layer trim all of `pages` that it can trim in one call. Returns these pages as ranges in ascending order.
    /// Nothing may be in progress on the device, except trims of pages. The caller trims the pages `known` one by one, so
    /// the driver receives no note of them here.
    fn trim_at_rest<D: Driver>(
        &mut self,
        pages: &Range<u64>,
        known: &[Lpn],
        driver: &mut D,
    ) -> Vec<Range<u64>> {
        let mut trimmed: Vec<Range<u64>> = Vec::new();
        let ftl = self.dies.ftl_mut();
        ftl.trim_all(pages.clone(), &mut |range| match trimmed.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => trimmed.push(range),
        });
        let known: Vec<Range<u64>> = known.iter().map(|page| page.0..page.0 + 1).collect();
        for pages in trimmed.iter().flat_map(|range| gaps(range, &known)) {
            driver.note(&Note::TrimmedAll {
                pages: &pages,
                buffer: &self.buffer,
            });
        }
        trimmed
    }

    /// Those of `pages` that are trimmed even if the layer does not map them, in ascending order.
    fn known_among(&self, pages: &Range<u64>) -> Vec<Lpn> {
        let mut known: Vec<Lpn> = self.first_of_each_die(pages).collect();
        self.buffer
            .find_among(pages.clone(), &mut |page| known.push(page));
        known.extend(self.order.among(pages.clone()));
        known.extend(self.dies.coming_among(pages.clone()));
        known.sort_unstable();
        known
    }

    /// For each die with some of `pages`, the first of these pages.
    fn first_of_each_die(&self, pages: &Range<u64>) -> impl Iterator<Item = Lpn> + use<> {
        let stride = u64::from(self.dies.stride());
        let behind = pages.start / stride * stride + stride;
        let next = (behind..pages.end).step_by(stride as usize);
        let dies = self.config.dies as usize;
        core::iter::once(pages.start)
            .chain(next)
            .take(dies)
            .map(Lpn)
    }

    fn trim_page<D: Driver>(
        &mut self,
        token: u32,
        page: Lpn,
        answers_late: bool,
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        self.buffer.trim(page, now);
        driver.note(&Note::Trimmed(page));
        driver.note(&Note::Changed(&self.buffer));
        let work = if self.order.has(page) && !answers_late {
            // The trim is answered before it takes effect, so a later flush has to wait for it.
            let record = self.records.insert_reused(|record| {
                record.reset(now, None);
                record.writes_left = 1;
            });
            Work::OwedTrim(record)
        } else {
            self.remaining[token as usize] += 1;
            Work::Trim(token)
        };
        self.effect(PageOperation::new(page, work), now, driver)
    }
}

/// The parts of `range` that are in none of `taken`, which are ranges in ascending order.
fn gaps(range: &Range<u64>, taken: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut gaps = Vec::new();
    let mut from = range.start;
    let first = taken.partition_point(|taken| taken.end <= range.start);
    for taken in taken[first..]
        .iter()
        .take_while(|taken| taken.start < range.end)
    {
        gaps.push(from..taken.start.max(from));
        from = taken.end;
    }
    gaps.push(from..range.end.max(from));
    gaps.retain(|gap| !gap.is_empty());
    gaps
}
