//! The event-driven run: host queue, host bus and flash commands in simulated time.
//!
//! The engine drives a [`Device`], and simulates what lies between the host and the device. It receives the requests
//! in batches. It handles events only as long as it knows at least one request after the next request to arrive. When
//! it knows none, it returns and waits for the next batch.
//!
//! The order of events at equal times is part of the model, because with garbage collection this order determines the
//! contents of blocks. A message between host, controller and device takes no time. It passes through the event list
//! a fixed number of times, so that events that are already due at the same instant are handled first. The numbers of
//! passes are those of the reference simulator.
//!
//! "Channel" in the names of functions and fields of the engine means the host bus, which moves the data of one
//! request at a time. The channels of dies are simulated by `commands.rs` and `queued.rs`.

mod commands;
mod config;
mod cut;
mod event;
mod front;
mod front_side;
mod host_side;
mod link;
mod live;
mod load;
mod plan;
mod probe;
mod queued;
mod registers;
mod so_far;
mod window;

use destage_base::{Lpn, Ticks};
use destage_device::{Device, Token};
use destage_ftl::NoSpace;
use destage_nand::media::MediaConfig;
use destage_nand::media::dispatch::DispatchConfig;
use destage_nand::{Geometry, Timing};
use destage_trace::{Operation, Request};

pub use self::config::{EngineConfig, Replay, Statistics, Window};
pub use self::cut::Parts;
use self::event::{Event, Message, PASSES_BEFORE_WRITE_DATA, PASSES_COMPLETION, Packed};
use self::front::Front;
pub use self::front::{Dram, Firmware, FrontConfig, FrontUsage, Usage};
use self::host_side::NEAR;
use self::link::{Active, FlashTime, Link};
pub use self::load::Load;
pub use self::plan::Layout;
pub use self::probe::{Command, Completion, Probe};
use crate::error::SimError;
use crate::events::EventList;
use crate::host::{Job, Outstanding, Waiting, scaled};
use crate::latencies::{Counted, Latencies};
use crate::measured::{Measured, Responses, check_measured};
use crate::meter::FlashMeter;
use crate::observer::Observer;

/// The error is boxed because it is large and almost every step of a run returns this type.
type Outcome = Result<(), Box<SimError>>;

/// Maximum number of outstanding requests if each request arrives when an earlier one completes. At the start, the
/// event list holds an arrival for each of them.
const MOST_AT_ONCE: u32 = 1 << 20;

/// The known requests after the next request to arrive.
type Coming<'r> = std::slice::Iter<'r, Request>;

/// The flash below a device: its structure and its times.
pub struct Flash {
    /// Numbers of dies, planes, blocks and pages.
    pub geometry: Geometry,
    /// Times of single operations, for commands that are timed one by one.
    pub timing: Timing,
    /// Times of operations, used if the time of a step is the sum over its operations.
    pub sums: Timing,
    /// How pages are arranged in blocks and cells.
    pub layout: Layout,
    /// How the time of a step is computed.
    pub media: FlashMedia,
}

/// How the time of a die's work is computed.
pub enum FlashMedia {
    /// The time of a step is the sum over its operations.
    Sum,
    /// Commands are timed one by one. Die and channel are reserved for a command when the command is issued. The
    /// operations that the device sends must then name every page.
    Booked(MediaConfig),
    /// Commands are timed one by one, and wait in the queues of their dies. The operations that the device sends must
    /// then name every page.
    Queued(DispatchConfig),
}

/// Requests of the host that are not complete: the requests that wait in the host, and the number of requests in the
/// device.
struct HostQueue {
    waiting: Waiting,
    outstanding: Outstanding,
    /// Number of requests that were sent to the device and are not complete.
    in_device: u32,
    /// The thread that issues the requests of a closed loop; `None` if it takes no time.
    job: Option<Job>,
}

