//! A live device with bytes. Requests arrive one by one, and each is answered at the time that the model computes.
//!
//! A live device uses the engine of a run, with the same host, host bus and device. Two things differ from a run: the
//! coming requests are unknown, and the device holds bytes. Model time advances only when the caller advances it.

mod below;
mod power;

use std::collections::VecDeque;
use std::sync::Arc;

use destage_base::{Lpn, Ticks};
use destage_device::backed::Fault;
pub use destage_device::backed::Holds;
use destage_device::ledger::Ledger;
use destage_device::payload::cut_up;
use destage_device::{BatchStep, Device, Note, RequestKind, Transaction};
use destage_ftl::Ftl;
use destage_nand::Operations;
use destage_nand::medium::{FlashCommand, Refusal};
use destage_trace::request::SECTOR_BYTES;
use destage_trace::{Operation, Request};

use self::below::Below;
pub use self::below::Media;
pub use self::power::{Cut, CutAfter, Off, Restored};
use super::Config;
use crate::check::Purpose;
use crate::engine::{self, Engine, EngineConfig, Probe, Replay, Statistics, Window};
use crate::error::SimError;
use crate::host::Attribution;
use crate::metrics::{Metrics, Scope, collect};
use crate::observer::Observer;
use crate::parameters::VolatileCache;
use crate::power::Trigger;
use crate::prepass::Prepass;

/// A request with its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// The kind of the request.
    pub kind: RequestKind,
    /// The first sector of 512 bytes. A flush ignores it.
    pub sector: u64,
    /// The number of sectors: at least 1, except for a flush.
    pub sectors: u32,
    /// Whether the request has force unit access (FUA).
    pub fua: bool,
    /// The bytes of a write; empty for other requests.
    pub data: &'a [u8],
    /// A number by which the caller identifies the request.
    pub tag: u64,
}

impl Ask<'_> {
    /// The request in the form of a request of a trace, with the arrival time `arrival`. A trace has no write-zeroes,
    /// so a write-zeroes becomes a write.
    #[must_use]
    pub fn as_request(&self, arrival: Ticks) -> Request {
        Request {
            arrival,
            sector: self.sector,
            sectors: self.sectors,
            volume: 0,
            line: 0,
            operation: match self.kind {
                RequestKind::Read => Operation::Read,
                RequestKind::Write | RequestKind::WriteZeroes => Operation::Write,
                RequestKind::Trim => Operation::Trim,
                RequestKind::Flush => Operation::Flush,
            },
            fua: self.fua,
            stream: 0,
        }
    }
}

/// The completion of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Completion {
    /// The number by which the caller identifies the request.
    pub tag: u64,
    /// The time of the completion, in model ticks.
    pub at: Ticks,
    /// Whether the answer promises durability: the request is a flush, or a change with FUA or without a volatile
    /// cache.
    pub is_durable: bool,
    /// The reason for a failure; `None` on success. After a failed change, the device may hold the old or the new
    /// contents.
    pub fault: Option<Fault>,
}

/// The reason why a device cannot be used any more.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// The device is full, or the simulation has another error.
    #[error(transparent)]
    Full(#[from] SimError),
    /// The layer issued a command that flash cannot carry out, which is a bug of this program.
    #[error("the flash refused a command of the translation layer: {0}")]
    Refused(Refusal),
    /// The file that holds the flash did not accept a write.
    #[error("the image cannot be written{}", match .0 { Fault::Full => ": its file system has no room left", Fault::Io => "" })]
    Unkept(Fault),
    /// A page of the image does not hold the data that were programmed there.
    #[error("the image is damaged: a page does not hold what was programmed there")]
    Damaged,
    /// A request is incomplete, but no event is left, which is a bug of this program.
    #[error("a request was never answered")]
    Stuck,
}

/// The data of a request between its arrival and its completion.
#[derive(Default)]
struct Pending {
    kind: Option<RequestKind>,
    tag: u64,
    fua: bool,
    fault: Option<Fault>,
    /// The bytes of each page.
    data: Vec<Arc<[u8]>>,
}

/// Maximum number of pages of data for which the vector of a request keeps its memory.
const KEPT_PIECES: usize = 16;

/// The probe of a live device. It holds the bytes of the requests and of the device.
struct Bytes {
    below: Below,
    /// Whether every change has force unit access, because the device has no volatile cache.
    is_write_through: bool,
    /// The number of the request that is being submitted.
    submitted: usize,
    /// The data of the request that arrives next.
    coming: Pending,
    /// The data of requests, by the number of the request.
    pending: Vec<Pending>,
    completions: VecDeque<Completion>,
    refusal: Option<Refusal>,
    /// The number of accepted writes, including write-zeroes, and the number of accepted flushes.
    accepted: [u64; 2],
    /// The ledger, which is compared with the contents after a loss of power; `None` if the power cannot fail.
    ledger: Option<Box<Ledger>>,
    /// The trigger of the planned loss of power; `None` if none is planned.
    trigger: Option<Box<Trigger>>,
}

