//! Fitting of a profile to measurements of a drive. Some rows determine a few parameters; the other rows judge the
//! result.
//!
//! Each trial changes the parameters of a scaled-down simulated drive. It then repeats the experiments of the rows
//! that are [for fitting](super::split), through the code of [`check`](super::check()). Parameters that follow
//! directly from measured values are computed first: the share that the drive programs for itself from the fill in
//! order, the firmware time from the writes at the lightest load, the read times of the page types from the reads at
//! that load, and the program time from the saturated rate. The remaining parameters are searched one after another,
//! with smaller and smaller steps. The search uses no derivatives, because percentiles are not smooth functions: a
//! median between two modes of a distribution jumps. All trials simulate the same requests, so equal inputs give equal
//! profiles.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::Instant;

use destage_sim::settings::Settings;
use serde_json::{Map, Value, json};

use super::check::{Check, CheckPlan, Compared, Ready, Summary, check_from, summed};
use super::experiment::States;
use super::knobs::{
    BLOCKS, BUFFER, BURST, BUS, CORES, DIES, DRAM, FIRMWARE, FIRMWARE_READ, JOB, JOB_READ, Knobs,
    LOADED, LOADED_PAGES, OWN, PROGRAM, PULSE, READ, RETRIES, RETRY, SLEEP, SUSPEND, SUSPENSION,
    TAIL, UNIT,
};
use super::linear::inverse;
use super::loads;
use super::measured::{Measurements, Shape};
use super::readings::{AMPLIFICATION, FILL_RATE};
use super::scaled::Scale;
use super::split::{Use, of_rows};
use super::traits::traits;
use crate::compare::Effort;
use crate::error::Error;
use crate::json;
use crate::manifest::Manifest;

/// How a profile is fitted.
#[derive(Clone, Debug)]
pub struct FitPlan {
    /// The settings at which the fit begins: a profile with the changes of the user.
    pub start: Settings,
    /// The name of the profile at which the fit begins. The new profile mentions it in its `source`.
    pub name: String,
    /// The size of the simulated drive.
    pub scale: Scale,
    /// The number of measured requests for each load of a trial. The final comparison uses the same number.
    pub requests: u64,
    /// Whether the fit uses all rows, so that no row is left to judge the profile.
    pub all_rows: bool,
}

impl FitPlan {
    /// A plan with the default scale and 200 000 measured requests for each load. Some rows are reserved for judging.
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

/// A parameter that was fitted.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The name of the parameter. If the parameter has several numbers, `/1`, `/2`, ... after the name is the
    /// position of the fitted number.
    pub key: String,
    /// The fitted value, in the unit of the parameter.
    pub value: f64,
    /// The lower end of the confidence interval: two standard errors below the value, on a logarithmic scale. If the
    /// rows do not determine the value, the interval extends to the bounds of the search.
    pub low: f64,
    /// The upper end of the interval; see `low`.
    pub high: f64,
    /// Other parameters that can compensate a change of this parameter, so that the rows cannot separate them.
    pub tied: Vec<String>,
}

/// A fitted profile, with its comparison with the measurements.
#[derive(Clone, Debug)]
pub struct Fit {
    /// How the fit was computed.
    pub manifest: Manifest,
    /// The fitted parameters, at most 16.
    pub parameters: Vec<Fitted>,
    /// The comparison of the profile with each file. Rows that were used for fitting do not count in the summary.
    pub checks: Vec<Check>,
    /// The use of each value of each comparison.
    pub uses: Vec<Vec<Use>>,
    /// The text of the profile, as a TOML file.
    pub profile: String,
    /// The number of trials.
    pub trials: u64,
}

