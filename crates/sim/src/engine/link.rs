//! The driver of the device. It simulates the device's end of the host bus, and the flash commands, which take
//! simulated time.

use std::collections::VecDeque;

use destage_base::Ticks;
use destage_device::{BatchStep, Driver, Note, PageOperation, Progress, Token, Transaction};
use destage_nand::media::dispatch::Phase;
use destage_nand::{Kind, Operations};
use destage_trace::{Operation, Request};

use super::commands::Commands;
use super::event::{Event, Message, PASSES_BEFORE_READ_DATA, PASSES_COMPLETION, Packed};
use super::front::Front;
use super::plan::Planner;
use super::probe::{Command, Probe};
use super::queued::{Ended, Queued};
use super::{Flash, FlashMedia};
use crate::events::EventList;
use crate::host::Identity;
use crate::latencies::Latencies;
use crate::meter::{FlashMeter, Totals};
use crate::observer::Observer;
use destage_device::slab::Slab;

/// A host request that has arrived and is not complete.
#[derive(Clone, Copy)]
pub(super) struct Active {
    pub request: Request,
    pub identity: Identity,
    pub asked: destage_device::Request,
    pub sent: Ticks,
}

/// How the times of flash commands are computed.
pub(super) enum FlashTime {
    /// The time of a transaction is the sum over its operations. It is known when the transaction begins.
    Sum,
    /// Commands are timed one by one. Die and channel are reserved for a command when the command is issued.
    Booked(Box<Commands>),
    /// Commands are timed one by one, and each is issued from a queue.
    Queued(Box<Queued>),
}

impl FlashTime {
    pub fn new(flash: &Flash) -> Self {
        let dies = flash.geometry.dies;
        let planner =
            |in_order| Planner::new(flash.layout, &flash.geometry, flash.timing, in_order);
        match &flash.media {
            FlashMedia::Sum => Self::Sum,
            FlashMedia::Booked(media) => {
                Self::Booked(Box::new(Commands::new(media.clone(), planner(true), dies)))
            }
            FlashMedia::Queued(media) => {
                let planner = planner(media.rules.keep_order());
                Self::Queued(Box::new(Queued::new(media.clone(), planner, dies)))
            }
        }
    }

    pub fn booked(&self) -> Option<&Commands> {
        match self {
            Self::Booked(commands) => Some(commands),
            Self::Sum | Self::Queued(_) => None,
        }
    }

    pub fn booked_mut(&mut self) -> Option<&mut Commands> {
        match self {
            Self::Booked(commands) => Some(commands),
            Self::Sum | Self::Queued(_) => None,
        }
    }

    /// Whether the drive is loaded, so that reads that begin now take longer.
    pub fn set_loaded(&mut self, is_loaded: bool) {
        match self {
            Self::Sum => {}
            Self::Booked(commands) => commands.set_loaded(is_loaded),
            Self::Queued(queued) => queued.set_loaded(is_loaded),
        }
    }

    /// The number of programs that have begun since the last call, if commands are timed one by one.
    fn take_begun(&mut self) -> u32 {
        match self {
            Self::Sum => 0,
            Self::Booked(commands) => commands.take_begun(),
            Self::Queued(queued) => queued.take_begun(),
        }
    }

    fn queued_mut(&mut self) -> Option<&mut Queued> {
        match self {
            Self::Queued(queued) => Some(queued),
            Self::Sum | Self::Booked(_) => None,
        }
    }
}

/// The observer of a run, and the events that it wants.
pub(super) struct Observed<'a> {
    pub by: Box<dyn Observer + 'a>,
    /// Whether the observer wants destage records.
    records: bool,
    pub responses: bool,
}

/// The driver of the device, which carries out flash commands and brings answers to the host.
pub(super) struct Link<'a, P> {
    pub probe: P,
    pub events: EventList<Packed>,
    pub observed: Observed<'a>,
    pub meter: FlashMeter,
    pub time: FlashTime,
    /// The front end between host and buffer; `None` if there is only the host bus.
    pub front: Option<Box<Front>>,
    pub active: Slab<Active>,
    pub channel_busy: bool,
    /// Requests that were sent to the device, and that it has not accepted yet.
    pub dispatched: VecDeque<u32>,
    /// Answered requests that wait for the host bus.
    done: VecDeque<u32>,
    pub destage_response: Latencies,
    /// The time at which statistics opened; `None` if they have not opened yet. Earlier events are not counted.
    pub opened: Option<Ticks>,
    /// Whether statistics are closed.
    pub closed: bool,
}