impl Probe for Bytes {
    fn arrived(&mut self, id: u32, asked: &mut destage_device::Request) {
        let id = id as usize;
        if id >= self.pending.len() {
            self.pending.resize_with(id + 1, Pending::default);
        }
        if let Some(kind) = self.coming.kind {
            asked.kind = kind;
        }
        std::mem::swap(&mut self.pending[id], &mut self.coming);
    }

    fn accepted(&mut self, id: u32, asked: &destage_device::Request, _: &Device) {
        self.submitted = id as usize;
        let pending = &mut self.pending[id as usize];
        match &mut self.below {
            Below::Flash(payload) => {
                if let Some(ledger) = &mut self.ledger {
                    let pieces = pending.data.iter().map(|piece| &**piece);
                    ledger.accept(id, asked, payload.version_of(asked), pieces);
                }
                payload.accept_pieces(asked, &mut pending.data);
            }
            Below::Disk(backed) => backed.accept(asked, &mut pending.data),
        }
        match asked.kind {
            RequestKind::Write | RequestKind::WriteZeroes => self.accepted[0] += 1,
            RequestKind::Flush => self.accepted[1] += 1,
            RequestKind::Read | RequestKind::Trim => {}
        }
        if let Some(trigger) = &mut self.trigger {
            trigger.accepted(asked.kind);
        }
        pending.data.clear();
        pending.data.shrink_to(KEPT_PIECES);
    }

    fn completed(&mut self, completion: &engine::Completion<'_>, now: Ticks) {
        let id = completion.id;
        let pending = &self.pending[id as usize];
        let (tag, fault) = (pending.tag, pending.fault);
        let kind = pending.kind.unwrap_or(RequestKind::Read);
        let is_forced = pending.fua || self.is_write_through;
        let is_durable = match kind {
            RequestKind::Read => false,
            RequestKind::Flush => true,
            RequestKind::Write | RequestKind::WriteZeroes | RequestKind::Trim => is_forced,
        };
        let fault = fault.or_else(|| self.below.fault_of(kind));
        if let (Some(ledger), None) = (&mut self.ledger, fault) {
            ledger.answer(id);
        }
        self.completions.push_back(Completion {
            tag,
            at: now,
            is_durable,
            fault,
        });
    }

    fn transaction(&mut self, die: u32, transaction: Transaction, operations: &Operations) {
        if let Below::Flash(payload) = &mut self.below {
            let outcome = payload.transaction(die, transaction, operations);
            self.begun(die, outcome);
        }
    }

    fn batch(&mut self, die: u32, step: BatchStep<'_>) {
        if let Below::Flash(payload) = &mut self.below {
            let outcome = payload.serve_batch(die, step);
            self.begun(die, outcome);
        }
    }

    fn command_begins(&mut self, die: u32, command: &FlashCommand, begins: Ticks, time: Ticks) {
        if let Below::Flash(payload) = &mut self.below {
            let outcome = payload.command_begins(die, command, begins, time);
            self.note_refusal(outcome);
            if let Some(trigger) = &mut self.trigger {
                trigger.command_begun(command, begins, time);
            }
        }
    }

    fn command_ended(&mut self, die: u32, command: &FlashCommand) {
        if let Below::Flash(payload) = &mut self.below {
            payload.command_ended(die, command);
        }
    }

    fn step_ended(&mut self, die: u32) {
        if let Below::Flash(payload) = &mut self.below {
            payload.end(die);
        }
    }

    fn note(&mut self, note: &Note<'_>) {
        match &mut self.below {
            Below::Flash(payload) => payload.note(note),
            Below::Disk(backed) => {
                if let Err(fault) = backed.note(note) {
                    self.pending[self.submitted].fault.get_or_insert(fault);
                }
            }
        }
    }
}

impl Bytes {
    fn begun(&mut self, die: u32, outcome: Result<(), Refusal>) {
        self.note_refusal(outcome);
        if let Some(trigger) = &mut self.trigger {
            trigger.begun(die);
        }
    }

    /// Keeps the first refusal of the flash, so that the device is not used any more.
    fn note_refusal(&mut self, outcome: Result<(), Refusal>) {
        if let Err(refusal) = outcome {
            self.refusal.get_or_insert(refusal);
        }
    }
}

/// A live device. See the [module](self).
pub struct Live<'a> {
    engine: Engine<'a, Bytes>,
    config: Config,
    scope: Scope,
    sectors_per_page: u64,
    sectors: u64,
    /// The time of the loss of power, after which nothing happens; `None` while the device has power.
    failed_at: Option<Ticks>,
    /// Sectors that broke a promise after a loss of power.
    bad: Vec<u64>,
}

