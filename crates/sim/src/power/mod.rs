//! A run with bytes whose power fails: the contents after the mount, compared with the promises.
//!
//! It is the event-driven run with a [`Payload`] and a [`Ledger`]. Equal configuration, requests, moment and
//! seed give equal contents.

mod moving;
mod trigger;

use std::collections::{BTreeMap, BTreeSet};

use destage_base::parameter::Value;
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
use crate::observer::Observer;
use crate::parameters::{Torn, VolatileCache};
use crate::prepass::Prepass;
use crate::source::Source;

/// Old versions of a sector that a ledger knows.
const REMEMBERED: usize = 64;

/// When the power fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CutAt {
    /// At this model time.
    Time(Ticks),
    /// When the device accepts this write, counted from 1.
    Write(u64),
    /// When the device accepts this flush, counted from 1.
    Flush(u64),
    /// While this page program runs, counted from 1 in the order in which steps begin; the seed decides the place within it.
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

/// How the power fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CutPlan {
    /// When.
    pub at: CutAt,
    /// Seed of what is left to chance: the place within a program, the sectors that a bad drive tears.
    pub seed: u64,
}

/// The outcome, which is equal for equal inputs on any machine.
#[derive(Clone, Debug, PartialEq)]
pub struct CutResult {
    /// Every parameter by its dotted name.
    pub parameters: BTreeMap<String, Value>,
    /// When the power failed, in ticks.
    pub time: Ticks,
    /// Number of accepted requests, and of answered ones among them.
    pub requests: [u64; 2],
    /// Page programs begun.
    pub programs: u64,
    /// The operations that were cut off.
    pub cut: CutReport,
    /// The work that the capacitor paid for, if there is one.
    pub dump: Option<Dump>,
    /// The time and work of the mount.
    pub mount: MountReport,
    /// The knowledge of the ledger.
    pub counts: Counts,
    /// Sectors that break a promise, in ascending order.
    pub bad: Vec<u64>,
    /// Sectors that an option destroyed, or that cannot be judged, by the option's name.
    pub lost: BTreeMap<&'static str, u64>,
    /// Sectors that hold neither their newest answered write nor a later change, whether a flush covered that write or not.
    pub lost_answered: u64,
}

/// The word for the error in a sector.
pub(crate) fn word(finding: Finding) -> &'static str {
    match finding {
        Finding::Bad => "bad",
        Finding::Forgotten => "forgotten",
        Finding::Lost(Lost::Torn) => "torn",
        Finding::Lost(Lost::Paired) => "paired",
        Finding::Energy => "energy",
    }
}

/// Simulates `source` under `config` until the power fails by `plan`, mounts the device again, and holds it against the ledger.
/// `prepass` is of the same requests if [`Config::needs_prepass`]. The source comes back for its counts and digest.
///
/// # Errors
/// An error in the configuration, the trace or the device's size, or a run that ended before the power failed.
pub fn cut_run<'a>(
    config: &Config,
    mut source: Source<'a>,
    prepass: &Prepass,
    plan: &CutPlan,
    observer: &mut dyn Observer,
) -> Result<(CutResult, Source<'a>), SimError> {
    config.check(Purpose::Cut)?;
    let ftl = config.prepared_ftl(observer)?;
    let moving = Moving::new(config, &*ftl, *plan);
    let device = config.device(true, true, config.buffer(true, prepass)?, ftl);
    let engine = config.engine(prepass.span_pages);
    let origin = source.origin().to_owned();
    let mut engine = Engine::new(
        engine,
        &origin,
        device,
        config.flash(),
        moving,
        Box::new(observer),
    );
    let mut batch = Vec::new();
    let mut fails_at = |moving: &mut Moving, now| moving.fails_at(now);
    let mut is_on = true;
    while is_on && source.fill(&mut batch)? {
        is_on = engine.feed_until(&batch, false, &mut fails_at)?;
    }
    if is_on {
        engine.feed_until(&[], true, &mut fails_at)?;
    }
    let Parts {
        device,
        mover: mut moving,
        begins,
        now,
        ..
    } = engine.into_parts();
    let Some(time) = moving.fails_at(now) else {
        return Err(SimError::NoCut {
            origin,
            at: plan.at.to_string(),
            seen: moving.trigger.seen(),
        });
    };
    let payload = &mut moving.payload;
    let (cut, dump) = config.fail_power(device, payload, &begins, time, plan.seed)?;
    let Moving {
        mut payload,
        ledger,
        ..
    } = moving;
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
        parameters: config.parameters(),
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
    Ok((result, source))
}

