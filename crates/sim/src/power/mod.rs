//! A run with bytes and a loss of power. After the mount, the contents are compared with what the device
//! promised.
//!
//! Such a run is the event-driven run with a [`Payload`] and a [`Ledger`]. Equal configurations, requests, moments
//! and seeds give equal contents.

pub(crate) mod moving;
mod trigger;

use std::collections::{BTreeMap, BTreeSet};

use destage_base::time::{TICKS_PER_MS, TICKS_PER_US, from_units, to_ms};
use destage_base::{Lpn, Random, Ticks};
use destage_device::Device;
use destage_device::ledger::{Counts, Finding, Ledger, Terms};
use destage_device::payload::Payload;
use destage_device::power::{Capacitor, Dump, Energy, PowerLoss};
use destage_ftl::Ftl;
use destage_ftl::mount::{MountError, MountReport};
use destage_nand::Operations;
use destage_nand::medium::{BadDrive, CutReport, Lost};

use self::moving::Moving;
pub(crate) use self::trigger::Trigger;
use crate::check::Purpose;
use crate::config::Config;
use crate::engine::{Engine, Parts};
use crate::error::SimError;
use crate::metrics::Metrics;
use crate::observer::Observer;
use crate::parameters::{Torn, VolatileCache};
use crate::prepass::Prepass;
use crate::probes::Probes;
use crate::run::RunResult;
use crate::source::Source;
use crate::watch::Recording;

/// The number of old versions of a sector that a ledger stores.
const REMEMBERED: usize = 64;

/// The moment of the loss of power.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CutAt {
    /// At this time of the model.
    Time(Ticks),
    /// When the device accepts this write, counted from 1.
    Write(u64),
    /// When the device accepts this flush, counted from 1.
    Flush(u64),
    /// During this page program, counted from 1 in the order in which programs begin. The seed decides the moment
    /// within the program.
    Program(u64),
}

impl std::fmt::Display for CutAt {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Time(time) => write!(out, "{} ms", to_ms(*time)),
            Self::Write(number) => write!(out, "write {number}"),
            Self::Flush(number) => write!(out, "flush {number}"),
            Self::Program(number) => write!(out, "program {number}"),
        }
    }
}

impl std::str::FromStr for CutAt {
    type Err = SimError;

    /// Reads a moment in the form in which it is displayed: `write 300`, `flush 3`, `program 150`, `40 ms`.
    fn from_str(text: &str) -> Result<Self, SimError> {
        let number = |text: &str| text.parse().ok().filter(|number| *number > 0);
        let at = match text.split_once(' ') {
            Some(("write", count)) => number(count).map(Self::Write),
            Some(("flush", count)) => number(count).map(Self::Flush),
            Some(("program", count)) => number(count).map(Self::Program),
            Some((time, "ms")) => time.parse().ok().and_then(time_of_ms).map(Self::Time),
            _ => None,
        };
        at.ok_or_else(|| {
            SimError::Config(format!(
                "{text:?} is no moment of a loss of power; expected \"write K\", \"flush K\" or \"program K\" with K counted from 1, or \"T ms\""
            ))
        })
    }
}

/// The plan of a loss of power.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CutPlan {
    /// The moment.
    pub at: CutAt,
    /// The seed of all random choices: the moment within a program, and the sectors that a bad drive tears.
    pub seed: u64,
}

/// The outcome of a run with a loss of power. It is equal for equal inputs on any machine.
#[derive(Clone, Debug, PartialEq)]
pub struct CutResult {
    /// The time of the loss of power, in ticks.
    pub time: Ticks,
    /// The number of accepted requests, and the number of these that were answered.
    pub requests: [u64; 2],
    /// The number of page programs that began.
    pub programs: u64,
    /// The operations that the loss interrupted.
    pub cut: CutReport,
    /// The pages that the capacitor saved, and their cost; `None` without a capacitor.
    pub dump: Option<Dump>,
    /// The duration and the work of the mount.
    pub mount: MountReport,
    /// The counts of the ledger.
    pub counts: Counts,
    /// Sectors whose contents break a promise of the device, in ascending order.
    pub bad: Vec<u64>,
    /// The number of sectors that were lost because of an option, or that cannot be judged, by the name of the cause.
    pub lost: BTreeMap<&'static str, u64>,
    /// The number of sectors that hold neither their newest answered write nor a later change, even if no flush
    /// covered that write.
    pub lost_answered: u64,
}

