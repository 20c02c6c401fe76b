//! The run without a clock: destages complete at once.
//!
//! With no flash at all (`ftl.kind = none`) it is a cache simulator: who hits, who leaves. With an FTL it
//! is the op-count model of the BPLRU paper: operations are counted and their times summed, nothing
//! waits for anything. Decisions of the buffer are the same as in the event-driven run.

use destage_base::{Lpn, Ticks};
use destage_buffer::destage::{Destage, DestageCause, DirtyPage, Grouping, Slot};
use destage_buffer::{Buffer, ReadStep, Step, View};
use destage_flash::ftl::NoSpace;
use destage_flash::operation::Tally;
use destage_flash::{Cause, Ftl, Operations, Timing};
use destage_trace::{Operation, Request};

use crate::dies::{Totals, gc_limit, only_collects};
use crate::engine::Measured;
use crate::error::SimError;
use crate::observer::{Observer, tell_erases};
use crate::paging::{AddressMap, Align, Paging, Span};
use crate::source::Source;

/// Requests between two calls of [`Observer::progress`].
const PROGRESS_STEP: u64 = 1 << 16;

/// How an untimed run treats requests.
#[derive(Clone, Copy, Debug)]
pub struct UntimedConfig {
    /// How requests become pages.
    pub paging: Paging,
    /// Pages beyond the device.
    pub address_map: AddressMap,
    /// Pages the trace spans, for [`AddressMap::Shrink`].
    pub span_pages: u64,
    /// Pages of the device, if it has an end.
    pub device_pages: Option<u64>,
    /// Dies over which pages are striped, where no FTL says so.
    pub dies: u32,
    /// Destage what is left at the end.
    pub drain: bool,
}

/// The device of an untimed run: an FTL whose operations are only counted, or nothing.
pub struct CountedFlash {
    ftl: Option<Box<dyn Ftl>>,
    timing: Timing,
    dies: u32,
    operations: Operations,
    tally: Tally,
    serial_time: Ticks,
    gc_time: Ticks,
    gc_runs: u64,
    gc_limit: u32,
}

impl CountedFlash {
    /// Counts the operations of `ftl`.
    #[must_use]
    pub fn new(ftl: Option<Box<dyn Ftl>>, timing: Timing, dies: u32, blocks: u32) -> Self {
        Self {
            ftl,
            timing,
            dies,
            operations: Operations::default(),
            tally: Tally::default(),
            serial_time: 0,
            gc_time: 0,
            gc_runs: 0,
            gc_limit: gc_limit(blocks),
        }
    }

    /// Counts the operations of a step; the map took `map_time` meanwhile.
    fn account(&mut self, map_time: Ticks) -> Ticks {
        self.tally.add(&self.operations);
        let time = self.timing.serial(self.operations.all()).max(map_time);
        self.serial_time += time;
        time
    }

    fn read(&mut self, page: Lpn) {
        if let Some(ftl) = &mut self.ftl {
            self.operations.clear();
            ftl.read(page, &mut self.operations);
            let map_time = ftl.map_time(false);
            self.account(map_time);
        }
    }

    fn trim(&mut self, page: Lpn) {
        if let Some(ftl) = &mut self.ftl {
            self.operations.clear();
            ftl.trim(page, &mut self.operations);
            let map_time = ftl.map_time(true);
            self.account(map_time);
        }
    }

    /// Whether `pages` that follow one another are a [long write](Ftl::write_long).
    fn is_long(&self, pages: usize) -> bool {
        let least = self.ftl.as_ref().and_then(|ftl| ftl.long_write_pages());
        least.is_some_and(|least| pages >= least as usize)
    }

    /// Collects what is due, then writes.
    fn write(&mut self, page: Lpn, cause: Cause, is_long: bool) -> Result<(), NoSpace> {
        let Some(ftl) = &mut self.ftl else {
            return Ok(());
        };
        let die = ftl.place(page, &|_| 0);
        for cleaned in 0.. {
            let Some(ftl) = &mut self.ftl else {
                return Ok(());
            };
            self.operations.clear();
            if !ftl.collect_garbage(die, self.serial_time, &mut self.operations)? {
                break;
            }
            if cleaned > self.gc_limit {
                return Err(only_collects(die, cleaned));
            }
            self.gc_runs += 1;
            self.gc_time += self.account(0);
        }
        let Some(ftl) = &mut self.ftl else {
            return Ok(());
        };
        self.operations.clear();
        if is_long {
            ftl.write_long(page, cause, &mut self.operations)?;
        } else {
            ftl.write(page, cause, &mut self.operations)?;
        }
        let map_time = ftl.map_time(true);
        self.account(map_time);
        Ok(())
    }

