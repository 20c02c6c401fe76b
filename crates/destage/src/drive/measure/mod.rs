//! Measurement of a drive by experiments, whose results are files of measurements.
//!
//! A [`Target`] is the drive that is measured: a real drive, or a simulated drive ([`Modelled`]). [`measure`] does
//! the experiments of a [`MeasurePlan`] on the drive step by step, and writes tables to a folder. The result of each
//! step is also stored in the folder, so that an interrupted measurement continues where it stopped.

mod fill;
mod kept;
mod latency;
mod load;
mod model;
mod parts;
mod tables;
mod target;
mod times;

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

pub use self::model::{Modelled, programmed_of};
pub use self::parts::{Findings, Identified};
pub use self::target::{Action, Command, Done, Target};

use self::fill::Written;
use self::kept::{Contents, Kept, Of};
use self::latency::OfLoad;
use self::load::{Arrivals, BLOCK_BYTES, Bench, Length, Load, PATIENCE, Steady};
use super::check::{RATE_BYTES, RATE_DEPTHS};
use super::experiment::BLOCK;
use crate::error::Error;
use crate::json;
use crate::progress::Progress;

/// An experiment of a measurement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum What {
    /// Six saturated rates: `rates.csv`.
    Rates,
    /// Response times of reads and writes as a function of the load: `latency.csv`.
    Latency,
    /// Commands per second and response times as a function of the queue depth: `queue-depth.csv`.
    Depth,
    /// Write amplification and the write rate while the drive is filled: `waf.csv`.
    Waf,
    /// Numbers that identify the drive, such as the time of a page read, the size of the write buffer, and the
    /// program unit. They are in `measured.json`.
    Parts,
}

/// All experiments, with their names on the command line.
pub const EXPERIMENTS: [(&str, What); 5] = [
    ("rates", What::Rates),
    ("latency", What::Latency),
    ("depth", What::Depth),
    ("waf", What::Waf),
    ("parts", What::Parts),
];

/// The prefix of the name of a simulated drive. The name of the profile follows the prefix.
pub const SIMULATED: &str = "model:";