impl<'a, P> Link<'a, P> {
    pub fn new(
        probe: P,
        events: EventList<Packed>,
        meter: FlashMeter,
        time: FlashTime,
        destage_response: Latencies,
        observer: Box<dyn Observer + 'a>,
    ) -> Self {
        Self {
            probe,
            events,
            meter,
            time,
            front: None,
            active: Slab::default(),
            channel_busy: false,
            dispatched: VecDeque::new(),
            done: VecDeque::new(),
            destage_response,
            opened: None,
            closed: false,
            observed: Observed {
                records: observer.wants_destages(),
                responses: observer.wants_responses(),
                by: observer,
            },
        }
    }

    /// This driver with the front end `front`; without a front end if `front` is `None`.
    pub fn behind(self, front: Option<Front>) -> Self {
        Self {
            front: front.map(Box::new),
            ..self
        }
    }

    /// Whether a request waits for the host bus.
    #[inline]
    pub fn is_channel_wanted(&self) -> bool {
        !self.done.is_empty() || !self.dispatched.is_empty()
    }

    /// Gives the idle host bus to an answered request. Returns whether an answered request waited.
    #[inline]
    pub fn give_channel_to_done(&mut self) -> bool {
        let Some(id) = self.done.pop_front() else {
            return false;
        };
        self.give_channel_to(id);
        true
    }

    /// Gives the idle host bus to request `id`, which is answered.
    #[inline(always)]
    fn give_channel_to(&mut self, id: u32) {
        self.channel_busy = true;
        let message = if self.active[id].request.operation == Operation::Read {
            Message::StartReadData.about(id, PASSES_BEFORE_READ_DATA)
        } else {
            Message::Complete.about(id, PASSES_COMPLETION)
        };
        self.events.soon(message);
    }
}