/// The name of a finding in results.
pub(crate) fn word(finding: Finding) -> &'static str {
    match finding {
        Finding::Bad => "bad",
        Finding::Forgotten => "forgotten",
        Finding::Lost(Lost::Torn) => "torn",
        Finding::Lost(Lost::Paired) => "paired",
        Finding::Energy => "energy",
    }
}

/// Simulates `source` under `config` until the power fails as in `plan`, mounts the device again, and compares its
/// contents with the ledger. If [`Config::needs_prepass`], `prepass` must be the prepass over the same requests. With
/// `recording`, the run is watched until the power fails. Returns the results of the run up to the loss of power, the
/// outcome of the loss, and the source, from which the caller can read counts and digest.
///
/// # Errors
/// If the configuration, the trace or the size of the device has an error, or if the run ends before the power
/// fails.
pub fn cut_run<'a>(
    config: &Config,
    mut source: Source<'a>,
    prepass: &Prepass,
    plan: &CutPlan,
    recording: Option<&mut Recording>,
    observer: &mut dyn Observer,
) -> Result<((RunResult, CutResult), Source<'a>), SimError> {
    config.check(Purpose::Cut)?;
    if recording.is_some() {
        config.check(Purpose::Watch)?;
    }
    let ftl = config.prepared_ftl(observer)?;
    let (scope, flash) = (config.scope(true, &*ftl), config.flash());
    let probes = Probes {
        moving: Some(Box::new(Moving::new(config, &*ftl, *plan))),
        watcher: recording.map(|recording| config.watcher(recording)),
        explaining: config.explaining(&flash),
        course: None,
    };
    let device = config.device(true, true, config.buffer(true, prepass)?, ftl);
    let engine = config.engine(prepass.span_pages);
    let origin = source.origin().to_owned();
    let mut engine = Engine::new(engine, &origin, device, flash, probes, Box::new(observer));
    let mut batch = Vec::new();
    let mut fails_at = |probes: &mut Probes<'_>, now| probes.moving.as_mut()?.fails_at(now);
    let mut is_on = true;
    while is_on && source.fill(&mut batch)? {
        is_on = engine.feed_until(&batch, false, &mut fails_at)?;
    }
    if is_on {
        engine.feed_until(&[], true, &mut fails_at)?;
    }
    let now = engine.now();
    let Some(time) = fails_at(engine.probe_mut(), now) else {
        let moving = engine.probe().moving.as_ref();
        return Err(SimError::NoCut {
            origin,
            at: plan.at.to_string(),
            seen: moving.map_or(0, |moving| moving.trigger.seen()),
        });
    };
    let measured = engine.close_at_loss(time);
    let Parts {
        device,
        probe,
        begins,
        ..
    } = engine.into_parts();
    let mut moving = probe
        .moving
        .expect("a run that loses its power has this probe");
    if let Some(watcher) = probe.watcher {
        watcher.stop_at_loss(time);
    }
    let payload = &mut moving.payload;
    let (cut, dump) = config.fail_power(device, payload, &begins, time, plan.seed)?;
    let Moving {
        mut payload,
        ledger,
        ..
    } = *moving;
    let (mut mounted, mount) = config.mount(&mut payload)?;
    let check = Check {
        ledger: &ledger,
        lost: cut.lost.iter().copied().collect(),
        payload: &mut payload,
        ftl: &mut *mounted,
    };
    let Found {
        bad,
        lost,
        lost_answered,
    } = check.run();
    let result = CutResult {
        time,
        requests: moving.requests,
        programs: moving.trigger.programs(),
        cut,
        dump,
        mount,
        counts: ledger.counts(),
        bad,
        lost,
        lost_answered,
    };
    let explained = probe.explaining.map(|explaining| explaining.finish());
    let run = match measured {
        Some(measured) => RunResult::of(config, measured, &scope, explained),
        None => RunResult {
            parameters: config.parameters(),
            metrics: Metrics::default(),
            explained: None,
        },
    };
    Ok(((run, result), source))
}