impl What {
    /// The experiments that `names` name; all experiments if there are no names.
    ///
    /// # Errors
    /// `unknown` makes the error of a name that no experiment has, from this name and the names of all experiments.
    pub fn named<E>(
        names: &[String],
        unknown: impl FnOnce(&str, [&'static str; EXPERIMENTS.len()]) -> E,
    ) -> Result<Vec<Self>, E> {
        let mut what = Vec::new();
        for word in names {
            match EXPERIMENTS.iter().find(|(name, _)| name == word) {
                Some((_, experiment)) => what.push(*experiment),
                None => return Err(unknown(word, EXPERIMENTS.map(|(name, _)| name))),
            }
        }
        match what.is_empty() {
            true => Ok(EXPERIMENTS.map(|(_, experiment)| experiment).to_vec()),
            false => Ok(what),
        }
    }
}

/// The queue depths that are measured.
const DEPTHS: [u32; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];
/// The smallest number of measured commands for a load with large commands.
const LEAST: u64 = 2_000;
/// The step that measures the saturated write rate.
const SATURATION: &str = "saturation";
/// The first fill in order.
const FILL: &str = "fill";
/// The steps that identify a drive.
const ALONE: &str = "commands one by one";
const BUFFER: &str = "write buffer";
const UNIT: &str = "program unit";

/// A saturated rate: its name, the fraction of writes, the bytes of a command, and whether commands are sequential.
type Rate = (&'static str, f64, u64, bool);

const RATES: [Rate; 6] = [
    ("rbps", 0.0, RATE_BYTES, true),
    ("rseqiops", 0.0, BLOCK, true),
    ("rrandiops", 0.0, BLOCK, false),
    ("wbps", 1.0, RATE_BYTES, true),
    ("wseqiops", 1.0, BLOCK, true),
    ("wrandiops", 1.0, BLOCK, false),
];

/// How a drive is measured.
#[derive(Clone, PartialEq, Debug)]
pub struct MeasurePlan {
    /// The name of the drive in tables; `None` for the name of the target.
    pub name: Option<String>,
    /// The experiments to do.
    pub what: Vec<What>,
    /// How many bytes of the drive are used, from the first byte on; `None` uses all bytes.
    pub used_bytes: Option<u64>,
    /// How often the used capacity is overwritten at random before the experiments in steady state.
    pub passes: u64,
    /// The largest number of measured commands of a load. At most half as many warm-up commands precede the measured
    /// ones.
    pub requests: u64,
    /// The planned limit on the measured time of a load, in seconds. The warm-up before it has half of this limit.
    pub seconds: f64,
    /// The seed of the offsets, the kinds and the arrival times of commands.
    pub seed: u64,
}

impl Default for MeasurePlan {
    fn default() -> Self {
        Self {
            name: None,
            what: EXPERIMENTS.map(|(_, what)| what).to_vec(),
            used_bytes: None,
            passes: 3,
            requests: 400_000,
            seconds: 60.0,
            seed: 1,
        }
    }
}

impl MeasurePlan {
    /// The default plan for the drive of this name. On a real drive, a load has more requests: its time limit is usually
    /// reached first.
    #[must_use]
    pub fn of(drive: &str) -> Self {
        let plan = Self::default();
        match drive.starts_with(SIMULATED) {
            true => plan,
            false => Self {
                requests: 10_000_000,
                ..plan
            },
        }
    }

    fn wants(&self, what: What) -> bool {
        self.what.contains(&what)
    }

    /// The number of bytes that are used of a drive with `bytes` bytes.
    fn used(&self, bytes: u64) -> Result<u64, Error> {
        let used = self.used_bytes.unwrap_or(bytes) / BLOCK * BLOCK;
        let least = 64 * RATE_BYTES;
        if used > bytes {
            return Err(Error::argument(
                "bytes",
                format!(" {used}: the drive has {bytes}; expected no more"),
            ));
        }
        if used < least {
            return Err(Error::argument(
                "bytes",
                format!(" {used}: too little to measure; expected {least} or more"),
            ));
        }
        Ok(used)
    }

    /// The results so far of the measurement of `target` in `folder`.
    fn kept(&self, target: &mut dyn Target, folder: &Path) -> Result<Kept, Error> {
        let of = Of {
            drive: target.name(),
            identity: target.identity(),
            bytes: target.bytes(),
            used_bytes: self.used(target.bytes())?,
            passes: self.passes,
            requests: self.requests,
            seconds: self.seconds,
            seed: self.seed,
        };
        Kept::open(folder, of, target)
    }

    /// The contents with which the drive is in steady state.
    fn settled(&self) -> Contents {
        match self.passes {
            0 => Contents::InOrder,
            passes => Contents::AtRandom(passes),
        }
    }

    /// The contents of the drive on which the rate `of` is measured.
    fn contents_of(&self, of: &Rate) -> Contents {
        match is_random_write(of) {
            true => self.settled(),
            false => Contents::InOrder,
        }
    }

    /// All loads, with the names of their steps and the contents of the drive before them, on a drive whose saturated
    /// write rate is `saturated` per second.
    fn loads(&self, saturated: f64) -> Vec<(String, Load, Contents)> {
        let mut loads = Vec::new();
        if self.wants(What::Rates) {
            loads.extend(RATES.iter().map(|of| {
                let (name, load) = rate(of);
                (name, load, self.contents_of(of))
            }));
        }
        let mut settled = Vec::new();
        if self.wants(What::Latency) {
            settled.push((SATURATION.to_owned(), latency::probe()));
            let of_latency = latency::loads(saturated).into_iter().enumerate();
            settled.extend(of_latency.map(|(place, (_, load))| (load_name(place), load)));
        }
        if self.wants(What::Depth) {
            settled.extend(depths().map(depth));
        }
        let settled = settled.into_iter();
        loads.extend(settled.map(|(name, load)| (name, load, self.settled())));
        loads
    }

    /// Whether `kept` has all results that the table of write amplification can have.
    fn is_filled(&self, kept: &Kept) -> bool {
        match self.passes {
            0 => kept.has(FILL),
            passes => (1..=passes).all(|pass| kept.has(&pass_name(pass))),
        }
    }

    /// The largest number of measured commands of `load`. All loads transfer about as many bytes as `requests`
    /// commands of [`BLOCK`] bytes. Loads of large commands have at least 2000 commands, or `requests` if that is
    /// less.
    fn requests_of(&self, load: &Load) -> u64 {
        let requests = (self.requests * BLOCK / u64::from(load.bytes)).max(LEAST);
        requests.min(self.requests)
    }

    /// An upper bound on the bytes and the time that a measurement of `target` needs. Steps whose results are
    /// already in `folder` do not count.
    ///
    /// # Errors
    /// If the plan does not fit the drive, if the drive cannot be read, or if `folder` holds another measurement.
    pub fn cost(&self, target: &mut dyn Target, folder: &Path) -> Result<Cost, Error> {
        let kept = self.kept(target, folder)?;
        let used_bytes = self.used(target.bytes())?;
        let (mut loads, mut load_bytes) = (0, 0.0);
        // The contents of the drive that the missing steps need.
        let mut needed = Vec::new();
        for (name, load, contents) in self.loads(1e6) {
            if !kept.has(&name) {
                let commands = 1.5 * self.requests_of(&load) as f64;
                loads += 1;
                load_bytes += commands * load.writes * f64::from(load.bytes);
                needed.push(contents);
            }
        }
        let parts = [
            (ALONE, Contents::InOrder, parts::ALONE_BLOCKS),
            (UNIT, self.settled(), parts::UNIT_BLOCKS),
            (
                BUFFER,
                self.settled(),
                parts::buffer_blocks(used_bytes / BLOCK),
            ),
        ];
        for (name, contents, blocks) in parts {
            if self.wants(What::Parts) && !kept.has(name) {
                load_bytes += (blocks * BLOCK) as f64;
                needed.push(contents);
            }
        }
        if self.wants(What::Waf) && !self.is_filled(&kept) {
            needed.push(self.settled());
        }
        let needs_order = needed.contains(&Contents::InOrder);
        let (fills_first, done) = match kept.contents() {
            Contents::InOrder => (false, 0),
            Contents::AtRandom(done) if !needs_order => (false, done),
            _ => (!needed.is_empty(), 0),
        };
        let passes = match needed.contains(&self.settled()) {
            true => self.passes.saturating_sub(done),
            false => 0,
        };
        Ok(Cost {
            used_bytes,
            fills: u64::from(fills_first) + passes,
            loads,
            load_bytes: load_bytes as u64,
            load_seconds: (0.5 + PATIENCE) * self.seconds * f64::from(loads),
            is_continued: kept.is_continued,
        })
    }
}

/// An upper bound on the bytes and the time of a measurement.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Cost {
    /// Bytes of the drive that are used.
    pub used_bytes: u64,
    /// The number of times that the whole used capacity is written.
    pub fills: u64,
    /// The number of loads.
    pub loads: u32,
    /// Bytes that the loads write, in addition to the fills.
    pub load_bytes: u64,
    /// The longest time that the loads run, in seconds.
    pub load_seconds: f64,
    /// Whether the drive holds what an earlier part of this measurement has written to it.
    pub is_continued: bool,
}

/// The results of a measurement.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The names of the files that were written to the folder.
    pub files: Vec<&'static str>,
    /// The experiments that were left out, with the reason; one sentence each.
    pub left_out: Vec<String>,
    /// The numbers that identify the drive, and the numbers that could not be determined.
    pub findings: Findings,
}

fn depths() -> impl Iterator<Item = (Action, u32)> {
    let of = |action| DEPTHS.into_iter().map(move |depth| (action, depth));
    of(Action::Read).chain(of(Action::Write))
}

/// The step of the experiment queue depth for one operation and depth: its name and its load.
fn depth((action, depth): (Action, u32)) -> (String, Load) {
    let (op, writes) = match action {
        Action::Write => ("randwrite", 1.0),
        Action::Read | Action::Flush => ("randread", 0.0),
    };
    let load = Load {
        arrivals: Arrivals::Closed { depth },
        writes,
        bytes: BLOCK_BYTES,
        sequential: false,
    };
    (format!("depth {op} {depth}"), load)
}

/// The step of one saturated rate: its name and its load.
fn rate(&(name, writes, bytes, sequential): &Rate) -> (String, Load) {
    let [of_blocks, of_bytes] = RATE_DEPTHS;
    let depth = match bytes {
        RATE_BYTES => of_bytes,
        _ => of_blocks,
    };
    let load = Load {
        arrivals: Arrivals::Closed {
            depth: depth as u32,
        },
        writes,
        bytes: bytes as u32,
        sequential,
    };
    (format!("rate {name}"), load)
}

/// Whether `of` is the rate of random writes, which is measured in steady state.
fn is_random_write(&(_, writes, _, sequential): &Rate) -> bool {
    writes > 0.0 && !sequential
}

fn load_name(place: usize) -> String {
    format!("load {}", place + 1)
}

/// The step of the random overwrite number `pass`, from 1.
fn pass_name(pass: u64) -> String {
    format!("pass {pass}")
}

/// A measurement in progress.
struct Work<'a> {
    bench: Bench<'a>,
    kept: Kept,
    plan: &'a MeasurePlan,
    tell: &'a dyn Fn(&str),
    left_out: Vec<String>,
}