impl<P: Probe> Link<'_, P> {
    /// Request `id` is answered. It uses the host bus as soon as the bus is idle.
    #[inline(always)]
    pub fn hand_to_channel(&mut self, id: u32) {
        if self.channel_busy || !self.done.is_empty() {
            return self.queue_for_channel(id);
        }
        self.give_channel_to(id);
    }

    /// Request `id` is answered, but the host bus is busy, or other requests wait for the bus.
    #[cold]
    fn queue_for_channel(&mut self, id: u32) {
        self.done.push_back(id);
        if !self.channel_busy {
            self.give_channel_to_done();
        }
    }

    #[inline]
    fn begins(&mut self, die: u32, collects: bool, operations: &Operations, time: Ticks) {
        self.probe.begins(&Command {
            die,
            collects,
            operations,
            timing: &self.meter.timing,
            time,
        });
    }

    /// Whether the step of `die` is between two commands. Always false unless commands are timed one by one without
    /// queues.
    pub fn is_between(&self, die: u32) -> bool {
        let now = self.events.now();
        let commands = self.time.booked();
        commands.is_some_and(|commands| commands.is_between(die, now))
    }

    /// The transaction that the step of `die` carries out; `None` unless commands are timed one by one.
    pub fn token(&self, die: u32) -> Option<Token> {
        match &self.time {
            FlashTime::Sum => None,
            FlashTime::Booked(commands) => commands.token(die),
            FlashTime::Queued(queued) => queued.token(die),
        }
    }

    /// The work of the dies up to `now`. If commands are timed one by one, a garbage collection under way counts for
    /// its time up to `now`; otherwise it counts with its whole time from the moment at which it begins.
    pub fn totals(&self, now: Ticks) -> Totals {
        let under_way = match &self.time {
            FlashTime::Sum => 0,
            FlashTime::Booked(commands) => commands.collected_so_far(now),
            FlashTime::Queued(queued) => queued.collected_so_far(now),
        };
        let mut totals = self.meter.totals(now);
        totals.gc_time = totals.gc_time.saturating_add(under_way);
        totals
    }

    /// A command of the read `token` of `die` has ended. The read runs during a step. Returns whether the read has
    /// ended as well.
    pub fn end_reading(&mut self, die: u32, token: Token) -> bool {
        let now = self.events.now();
        let Some(commands) = self.time.booked_mut() else {
            return true;
        };
        if P::HEARS_COMMANDS
            && let Some(told) = commands.take_latest_of_read(token)
        {
            self.probe.command_ended(die, &told);
        }
        match commands.go_on_reading(die, token, now) {
            Some(time) => {
                self.wait_for_read(die, token, time);
                false
            }
            None => {
                self.meter.release(die, now);
                true
            }
        }
    }

    /// A command of the read `token` of `die` has begun, and lasts `time` ticks. The read runs during a step.
    fn wait_for_read(&mut self, die: u32, token: Token, time: Ticks) {
        let now = self.events.now();
        self.probe.die_works(die, time);
        if P::HEARS_COMMANDS
            && let Some(commands) = self.time.booked()
            && let Some(told) = commands.latest_of_read(token)
        {
            self.probe.command_begins(die, &told, now, time);
        }
        self.events.after(time, Event::ReadDone(token.number()));
    }

    /// `die` begins `transaction`, whose token is `token`. The commands of the transaction are timed one by one.
    #[inline(never)]
    fn begin_commands(
        &mut self,
        die: u32,
        (transaction, token): (Transaction, Token),
        operations: &Operations,
        map: Ticks,
    ) -> Progress {
        let now = self.events.now();
        let collects = transaction == Transaction::Collection;
        if let FlashTime::Queued(queued) = &mut self.time {
            self.probe.begins(&Command {
                die,
                collects,
                operations,
                timing: &self.meter.timing,
                time: 0,
            });
            let begun = queued.begin::<P>(die, (transaction, token), operations, now, map);
            return begun.unwrap_or_else(|| {
                self.end_step(die);
                Progress::Running
            });
        }
        let Some(commands) = self.time.booked_mut() else {
            return Progress::Running;
        };
        commands.begin(die, (transaction, token), operations, now, map);
        if let Some((number, issued)) = commands.begin_cached(die, (transaction, token), now) {
            self.pass_programs();
            self.meter.occupy(die, now);
            let waited = issued.cached.waited;
            self.probe
                .overlapping_begins(number, die, operations, waited);
            self.wait_for_cached(die, &issued);
            return Progress::Running;
        }
        self.begins(die, collects, operations, 0);
        if !self.issue(die) {
            self.meter.occupy(die, now);
            self.events.soon(Event::CommandDone(die));
        }
        Progress::Running
    }

    /// The step of `die` has no more commands. It ends now, or when the mapping table is no longer busy. Until then, the
    /// die is busy with the step.
    fn end_step(&mut self, die: u32) {
        let now = self.events.now();
        if let FlashTime::Queued(queued) = &mut self.time {
            let (map, collected) = queued.rest(die, now);
            self.meter.add_gc_time(collected);
            self.meter.occupy(die, now);
            self.probe.die_works(die, map);
            self.events.after(map, Event::StepDone(die));
        }
    }

    /// A command of the step of `die` has ended. The next command joins the queue, or the step ends.
    pub fn go_on_queued(&mut self, die: u32) {
        let queued = self.time.queued_mut();
        if queued.is_some_and(|queued| !queued.go_on(die)) {
            self.end_step(die);
        }
    }

    /// A phase of a command at `die` has ended; `die` is the number that the media use.
    pub fn end_phase(&mut self, phase: Phase, die: u32) {
        if let FlashTime::Queued(queued) = &mut self.time {
            let (events, meter) = (&mut self.events, &mut self.meter);
            queued.end(phase, die, events, meter, &mut self.probe);
            self.pass_programs();
        }
    }

    /// The next command of the read `token`, which runs during a step, joins its queue. Returns whether the read has
    /// a next command.
    #[inline(always)]
    pub fn go_on_between(&mut self, token: Token) -> bool {
        let queued = self.time.queued_mut();
        queued.is_some_and(|queued| queued.takes_reads && queued.go_on_between(token))
    }

    /// Whether a command from a queue has ended and was not reported yet.
    pub fn has_ended(&self) -> bool {
        matches!(&self.time, FlashTime::Queued(queued) if queued.has_ended())
    }

    /// Removes and returns the next ended work of the queues, in the order in which the work ended.
    #[inline(always)]
    pub fn take_ended(&mut self) -> Option<Ended> {
        self.time.queued_mut().and_then(Queued::take_ended)
    }

    /// Idle channels begin commands that have joined queues.
    #[inline(always)]
    pub fn dispatch(&mut self) {
        if matches!(self.time, FlashTime::Queued(_)) {
            self.dispatch_queued();
        }
    }

    #[inline(never)]
    fn dispatch_queued(&mut self) {
        if let FlashTime::Queued(queued) = &mut self.time {
            let (events, meter) = (&mut self.events, &mut self.meter);
            queued.dispatch(events, meter, &mut self.probe);
            self.pass_programs();
        }
    }

    /// Issues the next command of the step of `die`, after the previous command has ended. Returns whether the step
    /// continues.
    pub fn issue(&mut self, die: u32) -> bool {
        let now = self.events.now();
        let Some(commands) = self.time.booked_mut() else {
            return false;
        };
        if P::HEARS_COMMANDS
            && let Some(told) = commands.take_latest(die, now)
        {
            self.probe.command_ended(die, &told);
        }
        let Some(issued) = commands.issue(die, now) else {
            let collected = commands.take_collected(die, now);
            self.meter.add_gc_time(collected);
            return false;
        };
        self.pass_programs();
        if P::HEARS_COMMANDS
            && issued.begins
            && let Some(told) = self.time.booked().and_then(|commands| commands.latest(die))
        {
            // The die may still work on earlier steps. An erase begins only when the die is free. Reads and programs
            // begin at once: a program can already move its data over the channel.
            let waits = match told.kind {
                Kind::Erase => issued.waits,
                Kind::Read | Kind::Program => 0,
            };
            let (begins, time) = (now + waits, issued.time - waits);
            self.probe.command_begins(die, &told, begins, time);
        }
        self.probe
            .goes_on(die, issued.waits, issued.time, issued.moves);
        self.meter.occupy(die, now);
        self.events.after(issued.time, Event::CommandDone(die));
        true
    }
}

