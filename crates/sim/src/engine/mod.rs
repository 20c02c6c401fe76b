//! The event-driven run: host queue, device channel, buffer, elements, in simulated time.
//!
//! The order of events at equal times is part of the model: with cleaning active it decides block
//! contents. A message between host, controller and device takes no time but passes through the event
//! list a fixed number of times, so that what is already due at that instant goes first. The numbers of
//! passes below are those of the reference simulator.

mod buffering;
mod config;
mod device_side;
mod event;
mod host_side;
mod idle;

use std::collections::{BTreeMap, VecDeque};

use destage_base::Ticks;
use destage_buffer::Buffer;
use destage_trace::Request;

pub use self::config::{EngineConfig, Measured, Replay, Window};
use self::event::PASSES_COMPLETION;
pub use self::event::{Event, Message};
use self::idle::Idle;
pub use self::idle::IdleTime;
use crate::elements::Elements;
use crate::error::SimError;
use crate::events::EventList;
use crate::host::{Identity, Outstanding, Waiting};
use crate::latencies::Latencies;
use crate::observer::{Observer, Response, tell_erases};
use crate::operation::PageOperation;
use crate::paging::Span;
use crate::slab::Slab;
use crate::source::Source;

/// Boxed, because the error is large and almost every step of a run passes one on.
type Outcome = Result<(), Box<SimError>>;

/// A host request on its way.
#[derive(Clone, Copy)]
struct Active {
    request: Request,
    identity: Identity,
    span: Span,
    sent: Ticks,
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
    /// The idle time it was written back in, if it was.
    idle: Option<IdleTime>,
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
    /// Line and time, as in the trace, of the request that arrived last.
    last_line: u32,
    last_arrival: Ticks,
    first_arrival: Option<Ticks>,

    channel_busy: bool,
    dispatched: VecDeque<u32>,
    done: VecDeque<u32>,

    /// Requests of the pages that have no slot yet, in order of the pages.
    slot_waiters: VecDeque<u32>,
    /// By slot, the request of the page that waits for just this one.
    place_waiters: BTreeMap<u32, u32>,
    issued: Slab<Issued>,
    idle: Option<Idle>,

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
        let idle = buffer.as_ref().and_then(Idle::of);
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
            last_arrival: 0,
            first_arrival: None,
            channel_busy: false,
            dispatched: VecDeque::new(),
            done: VecDeque::new(),
            slot_waiters: VecDeque::new(),
            place_waiters: BTreeMap::new(),
            issued: Slab::default(),
            idle,
            measured: Measured {
                response: Latencies::keeping(config.exact_responses),
                device_response: Latencies::keeping(config.exact_responses),
                destage_response: Latencies::keeping(config.exact_responses),
                ..Measured::default()
            },
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
        self.next = self.source.take().map_err(SimError::from)?;
        match self.config.replay {
            Replay::Trace => self.schedule_arrival()?,
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
        if self.events.has_run_out() {
            return Err(Box::new(SimError::OutOfTime {
                origin: self.source.origin().to_owned(),
                line: self.last_line,
                arrival: self.last_arrival,
            }));
        }
        self.close();
        self.report_unfinished();
        Ok(())
    }

    /// Handles events until every request is complete, or the run stops early.
    fn work_off(&mut self) -> Outcome {
        while let Some(event) = self.events.take() {
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
                let operation = self
                    .elements
                    .finish_batched(element, position, self.events.now());
                self.page_done(operation)?;
                self.activate(element)
            }
            Event::Arrival => self.arrive(),
            Event::Idle { group, arrivals } => self.use_idle_time(IdleTime { group, arrivals }),
            Event::Message {
                says,
                passes,
                request,
            } => self.pass(says, passes, request),
            Event::WriteDataIn(id) => {
                self.start(id)?;
                self.channel_busy = false;
                self.check_channel()
            }
            Event::ReadDataOut(id) => {
                self.events
                    .soon(Message::Complete.about(id, PASSES_COMPLETION));
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
        let sectors = u64::from(self.active[id].request.sectors);
        sectors.saturating_mul(self.config.bus_per_sector)
    }

    /// Closes the window: what happens from now on is in no statistic.
    fn close(&mut self) {
        if self.closed {
            return;
        }
        self.closed = true;
        let now = self.events.now();
        self.measured.makespan = now - self.first_arrival.unwrap_or(now);
        self.measured.totals = self.elements.totals(now);
        self.measured.take_ftl(self.elements.ftl());
        tell_erases(self.observer, self.elements.ftl());
        if let Some(buffer) = &mut self.buffer {
            self.measured.take_counts(buffer, now);
        }
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
