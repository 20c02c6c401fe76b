//! A run that advances as requests arrive.

use destage_buffer::Counts;
use destage_ftl::Ftl;
use destage_trace::Request;

use super::{Config, RunResult};
use crate::engine::{Engine, FlashMedia, Mover, Witness};
use crate::error::SimError;
use crate::explain::{Explained, Explaining};
use crate::limits::{Limits, SoFar, Unanswered};
use crate::measured::Measured;
use crate::meter::FlashMeter;
use crate::metrics::{Scope, collect, learnt};
use crate::observer::Observer;
use crate::op_count::Count;
use crate::parameters::Wearout;
use crate::precondition::{Precondition, Preparation};
use crate::prepass::Prepass;

impl Config {
    /// The translation layer, with the device in its state before the first request.
    ///
    /// # Errors
    /// An error in the configuration, or an interrupt by `observer`.
    pub fn prepared_ftl(&self, observer: &mut dyn Observer) -> Result<Box<dyn Ftl>, SimError> {
        let mut ftl = self.ftl()?;
        if let Some(state) = &self.state {
            return state.load(self, &self.geometry(), ftl);
        }
        if let (Precondition::RandomFill(passes), true) = (self.precondition(), self.has_flash()) {
            let preparation = Preparation {
                ftl: ftl.as_mut(),
                blocks_per_die: self.geometry().blocks_per_die(),
                seed: self.typed.sim.seed,
            };
            preparation.overwrite(passes, observer)?;
        }
        Ok(ftl)
    }

    /// The configuration that metrics need, for a run over `ftl`.
    pub(super) fn scope(&self, timed: bool, ftl: &dyn Ftl) -> Scope {
        Scope {
            timed,
            flash: self.has_flash(),
            prepared_pages: self.precondition().passes().saturating_mul(ftl.pages()),
            merges: ftl.properties().has_merges.then(|| self.merge_cost()),
            page_bytes: self.geometry().page_bytes,
            retires: self.typed.flash.wearout == Wearout::Retire,
            front: self.front_scope(),
        }
    }

    /// The settings that [`Config::prepared_ftl`] depends on, if that takes a while: configurations with equal values have equal layers.
    #[must_use]
    pub fn preparation(&self) -> Option<String> {
        let takes_a_while =
            self.state.is_some() || matches!(self.precondition(), Precondition::RandomFill(_));
        takes_a_while.then(|| self.device_text())
    }

    /// Everything that decides how the device is built, as text: configurations with equal texts have equal devices.
    #[must_use]
    pub fn device_text(&self) -> String {
        let parameters = self.chosen().into_iter();
        let of_device = parameters.filter(|(name, _)| {
            ["flash.", "ftl."]
                .iter()
                .any(|section| name.starts_with(section))
                || ["sim.seed", "sim.precondition"].contains(&&**name)
        });
        format!("{:?}", of_device.collect::<Vec<_>>())
    }
}

/// One run that is fed batches of requests, pauses between them, and then finishes.
pub struct Simulation<'a> {
    kind: Kind<'a>,
    scope: Scope,
    config: Config,
}

enum Kind<'a> {
    Timed(Box<dyn Timed + 'a>),
    Counted(Box<Count<'a>>),
}

/// An [`Engine`], whatever it moves and whatever witnesses it. Behind this trait the engine is compiled once, in this crate; without it every crate
/// that runs a simulation compiles an engine of its own.
trait Timed: Send {
    /// See [`Engine::feed`].
    fn feed(&mut self, requests: &[Request]) -> Result<bool, SimError>;
    /// See [`Engine::pass_writes`].
    fn pass_writes(&mut self, pages: u64);
    /// See [`Engine::so_far`].
    fn so_far(&self) -> Option<SoFar<'_>>;
    /// See [`Engine::work_down`].
    fn work_down(&mut self, events: u64) -> Result<bool, SimError>;
    /// See [`Engine::finish`]; where the time went is told if that was asked.
    fn finish(self: Box<Self>) -> Result<(Measured, Option<Explained>), SimError>;
}

impl<B: Mover, W: Witness> Timed for Engine<'_, B, W> {
    fn feed(&mut self, requests: &[Request]) -> Result<bool, SimError> {
        self.feed(requests)
    }

    fn pass_writes(&mut self, pages: u64) {
        self.pass_writes(pages);
    }

    fn so_far(&self) -> Option<SoFar<'_>> {
        self.so_far()
    }

    fn work_down(&mut self, events: u64) -> Result<bool, SimError> {
        self.work_down(events)
    }

    fn finish(self: Box<Self>) -> Result<(Measured, Option<Explained>), SimError> {
        let (measured, witness) = Engine::finish(*self)?;
        Ok((measured, witness.explained()))
    }
}

