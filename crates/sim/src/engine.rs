//! The event-driven run: host queue, device channel, buffer, elements, in simulated time.
//!
//! The order of events at equal times is part of the model: with cleaning active it decides block
//! contents. A message between host, controller and device takes no time but passes through the event
//! list a fixed number of times, so that what is already due at that instant goes first. The numbers of
//! passes below are those of the reference simulator.

use std::collections::VecDeque;

use destage_base::{Lpn, Ticks};
use destage_buffer::destage::{Cause, Destage, DirtyPage};
use destage_buffer::{Buffer, Counts, ReadStep, Step};
use destage_flash::ftl::NoSpace;
use destage_flash::nand::Wear;
use destage_trace::{Operation, Request};

use crate::elements::{Elements, PageOperation, Totals, Work};
use crate::error::SimError;
use crate::events::{Clock, EventList};
use crate::host::{Attribution, Identity, Outstanding, Scheduler, Waiting};
use crate::latencies::Latencies;
use crate::observer::{Observer, Response};
use crate::paging::{AddressMap, Align, Paging, Span};
use crate::slab::Slab;
use crate::source::Source;
use crate::untimed::bypass_record;

/// Passes through the event list before a request sent on an arrival reaches the device.
const PASSES_SEND_ON_ARRIVAL: u8 = 2;
/// The same for a request sent on a completion.
const PASSES_SEND_ON_COMPLETION: u8 = 3;
/// Before a write's data starts over the host bus.
const PASSES_BEFORE_WRITE_DATA: u8 = 7;
/// Before a read's data starts over the host bus.
const PASSES_BEFORE_READ_DATA: u8 = 2;
/// From the device to the host with the news of completion.
const PASSES_COMPLETION: u8 = 4;
/// From the host back to the device, which may use the channel again.
const PASSES_RELEASE: u8 = 1;
/// Requests between two calls of [`Observer::progress`].
const PROGRESS_STEP: u64 = 4096;

/// What is due.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// The next request of the trace arrives.
    Arrival,
    /// A message about a request is on its way through the event list.
    Message {
        /// What it says.
        says: Message,
        /// Passes to go.
        passes: u8,
        /// About which request.
        request: u32,
    },
    /// A write's data is in the device.
    WriteDataIn(u32),
    /// A read's data is at the host.
    ReadDataOut(u32),
    /// The operation in service at this element is done.
    ElementDone(u32),
    /// This operation of the batch in service at this element is done.
    BatchedDone {
        /// Position in the batch.
        position: u16,
        /// The element.
        element: u32,
    },
    /// The cleaning at this element is done.
    CleaningDone(u32),
}

/// What a message says.
#[derive(Clone, Copy, Debug)]
pub enum Message {
    /// The host sends the request to the device.
    Send,
    /// The channel is ready for the write's data.
    StartWriteData,
    /// The channel is ready for the read's data.
    StartReadData,
    /// The request is complete.
    Complete,
    /// The channel is free; about no request.
    Release,
}

impl Message {
    fn about(self, request: u32, passes: u8) -> Event {
        Event::Message { says: self, passes, request }
    }
}

/// When statistics close.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Window {
    /// When every request is complete.
    Complete,
    /// When the last request arrives; requests not complete by then are in no statistic.
    LastArrival,
}

/// When requests arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Replay {
    /// By their timestamps.
    Trace,
    /// Each when an earlier one completes, the queue depth outstanding.
    Closed,
}

/// Host and run parameters of the engine.
#[derive(Clone, Copy, Debug)]
pub struct EngineConfig {
    /// Requests kept outstanding at the device.
    pub queue_depth: u32,
    /// Which waiting request is sent next.
    pub scheduler: Scheduler,
    /// Host bus time per sector.
    pub bus_per_sector: Ticks,
    /// How times are added.
    pub clock: Clock,
    /// When requests arrive.
    pub replay: Replay,
    /// Factor on the times of arrival.
    pub time_scale: f64,
    /// To whom completions are credited.
    pub attribution: Attribution,
    /// Outstanding requests at which the run stops; 0: never.
    pub saturation: u64,
    /// When statistics close.
    pub window: Window,
    /// Destage what is left at the end.
    pub drain: bool,
    /// How requests become pages.
    pub paging: Paging,
    /// Pages beyond the device.
    pub address_map: AddressMap,
    /// Pages the trace spans, for [`AddressMap::Shrink`].
    pub span_pages: u64,
    /// Whether flush and FUA destage anything.
    pub honor_flush: bool,
}

