//! The device: the path of a host request, page by page.

mod completion;
mod emission;
mod idle_work;
mod intake;
mod unit;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use destage_base::{Lpn, Ticks, choices, table};
use destage_buffer::Buffer;
use destage_buffer::destage::{DestageCause, Slot};
use destage_ftl::{Ftl, NoSpace, Shortage};

use crate::dies::{Dies, Handover, ServiceOrder, UNIT_ALARM, UnderWay, Units};
use crate::driver::{Driver, Token};
use crate::idle::Idle;
use crate::operation::PageOperation;
use crate::order::WriteOrder;
use crate::record::Record;
use crate::request::{Request, RequestKind, Span};
use crate::slab::Slab;

/// The result of a step of the device. After an error the device cannot be used any more.
pub type Outcome = Result<(), NoSpace>;

choices! {
    /// Whether effects on one page happen in the order of their emission.
    #[derive(Default)]
    pub enum Ordering {
        /// Effects always happen in the order of their emission.
        #[default]
        Strict = "strict",
        /// As in the reference simulator: a record waits only for its own padding reads, and effects do not wait for
        /// each other. Drivers that move bytes must not use this order.
        Reference = "reference",
    }
}

/// How detailed the operations of a step are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wording {
    /// Only numbers of pages. This is enough to count operations and to add up their times.
    Runs,
    /// The page of each operation.
    Pages,
    /// The page of each operation, and its new contents.
    Contents,
}

/// The configuration of a device: what its answers promise, and how it handles requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeviceConfig {
    /// Blocks of a die.
    pub blocks_per_die: u32,
    /// Number of dies.
    pub dies: u32,
    /// Whether the device reads the other sectors of a partly written page that is not in the buffer.
    pub reads_partial: bool,
    /// The order of effects on one page.
    pub ordering: Ordering,
    /// Whether writes are answered when they are in RAM, which loses its contents with the power. Otherwise each
    /// write is answered as if it had force unit access.
    pub volatile_cache: bool,
    /// Whether a trim writes zeros, so that the trimmed pages read as zeros after a loss of power, too.
    pub strict_trim: bool,
    /// How detailed operations are.
    pub wording: Wording,
    /// Whether the device uses the parallel units of a die. The driver then has to serve batches.
    pub batches: bool,
    /// Which operation a die serves first. Batches are served only in order of arrival; with any other order,
    /// operations are served one by one.
    pub service: ServiceOrder,
    /// The largest number of host reads in a row that overtake a waiting operation; at least 1.
    pub reads_ahead: u32,
    /// The program units, if pages are programmed together. Units need a driver whose commands need time, and a layer
    /// with [`open_blocks`](destage_ftl::Properties::open_blocks).
    pub units: Option<Units>,
    /// Whether the power may fail. If so, a copy that a program replaces on another die is not erased before the unit
    /// of the program has ended. Also, a read that programs or erases is not served between the commands of a step.
    pub power_may_fail: bool,
    /// Which transactions may stop occupying their dies before they end.
    pub handover: Handover,
}

impl DeviceConfig {
    /// The configuration of a device with `dies` dies of `blocks_per_die` blocks. The device keeps write order and
    /// has a volatile cache.
    #[must_use]
    pub fn new(dies: u32, blocks_per_die: u32) -> Self {
        Self {
            blocks_per_die,
            dies,
            reads_partial: false,
            ordering: Ordering::Strict,
            volatile_cache: true,
            strict_trim: false,
            wording: Wording::Runs,
            batches: true,
            service: ServiceOrder::Arrival,
            reads_ahead: 1,
            units: None,
            power_may_fail: false,
            handover: Handover::Never,
        }
    }
}

/// The fixed properties of the layer that the device needs.
struct Layer {
    /// Number of logical pages that the layer offers.
    pages: u64,
    /// The number of pages from which on a write is a long write; `None` if no write is long.
    long_pages: Option<u32>,
    /// Whether there is no flash.
    is_hollow: bool,
    /// Number of placement handles that the layer distinguishes.
    handles: u32,
}

impl Layer {
    fn of(ftl: &dyn Ftl) -> Self {
        let properties = ftl.properties();
        Self {
            pages: ftl.pages(),
            long_pages: properties.long_write_pages,
            is_hollow: properties.is_hollow,
            handles: properties.handles,
        }
    }
}

