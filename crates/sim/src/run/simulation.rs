//! A run that advances with each batch of requests.

use destage_buffer::Counts;
use destage_ftl::Ftl;
use destage_trace::Request;

use super::{Config, RunResult};
use crate::engine::{Engine, Probe};
use crate::error::SimError;
use crate::explain::Explained;
use crate::limits::{Limits, SoFar, Unanswered};
use crate::measured::Measured;
use crate::meter::FlashMeter;
use crate::metrics::Scope;
use crate::observer::Observer;
use crate::op_count::Count;
use crate::parameters::Wearout;
use crate::precondition::{Precondition, Preparation};
use crate::prepass::Prepass;
use crate::probes::Probes;
use crate::state;

impl Config {
    /// The translation layer in the state before the first request: as `sim.precondition` says, or as loaded from
    /// a file.
    ///
    /// # Errors
    /// If the configuration has an error, or `observer` stops the run.
    pub fn prepared_ftl(&self, observer: &mut dyn Observer) -> Result<Box<dyn Ftl>, SimError> {
        if let Some(state) = &self.state {
            return state.load(self);
        }
        let mut ftl = self.ftl()?;
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

    /// The settings that metrics need, for a run with `ftl`.
    pub(crate) fn scope(&self, timed: bool, ftl: &dyn Ftl) -> Scope {
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

    /// A text of the settings on which [`Config::prepared_ftl`] depends. Configurations with equal texts have equal
    /// prepared layers. `None` if the preparation takes little time.
    #[must_use]
    pub fn preparation(&self) -> Option<String> {
        let takes_a_while =
            self.state.is_some() || matches!(self.precondition(), Precondition::RandomFill(_));
        takes_a_while.then(|| format!("{} {:?}", self.device_text(), state::depends_on(self)))
    }

    /// A text of the settings that determine how the device is built. Configurations with equal texts have equal
    /// devices.
    #[must_use]
    pub fn device_text(&self) -> String {
        let parameters = self.chosen().into_iter();
        let is_of_device = |name: &str| {
            let others = ["device.power_may_fail", "sim.precondition", "sim.seed"];
            name.starts_with("flash.") || name.starts_with("ftl.") || others.contains(&name)
        };
        let of_device = parameters.filter(|(name, _)| is_of_device(name));
        format!("{:?}", of_device.collect::<Vec<_>>())
    }
}

/// A run that receives requests in batches, waits between the batches, and then finishes.
pub struct Simulation<'a> {
    kind: Kind<'a>,
    scope: Scope,
    config: Config,
}

enum Kind<'a> {
    Timed(Box<dyn Timed + 'a>),
    Counted(Box<Count<'a>>),
}

/// An [`Engine`] with probes or without. Because of this trait, the engine is compiled here, and not again in every crate
/// that runs a simulation.
trait Timed: Send {
    /// See [`Engine::feed`].
    fn feed(&mut self, requests: &[Request]) -> Result<bool, SimError>;
    /// See [`Engine::pass_writes`].
    fn pass_writes(&mut self, pages: u64);
    /// See [`Engine::so_far`].
    fn so_far(&self) -> Option<SoFar<'_>>;
    /// See [`Engine::work_down`].
    fn work_down(&mut self, events: u64) -> Result<bool, SimError>;
    /// See [`Engine::finish`]. The explanation is `None` unless the run is explained.
    fn finish(self: Box<Self>) -> Result<(Measured, Option<Explained>), SimError>;
}

impl<'a, P: Probe + Into<Probes<'a>>> Timed for Engine<'a, P> {
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
        let (measured, probe) = Engine::finish(*self)?;
        let explaining = probe.into().explaining;
        Ok((measured, explaining.map(|explaining| explaining.finish())))
    }
}