/// Boxed, because the error is large and almost every step of a run passes one on.
type Outcome = Result<(), Box<SimError>>;

/// What a run measured, up to the close of the window.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Requests that arrived.
    pub requests: u64,
    /// Requests that completed.
    pub completed: u64,
    /// The run stopped because too many were outstanding.
    pub saturated: bool,
    /// Pages read by the host.
    pub page_reads: u64,
    /// Pages written by the host.
    pub page_writes: u64,
    /// Bytes written by the host.
    pub bytes_written: u64,
    /// Bytes read by the host.
    pub bytes_read: u64,
    /// Arrival to completion.
    pub response: Latencies,
    /// From being sent to the device to completion.
    pub device_response: Latencies,
    /// Of destaged records: from issue to the end of the last program.
    pub destage_response: Latencies,
    /// First arrival to the close of the window.
    pub makespan: Ticks,
    /// What the elements did.
    pub totals: Totals,
    /// Erase counts over all blocks.
    pub wear: Wear,
    /// RAM of the FTL's tables, in bytes.
    pub map_bytes: u64,
    /// What the buffer counted; absent without a buffer.
    pub counts: Option<Counts>,
}

/// A host request on its way.
#[derive(Clone, Copy)]
struct Active {
    request: Request,
    identity: Identity,
    span: Span,
    sent: Ticks,
    /// Next page to present to the buffer.
    cursor: u32,
    /// Page operations not done, and one while the request is still being taken in.
    remaining: u32,
}

/// A destage on its way.
#[derive(Default)]
struct Issued {
    at: Ticks,
    reads_left: u32,
    writes_left: u32,
    keep: bool,
    /// Host requests that wait for it.
    waiters: Vec<u32>,
    /// Programs held back until all padding is read.
    programs: Vec<PageOperation>,
}

/// One run. See the [module](self).
pub struct Engine<'a> {
    config: EngineConfig,
    events: EventList<Event>,
    source: Source<'a>,
    next: Option<Request>,
    observer: &'a mut dyn Observer,
    elements: Elements,
    buffer: Option<Buffer>,
    device_pages: u64,

    active: Slab<Active>,
    waiting: Waiting,
    outstanding: Outstanding,
    in_device: u32,
    arrivals: u64,
    last_line: u32,
    first_arrival: Option<Ticks>,

    channel_busy: bool,
    dispatched: VecDeque<u32>,
    done: VecDeque<u32>,

    /// Writes, flushes and trims in order; the head may wait for a free slot.
    admission: VecDeque<u32>,
    /// The head's current page has been presented and waits to be placed.
    page_pending: bool,
    issued: Slab<Issued>,

    measured: Measured,
    closed: bool,
}

