//! A profile fitted to measurements of a drive: few numbers, found on few rows and judged by the others.
//!
//! Each trial repeats the experiments of the rows that are [for fitting](super::split) on a smaller simulated drive with other numbers, through the
//! code of [`check`](super::check()). Numbers that follow directly from the figures are computed first: the time of the firmware from writes at the
//! lightest load, the times of the types of page from its reads, the program time from the saturated rate. The other numbers are searched one after
//! the other, with ever smaller steps, since percentiles are not smooth functions: a median between two modes of a distribution jumps. Every trial
//! has the same requests, so that equal inputs give equal profiles.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::Instant;

use destage_sim::settings::Settings;
use serde_json::{Map, Value, json};

use super::check::{Check, CheckPlan, Compared, Summary, check_from, summed};
use super::experiment::States;
use super::knobs::{
    BLOCKS, BUFFER, BURST, DIES, FIRMWARE, Knobs, PROGRAM, PULSE, SUSPEND, SUSPENSION, TAIL,
};
use super::linear::inverse;
use super::measured::{Measurements, Shape};
use super::scaled::Scale;
use super::split::{Use, of_rows, of_value};
use crate::compare::Effort;
use crate::error::Error;
use crate::json;
use crate::manifest::Manifest;

/// How a profile is fitted.
#[derive(Clone, Debug)]
pub struct FitPlan {
    /// The profile from which it begins, with changes.
    pub start: Settings,
    /// Its name, for the source of the new one.
    pub name: String,
    /// How small the drive is made.
    pub scale: Scale,
    /// Requests that are measured for each load of a trial; a check of the result has as many.
    pub requests: u64,
    /// Fits to all rows, so that none is left to judge by.
    pub all_rows: bool,
}

impl FitPlan {
    /// The usual size and length.
    #[must_use]
    pub fn new(start: Settings, name: impl Into<String>) -> Self {
        Self {
            start,
            name: name.into(),
            scale: Scale::default(),
            requests: 200_000,
            all_rows: false,
        }
    }
}

/// A number that was fitted.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The parameter; with `/1`, `/2`, ... after it the first, second, ... of several numbers of one parameter.
    pub key: String,
    /// The number.
    pub value: f64,
    /// Between these bounds the rows leave it open: two standard errors to each side. A number that the rows do not determine may have any value that
    /// was tried.
    pub low: f64,
    /// See `low`.
    pub high: f64,
    /// Other numbers that the rows cannot tell from this one: a change of one can be undone by the other.
    pub tied: Vec<String>,
}

/// A profile that was fitted, and how it does.
#[derive(Clone, Debug)]
pub struct Fit {
    /// How it came to be.
    pub manifest: Manifest,
    /// The numbers, at most 16.
    pub parameters: Vec<Fitted>,
    /// The profile compared with each file; rows that it was fitted on do not count.
    pub checks: Vec<Check>,
    /// The use of each value of each check.
    pub uses: Vec<Vec<Use>>,
    /// The profile, as a TOML file.
    pub profile: String,
    /// How many trials there were.
    pub trials: u64,
}