/// The requests that wait until their pages have slots.
#[derive(Default)]
struct SlotWaiters {
    /// The requests whose pages wait for any slot. There is one entry for each waiting page, in the order in which
    /// the pages began to wait.
    of_any: VecDeque<u32>,
    /// The requests whose pages each wait for a particular slot.
    of_one: OfOne,
}

/// By slot, the request with a page that waits for this particular slot. A table is faster than a map here, because
/// many pages may wait: with a set-associative cache, even all written pages may wait for particular slots.
#[derive(Default)]
struct OfOne {
    /// By slot: the number of the request plus 1, or 0 if no page waits for the slot.
    requests: Vec<u32>,
    /// How many pages wait.
    len: usize,
}

impl OfOne {
    fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Notes that a page of `request` waits for `slot`, for which no other page waits.
    fn insert(&mut self, slot: Slot, request: u32) {
        let waiting = table::at(&mut self.requests, slot.0 as usize, 0);
        debug_assert!(*waiting == 0, "two pages wait for {slot:?}");
        *waiting = request + 1;
        self.len += 1;
    }

    /// The request that waits for `slot`, which then waits no longer; `None` if no request does.
    fn remove(&mut self, slot: Slot) -> Option<u32> {
        let waiting = self.requests.get_mut(slot.0 as usize)?;
        let request = core::mem::take(waiting).checked_sub(1)?;
        self.len -= 1;
        Some(request)
    }
}

/// The amount of data that a loss of power would destroy.
#[derive(Default)]
struct AtRisk {
    /// Number of pages that were emitted or bypassed the buffer, and whose programs have not ended.
    leaving: u64,
    /// The largest sum, at one moment, of dirty pages and `leaving`.
    max: u64,
    /// The time at which the device last became clean.
    clean_since: Ticks,
}

/// One device. See the [crate](crate).
pub struct Device {
    config: DeviceConfig,
    buffer: Buffer,
    dies: Dies,
    layer: Layer,
    /// By token, the number of operations, slots and records for which the request waits, plus one while the request
    /// is being submitted.
    remaining: Vec<u32>,
    records: Slab<Record>,
    order: WriteOrder,
    /// The records whose programs may now join their queues.
    ready: VecDeque<u32>,
    waiters: SlotWaiters,
    idle: Option<Idle>,
    at_risk: AtRisk,
    /// A list that is a field only to reuse its memory.
    ended: Vec<PageOperation>,
    /// Whether all data have to be programmed now, because no further request will arrive.
    is_drained: bool,
    /// The placement handle of the requests that arrive now.
    handle: u32,
}

impl Device {
    /// An idle device with this buffer and this layer.
    #[must_use]
    pub fn new(config: DeviceConfig, buffer: Buffer, ftl: Box<dyn Ftl>) -> Self {
        Self {
            layer: Layer::of(&*ftl),
            dies: Dies::new(ftl, &config),
            config,
            idle: Idle::of(&buffer),
            buffer,
            remaining: Vec::new(),
            records: Slab::default(),
            order: WriteOrder::default(),
            ready: VecDeque::new(),
            waiters: SlotWaiters::default(),
            at_risk: AtRisk::default(),
            ended: Vec::new(),
            is_drained: false,
            handle: 0,
        }
    }