impl<P: Probe> Link<'_, P> {
    #[inline(always)]
    fn begin_page(
        &mut self,
        die: u32,
        (page, token): (PageOperation, Token),
        operations: &Operations,
        map: Ticks,
    ) -> Progress {
        let transaction = Transaction::Page(page);
        self.probe.transaction(die, transaction, operations);
        if self.front.is_some() {
            self.serve_behind_front(page);
        }
        let time = self.meter.serve(operations, map);
        if !matches!(self.time, FlashTime::Sum) {
            return self.begin_commands(die, (transaction, token), operations, map);
        }
        self.begins(die, false, operations, time);
        self.wait_for_sum(die, token, time)
    }

    /// A die begins `page` behind a front end.
    #[cold]
    #[inline(never)]
    fn serve_behind_front(&mut self, page: PageOperation) {
        if page.write_cause().is_some() {
            self.pass_dram();
        }
        if page.is_read() {
            self.note_load();
        }
    }

    /// Programs that have just begun occupy the DRAM, if it is simulated.
    #[inline(always)]
    fn pass_programs(&mut self) {
        if self.front.is_some() {
            self.pass_begun();
        }
    }

    #[cold]
    #[inline(never)]
    fn pass_begun(&mut self) {
        let begun = self.time.take_begun();
        self.programs_begin(begun);
    }

    #[inline(never)]
    fn begin_collection(&mut self, die: u32, token: Token, operations: &Operations) -> Progress {
        let transaction = Transaction::Collection;
        self.probe.transaction(die, transaction, operations);
        self.meter.count_garbage(operations);
        if !matches!(self.time, FlashTime::Sum) {
            return self.begin_commands(die, (transaction, token), operations, 0);
        }
        let time = self.meter.timing.parallel(operations);
        self.meter.add_gc_time(time);
        self.begins(die, true, operations, time);
        self.wait_for_sum(die, token, time)
    }

    /// The transaction `token`, which has just begun at `die`, lasts `time` ticks.
    #[inline(always)]
    fn wait_for_sum(&mut self, die: u32, token: Token, time: Ticks) -> Progress {
        self.meter.begin(die, self.events.now(), time);
        self.events.after(time, Event::Done(token.number()));
        Progress::Running
    }

    #[inline(never)]
    fn begin_between(
        &mut self,
        die: u32,
        (page, token): (PageOperation, Token),
        operations: &Operations,
    ) -> Progress {
        self.probe
            .transaction(die, Transaction::ReadBetween(page), operations);
        self.meter.serve(operations, 0);
        self.note_load();
        let now = self.events.now();
        match &mut self.time {
            FlashTime::Sum => {}
            FlashTime::Booked(commands) => {
                let time = commands.begin_read(die, token, operations, now);
                self.meter.occupy(die, now);
                self.wait_for_read(die, token, time);
            }
            FlashTime::Queued(queued) => {
                if !queued.begin_between::<P>(die, (page, token), operations) {
                    self.events.soon(Event::ReadDone(token.number()));
                }
            }
        }
        Progress::Running
    }
}

