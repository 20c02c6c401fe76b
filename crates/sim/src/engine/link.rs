//! The device's side of the host link: its channel, and the flash commands that take simulated time.

use std::collections::VecDeque;

use destage_base::{Lpn, Ticks};
use destage_buffer::Buffer;
use destage_buffer::destage::Destage;
use destage_device::{BatchStep, Driver, PageOperation, Progress, Span};
use destage_flash::{Kind, Operations};
use destage_trace::{Operation, Request};

use super::commands::Commands;
use super::event::{Event, Message, PASSES_BEFORE_READ_DATA, PASSES_COMPLETION, Packed, Phase};
use super::front::Front;
use super::mover::Mover;
use super::queued::{Ended, Queued};
use super::witness::{Command, Witness};
use crate::events::EventList;
use crate::host::Identity;
use crate::latencies::Latencies;
use crate::meter::FlashMeter;
use crate::observer::Observer;
use destage_device::slab::Slab;

/// A host request on its way.
#[derive(Clone, Copy)]
pub(super) struct Active {
    pub request: Request,
    pub identity: Identity,
    pub asked: destage_device::Request,
    pub sent: Ticks,
}

/// What the device drives its commands and answers through.
pub(super) struct Link<'a, B, W> {
    pub mover: B,
    pub witness: W,
    pub events: EventList<Packed>,
    pub observer: Box<dyn Observer + 'a>,
    pub meter: FlashMeter,
    /// Where commands are timed one by one.
    pub commands: Option<Commands>,
    /// Where commands wait in queues.
    queued: Option<Queued>,
    /// One of the two is there.
    is_one_by_one: bool,
    /// What lies between host and buffer besides the channel, if anything does.
    pub front: Option<Box<Front>>,
    pub active: Slab<Active>,
    pub channel_busy: bool,
    /// Sent to the device, and not yet taken in.
    pub dispatched: VecDeque<u32>,
    /// Done, and waiting for the channel.
    done: VecDeque<u32>,
    pub destage_response: Latencies,
    /// When statistics opened.
    pub opened: Option<Ticks>,
    /// Statistics are closed.
    pub closed: bool,
    wants_records: bool,
    /// The observer hears of responses.
    pub wants_responses: bool,
}

impl<'a, B, W> Link<'a, B, W> {
    pub fn new(
        (mover, witness): (B, W),
        events: EventList<Packed>,
        meter: FlashMeter,
        commands: Option<Commands>,
        queued: Option<Queued>,
        destage_response: Latencies,
        observer: Box<dyn Observer + 'a>,
    ) -> Self {
        Self {
            mover,
            witness,
            events,
            meter,
            is_one_by_one: commands.is_some() || queued.is_some(),
            commands,
            queued,
            front: None,
            active: Slab::default(),
            channel_busy: false,
            dispatched: VecDeque::new(),
            done: VecDeque::new(),
            destage_response,
            opened: None,
            closed: false,
            wants_records: observer.wants_destages(),
            wants_responses: observer.wants_responses(),
            observer,
        }
    }

    /// The same behind `front`.
    pub fn behind(self, front: Option<Front>) -> Self {
        Self {
            front: front.map(Box::new),
            ..self
        }
    }

    /// Whether a request waits for the channel.
    #[inline]
    pub fn is_channel_wanted(&self) -> bool {
        !self.done.is_empty() || !self.dispatched.is_empty()
    }

    /// Gives the idle channel to a request that is done; whether there was one.
    #[inline]
    pub fn give_channel_to_done(&mut self) -> bool {
        let Some(id) = self.done.pop_front() else {
            return false;
        };
        self.give_channel_to(id);
        true
    }

    /// Gives the idle channel to request `id`, which is done.
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

impl<B: Mover, W: Witness> Link<'_, B, W> {
    /// Request `id` is done, and goes over the channel when that is idle.
    #[inline(always)]
    pub fn hand_to_channel(&mut self, id: u32) {
        if self.channel_busy || !self.done.is_empty() {
            return self.answer_later(id);
        }
        self.give_channel_to(id);
    }

    /// Request `id` is done, and others are before it.
    #[cold]
    fn answer_later(&mut self, id: u32) {
        self.done.push_back(id);
        if !self.channel_busy {
            self.give_channel_to_done();
        }
    }

    #[inline]
    fn begins(&mut self, die: u32, collects: bool, operations: &Operations, time: Ticks) {
        self.witness.begins(&Command {
            die,
            collects,
            operations,
            timing: &self.meter.timing,
            time,
        });
    }

    /// Whether commands are timed one by one.
    #[inline]
    pub fn times_commands(&self) -> bool {
        self.commands.is_some()
    }

    /// Whether the step of `die` stands between two commands.
    pub fn is_between(&self, die: u32) -> bool {
        let now = self.events.now();
        let commands = self.commands.as_ref();
        commands.is_some_and(|commands| commands.is_between(die, now))
    }