impl Config {
    /// Checks that a device of this configuration can be live.
    ///
    /// # Errors
    /// An error that names the parameter that prevents it, and what was expected.
    pub fn check_live(&self) -> Result<(), SimError> {
        self.check(Purpose::Live)
    }
}

impl<'a> Live<'a> {
    /// A device of `config` whose bytes are in RAM, idle at time 0. `observer` gets the responses and destage
    /// records.
    ///
    /// # Errors
    /// If the configuration has an error, or `observer` stops the preparation.
    pub fn new(config: &Config, observer: Box<dyn Observer + 'a>) -> Result<Self, SimError> {
        Self::on(config, Media::Ram, observer)
    }

    /// A device like that of [`Live::new`], with its bytes on `media`.
    ///
    /// # Errors
    /// If the configuration has an error, if it does not fit `media`, or if `observer` stops the preparation.
    pub fn on(
        config: &Config,
        media: Media,
        mut observer: Box<dyn Observer + 'a>,
    ) -> Result<Self, SimError> {
        config.check_live()?;
        let mut ftl = match media {
            Media::Image(..) => config.ftl_with(false)?,
            Media::Ram | Media::Disk(..) => config.prepared_ftl(&mut *observer)?,
        };
        let (below, sectors) = config.below(media, &mut *ftl)?;
        Self::over(config.clone(), ftl, below, sectors, observer)
    }

    /// A device of `config` with an empty buffer above the given layer and contents. It offers `sectors` sectors.
    fn over(
        config: Config,
        ftl: Box<dyn Ftl>,
        below: Below,
        sectors: u64,
        observer: Box<dyn Observer + 'a>,
    ) -> Result<Self, SimError> {
        let scope = config.scope(true, &*ftl);
        let geometry = config.geometry();
        let sectors_per_page = geometry.page_bytes / SECTOR_BYTES;
        let buffer = config.buffer(true, &Prepass::default())?;
        let device = config.device(true, true, buffer, ftl);
        let bytes = Bytes {
            below,
            is_write_through: config.typed.device.vwc == VolatileCache::Off,
            submitted: 0,
            coming: Pending::default(),
            pending: Vec::new(),
            completions: VecDeque::new(),
            refusal: None,
            accepted: [0; 2],
            ledger: None,
            trigger: None,
        };
        let asked = config.engine(0);
        let host = EngineConfig {
            replay: Replay::Trace,
            time_scale: 1.0,
            attribution: Attribution::Request,
            saturation: u64::MAX,
            statistics: Statistics {
                window: Window::Complete,
                ..asked.statistics
            },
            ..asked
        };
        let flash = config.flash();
        Ok(Self {
            engine: Engine::new(host, "request", device, flash, bytes, observer),
            config,
            scope,
            sectors_per_page,
            sectors,
            failed_at: None,
            bad: Vec::new(),
        })
    }

    /// The number of sectors of 512 bytes that the device offers.
    #[must_use]
    pub fn sectors(&self) -> u64 {
        self.sectors
    }

    /// The number of sectors in a page.
    #[must_use]
    pub fn sectors_per_page(&self) -> u64 {
        self.sectors_per_page
    }

    /// Submits a request that arrives at `at`, or now if this time has passed. Events that are due earlier happen
    /// first.
    ///
    /// # Errors
    /// The reason why the device cannot be used any more.
    ///
    /// # Panics
    /// If the number of bytes of a write does not match its sectors.
    pub fn submit(&mut self, at: Ticks, ask: &Ask<'_>) -> Result<(), Broken> {
        if self.needs_damaged(ask) {
            let at = at.max(self.now());
            self.engine.probe_mut().completions.push_back(Completion {
                tag: ask.tag,
                at,
                is_durable: false,
                fault: Some(Fault::Io),
            });
            return self.check();
        }
        let coming = &mut self.engine.probe_mut().coming;
        coming.kind = Some(ask.kind);
        coming.tag = ask.tag;
        coming.fua = ask.fua;
        coming.fault = None;
        let head = (ask.sector % self.sectors_per_page * SECTOR_BYTES) as usize;
        let page_bytes = (self.sectors_per_page * SECTOR_BYTES) as usize;
        cut_up(ask.data, head, page_bytes, &mut coming.data);
        self.engine.expect(ask.as_request(at));
        while self.engine.is_coming() && self.step()? {}
        self.check()
    }