    /// Carries out a record: padding reads, then all programs in order.
    fn destage(&mut self, record: &Destage) -> Result<(), NoSpace> {
        if self.ftl.is_none() {
            return Ok(());
        }
        if record.pads.is_empty() {
            let mut runs = record
                .pages
                .chunk_by(|one, next| is_next(one.page, next.page));
            return runs.try_for_each(|run| {
                let is_long = self.is_long(run.len());
                run.iter()
                    .try_for_each(|dirty| self.write(dirty.page, Cause::Host, is_long))
            });
        }
        record
            .pads
            .iter()
            .filter(|pad| pad.read)
            .for_each(|pad| self.read(pad.page));
        let dirty = record.pages.iter().map(|dirty| (dirty.page, Cause::Host));
        let mut programs: Vec<_> = dirty
            .chain(record.pads.iter().map(|pad| (pad.page, Cause::Pad)))
            .collect();
        programs.sort_by_key(|(page, _)| *page);
        let mut runs = programs.chunk_by(|(one, _), (next, _)| is_next(*one, *next));
        runs.try_for_each(|run| {
            let is_long = self.is_long(run.len());
            run.iter()
                .try_for_each(|(page, cause)| self.write(*page, *cause, is_long))
        })
    }

    fn totals(&self) -> Totals {
        Totals {
            tally: self.tally,
            serial_time: self.serial_time,
            gc_time: self.gc_time,
            gc_runs: self.gc_runs,
            ..Totals::default()
        }
    }
}

impl View for CountedFlash {
    fn dies(&self) -> u32 {
        self.dies
    }
    fn die_of(&self, page: Lpn) -> u32 {
        match &self.ftl {
            Some(ftl) => ftl.die_of(page),
            None => (page.0 % u64::from(self.dies)) as u32,
        }
    }
    fn is_written(&self, page: Lpn) -> bool {
        self.ftl.as_ref().is_none_or(|ftl| ftl.is_written(page))
    }
}

/// One untimed run. See the [module](self).
pub struct Untimed<'a> {
    config: UntimedConfig,
    source: Source<'a>,
    flash: CountedFlash,
    buffer: Option<Buffer>,
    observer: &'a mut dyn Observer,
    measured: Measured,
    line: u32,
}