/// A device after its mount, and the ledger to compare it with.
pub(crate) struct Check<'c> {
    pub ledger: &'c Ledger,
    pub lost: BTreeMap<Lpn, Lost>,
    pub payload: &'c mut Payload,
    pub ftl: &'c mut dyn Ftl,
}

/// The findings on a device after its mount.
#[derive(Default)]
pub(crate) struct Found {
    /// Sectors whose contents break a promise of the device, in ascending order.
    pub bad: Vec<u64>,
    /// The number of sectors that were lost because of an option, or that cannot be judged, by the name of the cause.
    pub lost: BTreeMap<&'static str, u64>,
    /// The number of sectors that hold neither their newest answered write nor a later change.
    pub lost_answered: u64,
}

impl Check<'_> {
    /// Reads and checks every page that was ever changed or is on flash.
    pub fn run(self) -> Found {
        let Self {
            ledger,
            lost,
            payload,
            ftl,
        } = self;
        let on_flash = payload.medium().scan();
        let on_flash = on_flash.written().map(|place| place.page);
        let mut pages: BTreeSet<Lpn> = on_flash.collect();
        pages.extend(ledger.pages());
        let mut found = Found::default();
        let mut operations = Operations::detailed();
        for page in pages {
            let held = payload.newest(page);
            operations.clear();
            let die = ftl.home_of(page);
            // If the layer reads a place other than that of the page on the medium, the medium refuses the read.
            let read = ftl.read(page, &mut operations);
            read.unwrap_or_else(|full| panic!("page {page} cannot be read: {full:?}"));
            let served = payload.collect_garbage(die, &operations);
            served.unwrap_or_else(|refusal| panic!("read of page {page}: {refusal}"));
            payload.end(die);
            found.lost_answered += ledger.count_lost(page, &held.bytes);
            for (sector, finding) in ledger.check(page, &held.bytes, lost.get(&page).copied()) {
                match finding {
                    Finding::Bad => found.bad.push(sector),
                    other => *found.lost.entry(word(other)).or_default() += 1,
                }
            }
        }
        found
    }
}

impl Config {
    /// Cuts the power of `device` at `time`, after which only the contents of flash in `payload` remain. `begins`
    /// holds the start of the latest step of each die. `seed` determines all random choices.
    ///
    /// # Errors
    /// If a capacitor needs a mounted layer, and the layer cannot be mounted.
    pub(crate) fn fail_power(
        &self,
        device: Device,
        payload: &mut Payload,
        begins: &[Ticks],
        time: Ticks,
        seed: u64,
    ) -> Result<(CutReport, Option<Dump>), SimError> {
        // Only a device with a capacitor needs a second layer, and it needs only one.
        let has_capacitor = self.capacitor().is_some();
        let mut spare = has_capacitor.then(|| self.ftl_with(false)).transpose()?;
        let mut again = || {
            spare
                .take()
                .expect("a capacitor asks for a layer at most once")
        };
        let is_by_commands = payload.medium().is_by_commands();
        let elapsed = |die: u32| match is_by_commands {
            true => time,
            false => time - begins[die as usize].min(time),
        };
        let loss = self.power_loss(time, &elapsed);
        let done = device.cut(payload, &loss, &mut Random::new(seed), &mut again);
        done.map_err(|error| self.no_mount(&error))
    }