/// The requests that have arrived.
#[derive(Default)]
struct Arrived {
    count: u64,
    /// Index of the first request that arrives.
    first_index: u64,
    /// The time at which the first request arrives.
    first_at: Ticks,
    /// Index of the first request after the warm-up.
    counted_from: u64,
    /// Number of the request that arrived last, complete or not. No other request gets this number before the next
    /// arrival.
    last: u32,
}

/// One run. See the [module](self).
pub struct Engine<'a, P = ()> {
    config: EngineConfig,
    origin: Box<str>,
    /// The next request to arrive; `None` at the end of the trace.
    next: Option<Request>,
    has_begun: bool,
    /// Whether no more events are handled, because every request is complete or the run has stopped early.
    has_ended: bool,
    /// Whether a request after the next request to arrive is known, and statistics are open. If so, the run cannot
    /// end with the next event.
    is_under_way: bool,
    device: Device,
    link: Link<'a, P>,
    queue: HostQueue,
    arrived: Arrived,
    measured: Measured,
    /// First pages of the requests that arrive next, for the mapping table. This is a field only so that its
    /// allocation is reused.
    near: Vec<Lpn>,
}

impl<'a, P: Probe> Engine<'a, P> {
    /// Creates a run on `device` over `flash`. The run has not begun. Errors call the trace `origin`. The engine reports
    /// every event to `probe`.
    pub fn new(
        mut config: EngineConfig,
        origin: &str,
        device: Device,
        flash: Flash,
        probe: P,
        observer: Box<dyn Observer + 'a>,
    ) -> Self {
        let (depth, scheduler) = (config.queue_depth, config.scheduler);
        let front = config.front.take();
        let queues = front.as_ref().map_or(1, |front| front.weights.len());
        let latencies = || Latencies::keeping(config.statistics.exact_responses);
        Self {
            origin: origin.into(),
            next: None,
            has_begun: false,
            has_ended: false,
            is_under_way: false,
            device,
            link: Link::new(
                probe,
                EventList::new(config.clock),
                FlashMeter::new(flash.sums, flash.geometry.dies),
                FlashTime::new(&flash),
                latencies(),
                observer,
            )
            .behind(front.map(|front| Front::new(front, depth, scheduler))),
            queue: HostQueue {
                waiting: Waiting::new(config.scheduler),
                outstanding: Outstanding::default(),
                in_device: 0,
                job: config.job.map(Job::new),
            },
            arrived: Arrived {
                counted_from: config.statistics.warmup,
                ..Arrived::default()
            },
            measured: Measured {
                responses: Responses {
                    host: latencies(),
                    device: latencies(),
                    queues: match queues {
                        1 => Vec::new(),
                        queues => vec![Counted::default(); queues],
                    },
                    ..Responses::default()
                },
                dirty_age: config.statistics.dirty_ages.then(Counted::default),
                ..Measured::default()
            },
            near: Vec::new(),
            config,
        }
    }

    /// Tells the device that `pages` page writes went to other devices before the next request.
    pub fn pass_writes(&mut self, pages: u64) {
        self.device.pass_writes(pages);
    }

    /// Simulates `requests`, which follow the requests of earlier calls. Returns whether the run accepts more
    /// requests.
    ///
    /// # Errors
    /// If the trace has an error, if the device is too small, or if the observer stops the run.
    pub fn feed(&mut self, requests: &[Request]) -> Result<bool, SimError> {
        for requests in requests.chunks(NEAR) {
            if self.has_ended {
                break;
            }
            self.bring_near_of(requests);
            let mut coming = requests.iter();
            if !self.has_begun {
                self.begin(coming.next().copied()).map_err(|error| *error)?;
            }
            let served = self.work_off(&mut coming, false, u64::MAX);
            self.unless_worn_out(served).map_err(|error| *error)?;
        }
        Ok(!self.has_ended)
    }