impl<'a> Untimed<'a> {
    /// A run that has not begun. `buffer` releases slots on issue: nothing is ever in flight.
    pub fn new(
        config: UntimedConfig,
        source: Source<'a>,
        flash: CountedFlash,
        buffer: Option<Buffer>,
        observer: &'a mut dyn Observer,
    ) -> Self {
        let measured = Measured::default();
        Self {
            config,
            source,
            flash,
            buffer,
            observer,
            measured,
            line: 0,
        }
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// What is wrong with the trace, the device's size, or that the observer wants to stop.
    pub fn run(mut self) -> Result<(Measured, Source<'a>), SimError> {
        let mut now = 0;
        while let Some(request) = self.source.take()? {
            self.measured.requests += 1;
            if self.measured.requests.is_multiple_of(PROGRESS_STEP)
                && !self.observer.progress(self.measured.requests)
            {
                return Err(SimError::Interrupted);
            }
            now = request.arrival;
            self.line = request.line;
            let span = self.config.paging.span(&request);
            self.check_address(&request, &span)?;
            match request.operation {
                Operation::Read => self.read(&span, now)?,
                Operation::Write => self.write(&request, &span)?,
                Operation::Flush => self.empty(DestageCause::Flush, now)?,
                Operation::Trim => self.trim(&span, now),
            }
            self.measured.count_pages(&request, &span);
        }
        if self.config.drain {
            self.empty(DestageCause::Drain, now)?;
        }
        self.measured.completed = self.measured.requests;
        self.measured.totals = self.flash.totals();
        if let Some(ftl) = &self.flash.ftl {
            self.measured.take_ftl(ftl.as_ref());
            tell_erases(self.observer, ftl.as_ref());
        }
        if let Some(buffer) = &mut self.buffer {
            self.measured.take_counts(buffer, now);
        }
        Ok((self.measured, self.source))
    }

    fn check_address(&self, request: &Request, span: &Span) -> Result<(), SimError> {
        let Some(device_pages) = self.config.device_pages else {
            return Ok(());
        };
        span.check(
            request,
            device_pages,
            &self.config.paging,
            self.config.address_map,
            || self.source.origin().to_owned(),
        )
    }

    #[inline]
    fn page(&self, span: &Span, offset: u32) -> Lpn {
        let device = self.config.device_pages.unwrap_or(u64::MAX);
        self.config
            .address_map
            .page(span, offset, device, self.config.span_pages)
    }

    fn write(&mut self, request: &Request, span: &Span) -> Result<(), SimError> {
        let now = request.arrival;
        let Some(buffer) = &mut self.buffer else {
            self.observe_bypass(span, now);
            return self.write_past(span);
        };
        buffer.begin_request(span.pages);
        if buffer.bypasses(span.pages) {
            for offset in 0..span.pages {
                let page = self.page(span, offset);
                if let Some(buffer) = &mut self.buffer {
                    buffer.bypass(page, now);
                }
            }
            self.observe_bypass(span, now);
            return self.write_past(span);
        }
        for offset in 0..span.pages {
            let page = self.page(span, offset);
            let Some(buffer) = &mut self.buffer else {
                break;
            };
            match buffer.write(page, now, &self.flash) {
                Step::Hit => {}
                step => {
                    self.make_room(step, now)?;
                    self.fill_partial(span, offset);
                }
            }
        }
        if request.fua {
            for offset in 0..span.pages {
                let page = self.page(span, offset);
                let Some(buffer) = &mut self.buffer else {
                    break;
                };
                if buffer.fua(page, now, &self.flash) {
                    self.issue(now)?;
                }
            }
        }
        Ok(())
    }

    /// Carries out records until the pending page is in.
    #[inline]
    fn make_room(&mut self, mut step: Step, now: Ticks) -> Result<(), SimError> {
        while step == Step::Destage {
            self.issue(now)?;
            let Some(buffer) = &mut self.buffer else {
                break;
            };
            step = buffer.place(now, &self.flash);
        }
        debug_assert!(
            step != Step::Wait,
            "slots are free as soon as a record is issued"
        );
        Ok(())
    }

    #[inline]
    fn issue(&mut self, now: Ticks) -> Result<(), SimError> {
        let Some(buffer) = &self.buffer else {
            return Ok(());
        };
        self.observer.destage(now, buffer.record());
        let result = self.flash.destage(buffer.record());
        result.map_err(|full| self.device_full(full))
    }

    fn write_past(&mut self, span: &Span) -> Result<(), SimError> {
        let is_long = self.flash.is_long(span.pages as usize);
        for offset in 0..span.pages {
            self.fill_partial(span, offset);
            let page = self.page(span, offset);
            self.flash
                .write(page, Cause::Host, is_long)
                .map_err(|full| self.device_full(full))?;
        }
        Ok(())
    }

    fn fill_partial(&mut self, span: &Span, offset: u32) {
        if self.config.paging.align == Align::ReadModifyWrite && span.is_partial(offset) {
            let page = self.page(span, offset);
            self.flash.read(page);
        }
    }

    fn read(&mut self, span: &Span, now: Ticks) -> Result<(), SimError> {
        if let Some(buffer) = &mut self.buffer {
            buffer.begin_request(span.pages);
        }
        for offset in 0..span.pages {
            let page = self.page(span, offset);
            let step = self
                .buffer
                .as_mut()
                .map_or(ReadStep::Miss, |buffer| buffer.read(page, now));
            if matches!(step, ReadStep::Miss | ReadStep::MissAllocates) {
                self.flash.read(page);
            }
            if matches!(step, ReadStep::HitAllocates | ReadStep::MissAllocates) {
                let Some(buffer) = &mut self.buffer else {
                    break;
                };
                let step = buffer.place(now, &self.flash);
                self.make_room(step, now)?;
            }
        }
        Ok(())
    }

    fn trim(&mut self, span: &Span, now: Ticks) {
        for offset in 0..span.pages {
            let page = self.page(span, offset);
            if let Some(buffer) = &mut self.buffer {
                buffer.trim(page, now);
            }
            self.flash.trim(page);
        }
    }

    /// Destages everything dirty.
    fn empty(&mut self, cause: DestageCause, now: Ticks) -> Result<(), SimError> {
        loop {
            let Some(buffer) = &mut self.buffer else {
                return Ok(());
            };
            if !buffer.flush_next(cause, now, &self.flash) {
                return Ok(());
            }
            self.issue(now)?;
        }
    }

    /// Without a buffer a write request is its own destage.
    fn observe_bypass(&mut self, span: &Span, now: Ticks) {
        if self.observer.wants_destages() {
            let pages = (0..span.pages).map(|offset| self.page(span, offset));
            self.observer.destage(now, &bypass_record(pages));
        }
    }

    #[cold]
    fn device_full(&self, full: NoSpace) -> SimError {
        SimError::DeviceFull {
            origin: self.source.origin().to_owned(),
            line: self.line,
            explanation: full.explanation.into(),
        }
    }
}

/// Whether `next` is the page after `one`.
pub(crate) fn is_next(one: Lpn, next: Lpn) -> bool {
    one.0 + 1 == next.0
}

/// The record of a write request that goes past the buffer.
pub(crate) fn bypass_record(pages: impl Iterator<Item = Lpn>) -> Destage {
    Destage {
        cause: DestageCause::Bypass,
        grouping: Grouping::Pages,
        retain: false,
        pages: pages
            .map(|page| DirtyPage {
                page,
                slot: Slot(0),
            })
            .collect(),
        pads: Vec::new(),
    }
}