/// Fits a profile to `files`, which are of one drive.
///
/// # Errors
/// An error in a row or in the settings; files of several drives, or without rows to fit to; or an interrupt because `effort.progress` asked to stop.
pub fn fit(files: Vec<Measurements>, plan: &FitPlan, effort: &Effort<'_>) -> Result<Fit, Error> {
    let started = Instant::now();
    let Some(first) = files.first() else {
        return Err(Error::Input(
            "no file of measurements; expected at least one".to_owned(),
        ));
    };
    let drive = first.drive().to_owned();
    if let Some(other) = files.iter().find(|file| file.drive() != drive) {
        return Err(Error::argument(
            "drive",
            format!(
                ": {} is of {drive:?}, and {} of {:?}; expected files of one drive",
                first.file,
                other.file,
                other.drive()
            ),
        ));
    }
    let mut row_uses = Vec::new();
    for file in &files {
        row_uses.push(of_rows(file)?);
    }
    if plan.all_rows {
        row_uses.iter_mut().for_each(|uses| uses.fill(Use::Fit));
    }
    let fitted: Vec<Measurements> = files
        .iter()
        .zip(&row_uses)
        .map(|(file, uses)| some_of(file, uses))
        .filter(|file| !file.rows.is_empty())
        .collect();
    if fitted.is_empty() {
        return Err(Error::Input(format!(
            "{}: no rows to fit to; docs/DRIVES.md says which rows a fit uses",
            first.file
        )));
    }
    let shapes: Vec<_> = fitted.iter().map(|file| file.shape).collect();
    let mut used: Option<f64> = None;
    for file in files.iter().filter(|file| file.shape == Shape::Fill) {
        for row in &file.rows {
            let gib = file.positive(row, "used_gib")?;
            used = Some(used.unwrap_or(0.0).max(gib));
        }
    }
    let mut search = Search {
        knobs: Knobs::new(&plan.start, &shapes, used, stalls(&fitted)?),
        files: fitted,
        plan,
        effort,
        states: States::default(),
        seen: BTreeMap::new(),
        trials: 0,
    };
    let numbers = search.run()?;
    let parameters = search.intervals(&numbers)?;
    let settings = search.knobs.settings(&numbers);
    let trials = search.trials;
    let states = search.states;
    let names: Vec<_> = files.iter().map(|file| file.file.clone()).collect();
    let mut checks = Vec::new();
    let mut uses = Vec::new();
    let judge = CheckPlan {
        settings: settings.clone(),
        scale: plan.scale,
        requests: plan.requests,
    };
    for (file, of_rows) in files.into_iter().zip(row_uses) {
        let mut check = check_from(&states, file, &judge, effort)?;
        let of = |compared: &Compared| match plan.all_rows {
            true => Use::Fit,
            false => of_value(&compared.what, of_rows[compared.row]),
        };
        let of_values: Vec<_> = check.rows.iter().map(of).collect();
        for (compared, of) in check.rows.iter_mut().zip(&of_values) {
            compared.counts &= *of == Use::Judge;
        }
        checks.push(check);
        uses.push(of_values);
    }
    let mut manifest = Manifest::of_study(started);
    manifest.seed = settings.resolve()?.typed.sim.seed;
    let source = format!(
        "{drive}: fitted to {} by destage drive fit, from profile {}",
        names.join(", "),
        plan.name
    );
    Ok(Fit {
        manifest,
        parameters,
        checks,
        uses,
        profile: profile(&settings, &drive, &source),
        trials,
    })
}

/// The rows of `file` that are for fitting.
fn some_of(file: &Measurements, uses: &[Use]) -> Measurements {
    let rows = file.rows.iter().zip(uses);
    let rows = rows.filter(|(_, of)| **of == Use::Fit);
    Measurements {
        rows: rows.map(|(row, _)| row.clone()).collect(),
        file: file.file.clone(),
        columns: file.columns.clone(),
        shape: file.shape,
    }
}

/// Microseconds of a write at p99 from which on a drive stalls writes, at loads well below saturation.
const STALL_US: f64 = 200.0;
/// Loads that are well below saturation: below this share of it.
const WELL_BELOW: f64 = 0.75;