    /// Simulates the rest of the run, after the last request was fed. Returns the measured values and the probe.
    ///
    /// # Errors
    /// The errors of [`Engine::feed`]. Another error occurs if no request arrived after the warm-up, or if simulated
    /// time has run out.
    pub fn finish(mut self) -> Result<(Measured, P), SimError> {
        self.run_out().map_err(|error| *error)?;
        check_measured(
            &self.origin,
            self.config.statistics.warmup,
            self.arrived.count,
        )?;
        Ok((self.measured, self.link.probe))
    }

    fn begin(&mut self, first: Option<Request>) -> Outcome {
        self.has_begun = true;
        self.next = first;
        match self.config.replay {
            Replay::Trace => {
                let first = first.map_or(0, |first| first.arrival);
                self.arrived.first_at = scaled(first, self.config.time_scale);
                self.schedule_arrival()?;
            }
            Replay::Closed => {
                for _ in 0..self.config.queue_depth.min(MOST_AT_ONCE) {
                    self.link.events.soon(Event::Arrival);
                }
            }
        }
        Ok(())
    }

    fn run_out(&mut self) -> Outcome {
        if !self.has_begun {
            self.begin(None)?;
        }
        if !self.has_ended {
            let served = self.work_off(&mut [].iter(), true, u64::MAX);
            self.unless_worn_out(served)?;
        }
        self.check_clock()?;
        if self.config.run_out && !self.is_cut() {
            let gone_on = self.work_on(Device::is_clean);
            self.unless_worn_out(gone_on)?;
        }
        if self.config.drain && !self.is_cut() {
            let drained = self.drain();
            self.unless_worn_out(drained)?;
        }
        if (self.config.run_out || self.config.drain) && !self.is_cut() {
            let clean = self.device.clean_since();
            let arrived = self.last().map_or(0, |last| last.identity.arrival);
            self.measured.clean_after = clean.map(|since| since.saturating_sub(arrived));
        }
        self.check_clock()?;
        if self.link.events.has_run_out() {
            return Err(Box::new(SimError::OutOfTime {
                origin: self.origin.to_string(),
                line: self.last().map_or(0, |last| last.request.line),
                arrival: self.last().map_or(0, |last| last.request.arrival),
            }));
        }
        let unanswered = self.link.active.iter();
        let first = unanswered.min_by_key(|active| active.identity.index);
        if let Some(first) = first.filter(|_| !self.is_cut()) {
            return Err(Box::new(SimError::Unanswered {
                origin: self.origin.to_string(),
                line: first.request.line,
                requests: self.link.active.iter().count(),
            }));
        }
        self.close();
        self.report_unfinished();
        Ok(())
    }

    /// Refuses a run whose clock stands still: its remaining events are lost.
    fn check_clock(&self) -> Outcome {
        // At the last moment of the clock, all waits are lost. That has an error of its own.
        match self.link.events.stands_still() && !self.link.events.has_run_out() {
            false => Ok(()),
            true => Err(Box::new(SimError::ClockStandsStill {
                origin: self.origin.to_string(),
                line: self.last().map_or(0, |last| last.request.line),
                now: self.link.events.now(),
            })),
        }
    }

    /// Whether the run has stopped before its end.
    fn is_cut(&self) -> bool {
        self.measured.saturated || self.measured.worn_out || self.link.closed
    }

    /// If the device is worn out, this is a result of the run and not an error. Returns any other error of `served`.
    fn unless_worn_out(&mut self, served: Outcome) -> Outcome {
        if let Err(error) = &served
            && let SimError::DeviceFull { shortage, .. } = &**error
            && shortage.is_of_wear(self.device.ftl().retired())
        {
            if !self.link.closed {
                let since = self.arrived.first_at;
                self.measured.worn_out = true;
                self.measured.worn_out_after = self.link.events.now().saturating_sub(since);
            }
            self.has_ended = true;
            return Ok(());
        }
        served
    }