    /// Whether `ask` writes a part of a page whose other part the image no longer holds. Such a page can only be
    /// written whole.
    fn needs_damaged(&self, ask: &Ask<'_>) -> bool {
        let Below::Flash(payload) = &self.engine.probe().below else {
            return false;
        };
        let writes = matches!(ask.kind, RequestKind::Write | RequestKind::WriteZeroes);
        if !writes || !payload.medium().is_kept() {
            return false;
        }
        let ends = [ask.sector, ask.sector + u64::from(ask.sectors)];
        for end in ends.iter().filter(|end| *end % self.sectors_per_page != 0) {
            // Only whether the page is damaged counts.
            let _ = payload.look(Lpn(end / self.sectors_per_page));
        }
        payload.medium().forgive_damage()
    }

    /// Processes the next event. Returns `false` if no event is left, or if the power fails before the next event.
    fn step(&mut self) -> Result<bool, Broken> {
        if self.engine.probe().trigger.is_some() && self.fails_before(self.engine.next_time()) {
            return Ok(false);
        }
        Ok(self.engine.step()?)
    }

    /// Processes all events that are due up to `until`.
    ///
    /// # Errors
    /// The reason why the device cannot be used any more.
    pub fn advance(&mut self, until: Ticks) -> Result<(), Broken> {
        while self.engine.next_time().is_some_and(|time| time <= until) && self.step()? {}
        if self.engine.probe().trigger.is_some() {
            self.fails_before(until.checked_add(1));
        }
        self.check()
    }

    /// Processes events until a request is complete or the power fails.
    ///
    /// # Errors
    /// The reason why the device cannot be used any more.
    pub fn advance_to_completion(&mut self) -> Result<(), Broken> {
        while self.engine.probe().completions.is_empty() {
            if !self.step()? {
                return match self.failed_at {
                    Some(_) => Ok(()),
                    None => Err(Broken::Stuck),
                };
            }
        }
        self.check()
    }

    fn check(&self) -> Result<(), Broken> {
        let Bytes { refusal, below, .. } = self.engine.probe();
        if let Some(refusal) = refusal {
            return Err(Broken::Refused(*refusal));
        }
        if let Below::Flash(payload) = below {
            if let Some(fault) = payload.medium().fault() {
                return Err(Broken::Unkept(fault));
            }
            if payload.medium().is_damaged() {
                return Err(Broken::Damaged);
            }
        }
        Ok(())
    }

    /// The number of accepted writes, including write-zeroes, and the number of accepted flushes.
    #[must_use]
    pub fn accepted(&self) -> [u64; 2] {
        self.engine.probe().accepted
    }

    /// Removes and returns the next completion, in the order in which requests completed.
    pub fn completed(&mut self) -> Option<Completion> {
        self.engine.probe_mut().completions.pop_front()
    }

    /// The time of the next event; `None` if there is none.
    #[must_use]
    pub fn next_time(&self) -> Option<Ticks> {
        self.engine.next_time()
    }

    /// The current time of the model, in ticks.
    #[must_use]
    pub fn now(&self) -> Ticks {
        self.engine.now()
    }

    /// Appends the newest contents of `sectors` sectors from `sector` on to `out`. The sectors must be within the
    /// device. For a completed read, these are the bytes that the read returns, or the bytes of later writes.
    ///
    /// # Errors
    /// If the disk below cannot read, or the image is damaged; `out` is then unchanged.
    pub fn read(&self, sector: u64, sectors: u32, out: &mut Vec<u8>) -> Result<(), Fault> {
        let below = &self.engine.probe().below;
        below.read(self.sectors_per_page, sector, sectors, out)
    }

    /// Prepares a change of contents of this `kind`: tries again to write data that left the buffer and that the disk
    /// below did not accept. While this fails, the change may not be submitted. A trim that drops pages needs no
    /// preparation, because it may make the room that the disk lacks.
    ///
    /// # Errors
    /// The error of the disk below.
    pub fn settle(&mut self, kind: RequestKind) -> Result<(), Fault> {
        let drops_pages = kind == RequestKind::Trim && !self.config.has_strict_trim();
        match &mut self.engine.probe_mut().below {
            Below::Disk(backed) if !drops_pages => backed.settle(),
            Below::Disk(_) | Below::Flash(_) => Ok(()),
        }
    }

    /// The kind of contents of `sector`, and the first later sector that may have another kind. The range may end
    /// early, so that it can be determined quickly.
    #[must_use]
    pub fn holds(&self, sector: u64) -> (Holds, u64) {
        let page = sector / self.sectors_per_page;
        let (holds, next) = self.engine.probe().below.holds(Lpn(page));
        (holds, next.0.saturating_mul(self.sectors_per_page))
    }

    /// From now on, the observer gets no responses.
    pub fn stop_responses(&mut self) {
        self.engine.stop_responses();
    }

    /// The results of a run that would end now.
    #[must_use]
    pub fn metrics(&mut self) -> Metrics {
        collect(&self.engine.measure(), &self.scope)
    }
}