impl<P: Probe> Driver for Link<'_, P> {
    const TAKES_TIME: bool = true;

    #[inline(always)]
    fn begin(
        &mut self,
        die: u32,
        transaction: Transaction,
        operations: &Operations,
        map: Ticks,
        token: Token,
    ) -> Progress {
        match transaction {
            Transaction::Page(page) => self.begin_page(die, (page, token), operations, map),
            Transaction::Collection => self.begin_collection(die, token, operations),
            Transaction::Fillers => {
                self.probe.transaction(die, transaction, operations);
                self.meter.serve(operations, 0);
                self.begin_commands(die, (transaction, token), operations, 0)
            }
            Transaction::ReadBetween(page) => self.begin_between(die, (page, token), operations),
        }
    }

    fn serve_batch(&mut self, die: u32, step: BatchStep<'_>) {
        self.probe.batch(die, step);
        if self.front.is_some() {
            let taken = step.taken.iter();
            let programs = taken.filter(|operation| operation.write_cause().is_some());
            programs.for_each(|_| self.pass_dram());
        }
        self.meter.serve_batch(step.operations);
        let timing = self.meter.timing;
        let at_once = (0..step.at_once).map(|_| 0);
        let others = step.batch.finish_times(&timing).map(|(_, time)| time);
        let mut latest = 0;
        for (token, time) in step.tokens.iter().zip(at_once.chain(others)) {
            self.events.after(time, Event::Done(token.number()));
            latest = latest.max(time);
        }
        self.begins(die, false, step.operations, latest);
        let parts = step.taken.len() as u32;
        self.meter
            .begin_batch(die, self.events.now(), latest, parts);
    }

    fn keeps_order(&self) -> bool {
        match &self.time {
            FlashTime::Sum | FlashTime::Booked(_) => true,
            FlashTime::Queued(queued) => queued.keeps_order,
        }
    }

    fn takes_read(&self, die: u32) -> bool {
        match &self.time {
            FlashTime::Sum => false,
            FlashTime::Booked(commands) => commands.takes_read(die, self.events.now()),
            FlashTime::Queued(queued) => queued.takes_reads,
        }
    }

    fn is_busy(&self, die: u32) -> bool {
        matches!(&self.time, FlashTime::Queued(queued) if queued.is_busy(die))
    }

    #[inline(always)]
    fn answer(&mut self, id: u32) {
        self.probe.answered(id);
        match self.front {
            None => self.hand_to_channel(id),
            Some(_) => self.answer_front(id),
        }
    }

    fn wake_after(&mut self, delay: Ticks, alarm: u32) {
        self.events.after(delay, Event::Alarm(alarm));
    }

    #[inline]
    fn wants_records(&self) -> bool {
        self.observed.records
    }

    #[inline(always)]
    fn note(&mut self, note: &Note<'_>) {
        match *note {
            Note::Emitted(record, now) if self.observed.records => {
                self.observed.by.destage(now, record);
            }
            Note::RecordEnded { emitted, now } => {
                let counts = self.opened.is_some_and(|opened| emitted >= opened);
                if counts && !self.closed {
                    self.destage_response.push(now - emitted, true);
                }
            }
            Note::Ended(operation) if self.front.is_some() && operation.is_read() => {
                self.pass_dram();
            }
            _ => {}
        }
        self.probe.note(note);
    }
}