    /// Handles events as long as a request after the next request to arrive is known. With `last`, no more requests
    /// follow. Then events are handled until every request is complete or the run stops early, but at most `at_most`
    /// events after the last request is known.
    fn work_off(&mut self, coming: &mut Coming<'_>, last: bool, at_most: u64) -> Outcome {
        self.is_under_way = !coming.as_slice().is_empty() && !self.link.closed;
        while self.is_under_way {
            let Some(event) = self.link.events.take() else {
                self.has_ended = true;
                return Ok(());
            };
            self.handle::<true>(event, coming)?;
        }
        for _ in 0..at_most {
            if self.is_over() || (!last && coming.as_slice().is_empty()) {
                break;
            }
            let Some(event) = self.link.events.take() else {
                self.has_ended = true;
                break;
            };
            self.handle_outlined(event, coming)?;
        }
        self.has_ended |= self.is_over();
        Ok(())
    }

    /// Whether every request is complete, or the run stops early.
    fn is_over(&self) -> bool {
        let finished = self.next.is_none() && self.link.active.is_empty();
        self.measured.saturated
            || (finished && self.device.is_settled())
            || (self.link.closed && !self.link.observed.responses)
    }

    /// Destages the remaining dirty pages and waits until they are programmed.
    fn drain(&mut self) -> Outcome {
        let now = self.link.events.now();
        let drained = self.device.drain(now, &mut self.link);
        drained.map_err(|full| self.device_full(full))?;
        self.link.dispatch();
        self.work_on(Device::is_settled)
    }

    /// Handles events until `done` is true for the device, or until no event is left. No more requests follow.
    fn work_on(&mut self, done: impl Fn(&Device) -> bool) -> Outcome {
        while !done(&self.device) {
            let Some(event) = self.link.events.take() else {
                break;
            };
            self.handle_outlined(event, &mut [].iter())?;
        }
        Ok(())
    }

    /// [`Engine::handle`], not inlined, for all callers except the main loop.
    #[inline(never)]
    fn handle_outlined(&mut self, event: Packed, coming: &mut Coming<'_>) -> Outcome {
        self.handle::<false>(event, coming)
    }

    /// Tells the probe the present time, before an event is handled.
    #[inline(always)]
    fn note_moment(&mut self) -> Ticks {
        let now = self.link.events.now();
        self.link.probe.moment(now, &self.device);
        now
    }

    /// Handles `event`. With `ON`, it may also handle a second event, which `event` causes. It does so if the event
    /// list would deliver the second event next, and if no observer is called before. This applies to the end of the
    /// data transfer of a write that arrives at an idle host bus, and to the completion message of a request.
    #[inline(always)]
    fn handle<const ON: bool>(&mut self, event: Packed, coming: &mut Coming<'_>) -> Outcome {
        // Nearly all events are of one of two kinds, which are tested first.
        if let Some(number) = event.ends() {
            return self.transaction_done::<ON>(Token::from_number(number));
        }
        let now = self.note_moment();
        if event.is_arrival() {
            return self.arrive::<ON>(coming);
        }
        match event.event() {
            Event::Arrival | Event::Done(_) => unreachable!("they were asked for"),
            Event::CommandDone(die) => self.command_done::<ON>(die, now),
            Event::ReadDone(number) => {
                let token = Token::from_number(number);
                let die = self.device.die_of(token);
                if !self.link.end_reading(die, token) {
                    return Ok(());
                }
                self.link.probe.ending(die);
                self.end(token, now)
            }
            Event::Phase { phase, die } => self.end_phase::<ON>(phase, die, now),
            Event::StepDone(die) => self.end_step(die, now),
            Event::DieFree(die) => self.free_die(die, now),
            Event::CachedDone(number) => self.end_cached(number, now),
            Event::Alarm(alarm) => {
                let done = self.device.wake(alarm, now, &mut self.link);
                self.link.dispatch();
                done.map_err(|full| self.device_full(full))
            }
            Event::Message {
                message,
                passes,
                request,
            } => self.pass(message, passes, request),
            Event::WriteDataIn(id) => out_of_line(|| self.data_in(id)),
            Event::Collected(id) => out_of_line(|| {
                self.collect(id);
                Ok(())
            }),
            Event::ReadDataOut(id) => {
                self.link.probe.moved(id);
                self.pass(Message::Complete, PASSES_COMPLETION + 1, id)
            }
            Event::Front {
                place,
                visit,
                request,
            } => self.visited(place, visit, request),
        }
    }