impl<'a> Engine<'a> {
    /// A run that has not begun.
    pub fn new(
        config: EngineConfig,
        source: Source<'a>,
        elements: Elements,
        buffer: Option<Buffer>,
        observer: &'a mut dyn Observer,
    ) -> Self {
        let device_pages = elements.ftl().pages();
        Self {
            config,
            events: EventList::new(config.clock),
            source,
            next: None,
            observer,
            elements,
            buffer,
            device_pages,
            active: Slab::default(),
            waiting: Waiting::new(config.scheduler),
            outstanding: Outstanding::default(),
            in_device: 0,
            arrivals: 0,
            last_line: 0,
            first_arrival: None,
            channel_busy: false,
            dispatched: VecDeque::new(),
            done: VecDeque::new(),
            admission: VecDeque::new(),
            page_pending: false,
            issued: Slab::default(),
            measured: Measured::default(),
            closed: false,
        }
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// What is wrong with the trace, the device's size, or that the observer wants to stop.
    pub fn run(mut self) -> Result<(Measured, Source<'a>), SimError> {
        self.run_all().map_err(|error| *error)?;
        Ok((self.measured, self.source))
    }

    fn run_all(&mut self) -> Outcome {
        self.next = self.source.next().map_err(SimError::from)?;
        match self.config.replay {
            Replay::Trace => self.schedule_arrival(),
            Replay::Closed => {
                for _ in 0..self.config.queue_depth {
                    self.events.soon(Event::Arrival);
                }
            }
        }
        self.work_off()?;
        if !self.measured.saturated && self.config.drain && !self.closed {
            self.drain()?;
        }
        self.close();
        self.report_unfinished();
        Ok(())
    }

    /// Handles events until every request is complete, or the run stops early.
    fn work_off(&mut self) -> Outcome {
        while let Some(event) = self.events.next() {
            self.handle(event)?;
            let finished = self.active.is_empty() && self.next.is_none();
            if self.measured.saturated || (finished && self.issued.is_empty()) {
                break;
            }
            if self.closed && !self.observer.wants_responses() {
                break;
            }
        }
        Ok(())
    }

    #[inline]
    fn handle(&mut self, event: Event) -> Outcome {
        match event {
            Event::ElementDone(element) => {
                let done = self.elements.finish(element, self.events.now());
                if let Some(operation) = done {
                    self.page_done(operation)?;
                }
                self.activate(element)
            }
            Event::CleaningDone(element) => {
                self.elements.finish_cleaning(element, self.events.now());
                self.activate(element)
            }
            Event::BatchedDone { position, element } => {
                let operation = self.elements.finish_batched(element, position, self.events.now());
                self.page_done(operation)?;
                self.activate(element)
            }
            Event::Arrival => self.arrive(),
            Event::Message { says, passes, request } => self.pass(says, passes, request),
            Event::WriteDataIn(id) => {
                self.start(id)?;
                self.channel_busy = false;
                self.check_channel()
            }
            Event::ReadDataOut(id) => {
                self.events.soon(Message::Complete.about(id, PASSES_COMPLETION));
                Ok(())
            }
        }
    }

    /// Lets `message` pass once more, or delivers it after its last pass.
    #[inline]
    fn pass(&mut self, says: Message, passes: u8, id: u32) -> Outcome {
        // With nothing else due at this instant the remaining passes change nothing.
        if passes > 1 && !self.events.is_instant_over() {
            self.events.soon(says.about(id, passes - 1));
            return Ok(());
        }
        match says {
            Message::Send => {
                self.dispatched.push_back(id);
                self.check_channel()
            }
            Message::StartWriteData => {
                self.events.after(self.bus_time(id), Event::WriteDataIn(id));
                Ok(())
            }
            Message::StartReadData => {
                self.events.after(self.bus_time(id), Event::ReadDataOut(id));
                Ok(())
            }
            Message::Complete => self.complete(id),
            Message::Release => {
                self.channel_busy = false;
                self.check_channel()
            }
        }
    }

    fn bus_time(&self, id: u32) -> Ticks {
        u64::from(self.active[id].request.sectors) * self.config.bus_per_sector
    }

    // ---- host ------------------------------------------------------------------------------------

    fn schedule_arrival(&mut self) {
        let Some(request) = &self.next else { return };
        let time = if self.config.time_scale == 1.0 {
            request.arrival
        } else {
            (request.arrival as f64 * self.config.time_scale + 0.5) as Ticks
        };
        self.events.at(time, Event::Arrival);
    }

    /// The next request of the trace arrives and joins the host's queue.
    fn arrive(&mut self) -> Outcome {
        let Some(request) = self.next.take() else { return Ok(()) };
        self.next = self.source.next().map_err(SimError::from)?;
        if self.config.replay == Replay::Trace {
            self.schedule_arrival();
        }
        let now = self.events.now();
        self.first_arrival.get_or_insert(now);
        let identity = Identity { index: self.arrivals, arrival: now };
        self.arrivals += 1;
        self.last_line = request.line;
        self.measured.requests += 1;
        if self.arrivals.is_multiple_of(PROGRESS_STEP) && !self.observer.progress(self.arrivals) {
            return Err(SimError::Interrupted.into());
        }
        let span = self.config.paging.span(&request);
        self.check_address(&request, &span)?;
        let id = self.active.insert(Active {
            request,
            identity,
            span,
            sent: 0,
            cursor: 0,
            remaining: 0,
        });
        if self.config.attribution == Attribution::DiskSim {
            let read = request.operation == Operation::Read;
            self.outstanding.push(identity, request.sector, read);
        }
        if self.in_device < self.config.queue_depth && self.waiting.is_empty() {
            self.waiting.pass(request.sector);
            self.send(id, PASSES_SEND_ON_ARRIVAL);
        } else {
            self.waiting.push(id, request.sector);
            if self.in_device < self.config.queue_depth {
                self.send_next(PASSES_SEND_ON_ARRIVAL);
            }
        }
        let outstanding = self.active.len() as u64;
        if self.config.saturation > 0 && outstanding >= self.config.saturation {
            self.measured.saturated = true;
            self.close();
        }
        if self.next.is_none() && self.config.window == Window::LastArrival {
            self.close();
        }
        Ok(())
    }

    fn check_address(&self, request: &Request, span: &Span) -> Outcome {
        span.check(
            request,
            self.device_pages,
            &self.config.paging,
            self.config.address_map,
            || self.source.origin().to_owned(),
        )?;
        Ok(())
    }

    fn send_next(&mut self, passes: u8) {
        if let Some(id) = self.waiting.pop() {
            self.send(id, passes);
        }
    }

    fn send(&mut self, id: u32, passes: u8) {
        self.in_device += 1;
        self.active[id].sent = self.events.now();
        self.events.soon(Message::Send.about(id, passes));
    }

    /// The host learns that `id` is complete.
    fn complete(&mut self, id: u32) -> Outcome {
        let now = self.events.now();
        let Some(active) = self.active.remove(id) else { return Ok(()) };
        let request = active.request;
        let identity = match self.config.attribution {
            Attribution::Request => active.identity,
            Attribution::DiskSim => {
                let read = request.operation == Operation::Read;
                self.outstanding.credit(request.sector, read).unwrap_or(active.identity)
            }
        };
        let response = now - identity.arrival;
        if !self.closed {
            let write = request.operation != Operation::Read;
            self.measured.completed += 1;
            self.measured.response.push(response, write);
            self.measured.device_response.push(now - active.sent, write);
        }
        self.observer.response(&Response {
            index: identity.index,
            arrival: identity.arrival,
            response: Some(response),
            sector: request.sector,
            sectors: request.sectors,
            operation: request.operation,
        });
        self.in_device -= 1;
        self.send_next(PASSES_SEND_ON_COMPLETION);
        self.events.soon(Message::Release.about(id, PASSES_RELEASE));
        if self.config.replay == Replay::Closed && self.next.is_some() {
            self.events.soon(Event::Arrival);
        }
        Ok(())
    }

    // ---- device channel ----------------------------------------------------------------------------

    /// Gives the channel, if it is idle, to a done request or else to a new one.
    fn check_channel(&mut self) -> Outcome {
        while !self.channel_busy {
            if let Some(id) = self.done.pop_front() {
                self.channel_busy = true;
                let message = if self.active[id].request.operation == Operation::Read {
                    Message::StartReadData.about(id, PASSES_BEFORE_READ_DATA)
                } else {
                    Message::Complete.about(id, PASSES_COMPLETION)
                };
                self.events.soon(message);
            } else if let Some(id) = self.dispatched.pop_front() {
                if self.active[id].request.operation == Operation::Write {
                    self.channel_busy = true;
                    self.events
                        .soon(Message::StartWriteData.about(id, PASSES_BEFORE_WRITE_DATA));
                } else {
                    // Reads, flushes and trims carry no data in.
                    self.start(id)?;
                }
            } else {
                break;
            }
        }
        Ok(())
    }

    // ---- requests inside the device ----------------------------------------------------------------

    /// `id` is in the device: its pages go to the buffer and the elements.
    fn start(&mut self, id: u32) -> Outcome {
        self.active[id].remaining = 1;
        let Active { request, span, .. } = self.active[id];
        match request.operation {
            Operation::Read => {
                self.measured.page_reads += u64::from(span.pages);
                self.measured.bytes_read += u64::from(request.sectors) * 512;
                self.read(id, &span)?;
                self.lower(id)
            }
            Operation::Write if self.buffer.is_none() => {
                self.count_write(&request, &span);
                self.observe_bypass(&span);
                self.write_past(id, &span)?;
                self.lower(id)
            }
            Operation::Write | Operation::Flush | Operation::Trim => {
                if request.operation == Operation::Write {
                    self.count_write(&request, &span);
                }
                self.admission.push_back(id);
                if self.admission.len() == 1 { self.admit() } else { Ok(()) }
            }
        }
    }

    fn count_write(&mut self, request: &Request, span: &Span) {
        self.measured.page_writes += u64::from(span.pages);
        self.measured.bytes_written += u64::from(request.sectors) * 512;
    }

    fn read(&mut self, id: u32, span: &Span) -> Outcome {
        if let Some(buffer) = &mut self.buffer {
            buffer.begin_request(span.pages);
        }
        for offset in 0..span.pages {
            let page = self.page(span, offset);
            let now = self.events.now();
            let hit = match self.buffer.as_mut().map(|buffer| buffer.read(page, now)) {
                Some(ReadStep::Hit) => true,
                Some(step @ (ReadStep::HitAllocates | ReadStep::MissAllocates)) => {
                    self.place_read()?;
                    step == ReadStep::HitAllocates
                }
                Some(ReadStep::Miss) | None => false,
            };
            if !hit {
                self.submit(id, PageOperation { page, work: Work::HostRead(id) })?;
            }
        }
        Ok(())
    }

    /// Lets a page that was read enter the buffer.
    fn place_read(&mut self) -> Outcome {
        loop {
            let now = self.events.now();
            let Some(buffer) = &mut self.buffer else { return Ok(()) };
            match buffer.place(now, &self.elements) {
                Step::Destage => self.issue(None)?,
                // Whether a read page enters may not depend on how fast programs are; it is given the
                // slot of the next program to complete, and until then nothing reads it from there.
                Step::Wait => return Ok(()),
                Step::Hit | Step::Placed => return Ok(()),
            }
        }
    }

    /// All pages of a write go to the flash.
    fn write_past(&mut self, id: u32, span: &Span) -> Outcome {
        for offset in 0..span.pages {
            self.fill_partial(id, span, offset)?;
            let page = self.page(span, offset);
            self.submit(id, PageOperation { page, work: Work::HostWrite(id) })?;
        }
        Ok(())
    }

    /// Under read-modify-write, page `offset` of `span` is read first if the write covers only part of it.
    fn fill_partial(&mut self, id: u32, span: &Span, offset: u32) -> Outcome {
        if !span.is_partial(offset) || self.config.paging.align != Align::ReadModifyWrite {
            return Ok(());
        }
        let page = self.page(span, offset);
        if self.elements.ftl().is_written(page) {
            self.submit(id, PageOperation { page, work: Work::HostRead(id) })?;
        }
        Ok(())
    }

    #[inline]
    fn page(&self, span: &Span, offset: u32) -> Lpn {
        self.config.address_map.page(span, offset, self.device_pages, self.config.span_pages)
    }

    /// One more operation for request `id`.
    #[inline]
    fn submit(&mut self, id: u32, operation: PageOperation) -> Outcome {
        self.active[id].remaining += 1;
        self.elements
            .submit(operation, &mut self.events)
            .map_err(|full| self.device_full(full))
    }

    fn activate(&mut self, element: u32) -> Outcome {
        self.elements
            .activate(element, &mut self.events)
            .map_err(|full| self.device_full(full))
    }

    #[cold]
    fn device_full(&self, full: NoSpace) -> Box<SimError> {
        Box::new(SimError::DeviceFull {
            origin: self.source.origin().to_owned(),
            line: self.last_line,
            explanation: full.explanation.into(),
        })
    }

    /// One thing request `id` waited for is done.
    #[inline]
    fn lower(&mut self, id: u32) -> Outcome {
        let active = &mut self.active[id];
        active.remaining -= 1;
        if active.remaining == 0 {
            self.done.push_back(id);
            self.check_channel()?;
        }
        Ok(())
    }

    fn page_done(&mut self, operation: PageOperation) -> Outcome {
        match operation.work {
            Work::HostRead(id) | Work::HostWrite(id) | Work::Trim(id) => self.lower(id),
            Work::Destage(record, slot) => {
                let page = DirtyPage { page: operation.page, slot };
                let keep = self.issued[record].keep;
                if let Some(buffer) = &mut self.buffer {
                    buffer.programmed(page, keep, self.events.now());
                }
                self.program_done(record)?;
                self.admit()
            }
            Work::PadWrite(record) => self.program_done(record),
            Work::PadRead(record) => {
                let issued = &mut self.issued[record];
                issued.reads_left -= 1;
                if issued.reads_left == 0 { self.submit_programs(record) } else { Ok(()) }
            }
        }
    }

    // ---- buffer ------------------------------------------------------------------------------------

    /// Takes in waiting writes, flushes and trims until one has to wait for a slot.
    fn admit(&mut self) -> Outcome {
        while let Some(id) = self.admission.front().copied() {
            let operation = self.active[id].request.operation;
            let taken = match operation {
                Operation::Write => self.admit_write(id)?,
                Operation::Trim => self.admit_trim(id)?,
                Operation::Flush | Operation::Read => self.admit_flush(id)?,
            };
            if !taken {
                return Ok(());
            }
            self.admission.pop_front();
            self.lower(id)?;
        }
        Ok(())
    }

    /// Presents the pages of write `id` one by one; `false` if one has to wait.
    fn admit_write(&mut self, id: u32) -> Result<bool, Box<SimError>> {
        let Active { request, span, .. } = self.active[id];
        let now = self.events.now();
        let Some(buffer) = &mut self.buffer else { return Ok(true) };
        if self.active[id].cursor == 0 && !self.page_pending {
            buffer.begin_request(span.pages);
            if buffer.bypasses(span.pages) {
                for offset in 0..span.pages {
                    let page = self.page(&span, offset);
                    if let Some(buffer) = &mut self.buffer {
                        buffer.bypass(page, now);
                    }
                }
                self.observe_bypass(&span);
                self.write_past(id, &span)?;
                return Ok(true);
            }
        }
        while self.active[id].cursor < span.pages {
            let offset = self.active[id].cursor;
            let page = self.page(&span, offset);
            let Some(buffer) = &mut self.buffer else { return Ok(true) };
            let step = if self.page_pending {
                buffer.place(now, &self.elements)
            } else {
                buffer.write(page, now, &self.elements)
            };
            match step {
                Step::Destage => {
                    self.page_pending = true;
                    self.issue(None)?;
                    continue;
                }
                Step::Wait => {
                    self.page_pending = true;
                    return Ok(false);
                }
                Step::Placed => self.fill_partial(id, &span, offset)?,
                Step::Hit => {}
            }
            self.page_pending = false;
            self.active[id].cursor += 1;
        }
        if request.fua && self.config.honor_flush {
            self.force(id, &span)?;
        }
        Ok(true)
    }

    /// Destages the pages of FUA write `id`, which waits for them.
    fn force(&mut self, id: u32, span: &Span) -> Outcome {
        // Pages of a large write may have left already: their programs are waited for as well.
        self.wait_for_issued(id);
        for offset in 0..span.pages {
            let page = self.page(span, offset);
            let now = self.events.now();
            let Some(buffer) = &mut self.buffer else { return Ok(()) };
            if buffer.fua(page, now, &self.elements) {
                self.issue(Some(id))?;
            }
        }
        Ok(())
    }

    /// Destages everything dirty for flush `id`, which waits for that and for what is on its way.
    fn admit_flush(&mut self, id: u32) -> Result<bool, Box<SimError>> {
        if !self.config.honor_flush {
            return Ok(true);
        }
        self.wait_for_issued(id);
        while self.flush_next(Cause::Flush) {
            self.issue(Some(id))?;
        }
        Ok(true)
    }

    fn flush_next(&mut self, cause: Cause) -> bool {
        let now = self.events.now();
        match &mut self.buffer {
            Some(buffer) => buffer.flush_next(cause, now, &self.elements),
            None => false,
        }
    }

    fn wait_for_issued(&mut self, id: u32) {
        let mut waits = 0;
        for issued in self.issued.iter_mut() {
            issued.waiters.push(id);
            waits += 1;
        }
        self.active[id].remaining += waits;
    }

    fn admit_trim(&mut self, id: u32) -> Result<bool, Box<SimError>> {
        let span = self.active[id].span;
        for offset in 0..span.pages {
            let page = self.page(&span, offset);
            let now = self.events.now();
            if let Some(buffer) = &mut self.buffer {
                buffer.trim(page, now);
            }
            self.submit(id, PageOperation { page, work: Work::Trim(id) })?;
        }
        Ok(true)
    }

    /// Sends the buffer's latest record to the elements; `waiter` is lowered when it is done.
    fn issue(&mut self, waiter: Option<u32>) -> Outcome {
        let Some(buffer) = &self.buffer else { return Ok(()) };
        let now = self.events.now();
        let record = buffer.record();
        self.observer.destage(now, record);
        let id = self.issued.insert_reused(|issued| {
            issued.at = now;
            issued.keep = record.keep;
            issued.waiters.clear();
            issued.waiters.extend(waiter);
            issued.programs.clear();
        });
        let issued = &mut self.issued[id];
        issued.writes_left = (record.pages.len() + record.pads.len()) as u32;
        merge_programs(id, record, &mut issued.programs);
        let reads: Vec<Lpn> =
            record.pads.iter().filter(|pad| pad.read).map(|pad| pad.page).collect();
        issued.reads_left = reads.len() as u32;
        if let Some(waiter) = waiter {
            self.active[waiter].remaining += 1;
        }
        if reads.is_empty() {
            return self.submit_programs(id);
        }
        for page in reads {
            self.elements
                .submit(PageOperation { page, work: Work::PadRead(id) }, &mut self.events)
                .map_err(|full| self.device_full(full))?;
        }
        Ok(())
    }

    fn submit_programs(&mut self, record: u32) -> Outcome {
        let programs = std::mem::take(&mut self.issued[record].programs);
        for operation in &programs {
            self.elements
                .submit(*operation, &mut self.events)
                .map_err(|full| self.device_full(full))?;
        }
        self.issued[record].programs = programs;
        Ok(())
    }

    /// One program of `record` is done.
    fn program_done(&mut self, record: u32) -> Outcome {
        let issued = &mut self.issued[record];
        issued.writes_left -= 1;
        if issued.writes_left > 0 {
            return Ok(());
        }
        if !self.closed {
            self.measured.destage_response.push(self.events.now() - issued.at, true);
        }
        let waiters = std::mem::take(&mut issued.waiters);
        self.issued.free(record);
        for waiter in waiters {
            self.lower(waiter)?;
        }
        Ok(())
    }

    /// Without a buffer a write request is its own destage.
    fn observe_bypass(&mut self, span: &Span) {
        if self.observer.wants_destages() {
            let pages = (0..span.pages).map(|offset| self.page(span, offset));
            self.observer.destage(self.events.now(), &bypass_record(pages));
        }
    }

    fn drain(&mut self) -> Outcome {
        while self.flush_next(Cause::Drain) {
            self.issue(None)?;
        }
        while !self.issued.is_empty() {
            let Some(event) = self.events.next() else { break };
            self.handle(event)?;
        }
        Ok(())
    }

    // ---- results -----------------------------------------------------------------------------------

    /// Closes the window: what happens from now on is in no statistic.
    fn close(&mut self) {
        if self.closed {
            return;
        }
        self.closed = true;
        let now = self.events.now();
        self.measured.makespan = now - self.first_arrival.unwrap_or(now);
        self.measured.totals = self.elements.totals(now);
        self.measured.wear = self.elements.ftl().wear();
        self.measured.map_bytes = self.elements.ftl().map_bytes();
        self.measured.counts = self.buffer.as_ref().map(Buffer::counts);
    }

    fn report_unfinished(&mut self) {
        for active in self.active.iter() {
            self.observer.response(&Response {
                index: active.identity.index,
                arrival: active.identity.arrival,
                response: None,
                sector: active.request.sector,
                sectors: active.request.sectors,
                operation: active.request.operation,
            });
        }
    }
}

/// The programs of `record` in the order of issue: dirty pages as they come, or with pads in page order.
fn merge_programs(id: u32, record: &Destage, programs: &mut Vec<PageOperation>) {
    let dirty = record
        .pages
        .iter()
        .map(|dirty| PageOperation { page: dirty.page, work: Work::Destage(id, dirty.slot) });
    programs.extend(dirty);
    if !record.pads.is_empty() {
        let pads = record
            .pads
            .iter()
            .map(|pad| PageOperation { page: pad.page, work: Work::PadWrite(id) });
        programs.extend(pads);
        programs.sort_by_key(|operation| operation.page);
    }
}