/// Does the experiments of `plan` on `target`, and writes tables to `folder`. The contents of the drive are lost. If
/// `folder` already has results of the same measurement, the steps of these results are not repeated. `tell` is
/// called with the name of each step before the step begins.
///
/// # Errors
/// If the plan does not fit the drive, the drive fails, `folder` holds another measurement or cannot be written, or
/// `progress` asked to stop. The results of completed steps remain in `folder`.
pub fn measure(
    target: &mut dyn Target,
    plan: &MeasurePlan,
    folder: &Path,
    progress: &dyn Progress,
    tell: &dyn Fn(&str),
) -> Result<Measured, Error> {
    let used = plan.used(target.bytes())?;
    let unwritable = |error| crate::files::unwritable(folder, &error);
    std::fs::create_dir_all(folder).map_err(unwritable)?;
    let mut work = Work {
        kept: plan.kept(target, folder)?,
        bench: Bench::new(target, used, progress),
        plan,
        tell,
        left_out: Vec::new(),
    };
    let measured = work.all(folder);
    if matches!(measured, Ok(_) | Err(Error::Interrupted)) {
        // If the caller uses this target again, no command of this measurement may be outstanding.
        work.bench.drain()?;
        // Steps have written to the drive since their beginning, when its contents were stored.
        work.keep(None::<(&str, &Written)>, work.kept.contents())?;
    }
    measured
}