    /// A command of read `number`, in the midst of a step, has ended: the die, if it does not go on with another.
    pub fn end_reading(&mut self, number: u32) -> Option<u32> {
        let now = self.events.now();
        let commands = self.commands.as_mut()?;
        let die = commands.die_of_read(number)?;
        if let Some(told) = commands.take_latest_of_read(number) {
            self.mover.command_ended(die, &told);
        }
        let commands = self.commands.as_mut()?;
        if let Some(time) = commands.go_on_reading(number, now) {
            if let Some(told) = commands.latest_of_read(number) {
                self.mover.command_begins(die, &told, now, time);
            }
            self.events.after(time, Event::ReadDone(number));
            return None;
        }
        Some(die)
    }

    /// Begins the step of `die` that `operations` are, for `page` if they are not a garbage collection, where commands are
    /// timed one by one.
    #[inline(never)]
    fn begin_one_by_one(
        &mut self,
        die: u32,
        page: Option<PageOperation>,
        operations: &Operations,
        map: Ticks,
    ) -> Progress {
        if self.queued.is_some() {
            return self.queue_commands(die, page, operations, map);
        }
        self.begin_commands(die, page, operations, map, page.is_none());
        Progress::Running
    }

    /// The same where they are placed when they begin; for `page` if they serve one.
    fn begin_commands(
        &mut self,
        die: u32,
        page: Option<PageOperation>,
        operations: &Operations,
        map: Ticks,
        collects: bool,
    ) {
        let now = self.events.now();
        let Some(commands) = &mut self.commands else {
            return;
        };
        commands.begin(die, operations, now, map, collects);
        if !collects && let Some((number, issued)) = commands.begin_cached(die, page, now) {
            self.meter.occupy(die, now);
            let waited = issued.cached.waited;
            self.witness.begins_beside(number, die, operations, waited);
            return self.wait_for_cached(die, &issued);
        }
        self.begins(die, collects, operations, 0);
        if !self.issue(die) {
            self.command_begins(die, 0);
            self.events.soon(Event::DieDone(die));
        }
    }

    /// The same where they wait in queues.
    #[inline(never)]
    fn queue_commands(
        &mut self,
        die: u32,
        page: Option<PageOperation>,
        operations: &Operations,
        map: Ticks,
    ) -> Progress {
        let now = self.events.now();
        self.begins(die, page.is_none(), operations, 0);
        let queued = self.queued.as_mut();
        let begun = queued.and_then(|queued| queued.begin(die, page, operations, now, map));
        begun.unwrap_or_else(|| {
            self.end_step(die);
            Progress::Running
        })
    }

    /// The step of `die` has no more commands: it ends now or with the map.
    fn end_step(&mut self, die: u32) {
        let now = self.events.now();
        if let Some(queued) = &self.queued {
            let (map, collected) = queued.rest(die, now);
            self.meter.add_gc_time(collected);
            self.events.after(map, Event::StepDone(die));
        }
    }

    /// A command of the step of `die` has ended.
    pub fn go_on_queued(&mut self, die: u32) {
        let queued = self.queued.as_mut();
        if queued.is_some_and(|queued| !queued.go_on(die)) {
            self.end_step(die);
        }
    }

    /// A phase of `die`, by the media's number, has ended.
    pub fn end_phase(&mut self, phase: Phase, die: u32) {
        if let Some(queued) = &mut self.queued {
            let (events, meter) = (&mut self.events, &mut self.meter);
            queued.end(
                phase,
                die,
                events,
                meter,
                (&mut self.mover, &mut self.witness),
            );
        }
    }

    /// What has ended in queues since this was asked last, one after the other.
    pub fn take_ended(&mut self) -> Option<Ended> {
        self.queued.as_mut().and_then(Queued::take_ended)
    }

    /// Channels begin what has joined queues.
    #[inline]
    pub fn dispatch(&mut self) {
        if let Some(queued) = &mut self.queued {
            let (events, meter) = (&mut self.events, &mut self.meter);
            queued.dispatch(events, meter, (&mut self.mover, &mut self.witness));
        }
    }

    /// The command in service at `die` has ended: whether the step goes on.
    pub fn issue(&mut self, die: u32) -> bool {
        let now = self.events.now();
        let Some(commands) = &mut self.commands else {
            return false;
        };
        if B::HEARS_COMMANDS
            && let Some(told) = commands.take_latest(die, now)
        {
            self.mover.command_ended(die, &told);
        }
        let Some(issued) = commands.issue(die, now) else {
            let collected = commands.collected(die, now);
            self.meter.add_gc_time(collected);
            return false;
        };
        if B::HEARS_COMMANDS
            && let Some(told) = &issued.told
        {
            // A program comes over the channel meanwhile.
            let waits = match told.kind {
                Kind::Erase => issued.waits,
                Kind::Read | Kind::Program => 0,
            };
            let (begins, time) = (now + waits, issued.time - waits);
            self.mover.command_begins(die, told, begins, time);
        }
        self.witness
            .goes_on(die, issued.waits, issued.time, issued.moves);
        self.command_begins(die, issued.time);
        self.events.after(issued.time, Event::DieDone(die));
        true
    }
}