    /// The transaction `token` has ended. Its length was known when it began. `ON` is as for [`Engine::handle`].
    #[inline(always)]
    fn transaction_done<const ON: bool>(&mut self, token: Token) -> Outcome {
        if token.number() >= Token::IN_TABLE {
            return self.part_done::<ON>(token);
        }
        let now = self.note_moment();
        let die = self.device.die_of(token);
        self.link.meter.end(now);
        self.link.probe.step_ended(die);
        self.link.probe.ending(die);
        self.end(token, now)?;
        self.go_on::<ON>()
    }

    /// [`Engine::transaction_done`] for one operation of a batch.
    #[inline(never)]
    fn part_done<const ON: bool>(&mut self, token: Token) -> Outcome {
        let now = self.note_moment();
        let die = self.device.die_of(token);
        if self.link.meter.end_part(die, now) {
            self.link.probe.step_ended(die);
        }
        self.link.probe.ending(die);
        self.end(token, now)?;
        self.go_on::<ON>()
    }

    /// Reports to the device that the transaction `token` has ended.
    #[inline(always)]
    fn end(&mut self, token: Token, now: Ticks) -> Outcome {
        let done = self.device.complete(token, now, &mut self.link);
        done.map_err(|full| self.device_full(full))
    }

    /// The command in service at `die` has ended. Its transaction continues with the next command, or has ended as
    /// well.
    #[inline(never)]
    fn command_done<const ON: bool>(&mut self, die: u32, now: Ticks) -> Outcome {
        if self.goes_on(die, now)? {
            return Ok(());
        }
        self.link.probe.step_ended(die);
        self.link.probe.ending(die);
        if let Some(token) = self.link.token(die) {
            self.end(token, now)?;
        }
        self.go_on::<ON>()
    }

    /// With `ON`, handles a completion message at once if it is the only event due now.
    #[inline(always)]
    fn go_on<const ON: bool>(&mut self) -> Outcome {
        if ON && let Some(id) = self.link.events.sole_due().and_then(Packed::completes) {
            self.link.events.take_sole_due();
            self.note_moment();
            return self.complete(id);
        }
        Ok(())
    }

    /// The command in service at `die` has ended. Reads that wait may go first. Returns whether the step of the die
    /// continues.
    fn goes_on(&mut self, die: u32, now: Ticks) -> Result<bool, Box<SimError>> {
        self.link.meter.release(die, now);
        if self.link.is_between(die) {
            let read = self.device.let_reads_pass(die, now, &mut self.link);
            read.map_err(|full| self.device_full(full))?;
        }
        Ok(self.link.issue(die))
    }

    /// Delivers `message` if this was its last pass through the event list. Otherwise sends it through the list once
    /// more. The caller does nothing after this call.
    #[inline(never)]
    fn pass(&mut self, message: Message, passes: u8, id: u32) -> Outcome {
        if !self.is_heard(message, passes, id) {
            return Ok(());
        }
        match message {
            Message::Send => out_of_line(|| self.hear_of(id)),
            Message::StartWriteData => {
                self.move_data(id, Packed::from(Event::WriteDataIn(id)));
                Ok(())
            }
            Message::StartReadData => {
                self.move_data(id, Packed::from(Event::ReadDataOut(id)));
                Ok(())
            }
            Message::Complete => out_of_line(|| self.complete(id)),
            Message::Release => self.release_channel(),
        }
    }

    /// Whether `message` is delivered now. If not, it passes through the event list once more.
    #[inline(always)]
    fn is_heard(&mut self, message: Message, passes: u8, id: u32) -> bool {
        // If no other event is due at this instant, the remaining passes change nothing.
        let is_heard = passes <= 1 || self.link.events.is_instant_over();
        if !is_heard {
            self.link.events.soon(message.about(id, passes - 1));
        }
        is_heard
    }