impl<'a> Simulation<'a> {
    /// A run under `config` that has not begun; `ftl` is its [`Config::prepared_ftl`], `prepass` is of the requests to
    /// come if [`Config::needs_prepass`], and `origin` names them in errors.
    ///
    /// # Errors
    /// An error in the configuration.
    pub fn new(
        config: &Config,
        origin: &str,
        ftl: Box<dyn Ftl>,
        prepass: &Prepass,
        observer: Box<dyn Observer + 'a>,
    ) -> Result<Self, SimError> {
        Self::with_mover(config, origin, ftl, prepass, (), observer)
    }

    /// As [`Simulation::new`]; if the run has a clock, `mover` is told of the events of requests, pages and flash commands.
    ///
    /// # Errors
    /// An error in the configuration.
    pub(crate) fn with_mover<B: Mover + 'a>(
        config: &Config,
        origin: &str,
        ftl: Box<dyn Ftl>,
        prepass: &Prepass,
        mover: B,
        observer: Box<dyn Observer + 'a>,
    ) -> Result<Self, SimError> {
        let timed = config.is_timed();
        let scope = config.scope(timed, &*ftl);
        let device = config.device(timed, B::WANTS_PAGES, config.buffer(timed, prepass)?, ftl);
        let kind = if timed {
            let engine = config.engine(prepass.span_pages);
            let flash = config.flash();
            let dies = flash.geometry.dies;
            if config.explain {
                let witness = (
                    mover,
                    Explaining::new(dies, matches!(flash.media, FlashMedia::Queued(_))),
                );
                let engine = Engine::witnessed(engine, origin, device, flash, witness, observer);
                Kind::Timed(Box::new(engine))
            } else {
                let engine = Engine::new(engine, origin, device, flash, mover, observer);
                Kind::Timed(Box::new(engine))
            }
        } else {
            let addressing = config.addressing(prepass.span_pages);
            let meter = FlashMeter::new(config.timing_of_sums(), config.geometry().dies);
            let (warmup, ages) = (config.warmup(), config.typed.sim.dirty_ages);
            let mut count = Count::new(origin, device, addressing, meter, warmup, ages, observer);
            count.scale_times(config.typed.host.time_scale);
            if config.explain {
                count.explain();
            }
            Kind::Counted(Box::new(count))
        };
        Ok(Self {
            kind,
            scope,
            config: config.clone(),
        })
    }

    /// Continues with `requests`, which follow those fed before. Whether it wants more: a run may stop early.
    ///
    /// # Errors
    /// An error in the requests, the device's size, or an interrupt by the observer. The run cannot go on.
    pub fn feed(&mut self, requests: &[Request]) -> Result<bool, SimError> {
        match &mut self.kind {
            Kind::Timed(engine) => engine.feed(requests),
            Kind::Counted(count) => count.feed(requests),
        }
    }

    /// `pages` page writes went to other devices before the next request. The virtual time of schemes counts page writes: a device that gets only a
    /// sample of them is told the virtual time of the device that it stands for.
    pub fn pass_writes(&mut self, pages: u64) {
        match &mut self.kind {
            Kind::Timed(engine) => engine.pass_writes(pages),
            Kind::Counted(count) => count.pass_writes(pages),
        }
    }

    /// Whether the run is beyond one of `limits`, which are its own, whatever its rest.
    #[must_use]
    pub fn is_beyond(&self, limits: &mut Limits) -> bool {
        let so_far = self.so_far();
        so_far.is_some_and(|so_far| limits.are_passed(&so_far))
    }

    fn so_far(&self) -> Option<SoFar<'_>> {
        match &self.kind {
            Kind::Timed(engine) => engine.so_far(),
            Kind::Counted(count) => Some(count.so_far()),
        }
    }

    /// The counts of the buffer so far; `None` if the run knows them only at its end.
    #[must_use]
    pub fn buffer_counts(&self) -> Option<Counts> {
        Some(self.so_far()?.counts)
    }

    /// How many requests have arrived, and are not answered.
    #[must_use]
    pub fn unanswered(&self) -> usize {
        let so_far = self.so_far();
        let unanswered = so_far.and_then(|so_far| so_far.unanswered);
        unanswered.map_or(0, Unanswered::count)
    }

    /// There are no more requests: goes on for `events` events at most. Whether it goes on after them; [`Simulation::finish`]
    /// follows.
    ///
    /// # Errors
    /// As of [`Simulation::feed`].
    pub fn work_down(&mut self, events: u64) -> Result<bool, SimError> {
        match &mut self.kind {
            Kind::Timed(engine) => engine.work_down(events),
            Kind::Counted(_) => Ok(false),
        }
    }

    /// There are no more requests, or none is wanted: runs to the end.
    ///
    /// # Errors
    /// As of [`Simulation::feed`].
    pub fn finish(self) -> Result<RunResult, SimError> {
        let (measured, explained) = match self.kind {
            Kind::Timed(engine) => engine.finish()?,
            Kind::Counted(count) => count.finish(self.config.typed.sim.drain)?,
        };
        Ok(RunResult {
            parameters: self.config.parameters(),
            metrics: collect(&measured, &self.scope),
            explained: explained.map(|explained| {
                Box::new(Explained {
                    scheme: learnt(measured.buffer.series),
                    ..explained
                })
            }),
        })
    }
}