    /// Number of logical pages that the device offers.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.layer.pages
    }

    /// The buffer.
    #[must_use]
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// The buffer, for changes when statistics close.
    pub fn buffer_mut(&mut self) -> &mut Buffer {
        &mut self.buffer
    }

    /// The translation layer.
    #[must_use]
    pub fn ftl(&self) -> &dyn Ftl {
        self.dies.ftl()
    }

    /// The largest number of pages that a loss of power would have destroyed at one moment. Pages count until their
    /// programs have ended if they are dirty in the buffer, leaving or held, or if they bypassed the buffer.
    #[must_use]
    pub fn at_risk_max(&self) -> u64 {
        self.at_risk.max
    }

    /// Called when statistics open. Resets the maxima, and the figures of the scheme and the layer.
    pub fn reset_figures(&mut self) {
        self.at_risk.max = 0;
        self.note_at_risk();
        self.buffer.reset_figures();
        self.dies.ftl_mut().reset_figures();
    }

    /// Whether a trim writes zeros ([`Request::as_write`]).
    #[must_use]
    #[inline]
    pub fn has_strict_trim(&self) -> bool {
        self.config.strict_trim
    }

    /// Whether every record has ended. Records include all other work for which a flush would wait.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.records.is_empty()
    }

    /// Whether a loss of power would destroy nothing: no page is dirty, and every program and trim has ended.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.buffer.dirty() == 0 && self.at_risk.leaving == 0 && self.is_settled()
    }

    /// The time since which the device [is clean](Self::is_clean); 0 if it was always clean. `None` if it is not
    /// clean.
    #[must_use]
    pub fn clean_since(&self) -> Option<Ticks> {
        self.is_clean().then_some(self.at_risk.clean_since)
    }

    /// The driver reports that the host has a request for `span` on this device. The idle time of the pages of `span`
    /// ends. The request itself may be submitted later.
    #[inline]
    pub fn announce(&mut self, span: &Span) {
        if let Some(idle) = &mut self.idle {
            idle.end(span, self.layer.pages, &self.buffer);
        }
    }

    /// The driver reports that the host has received the answer to a request for `span` that was announced.
    #[inline]
    pub fn retire<D: Driver>(&mut self, span: &Span, driver: &mut D) {
        if let Some(idle) = &mut self.idle {
            let after = idle.rule.after;
            idle.begin(span, self.layer.pages, &self.buffer, |alarm| {
                driver.wake_after(after, alarm);
            });
        }
    }

    /// Whether the state of the layer includes operations that the flash has not begun yet.
    pub(crate) fn is_ahead(&self) -> bool {
        self.dies.is_ahead()
    }

    pub(crate) fn blocks_per_die(&self) -> u32 {
        self.config.blocks_per_die
    }

    /// What a capacitor preserves of the device at a loss of power: the translation layer, and the list of dirty
    /// pages in the order in which the scheme would flush them.
    pub(crate) fn into_preserved(mut self, now: Ticks) -> (Box<dyn Ftl>, Vec<Lpn>) {
        let mut dirty = Vec::new();
        while self.buffer.flush_next(DestageCause::Drain, now, &self.dies) {
            dirty.extend(self.buffer.record().pages.iter().map(|dirty| dirty.page));
        }
        (self.dies.into_ftl(), dirty)
    }

    /// Sets the host's stream for the requests that follow. The placement handle of these requests is the number of
    /// the stream modulo the number of handles.
    #[inline]
    pub fn set_stream(&mut self, stream: u16) {
        if self.layer.handles > 1 {
            self.handle = u32::from(stream) % self.layer.handles;
            self.buffer.of_handle(self.handle);
        }
    }

    /// The driver reports that `pages` page writes went to other devices. The virtual time of the scheme advances by
    /// this number.
    #[inline]
    pub fn pass_writes(&mut self, pages: u64) {
        self.buffer.pass_writes(pages);
    }

    /// Accepts `request`. The device identifies the request by `token`, a small number that the driver may use again
    /// after the answer.
    ///
    /// # Errors
    /// [`NoSpace`] if the flash has no room left.
    #[inline(always)]
    pub fn submit<D: Driver>(
        &mut self,
        token: u32,
        request: &Request,
        now: Ticks,
        driver: &mut D,
    ) -> Outcome {
        match self.remaining.get_mut(token as usize) {
            Some(remaining) => {
                debug_assert!(*remaining == 0, "{token} is in use");
                *remaining = 1;
            }
            None => self.make_place_for(token)?,
        }
        match request.kind {
            RequestKind::Write => self.write(token, request, now, driver)?,
            RequestKind::Read => self.read(token, &request.span, now, driver)?,
            RequestKind::WriteZeroes => self.write_zeroes(token, request, now, driver)?,
            RequestKind::Trim => match request.as_write(self.config.strict_trim) {
                Some(zeroes) => self.write_zeroes(token, &zeroes, now, driver)?,
                None if self.config.strict_trim => {}
                None => self.trim(token, request, now, driver)?,
            },
            RequestKind::Flush => self.flush(token, now, driver)?,
        }
        self.operation_done(token, driver);
        Ok(())
    }

    /// Makes room in `remaining` for `token`, which is larger than all tokens before, and sets its entry to 1 for the
    /// submission.
    #[cold]
    fn make_place_for(&mut self, token: u32) -> Outcome {
        if token > PageOperation::LARGEST_NUMBER {
            let most = PageOperation::LARGEST_NUMBER;
            return Err(Shortage::Requests { most }.into());
        }
        self.remaining.resize(token as usize, 0);
        self.remaining.push(1);
        Ok(())
    }

    /// Handles the end of the transaction `token`.
    ///
    /// # Errors
    /// [`NoSpace`] if the next operation finds no room.
    #[inline(always)]
    pub fn complete<D: Driver>(&mut self, token: Token, now: Ticks, driver: &mut D) -> Outcome {
        match token.die_or_place() {
            Ok(die) => self.service_ended(die, now, driver),
            Err(place) => self.end_in_table(place, now, driver),
        }
    }

    /// The die of the transaction `token`, which has not ended.
    #[inline(always)]
    #[must_use]
    pub fn die_of(&self, token: Token) -> u32 {
        self.dies.die_of_token(token)
    }

    /// Handles the end of the operation in service at `die`.
    #[inline(always)]
    fn service_ended<D: Driver>(&mut self, die: u32, now: Ticks, driver: &mut D) -> Outcome {
        if self.dies.has_units() {
            return self.complete_in_units(die, now, driver);
        }
        if let Some(operation) = self.dies.finish(die) {
            self.page_done(operation, now, driver)?;
            if self.dies.places_writes() {
                self.activate_stirred(now, driver)?;
            }
        }
        if !D::TAKES_TIME || !self.dies.begins_at_once(die) {
            return self.activate(die, now, driver);
        }
        // The frequent cases are inlined: the die begins the next operation of its queue, or its queue is empty.
        let progress = self.dies.begin_next(die, driver)?;
        self.go_on_after(progress, die, now, driver)
    }

    /// Lets overtaking reads begin at `die`, whose step is between two commands of the driver.
    ///
    /// # Errors
    /// [`NoSpace`] if a read has to write a page, and finds no room.
    pub fn let_reads_pass<D: Driver>(&mut self, die: u32, now: Ticks, driver: &mut D) -> Outcome {
        self.dies.let_reads_pass(die, driver)?;
        match self.dies.places_writes() {
            true => self.activate_stirred(now, driver),
            false => Ok(()),
        }
    }

    /// Handles the end of the transaction at `place` of the table of transactions.
    #[inline(never)]
    fn end_in_table<D: Driver>(&mut self, place: u32, now: Ticks, driver: &mut D) -> Outcome {
        match self.dies.take(place) {
            UnderWay::InService(die) => self.service_ended(die, now, driver),
            UnderWay::Left(die, operation) => self.left_ended((place, die), operation, now, driver),
            UnderWay::Filling(die) => self.unit_ended((place, die), now, driver),
            UnderWay::Between(_, read) => self.page_done(read, now, driver),
            UnderWay::Part(die, position) => self.part_ended(die, position, now, driver),
        }
    }

    /// Handles the end of the operation at `position` of the batch in service at `die`.
    fn part_ended<D: Driver>(
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

    /// The driver calls this at the time that was set for `alarm`.
    ///
    /// # Errors
    /// [`NoSpace`] if a page that is written back finds no room.
    pub fn wake<D: Driver>(&mut self, alarm: u32, now: Ticks, driver: &mut D) -> Outcome {
        if alarm & UNIT_ALARM != 0 {
            return self.time_of_unit_is_up(alarm & !UNIT_ALARM, now, driver);
        }
        let time = self.idle.as_mut().and_then(|idle| idle.take_alarm(alarm));
        match time {
            Some(time) => self.use_idle_time(time, now, driver),
            None => Ok(()),
        }
    }

    /// Destages all dirty pages at the end of a run. The drain has ended when the device [is
    /// settled](Self::is_settled).
    ///
    /// # Errors
    /// [`NoSpace`] if a page finds no room.
    pub fn drain<D: Driver>(&mut self, now: Ticks, driver: &mut D) -> Outcome {
        while self.buffer.flush_next(DestageCause::Drain, now, &self.dies) {
            self.emit(None, None, now, driver)?;
        }
        self.is_drained = true;
        self.want_all(now, driver)
    }
}