    /// The device learns of request `id`.
    #[inline(always)]
    fn hear_of(&mut self, id: u32) -> Outcome {
        if self.link.channel_busy || self.link.is_channel_wanted() {
            self.link.dispatched.push_back(id);
        } else {
            self.give_channel_to_new(id)?;
        }
        self.check_channel()
    }

    /// The host bus is free again.
    #[inline]
    fn release_channel(&mut self) -> Outcome {
        self.link.channel_busy = false;
        self.check_channel()
    }

    /// The data of write `id` has arrived in the device.
    #[inline(always)]
    fn data_in(&mut self, id: u32) -> Outcome {
        self.link.probe.moved(id);
        match self.link.front {
            None => self.start(id)?,
            Some(_) => self.enter_front(id)?,
        }
        self.release_channel()
    }

    /// If the host bus is idle, gives it to an answered request. If no answered request waits, gives it to a new
    /// request.
    #[inline]
    fn check_channel(&mut self) -> Outcome {
        if self.link.channel_busy || !self.link.is_channel_wanted() {
            return Ok(());
        }
        self.give_channel()
    }

    /// Gives the idle host bus to waiting requests until it is busy or no request waits.
    #[inline(never)]
    fn give_channel(&mut self) -> Outcome {
        while !self.link.channel_busy {
            if self.link.give_channel_to_done() {
                continue;
            }
            let Some(id) = self.link.dispatched.pop_front() else {
                break;
            };
            self.give_channel_to_new(id)?;
        }
        Ok(())
    }

    /// Gives the idle host bus to request `id`, which is new.
    #[inline(always)]
    fn give_channel_to_new(&mut self, id: u32) -> Outcome {
        if self.link.active[id].request.operation != Operation::Write {
            // Reads, flushes and trims move no data to the device.
            return self.start_without_data(id);
        }
        self.link.channel_busy = true;
        if self.is_heard(Message::StartWriteData, PASSES_BEFORE_WRITE_DATA + 1, id) {
            self.move_data(id, Packed::from(Event::WriteDataIn(id)));
        }
        Ok(())
    }

    /// The device accepts request `id`, which moves no data to the device.
    #[inline(never)]
    fn start_without_data(&mut self, id: u32) -> Outcome {
        match self.link.front {
            None => self.start(id),
            Some(_) => self.enter_front(id),
        }
    }

    /// The device accepts request `id`.
    #[inline(always)]
    fn start(&mut self, id: u32) -> Outcome {
        let Active { request, asked, .. } = self.link.active[id];
        // After statistics have closed, requests are simulated only for the observer.
        if !self.link.closed {
            let (host, strict_trim) = (&mut self.measured.host, self.device.has_strict_trim());
            host.count_pages(&request, &asked, strict_trim);
        }
        let now = self.link.events.now();
        self.link.probe.accepted(id, &asked, &self.device);
        self.device.set_stream(request.stream);
        let done = self.device.submit(id, &asked, now, &mut self.link);
        done.map_err(|full| self.device_full(full))?;
        self.link.probe.taken_in(id);
        self.link.dispatch();
        Ok(())
    }

    /// The request that arrived last, complete or not.
    fn last(&self) -> Option<&Active> {
        self.link.active.get(self.arrived.last)
    }

    #[cold]
    fn device_full(&self, full: NoSpace) -> Box<SimError> {
        let line = self.last().map_or(0, |last| last.request.line);
        Box::new(SimError::full(&self.origin, line, full))
    }
}

/// Calls `work` without inlining it. If the code of `work` were inlined into a rarely taken branch, the branches that
/// run for every page would have fewer registers. This costs 1 % of the time of a run.
#[inline(never)]
fn out_of_line<R>(work: impl FnOnce() -> R) -> R {
    work()
}