/// Fits a profile to `files`, which have to be measurements of one drive, each of another experiment.
///
/// # Errors
/// If a row or a setting is wrong, if there are no files, files of several drives, several files of one experiment or
/// no rows to fit to, or if `effort.progress` asked to stop.
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
    for (place, file) in files.iter().enumerate() {
        let mut earlier = files[..place].iter();
        if let Some(other) = earlier.find(|other| other.shape == file.shape) {
            return Err(Error::Input(format!(
                "{}: is of the experiment {}, as is {}; expected one file for each experiment",
                file.file,
                file.shape.words(),
                other.file
            )));
        }
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
    let knobs = Knobs::new(&plan.start, &shapes, used, &traits(&fitted)?);
    // A wrong cell of any row is found before the search, even if the row only judges the profile.
    let first = CheckPlan {
        settings: knobs.settings(&knobs.begin()?),
        scale: plan.scale,
        requests: plan.requests,
    };
    for file in &files {
        Ready::new(file, &first)?;
    }
    let mut search = Search {
        knobs,
        files: fitted,
        plan,
        effort,
        states: States::default(),
        seen: BTreeMap::new(),
        trials: 0,
    };
    let mut numbers = search.run()?;
    search.knobs.drop_absent(&mut numbers);
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
    for file in files {
        let mut check = check_from(&states, file, &judge, effort)?;
        let of_values = match plan.all_rows {
            true => vec![Use::Fit; check.rows.len()],
            false => check.uses()?,
        };
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

/// A copy of `file` with only the rows that are for fitting.
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

/// The error of one value in a trial.
#[derive(Clone)]
struct Off {
    /// The line of the value's row in the file.
    line: u64,
    /// The measured quantity.
    what: String,
    /// The logarithm of modelled / measured, divided by the allowed error. So modelled
    /// values of twice and of half the measured value have errors of the same size, with opposite signs.
    error: f64,
    /// The measured value minus the modelled one, in the unit of the file. If the measurement was repeated, the
    /// nearer end of the measured range counts, and the difference is 0 within the range.
    lacks: f64,
}

impl Off {
    /// Whether this is the error of the same value as `other`.
    fn is(&self, other: &Self) -> bool {
        self.line == other.line && self.what == other.what
    }
}

/// The errors of a trial, in the order of the rows.
type Errors = Vec<Off>;

/// The measured values whose errors a step of the search reduces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Values {
    /// All values of all experiments but fills.
    Others,
    /// All values of fills.
    Fills,
    /// The write amplification of fills.
    Amplification,
    /// The rates of fills.
    FillRates,
}

/// The allowed error of a quantity: as a fraction of the measured value, and as an amount in the unit of the file.
/// The larger of the two applies. `None` if the quantity is not fitted.
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
        AMPLIFICATION => (0.01, 0.0),
        FILL_RATE => (0.02, 0.0),
        "randread iops" | "randwrite iops" | "seq read iops" | "seq write iops" => (0.05, 0.0),
        "randread p50" | "randwrite p50" | "randread p99" | "randwrite p99" | "seq read p50"
        | "seq write p50" | "seq read p99" | "seq write p99" => (0.08, 0.0),
        "rbps" | "rseqiops" | "rrandiops" | "wbps" | "wseqiops" => (0.05, 0.0),
        _ => return None,
    })
}

/// The part of an error beyond this many allowed errors counts only logarithmically. Otherwise a property that the
/// model cannot reproduce would distort all parameters.
const FAR: f64 = 12.0;
/// Step factors of the first search. They are coarse because the search may begin far from the solution.
const COARSE_STEPS: [f64; 2] = [1.5, 1.2];
/// Step factors for refinement; see [`COARSE_STEPS`].
const FINE_STEPS: [f64; 1] = [1.1];
/// Step factors of the last refinement; see [`COARSE_STEPS`].
const LAST_STEPS: [f64; 1] = [1.04];
/// Step factors of the search for the number of blocks, and those of its refinement. A hundredth of the blocks changes
/// the write amplification by about as much.
const BLOCK_STEPS: [f64; 3] = [1.2, 1.05, 1.02];
const LAST_BLOCK_STEPS: [f64; 2] = [1.01, 1.004];
/// The largest number of times that parameters are computed from measured values in one call.
const READINGS: usize = 3;
/// The percentiles that give the read times of the three page types. Each type has a third of the reads, and few
/// reads have to wait at a light load.
const TYPES: [&str; 3] = ["read p10", "read p50", "read p75"];
/// The quantity that gives the program time.
const RATE: &str = "saturated writes_per_s";
/// Starting points of the search for the times of program suspension. Each has the fixed time of a suspension and the
/// time of a program pulse, in microseconds.
const SUSPENSIONS: [(f64, f64); 6] = [
    (5.0, 1.0),
    (5.0, 40.0),
    (50.0, 20.0),
    (90.0, 10.0),
    (10.0, 150.0),
    (50.0, 100.0),
];
/// Factors on the program tail. The slowest reads give a first estimate of the tail. The true tail may be longer than
/// this estimate, because few reads arrive in the tail of a program.
const TAILS: [f64; 3] = [1.0, 2.0, 4.0];
/// Starting points of the search for bursts of garbage collection: units of a burst, and bytes of the buffer.
const BURSTS: [f64; 6] = [32.0, 64.0, 128.0, 256.0, 512.0, 1024.0];
const BUFFERS: [f64; 5] = [0.5e6, 1e6, 2e6, 4e6, 8e6];
/// Starting points of the search for the number of firmware cores.
const FIRMWARE_CORES: [f64; 4] = [1.0, 2.0, 3.0, 4.0];
/// The largest number of firmware cores that a fit tries.
const MOST_CORES: f64 = 256.0;
/// The first estimates of two shares: of the firmware in the time of a single read, and of the pages that are read again, in
/// percent.
const OF_FIRMWARE: f64 = 0.2;
const FIRST_RETRIES: f64 = 2.0;
/// Sectors of 512 bytes in a request of the smallest size.
const SECTORS: f64 = 8.0;
/// The search continues from this many of the best starting points.
const STARTS: usize = 3;
/// The largest number of times that a step is repeated in one direction.
const REPEATS: u32 = 4;
/// A trial counts as better only if its loss is below this fraction of the best loss. A smaller difference may be
/// chance.
const BETTER: f64 = 0.995;
/// Another number of dies counts as better only if its loss is below this fraction of the best loss. The limit is
/// strict because few rows depend on the number of dies.
const CLEARLY_BETTER: f64 = 0.9;
/// Trials of coarse steps simulate the planned number of requests divided by this number.
const COARSE: u64 = 3;
/// The step factor with which the sensitivity of the errors is measured.
const PROBE: f64 = 1.08;
/// The same for the number of dies. With another factor the dies could not be divided among the channels of the profile,
/// and their number would change as well.
const PROBE_DIES: f64 = 2.0;