/// Whether the drive of `files` stalls writes long before it is saturated, by the rows that are fitted on.
fn stalls(files: &[Measurements]) -> Result<bool, Error> {
    for file in files.iter().filter(|file| file.shape == Shape::Latency) {
        let mut most = 0.0_f64;
        for row in &file.rows {
            most = most.max(file.number(row, "writes_per_s")?);
        }
        for row in &file.rows {
            let is_tail = file.text(row, "op") == "write" && file.text(row, "percentile") == "99";
            if is_tail
                && file.number(row, "writes_per_s")? < WELL_BELOW * most
                && file.number(row, "us_median_of_3")? > STALL_US
            {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// A figure of a trial that is off.
#[derive(Clone)]
struct Off {
    /// The line of its row.
    line: u64,
    /// What was measured.
    what: String,
    /// The logarithm of modelled over measured, in units of the goal: twice as much is as wrong as half as much.
    error: f64,
    /// Measured less modelled, in the unit of the file; 0 between the bounds of the repetitions.
    lacks: f64,
}

impl Off {
    /// It is the same figure as `other`.
    fn is(&self, other: &Self) -> bool {
        self.line == other.line && self.what == other.what
    }
}

/// The errors of a trial, in the order of the rows.
type Errors = Vec<Off>;

/// The allowed error of a figure: as a share, or as an amount in its own unit, whichever is more. Nothing if it is not fitted on.
fn wanted(what: &str) -> Option<(f64, f64)> {
    Some(match what {
        "read p50" => (0.03, 0.5),
        "read p10" | "read p25" | "read p75" => (0.06, 1.0),
        "read p90" => (0.12, 1.0),
        "read p99" => (0.06, 1.0),
        "read p99.9" => (0.24, 1.0),
        "write p50" => (0.05, 1.0),
        "write p99" => (0.3, 20.0),
        RATE => (0.01, 0.0),
        "waf" => (0.01, 0.0),
        "host_mib_per_s" => (0.02, 0.0),
        "randread iops" | "randwrite iops" => (0.05, 0.0),
        "randread p50" | "randwrite p50" | "randread p99" | "randwrite p99" => (0.08, 0.0),
        "rbps" | "rseqiops" | "rrandiops" | "wbps" | "wseqiops" => (0.05, 0.0),
        _ => return None,
    })
}

/// A larger error than this counts less and less: a property that the model cannot reproduce must not distort the other numbers.
const FAR: f64 = 12.0;
/// Steps of the search, as factors: the first is coarse, since the search may begin far off.
const COARSE_STEPS: [f64; 2] = [1.5, 1.2];
/// See [`COARSE_STEPS`].
const FINE_STEPS: [f64; 1] = [1.1];
/// See [`COARSE_STEPS`].
const LAST_STEPS: [f64; 1] = [1.04];
/// How often figures are read off, at most.
const READINGS: usize = 3;
/// Determines the times of the three types of page: a third of the reads is of each type, and few reads wait at light load.
const TYPES: [&str; 3] = ["read p10", "read p50", "read p75"];
/// Determines the program time.
const RATE: &str = "saturated writes_per_s";
/// Ways to suspend a program, from which the search begins: microseconds that it takes in any case, and of a pulse.
const SUSPENSIONS: [(f64, f64); 6] = [
    (5.0, 1.0),
    (5.0, 40.0),
    (50.0, 20.0),
    (90.0, 10.0),
    (10.0, 150.0),
    (50.0, 100.0),
];
/// By how much the tail of a program is longer than the slowest reads say: few of them may have met it.
const TAILS: [f64; 3] = [1.0, 2.0, 4.0];
/// From how many of the ways to suspend, the best, the search goes on.
const STARTS: usize = 3;
/// How often a step is repeated in one direction, at most.
const REPEATS: u32 = 4;
/// A trial is better only by more than this share, so that chance decides little.
const BETTER: f64 = 0.995;
/// Another number of dies has to be better by more than this, as few rows depend on it.
const CLEARLY_BETTER: f64 = 0.9;
/// The first, coarse steps run the number of requests divided by this.
const COARSE: u64 = 3;
/// The step by which intervals are found.
const PROBE: f64 = 1.08;

/// Six digits are more than a measurement has.
fn rounded(number: f64) -> f64 {
    format!("{number:.5e}").parse().unwrap_or(number)
}

struct Search<'a> {
    knobs: Knobs,
    /// The rows that are fitted on.
    files: Vec<Measurements>,
    plan: &'a FitPlan,
    effort: &'a Effort<'a>,
    states: States,
    /// Trials that were made: by requests, files and numbers.
    seen: BTreeMap<(u64, bool, Vec<u64>), Option<Errors>>,
    trials: u64,
}

/// A modelled value below this share of the measured one counts as this share.
const NOTHING: f64 = 1e-6;

/// The weight of an error.
fn counted(error: f64) -> f64 {
    match error.abs() {
        near if near <= FAR => error,
        far => (FAR * (1.0 + (far / FAR).ln())).copysign(error),
    }
}

/// The loss of a trial: the sum of the weights of `errors`.
fn loss(errors: Option<&Errors>) -> f64 {
    errors.map_or(f64::INFINITY, |errors| {
        errors.iter().map(|off| counted(off.error).abs()).sum()
    })
}

impl Search<'_> {
    /// The errors of the drive with `numbers`; `None` if there is no such drive. `fills` says whether fills are tried, or everything else.
    fn errors(
        &mut self,
        numbers: &[f64],
        fills: bool,
        requests: u64,
    ) -> Result<Option<Errors>, Error> {
        let bits = numbers.iter().map(|number| number.to_bits()).collect();
        let key = (requests, fills, bits);
        if let Some(known) = self.seen.get(&key) {
            return Ok(known.clone());
        }
        self.trials += 1;
        let plan = CheckPlan {
            settings: self.knobs.settings(numbers),
            scale: self.plan.scale,
            requests,
        };
        let mut found = Some(Vec::new());
        for file in &self.files {
            if (file.shape == Shape::Fill) != fills {
                continue;
            }
            let checked = match check_from(&self.states, file.clone(), &plan, self.effort) {
                Ok(checked) => checked,
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                // There is no such drive: too small for the used capacity, or with less than the layer needs.
                Err(_) => {
                    found = None;
                    break;
                }
            };
            let saturated = |compared: &&Compared| compared.counts || compared.what == RATE;
            for compared in checked.rows.iter().filter(saturated) {
                let wanted = wanted(&compared.what);
                let (Some((share, least)), Some(error)) = (wanted, compared.error) else {
                    continue;
                };
                let weight = (least / compared.measured).max(share);
                found.get_or_insert_default().push(Off {
                    line: checked.measurements.rows[compared.row].line,
                    what: compared.what.clone(),
                    error: (1.0 + error).max(NOTHING).ln() / weight,
                    lacks: -error * compared.measured,
                });
            }
        }
        self.seen.insert(key, found.clone());
        Ok(found)
    }

    /// The best numbers.
    fn run(&mut self) -> Result<Vec<f64>, Error> {
        let mut numbers = self.knobs.begin()?;
        let (coarse, fine) = (self.plan.requests / COARSE, self.plan.requests);
        let has = |shape| self.files.iter().any(|file| file.shape == shape);
        let (has_fills, has_latency) = (has(Shape::Fill), has(Shape::Latency));
        let has_others = self.files.iter().any(|file| file.shape != Shape::Fill);
        if has_fills {
            let blocks: Vec<_> = self.knobs.find(BLOCKS).into_iter().collect();
            self.descend(
                &mut numbers,
                &blocks,
                true,
                coarse,
                &[1.2, 1.05, 1.02, 1.01, 1.004],
            )?;
            if !has_others {
                let program: Vec<_> = self.knobs.find(PROGRAM).into_iter().collect();
                for steps in [&COARSE_STEPS[..], &FINE_STEPS, &LAST_STEPS] {
                    self.descend(&mut numbers, &program, true, coarse, steps)?;
                }
            }
        }
        if !has_others {
            return Ok(numbers);
        }
        let own = |key: &str| key != BLOCKS && key != DIES;
        let others: Vec<_> = (0..numbers.len())
            .filter(|place| own(self.knobs.all()[*place].key))
            .collect();
        if has_latency {
            self.begin(&mut numbers, coarse)?;
            let searched = self.searched();
            self.dies(&mut numbers, coarse)?;
            self.read_off(&mut numbers, fine)?;
            self.descend(&mut numbers, &searched, false, fine, &FINE_STEPS)?;
            self.descend(&mut numbers, &others, false, fine, &LAST_STEPS)?;
        } else {
            self.descend(&mut numbers, &others, false, coarse, &COARSE_STEPS)?;
            self.descend(&mut numbers, &others, false, fine, &FINE_STEPS)?;
            self.descend(&mut numbers, &others, false, fine, &LAST_STEPS)?;
        }
        Ok(numbers)
    }

    /// The numbers that do not follow directly from a figure: those of suspension, and of bursts.
    fn searched(&self) -> Vec<usize> {
        let is_searched = |key: &str| key.starts_with(SUSPENSION) || key == BURST || key == BUFFER;
        (0..self.knobs.all().len())
            .filter(|place| is_searched(self.knobs.all()[*place].key))
            .collect()
    }

    /// The lines of the lightest load, and the figure of `op` at `percentile` there.
    fn lightest(&self, op: &str, percentile: &str) -> Result<(BTreeSet<u64>, Option<f64>), Error> {
        let mut lightest = f64::INFINITY;
        let (mut lines, mut figure) = (BTreeSet::new(), None);
        let files = self.files.iter();
        for file in files.filter(|file| file.shape == Shape::Latency) {
            for row in &file.rows {
                let load = file.number(row, "offered_writes_per_s")?;
                if load > lightest {
                    continue;
                }
                if load < lightest {
                    (lightest, figure) = (load, None);
                    lines.clear();
                }
                lines.insert(row.line);
                if file.text(row, "op") == op && file.text(row, "percentile") == percentile {
                    figure = Some(file.number(row, "us_median_of_3")?);
                }
            }
        }
        Ok((lines, figure))
    }

    /// Numbers that follow directly from the figures: the time of the firmware from the median of writes at the lightest load, the times of the types
    /// of page from the thirds of its reads, and the program time from the saturated rate, to which it is inversely proportional. The other parts of
    /// a command's time are the model's, so the difference to a trial is added. Of all trials the best stays.
    fn read_off(&mut self, numbers: &mut Vec<f64>, requests: u64) -> Result<(), Error> {
        let (light, _) = self.lightest("write", "50")?;
        let mut best = loss(self.errors(numbers, false, requests)?.as_ref());
        let mut trial = numbers.clone();
        for _ in 0..READINGS {
            let Some(errors) = self.errors(&trial, false, requests)? else {
                break;
            };
            let lacks = |what: &str| {
                let mut errors = errors.iter();
                let found = errors.find(|off| off.what == what && light.contains(&off.line));
                found.map_or(0.0, |off| off.lacks)
            };
            let before = trial.clone();
            // Reads wait for the firmware, too.
            let firmware = lacks("write p50");
            let mut adds = vec![(self.knobs.find(FIRMWARE), 1000.0 * firmware)];
            for (type_of_page, what) in TYPES.iter().enumerate() {
                adds.push((self.knobs.read_time(type_of_page), lacks(what) - firmware));
            }
            let rate = errors.iter().find(|off| off.what == RATE);
            if let (Some(program), Some(rate)) = (self.knobs.find(PROGRAM), rate) {
                let scale = wanted(RATE).map_or(1.0, |(share, _)| share);
                let longer = trial[program] * (rate.error * scale).exp_m1();
                adds.push((Some(program), longer));
            }
            for (place, add) in adds {
                if let Some(place) = place {
                    let (low, high) = self.knobs.all()[place].bounds;
                    trial[place] = rounded(trial[place] + add).clamp(low, high);
                }
            }
            if trial == before {
                break;
            }
            let found = loss(self.errors(&trial, false, requests)?.as_ref());
            if found < best {
                (best, *numbers) = (found, trial.clone());
            }
        }
        Ok(())
    }

    /// The first, coarse steps: some ways to suspend are read off, and the search goes on from the best of them, since it could not get from one to
    /// another. The slowest reads of the lightest load came when a program was in its tail.
    fn begin(&mut self, numbers: &mut Vec<f64>, requests: u64) -> Result<(), Error> {
        self.read_off(numbers, requests)?;
        let searched = self.searched();
        let [Some(fixed), Some(pulse), Some(tail)] =
            [SUSPEND, PULSE, TAIL].map(|key| self.knobs.find(key))
        else {
            return self.descend(numbers, &searched, false, requests, &COARSE_STEPS);
        };
        let (_, most) = self.lightest("read", "99.9")?;
        let (_, many) = self.lightest("read", "99")?;
        let (_, median) = self.lightest("read", "50")?;
        if let (Some(most), Some(median)) = (most.or(many), median) {
            let (low, high) = self.knobs.all()[tail].bounds;
            numbers[tail] = rounded(most - median).clamp(low, high);
        }
        let mut starts = Vec::new();
        for longer in TAILS {
            for (own, of_pulse) in SUSPENSIONS {
                let mut trial = numbers.clone();
                (trial[fixed], trial[pulse]) = (own, of_pulse);
                let (low, high) = self.knobs.all()[tail].bounds;
                trial[tail] = rounded(trial[tail] * longer).clamp(low, high);
                self.read_off(&mut trial, requests)?;
                let found = loss(self.errors(&trial, false, requests)?.as_ref());
                starts.push((found, trial));
            }
        }
        starts.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        let mut best = f64::INFINITY;
        for (_, mut trial) in starts.into_iter().take(STARTS) {
            self.descend(&mut trial, &searched, false, requests, &COARSE_STEPS)?;
            let found = loss(self.errors(&trial, false, requests)?.as_ref());
            if found < best {
                (best, *numbers) = (found, trial);
            }
        }
        Ok(())
    }

    /// Tries twice and half as many dies, with programs longer or shorter in proportion, which leaves the saturated rate unchanged.
    fn dies(&mut self, numbers: &mut Vec<f64>, requests: u64) -> Result<(), Error> {
        let (Some(dies), Some(program)) = (self.knobs.find(DIES), self.knobs.find(PROGRAM)) else {
            return Ok(());
        };
        let blocks = self.knobs.find(BLOCKS);
        // With other programs reads meet them otherwise.
        let reads: Vec<_> = (0..numbers.len())
            .filter(|place| self.knobs.all()[*place].key.starts_with(SUSPENSION))
            .collect();
        let mut best = loss(self.errors(numbers, false, requests)?.as_ref());
        for factor in [0.5, 2.0] {
            let mut has_moved = false;
            loop {
                let mut trial = numbers.clone();
                trial[dies] *= factor;
                trial[program] *= factor;
                if let Some(blocks) = blocks {
                    trial[blocks] = (trial[blocks] / factor).round();
                }
                let (low, high) = self.knobs.all()[dies].bounds;
                if !(low..=high).contains(&trial[dies]) || trial[dies].fract() != 0.0 {
                    break;
                }
                self.read_off(&mut trial, requests)?;
                self.descend(&mut trial, &reads, false, requests, &COARSE_STEPS[1..])?;
                let found = loss(self.errors(&trial, false, requests)?.as_ref());
                if found >= best * CLEARLY_BETTER {
                    break;
                }
                (*numbers, best, has_moved) = (trial, found, true);
            }
            if has_moved {
                break;
            }
        }
        Ok(())
    }

    /// Goes along each of `places` by each of `steps`, as long as that is better.
    fn descend(
        &mut self,
        numbers: &mut [f64],
        places: &[usize],
        fills: bool,
        requests: u64,
        steps: &[f64],
    ) -> Result<(), Error> {
        let mut best = loss(self.errors(numbers, fills, requests)?.as_ref());
        for step in steps {
            for &place in places {
                for factor in [*step, 1.0 / step] {
                    let mut has_moved = false;
                    for _ in 0..REPEATS {
                        let before = numbers[place];
                        let after = self.stepped(place, before, factor);
                        if after == before {
                            break;
                        }
                        numbers[place] = after;
                        let found = loss(self.errors(numbers, fills, requests)?.as_ref());
                        if found >= best * BETTER {
                            numbers[place] = before;
                            break;
                        }
                        (best, has_moved) = (found, true);
                    }
                    if has_moved {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// The number `number` of a knob after a step of `factor`.
    fn stepped(&self, place: usize, number: f64, factor: f64) -> f64 {
        let knob = &self.knobs.all()[place];
        let (low, high) = knob.bounds;
        let after = number * factor;
        let after = match knob.is_whole {
            true if factor > 1.0 => after.round().max(number + 1.0),
            true => after.round().min(number - 1.0),
            false => rounded(after),
        };
        after.clamp(low, high)
    }

    /// The bounds of each number, from how much the errors change with it.
    fn intervals(&mut self, numbers: &[f64]) -> Result<Vec<Fitted>, Error> {
        let requests = self.plan.requests;
        let count = numbers.len();
        let names: Vec<String> = (0..count).map(|place| self.name(place)).collect();
        let both = |search: &mut Self, numbers: &[f64]| -> Result<Errors, Error> {
            let mut all = Vec::new();
            for fills in [false, true] {
                all.extend(search.errors(numbers, fills, requests)?.unwrap_or_default());
            }
            Ok(all)
        };
        let here = both(self, numbers)?;
        let mut slopes = Vec::new();
        for place in 0..count {
            let mut ends = Vec::new();
            for factor in [PROBE, 1.0 / PROBE] {
                let mut trial = numbers.to_vec();
                trial[place] = self.stepped(place, numbers[place], factor);
                ends.push(((trial[place] / numbers[place]).ln(), both(self, &trial)?));
            }
            let (up, down) = (&ends[0], &ends[1]);
            let slope = here.iter().enumerate().map(|(row, off)| {
                let at = |end: &(f64, Errors)| {
                    let same = end.1.get(row).filter(|other| other.is(off));
                    counted(same.unwrap_or(off).error)
                };
                match up.0 - down.0 {
                    0.0 => 0.0,
                    length => (at(up) - at(down)) / length,
                }
            });
            slopes.push(slope.collect::<Vec<f64>>());
        }
        let squares: f64 = here.iter().map(|off| counted(off.error).powi(2)).sum();
        let free = here.len().saturating_sub(count).max(1) as f64;
        // The goal is never less than the assumed accuracy of a model.
        let variance = (squares / free).max(0.25);
        let product = |one: &[f64], other: &[f64]| -> f64 {
            one.iter().zip(other).map(|(one, other)| one * other).sum()
        };
        let mut normal: Vec<Vec<f64>> = slopes
            .iter()
            .map(|one| slopes.iter().map(|other| product(one, other)).collect())
            .collect();
        for (place, row) in normal.iter_mut().enumerate() {
            // The assumed range beforehand: within a factor of e to the tenth.
            row[place] += variance / 100.0;
        }
        let covariance = inverse(&normal, variance);
        let deviation = |place: usize| covariance[place][place].max(0.0).sqrt();
        let fitted = (0..count).map(|place| {
            let (low, high) = self.knobs.all()[place].bounds;
            let width = (2.0 * deviation(place)).min(50.0).exp();
            let is_tied = |other: &usize| {
                let product = deviation(place) * deviation(*other);
                *other != place
                    && product > 0.0
                    && (covariance[place][*other] / product).abs() > 0.9
            };
            Fitted {
                key: names[place].clone(),
                value: numbers[place],
                low: (numbers[place] / width).max(low),
                high: (numbers[place] * width).min(high),
                tied: (0..count)
                    .filter(is_tied)
                    .map(|other| names[other].clone())
                    .collect(),
            }
        });
        Ok(fitted.collect())
    }

    fn name(&self, place: usize) -> String {
        let knob = &self.knobs.all()[place];
        match knob.place {
            Some(number) => format!("{}/{}", knob.key, number + 1),
            None => knob.key.to_owned(),
        }
    }
}

/// The profile of `settings` as a TOML file, with every parameter that is set.
fn profile(settings: &Settings, drive: &str, source: &str) -> String {
    let mut sections: BTreeMap<&str, Vec<(&str, String)>> = BTreeMap::new();
    for key in settings.keys() {
        let (Some((section, name)), Some(text)) = (key.split_once('.'), settings.text(key)) else {
            continue;
        };
        let is_bare =
            text == "true" || text == "false" || text.parse::<f64>().is_ok_and(f64::is_finite);
        let value = match is_bare {
            true => text,
            false => quoted(&text),
        };
        sections.entry(section).or_default().push((name, value));
    }
    let mut text = format!(
        "[profile]\nabout = {}\nsource = {}\n",
        quoted(&format!("{drive}, from its measurements.")),
        quoted(source)
    );
    for (section, pairs) in sections {
        let _ = write!(text, "\n[{section}]\n");
        for (name, value) in pairs {
            let _ = writeln!(text, "{name} = {value}");
        }
    }
    text
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

impl Fit {
    /// The errors of the rows that the profile is judged by, of all files.
    #[must_use]
    pub fn summary(&self) -> Vec<Summary> {
        summed(self.checks.iter().flat_map(|check| &check.rows))
    }

    /// `{"manifest", "drive", "parameters", "rows", "summary", "left_out"}`: the output of `destage drive fit --json`. A row is one of
    /// [`Check::to_json`] with `"use"`, which is `fit`, `judge` or `show`.
    #[must_use]
    pub fn to_json(&self) -> String {
        let number = |of: &Fitted| {
            let value = json!({"value": of.value, "low": of.low, "high": of.high, "tied": of.tied});
            (of.key.clone(), value)
        };
        let parameters: Map<String, Value> = self.parameters.iter().map(number).collect();
        let mut rows = Vec::new();
        for (check, uses) in self.checks.iter().zip(&self.uses) {
            for (compared, of) in check.rows.iter().zip(uses) {
                let mut row = check.row(compared);
                row.insert("use".to_owned(), json!(of.word()));
                rows.push(Value::Object(row));
            }
        }
        let left_out: Vec<_> = self
            .checks
            .iter()
            .flat_map(|check| &check.left_out)
            .collect();
        json::text(&json!({
            "manifest": self.manifest.many(),
            "drive": self.checks.first().map(|check| check.measurements.drive()),
            "parameters": parameters,
            "rows": rows,
            "summary": self.summary().iter().map(Summary::value).collect::<Vec<_>>(),
            "left_out": left_out,
        }))
    }
}