impl<B: Mover, W: Witness> Driver for Link<'_, B, W> {
    const TAKES_TIME: bool = true;

    #[inline(always)]
    fn serve(
        &mut self,
        die: u32,
        operation: PageOperation,
        operations: &Operations,
        map: Ticks,
    ) -> Progress {
        self.mover.serve(die, operation, operations);
        if self.front.is_some() && operation.write_cause().is_some() {
            self.pass_dram();
        }
        let time = self.meter.serve(operations, map);
        if self.is_one_by_one {
            return self.begin_one_by_one(die, Some(operation), operations, map);
        }
        self.begins(die, false, operations, time);
        self.meter.begin(die, self.events.now(), time);
        self.mover.busy(die, time);
        self.events.after(time, Event::DieDone(die));
        Progress::Running
    }

    fn collect_garbage(&mut self, die: u32, operations: &Operations) -> Progress {
        self.mover.collect_garbage(die, operations);
        self.meter.count_garbage(operations);
        if self.is_one_by_one {
            return self.begin_one_by_one(die, None, operations, 0);
        }
        let time = self.meter.timing.parallel(operations);
        self.meter.add_gc_time(time);
        self.begins(die, true, operations, time);
        self.meter.begin(die, self.events.now(), time);
        self.mover.busy(die, time);
        self.events.after(time, Event::DieDone(die));
        Progress::Running
    }

    fn serve_batch(&mut self, die: u32, step: BatchStep<'_>) {
        self.mover.serve_batch(die, step);
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
        for (position, time) in (0..).zip(at_once.chain(others)) {
            self.events
                .after(time, Event::BatchedDone { position, die });
            latest = latest.max(time);
        }
        self.begins(die, false, step.operations, latest);
        let parts = step.taken.len() as u32;
        self.meter
            .begin_batch(die, self.events.now(), latest, parts);
        self.mover.busy(die, latest);
    }

    fn fill(&mut self, die: u32, operations: &Operations) -> Progress {
        self.mover.fill(die, operations);
        self.meter.serve(operations, 0);
        self.begin_commands(die, None, operations, 0, false);
        Progress::Running
    }

    fn keeps_order(&self) -> bool {
        self.queued.as_ref().is_none_or(|queued| queued.keeps_order)
    }

    fn takes_read(&self, die: u32) -> bool {
        let now = self.events.now();
        let commands = self.commands.as_ref();
        commands.is_some_and(|commands| commands.takes_read(die, now))
    }

    fn read_between(
        &mut self,
        die: u32,
        number: u32,
        operation: PageOperation,
        operations: &Operations,
    ) {
        self.mover.serve(die, operation, operations);
        self.meter.serve(operations, 0);
        self.witness.reads_between(die, operation, operations);
        let now = self.events.now();
        if let Some(commands) = &mut self.commands {
            let time = commands.begin_read(die, number, operations, now);
            if let Some(told) = commands.latest_of_read(number) {
                self.mover.command_begins(die, &told, now, time);
            }
            self.events.after(time, Event::ReadDone(number));
        }
    }

    #[inline(always)]
    fn answer(&mut self, id: u32) {
        self.witness.answered(id);
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
        self.wants_records
    }

    #[inline]
    fn record(&mut self, record: &Destage, now: Ticks) {
        self.mover.record(record);
        self.witness.emitted(record);
        if self.wants_records {
            self.observer.destage(now, record);
        }
    }

    #[inline]
    fn record_ended(&mut self, emitted: Ticks, now: Ticks) {
        let counts = self.opened.is_some_and(|opened| emitted >= opened);
        if counts && !self.closed {
            self.destage_response.push(now - emitted, true);
        }
    }
    #[inline]
    fn taken_in(&mut self, page: Lpn, offset: u32) {
        self.mover.taken_in(page, offset);
    }

    #[inline]
    fn bypassed(&mut self, page: Lpn, offset: u32) {
        self.mover.bypassed(page, offset);
    }

    #[inline]
    fn trimming(&mut self, span: &Span) {
        self.mover.trimming(span);
    }

    #[inline]
    fn trimmed(&mut self, page: Lpn) {
        self.mover.trimmed(page);
    }

    #[inline]
    fn read(&mut self, page: Lpn, offset: u32, from_ram: bool) {
        self.mover.read(page, offset, from_ram);
    }

    #[inline]
    fn look(&mut self, buffer: &Buffer) {
        self.mover.look(buffer);
    }

    #[inline]
    fn queued(&mut self, operation: PageOperation, die: u32) {
        self.witness.queued(operation, die);
    }

    #[inline]
    fn slot_given(&mut self) {
        self.witness.slot_given();
    }

    #[inline]
    fn ended(&mut self, operation: PageOperation) {
        if self.front.is_some() && operation.is_read() {
            self.pass_dram();
        }
        self.witness.ended(operation);
        self.mover.ended(operation);
    }
}