/// A device after its mount, and the ledger that it is compared with.
pub(crate) struct Check<'c> {
    pub ledger: &'c Ledger,
    pub lost: BTreeMap<Lpn, Lost>,
    pub payload: &'c mut Payload,
    pub ftl: &'c mut dyn Ftl,
}

/// What was found on a device after its mount.
#[derive(Default)]
pub(crate) struct Found {
    /// Sectors that hold what they must not, in ascending order.
    pub bad: Vec<u64>,
    /// Sectors that were lost by an option, or cannot be judged, by the name of that.
    pub lost: BTreeMap<&'static str, u64>,
    /// Sectors whose newest answered write is gone.
    pub lost_answered: u64,
}

impl Check<'_> {
    /// Reads every page that was ever changed or is on flash.
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
            operations.set_die(die);
            // The layer reads where the medium has the page, or the medium refuses.
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
    /// The power of `device` fails at `time`: only the contents of flash in `payload` remain. The latest step of each die began at `begins`, and
    /// `seed` decides what is left to chance.
    ///
    /// # Errors
    /// That a layer cannot be mounted which a capacitor needs.
    pub(crate) fn fail_power(
        &self,
        device: Device,
        payload: &mut Payload,
        begins: &[Ticks],
        time: Ticks,
        seed: u64,
    ) -> Result<(CutReport, Option<Dump>), SimError> {
        // Only a capacitor may ask for a layer of its own, and once.
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

    /// A new layer over the contents of flash in `payload`, and the cost of mounting it.
    ///
    /// # Errors
    /// That this layer cannot be mounted, or finds no room.
    pub(crate) fn mount(
        &self,
        payload: &mut Payload,
    ) -> Result<(Box<dyn Ftl>, MountReport), SimError> {
        let mut ftl = self.ftl_with(false)?;
        let mounted = payload.mount(&mut *ftl, &self.timing(), &mut |_, _| {});
        let report = mounted.map_err(|error| self.no_mount(&error))?;
        Ok((ftl, report))
    }

    /// The words for a mount that failed.
    pub(crate) fn no_mount(&self, error: &MountError) -> SimError {
        let layer = self.ftl_row.name;
        match error {
            MountError::Unsupported => SimError::Config(format!(
                "ftl.kind = {layer}: this layer cannot be mounted after a loss of power; expected another one"
            )),
            MountError::Full(shortage) => SimError::Mount {
                layer,
                shortage: shortage.clone(),
            },
            // A layer that does something that flash cannot do is a bug, as in any other run.
            MountError::Refused(refusal) => panic!("mount of {layer}: {refusal}"),
        }
    }

    /// The properties that a ledger of a device with `pages` pages needs.
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

    /// How the power of this device fails at `now`, when the step in service at a die began `elapsed` ago.
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

    /// The capacitor, if it works.
    fn capacitor(&self) -> Option<Capacitor> {
        let joules: f64 = self.typed.device.plp.parse().ok()?;
        let flash = &self.typed.flash;
        let picojoules = |microjoules: f64| (microjoules * 1e6) as u64;
        // Units that share a page of flash share its program.
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

/// Whether `text` is a value of `device.plp`.
pub(crate) fn is_capacitor(text: &str) -> bool {
    let joules = text.parse::<f64>().ok();
    let is_energy = joules.is_some_and(|joules| (0.0..=1e6).contains(&joules));
    is_energy || ["none", "failed"].contains(&text)
}

/// Ticks of a time in milliseconds as a user writes it, if it is one.
#[must_use]
pub fn time_of_ms(milliseconds: f64) -> Option<Ticks> {
    let ticks = milliseconds * TICKS_PER_MS as f64;
    (0.0..1e18).contains(&ticks).then_some(ticks as Ticks)
}
