//! A device with bytes that is used: requests come one by one, and are answered when the model's time has come.
//!
//! It is the engine of a run, with the same host, channel and device; only requests come from somebody who does not
//! know the next, and there are bytes. Its caller has the clock: model time goes on when it says so.

mod below;
mod power;

use std::collections::VecDeque;
use std::sync::Arc;

use destage_base::{Lpn, Ticks};
use destage_device::backed::Fault;
pub use destage_device::backed::Holds;
use destage_device::ledger::Ledger;
use destage_device::payload::{Payload, cut_up};
use destage_device::{Note, RequestKind};
use destage_ftl::Ftl;
use destage_nand::medium::{FlashCommand, Refusal};
use destage_trace::request::SECTOR_BYTES;
use destage_trace::{Operation, Request};

use self::below::Below;
pub use self::below::Media;
pub use self::power::{Cut, CutAfter, Off, Restored};
use super::Config;
use crate::check::Purpose;
use crate::engine::{Engine, EngineConfig, Mover, Replay, Statistics, Window};
use crate::error::SimError;
use crate::host::Attribution;
use crate::metrics::{Metrics, Scope, collect};
use crate::observer::Observer;
use crate::parameters::VolatileCache;
use crate::power::Trigger;
use crate::prepass::Prepass;

/// One request, with its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// What is asked.
    pub kind: RequestKind,
    /// The first sector of 512 bytes; of a flush nothing.
    pub sector: u64,
    /// How many; at least 1 but of a flush.
    pub sectors: u32,
    /// Force unit access.
    pub fua: bool,
    /// The bytes of a write.
    pub data: &'a [u8],
    /// What the caller knows it by.
    pub tag: u64,
}

impl Ask<'_> {
    /// As a request of a trace that arrives at `arrival`, which holds write-zeroes as a write.
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

/// A request that is complete.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Completion {
    /// What the caller knows it by.
    pub tag: u64,
    /// When, in model time.
    pub at: Ticks,
    /// Something has to last before it is answered: a flush, or a change that is forced.
    pub is_durable: bool,
    /// Why it has failed, if it has. What it was to change may be there or not.
    pub fault: Option<Fault>,
}

/// Why a device is used no more.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// The device has no room left.
    #[error(transparent)]
    Full(#[from] SimError),
    /// The flash was told to do what flash cannot do: a bug of this program.
    #[error("the flash refused a command of the translation layer: {0}")]
    Refused(Refusal),
    /// The file that keeps the flash has not taken what was written to it.
    #[error("the image cannot be written{}", match .0 { Fault::Full => ": its file system has no room left", Fault::Io => "" })]
    Unkept(Fault),
    /// A page of the flash is not what was programmed there.
    #[error("the image is damaged: a page does not hold what was programmed there")]
    Damaged,
    /// A request is not complete, and nothing is left to happen: a bug of this program.
    #[error("a request was never answered")]
    Stuck,
}

/// A request between its arrival and its completion.
#[derive(Default)]
struct Pending {
    kind: Option<RequestKind>,
    tag: u64,
    fua: bool,
    fault: Option<Fault>,
    /// The bytes for each page.
    data: Vec<Arc<[u8]>>,
}

/// Pieces of a request for which memory is kept for the next, at most.
const KEPT_PIECES: usize = 16;

/// The bytes of requests, and those of the device.
struct Bytes {
    below: Below,
    /// Every change is forced.
    is_write_through: bool,
    /// The request that is being submitted.
    submitted: usize,
    /// What arrives next.
    coming: Pending,
    /// By number of the request.
    pending: Vec<Pending>,
    completions: VecDeque<Completion>,
    refusal: Option<Refusal>,
    /// Writes accepted, write-zeroes included, and flushes.
    accepted: [u64; 2],
    /// What a loss of power is held against, if one may come.
    ledger: Option<Box<Ledger>>,
    /// When it comes, if that is settled.
    trigger: Option<Box<Trigger>>,
}

impl Mover for Bytes {
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