impl<'a> Simulation<'a> {
    /// A new run under `config`. `ftl` is the result of [`Config::prepared_ftl`]. If [`Config::needs_prepass`],
    /// `prepass` must be the prepass over the coming requests. Errors call the input `origin`.
    ///
    /// # Errors
    /// If the configuration has an error.
    pub fn new(
        config: &Config,
        origin: &str,
        ftl: Box<dyn Ftl>,
        prepass: &Prepass,
        observer: Box<dyn Observer + 'a>,
    ) -> Result<Self, SimError> {
        Self::probed(config, origin, ftl, prepass, Probes::default(), observer)
    }

    /// Does the same as [`Simulation::new`]. If the run has a clock, the engine also reports its events to `probes`.
    ///
    /// # Errors
    /// If the configuration has an error.
    pub(crate) fn probed(
        config: &Config,
        origin: &str,
        ftl: Box<dyn Ftl>,
        prepass: &Prepass,
        mut probes: Probes<'a>,
        observer: Box<dyn Observer + 'a>,
    ) -> Result<Self, SimError> {
        let timed = config.is_timed();
        let scope = config.scope(timed, &*ftl);
        let device = config.device(timed, false, config.buffer(timed, prepass)?, ftl);
        let kind = if timed {
            let engine = config.engine(prepass.span_pages);
            let flash = config.flash();
            probes.explaining = config.explaining(&flash);
            probes.course = observer.wants_course().then(Box::default);
            // An engine without probes is compiled separately, so that it spends no time on calls of probes.
            Kind::Timed(match probes.is_empty() {
                true => Box::new(Engine::new(engine, origin, device, flash, (), observer)),
                false => Box::new(Engine::new(engine, origin, device, flash, probes, observer)),
            })
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

    /// Continues the run with `requests`, which follow those of earlier calls. Returns whether the run accepts more
    /// requests. A run may stop early.
    ///
    /// # Errors
    /// If the requests have an error, the device is too small, or the observer stops the run. After an error the run
    /// cannot continue.
    pub fn feed(&mut self, requests: &[Request]) -> Result<bool, SimError> {
        match &mut self.kind {
            Kind::Timed(engine) => engine.feed(requests),
            Kind::Counted(count) => count.feed(requests),
        }
    }

    /// Notes that `pages` page writes went to other devices before the next request. The virtual time of schemes
    /// counts page writes. A miniature receives only a sample of the page writes, but must have the virtual time of
    /// the whole device.
    pub fn pass_writes(&mut self, pages: u64) {
        match &mut self.kind {
            Kind::Timed(engine) => engine.pass_writes(pages),
            Kind::Counted(count) => count.pass_writes(pages),
        }
    }

    /// Whether a value of the run is beyond one of `limits`, so that no further request can bring the value back
    /// below the limit. `limits` must be used for this run only.
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

    /// The number of requests that have arrived and are not answered.
    #[must_use]
    pub fn unanswered(&self) -> usize {
        let so_far = self.so_far();
        let unanswered = so_far.and_then(|so_far| so_far.unanswered);
        unanswered.map_or(0, Unanswered::count)
    }

    /// Continues after the last request for at most `events` events. Returns whether events remain.
    /// [`Simulation::finish`] must follow in either case.
    ///
    /// # Errors
    /// The errors are those of [`Simulation::feed`].
    pub fn work_down(&mut self, events: u64) -> Result<bool, SimError> {
        match &mut self.kind {
            Kind::Timed(engine) => engine.work_down(events),
            Kind::Counted(_) => Ok(false),
        }
    }

    /// Runs to the end without further requests, and returns the results.
    ///
    /// # Errors
    /// The errors are those of [`Simulation::feed`].
    pub fn finish(self) -> Result<RunResult, SimError> {
        let (measured, explained) = match self.kind {
            Kind::Timed(engine) => engine.finish()?,
            Kind::Counted(count) => count.finish(self.config.typed.sim.drain)?,
        };
        Ok(RunResult::of(
            &self.config,
            measured,
            &self.scope,
            explained,
        ))
    }
}