impl Work<'_> {
    /// Does all experiments, and writes their tables to `folder`.
    fn all(&mut self, folder: &Path) -> Result<Measured, Error> {
        let plan = self.plan;
        let name = plan.name.clone();
        let name = name.unwrap_or_else(|| self.bench.target.name());
        let full_bytes = self.bench.target.full_bytes();
        let share = self.bench.used as f64 / (self.bench.target.bytes() / BLOCK * BLOCK) as f64;
        let drive = tables::Drive {
            name: &name,
            full_bytes,
            used_bytes: full_bytes as f64 * share,
        };
        let mut files = Vec::new();
        let table = |files: &mut Vec<&'static str>, file: &'static str, text: String| {
            files.push(file);
            kept::put(&folder.join(file), &text)
        };
        // Experiments that need a sequentially written drive come first, because random writes destroy this state.
        let in_order = match plan.wants(What::Rates) {
            true => self.rates(true)?,
            false => Vec::new(),
        };
        let mut findings = match plan.wants(What::Parts) {
            true => self.parts_in_order()?,
            false => Findings::default(),
        };
        if plan.wants(What::Waf)
            && let Some(text) = self.waf(drive)?
        {
            table(&mut files, "waf.csv", text)?;
        }
        if plan.wants(What::Rates) {
            let rates = [in_order, self.rates(false)?].concat();
            match rates.iter().find(|(_, rate)| *rate == 0.0) {
                Some((rate, _)) => self.left_out.push(format!(
                    "rates: no request of {rate} was answered in the measured time; expected a longer measurement"
                )),
                None => table(&mut files, "rates.csv", tables::rates(drive, &rates))?,
            }
        }
        if plan.wants(What::Latency) {
            let (stream, loads) = self.latency()?;
            let text = tables::latency(drive, stream, &loads);
            table(&mut files, "latency.csv", text)?;
        }
        if plan.wants(What::Depth) {
            let text = tables::depth(drive, &self.depth()?);
            table(&mut files, "queue-depth.csv", text)?;
        }
        if plan.wants(What::Parts) {
            findings.and(self.parts_at_random(&findings)?);
        }
        let values = findings.values.iter().map(|of| {
            let number = json!({"value": of.value, "unit": of.unit, "low": of.low, "high": of.high, "method": of.method});
            (of.name.clone(), number)
        });
        let values: Map<String, Value> = values.collect();
        let document = json!({
            "version": crate::manifest::version(),
            "drive": name,
            "used_bytes": self.bench.used,
            "tables": files,
            "values": values,
            "unknown": findings.unknown,
            "left_out": self.left_out,
        });
        table(&mut files, "measured.json", json::text(&document))?;
        Ok(Measured {
            files,
            left_out: std::mem::take(&mut self.left_out),
            findings,
        })
    }

    /// The numbers that identify a sequentially written drive.
    fn parts_in_order(&mut self) -> Result<Findings, Error> {
        let mut found: Findings = self.step(ALONE, Contents::InOrder, |work| {
            let seed = work.seed(ALONE);
            parts::alone(&mut work.bench, seed)
        })?;
        let fill: Option<Written> = self.kept.found(FILL)?;
        if let Some(fill) = fill {
            found.and(parts::cliff(&fill, self.bench.used));
        }
        Ok(found)
    }

    /// The numbers that identify a drive in steady state. `known` are the numbers of the sequentially written
    /// drive.
    fn parts_at_random(&mut self, known: &Findings) -> Result<Findings, Error> {
        let settled = self.plan.settled();
        let mut found: Findings = self.step(UNIT, settled, |work| {
            let seed = work.seed(UNIT);
            parts::unit(&mut work.bench, seed)
        })?;
        found.and(self.step(BUFFER, settled, |work| {
            let seed = work.seed(BUFFER);
            let in_order = known.get(parts::IN_ORDER_RATE);
            let in_order = in_order.map_or(f64::INFINITY, |rate| rate.value);
            parts::buffer(&mut work.bench, seed, in_order)
        })?);
        let last: Option<Written> = self.kept.found(&pass_name(self.plan.passes))?;
        found.and(parts::spare(last.as_ref()));
        let reads: Option<Steady> = self.kept.found("rate rrandiops")?;
        found.and(parts::dies(reads.map(|reads| reads.reads_per_s), known));
        Ok(found)
    }

    /// The result of the step `name` on a drive with `contents`. If the result is already stored, it is returned.
    /// Otherwise the drive is preconditioned, and `run` does the step.
    fn step<T: Serialize + DeserializeOwned>(
        &mut self,
        name: &str,
        contents: Contents,
        run: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if let Some(found) = self.kept.found(name)? {
            return Ok(found);
        }
        self.bring(contents)?;
        (self.tell)(name);
        let found = run(self)?;
        self.keep(Some((name, &found)), self.kept.contents())?;
        Ok(found)
    }

    /// Stores the result `found` of a step, if there is one, and the `contents` of the drive after the step.
    fn keep(
        &mut self,
        found: Option<(&str, &impl Serialize)>,
        contents: Contents,
    ) -> Result<(), Error> {
        self.kept.keep(found, contents, self.bench.target)
    }

    /// Preconditions the drive until it has `contents`. If the drive does not have the contents on which the random
    /// passes build, it is first filled in order. Then the missing random passes are written.
    fn bring(&mut self, contents: Contents) -> Result<(), Error> {
        let passes = match contents {
            Contents::AtRandom(passes) => passes,
            _ => 0,
        };
        let done = match self.kept.contents() {
            Contents::AtRandom(done) if passes > 0 => done,
            Contents::InOrder => 0,
            before => {
                (self.tell)("fill in order");
                if before == Contents::AsItCame {
                    self.keep(None::<(&str, &Written)>, Contents::Begun)?;
                }
                let written = fill::write(&mut self.bench, None)?;
                // Only the result of the first fill is stored: before a later fill, the measurement has already
                // written to the drive.
                let found = Some((FILL, &written)).filter(|_| before == Contents::AsItCame);
                self.keep(found, Contents::InOrder)?;
                0
            }
        };
        for pass in done..passes {
            let name = pass_name(pass + 1);
            (self.tell)(&format!("{name} of {passes} at random"));
            let seed = self.seed(&name);
            let written = fill::write(&mut self.bench, Some(seed))?;
            self.keep(Some((&name, &written)), Contents::AtRandom(pass + 1))?;
        }
        Ok(())
    }

    /// The seed of the step `name`.
    fn seed(&self, name: &str) -> u64 {
        let letters = name.bytes().fold(self.plan.seed, |seed, letter| {
            (seed ^ u64::from(letter)).wrapping_mul(0x0100_0000_01b3)
        });
        letters | 1
    }

    fn steady(
        &mut self,
        (name, load): (String, Load),
        contents: Contents,
    ) -> Result<Steady, Error> {
        self.step(&name, contents, |work| {
            let length = Length {
                requests: work.plan.requests_of(&load),
                seconds: work.plan.seconds,
            };
            let seed = work.seed(&name);
            work.bench.steady(load, length, seed)
        })
    }

    /// If `in_order` is true, the rates that are measured on a sequentially written drive. Otherwise the rates that
    /// are measured in steady state. Rates are in commands per second, or in bytes per second for large commands.
    fn rates(&mut self, in_order: bool) -> Result<Vec<(&'static str, f64)>, Error> {
        let mut found = Vec::new();
        for of in RATES.iter().filter(|of| is_random_write(of) != in_order) {
            let steady = self.steady(rate(of), self.plan.contents_of(of))?;
            let (name, _, bytes, _) = *of;
            let scale = match bytes {
                RATE_BYTES => RATE_BYTES as f64,
                _ => 1.0,
            };
            found.push((name, (steady.reads_per_s + steady.writes_per_s) * scale));
        }
        Ok(found)
    }

    fn latency(&mut self) -> Result<(f64, Vec<OfLoad>), Error> {
        let settled = self.plan.settled();
        let probe = (SATURATION.to_owned(), latency::probe());
        let saturated = self.steady(probe, settled)?.writes_per_s;
        let mut found = Vec::new();
        for (place, (offered, load)) in latency::loads(saturated).into_iter().enumerate() {
            let steady = self.steady((load_name(place), load), settled)?;
            for (op, times) in [("reads", &steady.reads), ("writes", &steady.writes)] {
                if times.is_empty() {
                    self.left_out.push(format!(
                        "latency: at {offered} writes a second, a part of the measured time has no {op}; expected a longer measurement"
                    ));
                }
            }
            found.push(OfLoad { offered, steady });
        }
        Ok((latency::stream_per_s(saturated), found))
    }

    fn depth(&mut self) -> Result<Vec<(Action, u32, Steady)>, Error> {
        let settled = self.plan.settled();
        let mut found = Vec::new();
        for of in depths() {
            let (name, load) = depth(of);
            let steady = self.steady((name.clone(), load), settled)?;
            let (action, outstanding) = of;
            match steady.us(action, "50") {
                Some(_) => found.push((action, outstanding, steady)),
                None => self.left_out.push(format!(
                    "{name}: a part of the measured time has no request; expected a longer measurement"
                )),
            }
        }
        Ok(found)
    }

    /// The table of write amplification; `None` if the drive cannot have one.
    fn waf(&mut self, drive: tables::Drive<'_>) -> Result<Option<String>, Error> {
        if !self.plan.is_filled(&self.kept) {
            self.bring(self.plan.settled())?;
        }
        let Some(fill) = self.kept.found(FILL)? else {
            self.left_out.push(
                "waf: the first fill of the drive was interrupted, so the drive was not empty before the second".to_owned(),
            );
            return Ok(None);
        };
        let mut passes = Vec::new();
        for pass in 1..=self.plan.passes {
            passes.extend(self.kept.found(&pass_name(pass))?);
        }
        let text = tables::fill(drive, &[("sequential", vec![fill]), ("uniform", passes)]);
        if text.is_none() {
            self.left_out.push(
                "waf: the drive has no readable counter of programmed bytes; expected an NBD server with its control socket".to_owned(),
            );
        }
        Ok(text)
    }
}