    fn accepted(&mut self, id: u32, asked: &destage_device::Request) {
        self.submitted = id as usize;
        let pending = &mut self.pending[id as usize];
        match &mut self.below {
            Below::Flash(payload) => {
                if let Some(ledger) = &mut self.ledger {
                    let pieces = pending.data.iter().map(|piece| &**piece);
                    ledger.accept(id, asked, payload.version_of(asked), pieces);
                }
                payload.accept_taken(asked, &mut pending.data);
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

    fn completed(&mut self, id: u32, now: Ticks) {
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

    fn payload(&mut self) -> Option<&mut Payload> {
        match &mut self.below {
            Below::Flash(payload) => Some(payload),
            Below::Disk(_) => None,
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

    fn begun(&mut self, die: u32, outcome: Result<(), Refusal>) {
        if let Err(refusal) = outcome {
            self.refusal.get_or_insert(refusal);
        }
        if let Some(trigger) = &mut self.trigger {
            trigger.begun(die);
        }
    }

    fn command_begun(
        &mut self,
        command: &FlashCommand,
        begins: Ticks,
        time: Ticks,
        outcome: Result<(), Refusal>,
    ) {
        if let Err(refusal) = outcome {
            self.refusal.get_or_insert(refusal);
        }
        if let Some(trigger) = &mut self.trigger {
            trigger.command_begun(command, begins, time);
        }
    }
}

/// The device. See the [module](self).
pub struct Live<'a> {
    engine: Engine<'a, Bytes>,
    config: Config,
    scope: Scope,
    sectors_per_page: u64,
    sectors: u64,
    /// When the power has failed, and nothing happens any more.
    failed_at: Option<Ticks>,
    /// Sectors that did not hold after the latest loss of power what they had to.
    bad: Vec<u64>,
}

impl Config {
    /// Why a device of this configuration cannot be live, if it cannot.
    ///
    /// # Errors
    /// The key that is in the way, and what was expected.
    pub fn check_live(&self) -> Result<(), SimError> {
        self.check(Purpose::Live)
    }
}

impl<'a> Live<'a> {
    /// The device of `config`, idle at time 0, of which RAM keeps the bytes. `observer` sees what happens to requests and
    /// records.
    ///
    /// # Errors
    /// What is wrong with the configuration, or that `observer` wants to stop.
    pub fn new(config: &Config, observer: Box<dyn Observer + 'a>) -> Result<Self, SimError> {
        Self::on(config, Media::Ram, observer)
    }

    /// A device as of [`Live::new`], with its bytes on `media`.
    ///
    /// # Errors
    /// What is wrong with the configuration, what does not go with `media`, or that `observer` wants to stop.
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

    /// The device of `config`, of which layer and contents are there, with an empty buffer; it offers `sectors` sectors.
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
        let device = config.device(true, Bytes::WANTS_PAGES, buffer, ftl);
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

    /// Sectors of 512 bytes that the device offers.
    #[must_use]
    pub fn sectors(&self) -> u64 {
        self.sectors
    }

    /// Sectors of a page.
    #[must_use]
    pub fn sectors_per_page(&self) -> u64 {
        self.sectors_per_page
    }

    /// A request arrives at `at`, or now if that has passed; what is due before that happens first.
    ///
    /// # Errors
    /// Why the device is used no more.
    ///
    /// # Panics
    /// If a write has more or fewer bytes than its sectors.
    pub fn submit(&mut self, at: Ticks, ask: &Ask<'_>) -> Result<(), Broken> {
        let coming = &mut self.engine.mover_mut().coming;
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

    /// Lets the next event happen; whether there was one, and the power did not fail before it.
    fn step(&mut self) -> Result<bool, Broken> {
        if self.engine.mover().trigger.is_some() && self.fails_before(self.engine.next_time()) {
            return Ok(false);
        }
        Ok(self.engine.step()?)
    }

    /// Lets everything happen that is due at `until` or before.
    ///
    /// # Errors
    /// Why the device is used no more.
    pub fn advance(&mut self, until: Ticks) -> Result<(), Broken> {
        while self.engine.next_time().is_some_and(|time| time <= until) && self.step()? {}
        if self.engine.mover().trigger.is_some() {
            self.fails_before(until.checked_add(1));
        }
        self.check()
    }

    /// Lets things happen until a request is complete, or the power fails.
    ///
    /// # Errors
    /// Why the device is used no more.
    pub fn advance_to_completion(&mut self) -> Result<(), Broken> {
        while self.engine.mover().completions.is_empty() {
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
        let Bytes { refusal, below, .. } = self.engine.mover();
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

    /// Writes that the device has accepted, write-zeroes included, and flushes.
    #[must_use]
    pub fn accepted(&self) -> [u64; 2] {
        self.engine.mover().accepted
    }

    /// The next request that is complete, in their order.
    pub fn completed(&mut self) -> Option<Completion> {
        self.engine.mover_mut().completions.pop_front()
    }

    /// When something is due next, if anything is.
    #[must_use]
    pub fn next_time(&self) -> Option<Ticks> {
        self.engine.next_time()
    }

    /// The model's time.
    #[must_use]
    pub fn now(&self) -> Ticks {
        self.engine.now()
    }

    /// Appends the newest contents of `sectors` sectors from `sector` on, which are within the device, to `out`. For a
    /// read that is complete these are its bytes: those of its acceptance, or later ones.
    ///
    /// # Errors
    /// What the disk below cannot read; `out` is as it was.
    pub fn read(&self, sector: u64, sectors: u32, out: &mut Vec<u8>) -> Result<(), Fault> {
        let below = &self.engine.mover().below;
        below.read(self.sectors_per_page, sector, sectors, out)
    }

    /// Why nothing that changes contents is taken now, if it is not: what has left the buffer before has to be written
    /// first, which is tried again.
    ///
    /// # Errors
    /// What the disk below cannot do.
    pub fn settle(&mut self) -> Result<(), Fault> {
        match &mut self.engine.mover_mut().below {
            Below::Flash(_) => Ok(()),
            Below::Disk(backed) => backed.settle(),
        }
    }

    /// What `sector` holds, and the sector behind those that are as it is, as far as that is known at once.
    #[must_use]
    pub fn holds(&self, sector: u64) -> (Holds, u64) {
        let page = sector / self.sectors_per_page;
        let (holds, next) = self.engine.mover().below.holds(Lpn(page));
        (holds, next.0.saturating_mul(self.sectors_per_page))
    }

    /// What a run that ended now would have for results.
    #[must_use]
    pub fn metrics(&mut self) -> Metrics {
        collect(&self.engine.measure(), &self.scope)
    }
}