/// Rounds `number` to six significant digits, which is more than the precision of a measurement.
fn rounded(number: f64) -> f64 {
    format!("{number:.5e}").parse().unwrap_or(number)
}

struct Search<'a> {
    knobs: Knobs,
    /// The rows for fitting, by file.
    files: Vec<Measurements>,
    plan: &'a FitPlan,
    effort: &'a Effort<'a>,
    states: States,
    /// The errors of all trials. The key has the number of requests, whether the trial was of fill experiments, and
    /// the bits of the parameters.
    seen: BTreeMap<(u64, bool, Vec<u64>), Option<Errors>>,
    trials: u64,
}

/// The smallest ratio of modelled to measured value. A smaller ratio counts as this ratio.
const NOTHING: f64 = 1e-6;

/// The contribution of an error to the loss; beyond [`FAR`] it grows only logarithmically.
fn counted(error: f64) -> f64 {
    match error.abs() {
        near if near <= FAR => error,
        far => (FAR * (1.0 + (far / FAR).ln())).copysign(error),
    }
}

/// The loss of a trial: the sum of the contributions of `errors`. It is infinite if no drive can have the parameters
/// of the trial.
fn loss(errors: Option<&Errors>) -> f64 {
    errors.map_or(f64::INFINITY, |errors| {
        errors.iter().map(|off| counted(off.error).abs()).sum()
    })
}