    /// Builds a new layer, mounts it on the contents of flash in `payload`, and reports the cost of the mount.
    ///
    /// # Errors
    /// If the layer finds no free block that it needs.
    pub(crate) fn mount(
        &self,
        payload: &mut Payload,
    ) -> Result<(Box<dyn Ftl>, MountReport), SimError> {
        let mut ftl = self.ftl_with(false)?;
        let mounted = payload.mount(&mut *ftl, &self.timing(), &mut |_, _| {});
        let report = mounted.map_err(|error| self.no_mount(&error))?;
        Ok((ftl, report))
    }

    /// The error for a mount that failed.
    pub(crate) fn no_mount(&self, error: &MountError) -> SimError {
        let layer = self.ftl_row.name;
        match error {
            MountError::Full(shortage) => SimError::Mount {
                layer,
                shortage: shortage.clone(),
            },
            // If the flash refuses an operation of the layer, the layer has a bug, as in any other run.
            MountError::Refused(refusal) => panic!("mount of {layer}: {refusal}"),
        }
    }

    /// The properties that the ledger of a device with `pages` pages needs.
    #[must_use]
    pub fn terms(&self, pages: u64) -> Terms {
        Terms {
            pages,
            sectors: (self.typed.flash.page_bytes / 512) as u32,
            sector_bytes: 512,
            volatile_cache: self.typed.device.vwc == VolatileCache::On,
            strict_trim: self.has_strict_trim(),
            relies_on_capacitor: self.ignores_flushes(),
            remembered: REMEMBERED,
        }
    }

    /// The loss of power of this device at `now`. The step in service at a die began `elapsed` ticks before.
    #[must_use]
    pub fn power_loss<'e>(&self, now: Ticks, elapsed: &'e dyn Fn(u32) -> Ticks) -> PowerLoss<'e> {
        let (flash, device) = (&self.typed.flash, &self.typed.device);
        PowerLoss {
            now,
            elapsed,
            timing: self.timing(),
            units: self.units().map(|units| {
                let first_pass = from_units(flash.first_pass_us, TICKS_PER_US);
                (units, first_pass)
            }),
            bad: BadDrive {
                torn_sector_bytes: match device.torn {
                    Torn::None => 0,
                    Torn::Sectors => 512,
                },
                paired_loss_ppm: (device.paired_loss * 1e6) as u32,
                pages_per_word_line: flash.bits_per_cell * self.units_per_page,
            },
            capacitor: self.capacitor(),
        }
    }

    /// The capacitor; `None` if the device has none, or if the capacitor has failed.
    fn capacitor(&self) -> Option<Capacitor> {
        let joules: f64 = self.typed.device.plp.parse().ok()?;
        let flash = &self.typed.flash;
        let picojoules = |microjoules: f64| (microjoules * 1e6) as u64;
        // Units that share a page of flash share the energy of one program.
        let units = f64::from(self.units_per_page);
        let sector_bytes = 512 + u64::from(flash.spare_bytes_per_sector);
        let sectors = flash.page_bytes / 512;
        let transfer =
            |sectors: u64| picojoules(flash.transfer_uj_per_byte * (sectors * sector_bytes) as f64);
        Some(Capacitor {
            charge: (joules * 1e12) as u64,
            energy: Energy {
                read: picojoules(flash.read_uj),
                program: picojoules(flash.program_uj / units),
                erase: picojoules(flash.erase_uj),
                page_transfer: transfer(sectors),
                sector_transfer: transfer(1),
            },
        })
    }
}

/// Whether `text` is a legal value of `device.plp`.
pub(crate) fn is_capacitor(text: &str) -> bool {
    let joules = text.parse::<f64>().ok();
    let is_energy = joules.is_some_and(|joules| (0.0..=1e6).contains(&joules));
    is_energy || ["none", "failed"].contains(&text)
}

/// The ticks of a time that a user gives in milliseconds; `None` if it is negative or too large.
#[must_use]
pub fn time_of_ms(milliseconds: f64) -> Option<Ticks> {
    let ticks = milliseconds * TICKS_PER_MS as f64;
    (0.0..1e18).contains(&ticks).then_some(ticks as Ticks)
}