impl Search<'_> {
    /// The errors of `values` of the drive with the parameters `numbers`; `None` if no drive can have these parameters.
    fn errors(
        &mut self,
        numbers: &[f64],
        values: Values,
        requests: u64,
    ) -> Result<Option<Errors>, Error> {
        let found = self.simulated(numbers, values != Values::Others, requests)?;
        let is_wanted = |off: &Off| match values {
            Values::Others | Values::Fills => true,
            Values::Amplification => off.what == AMPLIFICATION,
            Values::FillRates => off.what != AMPLIFICATION,
        };
        Ok(found.map(|errors| errors.into_iter().filter(is_wanted).collect()))
    }

    /// The errors of all simulated values, like [`Self::errors`]. If `fills` is true, only fill experiments are
    /// simulated; otherwise all experiments except fills are simulated.
    fn simulated(
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
                // No drive can have these parameters: it would be too small for the used capacity, or would have
                // fewer blocks than the layer needs.
                Err(Error::Config(_) | Error::DeviceFull(_)) => {
                    found = None;
                    break;
                }
                Err(error) => return Err(error),
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

    /// Searches for the parameters with the smallest loss.
    fn run(&mut self) -> Result<Vec<f64>, Error> {
        let mut numbers = self.knobs.begin()?;
        let (coarse, fine) = (self.plan.requests / COARSE, self.plan.requests);
        let has = |shape| self.files.iter().any(|file| file.shape == shape);
        let (has_fills, has_latency) = (has(Shape::Fill), has(Shape::Latency));
        let has_others = self.files.iter().any(|file| file.shape != Shape::Fill);
        if has_fills {
            let place = |key: &str| self.knobs.find(key).into_iter().collect::<Vec<_>>();
            let (blocks, program) = (place(BLOCKS), place(PROGRAM));
            if !has_others {
                numbers = self.at_fill_rate(&numbers)?;
            }
            let steps = [&BLOCK_STEPS[..], &LAST_BLOCK_STEPS].concat();
            self.descend(&mut numbers, &blocks, Values::Amplification, coarse, &steps)?;
            if !has_others {
                // A drive with shorter programs collects garbage earlier, and so programs a little more.
                let steps = [&COARSE_STEPS[1..], &FINE_STEPS, &LAST_STEPS].concat();
                self.descend(&mut numbers, &program, Values::FillRates, coarse, &steps)?;
                let steps = &LAST_BLOCK_STEPS;
                self.descend(&mut numbers, &blocks, Values::Amplification, coarse, steps)?;
                self.descend(
                    &mut numbers,
                    &program,
                    Values::FillRates,
                    coarse,
                    &LAST_STEPS,
                )?;
            }
        }
        if !has_others {
            return Ok(numbers);
        }
        let is_other = |key: &str| ![BLOCKS, OWN, DIES].contains(&key);
        let others: Vec<_> = (0..numbers.len())
            .filter(|place| is_other(self.knobs.all()[*place].key))
            .collect();
        if has_latency {
            self.begin(&mut numbers, coarse)?;
            let searched = self.searched();
            self.dies(&mut numbers, coarse)?;
            self.read_off(&mut numbers, fine)?;
            self.descend(&mut numbers, &searched, Values::Others, fine, &FINE_STEPS)?;
            self.descend(&mut numbers, &others, Values::Others, fine, &LAST_STEPS)?;
        } else {
            let estimate = self.rates(&numbers)?;
            let mut loss_of = |numbers: &[f64]| {
                Ok::<_, Error>(loss(self.errors(numbers, Values::Others, coarse)?.as_ref()))
            };
            if loss_of(&estimate)? < loss_of(&numbers)? {
                numbers = estimate;
            }
            self.limits(&mut numbers, &others, coarse)?;
            self.descend(&mut numbers, &others, Values::Others, fine, &FINE_STEPS)?;
            self.descend(&mut numbers, &others, Values::Others, fine, &LAST_STEPS)?;
        }
        Ok(numbers)
    }

    /// The indices of the parameters that do not follow directly from measured values. They describe program
    /// suspension, bursts of garbage collection, the buffer size, and the effects of the load.
    fn searched(&self) -> Vec<usize> {
        let others = [BURST, BUFFER, LOADED, LOADED_PAGES, DRAM];
        let is_searched = |key: &str| key.starts_with(SUSPENSION) || others.contains(&key);
        (0..self.knobs.all().len())
            .filter(|place| is_searched(self.knobs.all()[*place].key))
            .collect()
    }

    /// The line numbers of the rows at the lightest load, and the measured time of `op` at `percentile` under this
    /// load, in microseconds.
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
                if file.text(row, "op") == op && loads::percentile(file, row)? == percentile {
                    figure = Some(file.number(row, "us_median_of_3")?);
                }
            }
        }
        Ok((lines, figure))
    }

    /// Computes the parameters that follow directly from measured values: the firmware time from the median of the
    /// writes at the lightest load, the read times of the page types from percentiles of the reads at that load, and
    /// the program time from the saturated rate, to which it is inversely proportional. In the model, a response time
    /// also contains times other than the parameter. The parameter is therefore corrected by the difference between
    /// measurement and trial. The parameters of the best trial replace `numbers`.
    fn read_off(&mut self, numbers: &mut Vec<f64>, requests: u64) -> Result<(), Error> {
        let (light, _) = self.lightest("write", "50")?;
        let mut best = loss(self.errors(numbers, Values::Others, requests)?.as_ref());
        let mut trial = numbers.clone();
        for _ in 0..READINGS {
            let Some(errors) = self.errors(&trial, Values::Others, requests)? else {
                break;
            };
            let lacks = |what: &str| {
                let mut errors = errors.iter();
                let found = errors.find(|off| off.what == what && light.contains(&off.line));
                found.map_or(0.0, |off| off.lacks)
            };
            let before = trial.clone();
            // The firmware time is also part of a read.
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
            let found = loss(self.errors(&trial, Values::Others, requests)?.as_ref());
            if found < best {
                (best, *numbers) = (found, trial.clone());
            }
        }
        Ok(())
    }

    /// Makes the coarse steps. Beside the times of the profile, the search tries several starting points for the
    /// suspension times, because small steps cannot lead from one to another. For each starting point, the times that
    /// follow directly from measured values are computed. The search continues from the best starting points. The
    /// slowest reads at the lightest load give the first estimate of the program tail.
    fn begin(&mut self, numbers: &mut Vec<f64>, requests: u64) -> Result<(), Error> {
        self.read_off(numbers, requests)?;
        let searched = self.searched();
        let [Some(fixed), Some(pulse), Some(tail)] =
            [SUSPEND, PULSE, TAIL].map(|key| self.knobs.find(key))
        else {
            return self.descend(numbers, &searched, Values::Others, requests, &COARSE_STEPS);
        };
        let (_, most) = self.lightest("read", "99.9")?;
        let (_, many) = self.lightest("read", "99")?;
        let (_, median) = self.lightest("read", "50")?;
        let mut best = loss(self.errors(numbers, Values::Others, requests)?.as_ref());
        let mut starts = vec![(best, numbers.clone())];
        let mut estimate = numbers.clone();
        if let (Some(most), Some(median)) = (most.or(many), median) {
            let (low, high) = self.knobs.all()[tail].bounds;
            estimate[tail] = rounded(most - median).clamp(low, high);
        }
        for longer in TAILS {
            for (own, of_pulse) in SUSPENSIONS {
                let mut trial = estimate.clone();
                (trial[fixed], trial[pulse]) = (own, of_pulse);
                let (low, high) = self.knobs.all()[tail].bounds;
                trial[tail] = rounded(trial[tail] * longer).clamp(low, high);
                self.read_off(&mut trial, requests)?;
                let found = loss(self.errors(&trial, Values::Others, requests)?.as_ref());
                starts.push((found, trial));
            }
        }
        starts.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        for (_, mut trial) in starts.into_iter().take(STARTS) {
            self.descend(
                &mut trial,
                &searched,
                Values::Others,
                requests,
                &COARSE_STEPS,
            )?;
            let found = loss(self.errors(&trial, Values::Others, requests)?.as_ref());
            if found < best {
                (best, *numbers) = (found, trial);
            }
        }
        self.bursts(numbers, requests)
    }

    /// Tries pairs of a length of bursts of garbage collection and a size of the buffer, and searches from the best
    /// pair. Both together decide how long writes stall, so steps of one alone cannot find a better pair.
    fn bursts(&mut self, numbers: &mut Vec<f64>, requests: u64) -> Result<(), Error> {
        let (Some(burst), Some(buffer)) = (self.knobs.find(BURST), self.knobs.find(BUFFER)) else {
            return Ok(());
        };
        let mut best = loss(self.errors(numbers, Values::Others, requests)?.as_ref());
        let before = numbers.clone();
        for units in BURSTS {
            for bytes in BUFFERS {
                let mut trial = before.clone();
                (trial[burst], trial[buffer]) = (units, bytes);
                self.read_off(&mut trial, requests)?;
                let found = loss(self.errors(&trial, Values::Others, requests)?.as_ref());
                if found < best {
                    (best, *numbers) = (found, trial);
                }
            }
        }
        let searched = self.searched();
        self.descend(numbers, &searched, Values::Others, requests, &COARSE_STEPS)
    }

    /// `numbers` with the program time with which all dies together program at the highest rate of a fill.
    fn at_fill_rate(&self, numbers: &[f64]) -> Result<Vec<f64>, Error> {
        let mut most = 0.0_f64;
        for file in self.files.iter().filter(|file| file.shape == Shape::Fill) {
            for row in &file.rows {
                most = most.max(file.number(row, FILL_RATE)?);
            }
        }
        let bytes_per_s = most * f64::from(1 << 20);
        let time = 1e6 * self.of_all_dies(numbers)? / bytes_per_s;
        let program = self.knobs.find(PROGRAM).filter(|_| time.is_finite());
        let changes: Vec<_> = program.into_iter().map(|place| (place, time)).collect();
        Ok(self.changed(numbers, &changes))
    }

    /// The bytes of one program unit of each plane of each die of the drive with the parameters `numbers`.
    fn of_all_dies(&self, numbers: &[f64]) -> Result<f64, Error> {
        let config = self.knobs.settings(numbers).resolve()?;
        let flash = &config.typed.flash;
        let geometry = config.geometry();
        let planes = f64::from(geometry.dies) * f64::from(geometry.planes);
        Ok(planes * f64::from(flash.program_unit.max(1)) * flash.page_bytes as f64)
    }

    /// Computes the first values of the parameters that saturated rates determine. Each rate is assumed to be limited by
    /// one resource: bandwidth by the bus or by programs, requests of 4 KiB by a firmware core, and random reads also by
    /// page reads. Returns `numbers` with these values.
    fn rates(&self, numbers: &[f64]) -> Result<Vec<f64>, Error> {
        let mut found = numbers.to_vec();
        let file = self.files.iter().find(|file| file.shape == Shape::Rates);
        let Some((file, row)) = file.and_then(|file| Some((file, file.rows.first()?))) else {
            return Ok(found);
        };
        let rate = |column: &str| file.positive(row, column);
        let config = self.knobs.settings(numbers).resolve()?;
        let dies = f64::from(config.geometry().dies);
        let sectors = rate("rbps")?.max(rate("wbps")?) / 512.0;
        for (key, number) in [
            (BUS, 1e9 / sectors),
            (FIRMWARE, 1e9 / rate("wseqiops")?),
            (
                FIRMWARE_READ,
                1e9 / rate("rseqiops")?.max(rate("rrandiops")?),
            ),
            (READ, 1e6 * dies / rate("rrandiops")?),
            (PROGRAM, 1e6 * self.of_all_dies(numbers)? / rate("wbps")?),
        ] {
            if let Some(place) = self.knobs.find(key) {
                let (low, high) = self.knobs.all()[place].bounds;
                found[place] = rounded(number).clamp(low, high);
            }
        }
        Ok(found)
    }

    /// Makes the coarse steps for drives without measured latencies over load. If the files have a queue depth
    /// experiment, the search begins from several assumptions on what limits the rate. The first assumption is that
    /// the firmware limits the rate; it is tried with several numbers of cores beside that of the profile. All cores
    /// together handle requests at the highest measured rate, so with more cores each request takes longer, and steps of
    /// one of the two parameters alone would change the rate. The second assumption is that the bus limits the rate; then
    /// there are as many cores as there can be requests, so that the firmware time is a delay. The last assumptions are that the thread of the host that issues the requests limits the rate of reads,
    /// or of all requests.
    fn limits(
        &mut self,
        numbers: &mut Vec<f64>,
        places: &[usize],
        requests: u64,
    ) -> Result<(), Error> {
        // The highest rate of reads, and that of writes.
        let mut most = [0.0_f64; 2];
        for file in self.files.iter().filter(|file| file.shape == Shape::Depth) {
            for row in &file.rows {
                let of_op = usize::from(file.text(row, "op").contains("write"));
                most[of_op] = most[of_op].max(file.number(row, "iops")?);
            }
        }
        let highest = most[0].max(most[1]);
        let found = [CORES, FIRMWARE, FIRMWARE_READ, BUS].map(|key| self.knobs.find(key));
        let ([Some(cores), Some(firmware), Some(of_read), Some(bus)], true) =
            (found, highest > 0.0)
        else {
            return self.descend(numbers, places, Values::Others, requests, &COARSE_STEPS);
        };
        let gap = 1e9 / highest;
        let mut starts = vec![numbers.clone()];
        starts.extend(FIRMWARE_CORES.map(|count| {
            let time = count * gap;
            self.changed(
                numbers,
                &[(cores, count), (firmware, time), (of_read, time)],
            )
        }));
        let delays = [(cores, MOST_CORES), (firmware, gap), (of_read, gap)];
        starts.push(self.changed(numbers, &[&delays[..], &[(bus, gap / SECTORS)]].concat()));
        let mut best = f64::INFINITY;
        for trial in starts {
            self.better(&mut best, numbers, trial, places, requests)?;
        }
        let (Some(job), Some(job_read)) = (self.knobs.find(JOB), self.knobs.find(JOB_READ)) else {
            return Ok(());
        };
        // A file may have requests of one kind only.
        let [gap_of_reads, gap_of_writes] =
            most.map(|rate| 1e9 / if rate > 0.0 { rate } else { highest });
        for limits_writes in [false, true] {
            let mut changes = self.alone("randread", gap_of_reads, numbers)?;
            changes.push((job_read, gap_of_reads));
            if limits_writes {
                changes.extend(self.alone("randwrite", gap_of_writes, numbers)?);
                changes.extend([(job, gap_of_writes), (cores, MOST_CORES)]);
            }
            let trial = self.changed(numbers, &changes);
            self.better(&mut best, numbers, trial, places, requests)?;
        }
        Ok(())
    }

    /// `numbers` with `changes`: the place of each changed parameter, and its value, which the bounds limit.
    fn changed(&self, numbers: &[f64], changes: &[(usize, f64)]) -> Vec<f64> {
        let mut trial = numbers.to_vec();
        for (place, number) in changes {
            let (low, high) = self.knobs.all()[*place].bounds;
            trial[*place] = rounded(*number).clamp(low, high);
        }
        trial
    }

    /// Makes the coarse steps from `trial`. The result replaces `numbers` if its loss is below `best`.
    fn better(
        &mut self,
        best: &mut f64,
        numbers: &mut Vec<f64>,
        mut trial: Vec<f64>,
        places: &[usize],
        requests: u64,
    ) -> Result<(), Error> {
        self.descend(&mut trial, places, Values::Others, requests, &COARSE_STEPS)?;
        let found = loss(self.errors(&trial, Values::Others, requests)?.as_ref());
        if found < *best {
            (*best, *numbers) = (found, trial);
        }
        Ok(())
    }

    /// First values of the times of a request of the kind `op` that no other request delays, from those of one job at
    /// depth 1, if the host's thread spends `job` nanoseconds on each. For reads: a short time of the firmware, equal times
    /// for all types of page, and a few pages that are read again, which take the time at the 99th percentile. For writes:
    /// the firmware takes all of the median, those that complete a program unit take the time at the 99th percentile, and
    /// the thread needs what remains between two writes to wake up. Empty if there are no such requests.
    fn alone(&self, op: &str, job: f64, numbers: &[f64]) -> Result<Vec<(usize, f64)>, Error> {
        let bus = self.knobs.find(BUS).map_or(0.0, |place| numbers[place]);
        let mut found = Vec::new();
        for file in self.files.iter().filter(|file| file.shape == Shape::Depth) {
            for row in file.rows.iter().filter(|row| file.text(row, "op") == op) {
                let is_one = |column: &str| Ok::<_, Error>(file.number(row, column)? == 1.0);
                if !is_one("iodepth")? || !is_one("jobs")? {
                    continue;
                }
                let [median, slow] = [file.number(row, "p50_us")?, file.number(row, "p99_us")?];
                let inside = (median - SECTORS * bus / 1e3).max(0.0);
                let times = if op == "randread" {
                    let cells = inside * (1.0 - OF_FIRMWARE);
                    let types = (0..TYPES.len()).filter_map(|of| self.knobs.read_time(of));
                    found.extend(types.map(|place| (place, cells)));
                    [
                        (FIRMWARE_READ, 1e3 * inside * OF_FIRMWARE),
                        (RETRIES, FIRST_RETRIES),
                        (RETRY, slow - median),
                    ]
                } else {
                    let between = 1e9 / file.number(row, "iops")? - 1e3 * median;
                    [
                        (FIRMWARE, 1e3 * inside),
                        (UNIT, 1e3 * (slow - median)),
                        (SLEEP, between - job),
                    ]
                };
                let times = times.into_iter();
                found.extend(times.filter_map(|(key, time)| Some((self.knobs.find(key)?, time))));
            }
        }
        Ok(found)
    }

    /// Tries half as many and twice as many dies, and repeats the step while the loss falls clearly. The program time
    /// changes by the same factor as the number of dies, so that the saturated rate remains.
    fn dies(&mut self, numbers: &mut Vec<f64>, requests: u64) -> Result<(), Error> {
        let (Some(dies), Some(program)) = (self.knobs.find(DIES), self.knobs.find(PROGRAM)) else {
            return Ok(());
        };
        let blocks = self.knobs.find(BLOCKS);
        // The program time changes how long reads wait for programs, so the suspension times are searched again.
        let reads: Vec<_> = (0..numbers.len())
            .filter(|place| self.knobs.all()[*place].key.starts_with(SUSPENSION))
            .collect();
        let mut best = loss(self.errors(numbers, Values::Others, requests)?.as_ref());
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
                self.descend(
                    &mut trial,
                    &reads,
                    Values::Others,
                    requests,
                    &COARSE_STEPS[1..],
                )?;
                let found = loss(self.errors(&trial, Values::Others, requests)?.as_ref());
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

    /// Changes the parameters at `places` one after another: multiplies or divides each by each of `steps`, as long
    /// as the loss falls.
    fn descend(
        &mut self,
        numbers: &mut [f64],
        places: &[usize],
        values: Values,
        requests: u64,
        steps: &[f64],
    ) -> Result<(), Error> {
        let mut best = loss(self.errors(numbers, values, requests)?.as_ref());
        let places: Vec<_> = places
            .iter()
            .filter(|place| !self.knobs.is_absent(numbers, **place))
            .collect();
        for step in steps {
            for &&place in &places {
                for factor in [*step, 1.0 / step] {
                    let mut has_moved = false;
                    for _ in 0..REPEATS {
                        let before = numbers[place];
                        let after = self.stepped(place, before, factor);
                        if after == before {
                            break;
                        }
                        numbers[place] = after;
                        let found = loss(self.errors(numbers, values, requests)?.as_ref());
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

    /// The value of the parameter at `place` after a step from `number` by `factor`, limited to the bounds of the
    /// parameter.
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

    /// The confidence interval of each parameter, computed from the sensitivity of the errors to the parameter.
    fn intervals(&mut self, numbers: &[f64]) -> Result<Vec<Fitted>, Error> {
        let requests = self.plan.requests;
        let count = numbers.len();
        let names: Vec<String> = (0..count).map(|place| self.name(place)).collect();
        // The errors of all experiments; `None` if no drive can have these parameters.
        let both = |search: &mut Self, numbers: &[f64]| -> Result<Option<Errors>, Error> {
            let mut all = Some(Vec::new());
            for values in [Values::Others, Values::Fills] {
                let some = search.errors(numbers, values, requests)?;
                all = all.zip(some).map(|(all, some)| [all, some].concat());
            }
            Ok(all)
        };
        let here = both(self, numbers)?.unwrap_or_default();
        let mut slopes = Vec::new();
        for place in 0..count {
            let mut ends = Vec::new();
            let probe = match self.knobs.all()[place].key {
                DIES => PROBE_DIES,
                _ => PROBE,
            };
            for factor in [probe, 1.0 / probe] {
                let mut trial = numbers.to_vec();
                trial[place] = self.stepped(place, numbers[place], factor);
                // If no drive can have the value of a probe, the slope is that between the fit and the other probe.
                ends.push(match both(self, &trial)? {
                    Some(errors) => ((trial[place] / numbers[place]).ln(), errors),
                    None => (0.0, here.clone()),
                });
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
        // The standard deviation of an error is assumed to be at least half of the allowed error.
        let variance = (squares / free).max(0.25);
        let product = |one: &[f64], other: &[f64]| -> f64 {
            one.iter().zip(other).map(|(one, other)| one * other).sum()
        };
        let mut normal: Vec<Vec<f64>> = slopes
            .iter()
            .map(|one| slopes.iter().map(|other| product(one, other)).collect())
            .collect();
        for (place, row) in normal.iter_mut().enumerate() {
            // The prior: on a logarithmic scale, each parameter is assumed to have a standard deviation of 10.
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

/// The profile of `settings` as the text of a TOML file, with every parameter that is set.
fn profile(settings: &Settings, drive: &str, source: &str) -> String {
    let mut sections: BTreeMap<&str, Vec<(&str, String)>> = BTreeMap::new();
    for key in settings.keys() {
        let (Some((section, name)), Some(text)) = (key.split_once('.'), settings.text(key)) else {
            continue;
        };
        let value = toml_of(&text);
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

/// The setting `text` as a value of TOML, whose numbers have fewer forms than those of settings.
fn toml_of(text: &str) -> String {
    let read = format!("x = {text}").parse::<toml::Table>();
    let is_bare = read.is_ok_and(|table| match table.get("x") {
        Some(toml::Value::Integer(_) | toml::Value::Boolean(_)) => true,
        Some(toml::Value::Float(number)) => number.is_finite(),
        _ => false,
    });
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    match (is_bare, number) {
        (true, _) => text.to_owned(),
        (false, Some(number)) => toml::Value::Float(number).to_string(),
        (false, None) => quoted(text),
    }
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

impl Fit {
    /// A summary, for each measured quantity, of the errors of the rows that judge the profile. It covers all files.
    #[must_use]
    pub fn summary(&self) -> Vec<Summary> {
        summed(self.checks.iter().flat_map(|check| &check.rows))
    }

    /// `{"manifest", "drive", "parameters", "rows", "summary", "left_out"}`: the output of `destage drive fit
    /// --json`. A row has the fields of a row of [`Check::to_json`], and `"use"`, which is `fit`, `judge` or `show`.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Settings accept more forms of a number than TOML does. A written profile has the same values.
    #[test]
    fn a_profile_is_read_as_it_was_set() {
        for (text, expected) in [
            (".3e4", "3000.0"),
            ("096", "96.0"),
            ("3000", "3000"),
            ("0.5", "0.5"),
            ("true", "true"),
            ("64MiB", "\"64MiB\""),
            ("40/48/50", "\"40/48/50\""),
            ("auto", "\"auto\""),
        ] {
            assert_eq!(toml_of(text), expected, "{text}");
        }
        let mut start = Settings::new();
        start.set_pair("flash.pages_per_block=096").unwrap();
        start.set_pair("flash.erase_us=.3e4").unwrap();
        let mut read = Settings::new();
        let origin = destage_sim::settings::Origin::Given("a test".to_owned());
        read.load_toml(&profile(&start, "D", "here"), &origin)
            .unwrap();
        let parameters = |settings: &Settings| settings.resolve().unwrap().parameters();
        assert_eq!(parameters(&read), parameters(&start));
    }
}
