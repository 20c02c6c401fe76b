//! Comparison of a profile with measurements: the experiments of a file of measurements are repeated on a
//! simulated drive.

use std::time::Instant;

use destage_sim::settings::Settings;
use destage_trace::Operation;
use serde_json::{Map, Value, json};

use super::experiment::{BLOCK, Bench, Course, Load, OF_STREAM, Pattern, STREAMS, States, Steady};
use super::measured::{Measurements, Shape};
use super::readings::{self, AtDepth, Fill, Interval, Latency, Reading, USED};
use super::scaled::{Buffer, FullSize, GIB, Scale, Scaled};
use crate::compare::Effort;
use crate::csv;
use crate::error::Error;
use crate::json;
use crate::manifest::Manifest;
use crate::side_by_side::{Found, side_by_side};

/// The largest number of outstanding requests in `latency.csv`: seven streams with a queue depth of 64.
pub(super) const LATENCY_DEPTH: u64 = STREAMS * OF_STREAM;
/// The reads per second, and also the writes per second, of the stream that has the same rate at every load.
pub(super) const STREAM_PER_S: f64 = 5000.0;
/// The fraction of writes among the requests of all other streams.
pub(super) const WRITE_SHARE: f64 = 0.99;
/// A load saturates a drive that writes less than this fraction of the offered writes. A load counts as below saturation
/// if its write rate is less than this fraction of the saturated write rate.
pub(super) const SATURATED: f64 = 0.98;
/// Outstanding requests while a drive is filled.
const FILL_DEPTH: u64 = 512;
/// Outstanding requests at which a rate is saturated: for requests of 4 KiB, and for requests of [`RATE_BYTES`].
pub(super) const RATE_DEPTHS: [u64; 2] = [256, 32];
/// The column of the rate of random writes.
pub(super) const RANDOM_WRITES: &str = "wrandiops";
/// Bytes of a request in the experiments that measure a saturated bandwidth.
pub(super) const RATE_BYTES: u64 = 128 << 10;

/// How a profile is compared with measurements.
#[derive(Clone, Debug)]
pub struct CheckPlan {
    /// The settings of the drive: a profile with the changes of the user.
    pub settings: Settings,
    /// The size of the simulated drive.
    pub scale: Scale,
    /// The number of measured requests of each load; half as many warm-up requests precede them.
    pub requests: u64,
}

impl CheckPlan {
    /// A plan with the default scale, and 400 000 measured requests for each load.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            scale: Scale::default(),
            requests: 400_000,
        }
    }
}

/// One measured value with the corresponding value of the model.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The index of its row in [`Check::measurements`].
    pub row: usize,
    /// The measured quantity, such as `read p99` or `waf`.
    pub what: String,
    /// The measured value, in the unit of the file.
    pub measured: f64,
    /// The value of the model, in the same unit; `None` if the model cannot do the experiment.
    pub modelled: Option<f64>,
    /// The error of the model, as a fraction of the measured value. If the modelled value is within the range of the
    /// measured repetitions, the error is 0. Otherwise the error is the distance from the nearer end of that range,
    /// and is positive if the modelled value is too high. `None` without a modelled value.
    pub error: Option<f64>,
    /// The distance of the modelled value from the range of the measured repetitions, in the unit of the file.
    pub off: Option<f64>,
    /// Whether the row counts in the summary. A latency counts only if its load is below saturation.
    pub counts: bool,
}

/// The errors of all rows that measure the same quantity.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The measured quantity.
    pub what: String,
    /// The number of rows.
    pub rows: usize,
    /// The median of the absolute errors, as a fraction of the measured value. For an even number of rows it is the mean
    /// of the middle two.
    pub median: f64,
    /// The 90th percentile of the absolute errors, as a fraction of the measured value.
    pub p90: f64,
}

/// A profile compared with a file of measurements.
#[derive(Clone, Debug)]
pub struct Check {
    /// How the comparison was computed.
    pub manifest: Manifest,
    /// The measurements of the drive.
    pub measurements: Measurements,
    /// The compared values, in the order of the file.
    pub rows: Vec<Compared>,
    /// The experiments that could not be done, with the reason; one sentence each.
    pub left_out: Vec<String>,
}

/// Compares the drive of `plan` with `measurements`. Their experiments are repeated on a scaled-down simulated drive.
///
/// # Errors
/// If a row of the measurements or a setting is wrong, or if `effort.progress` asked to stop.
pub fn check(
    measurements: Measurements,
    plan: &CheckPlan,
    effort: &Effort<'_>,
) -> Result<Check, Error> {
    check_from(&States::default(), measurements, plan, effort)
}

/// Does the same as [`check`], but reuses the drive states that earlier calls have stored in `states`.
pub(super) fn check_from(
    states: &States,
    measurements: Measurements,
    plan: &CheckPlan,
    effort: &Effort<'_>,
) -> Result<Check, Error> {
    let started = Instant::now();
    let ready = Ready::new(&measurements, plan)?;
    let mut work = Work {
        plan,
        states,
        effort,
        rows: Vec::new(),
        left_out: Vec::new(),
    };
    match ready {
        Ready::Latency(latency, drive) => work.latency(latency, &drive)?,
        Ready::Fill(fill, drives) => work.fill(fill, &drives)?,
        Ready::Depth(loads, drive) => work.depth(loads, &drive)?,
        Ready::Rates(rates, drive) => work.rates(rates, &drive)?,
    }
    let Work {
        mut rows, left_out, ..
    } = work;
    rows.sort_by_key(|compared| compared.row);
    let mut manifest = Manifest::of_study(started);
    manifest.seed = plan.settings.resolve()?.typed.sim.seed;
    Ok(Check {
        manifest,
        rows,
        left_out,
        measurements,
    })
}

/// An experiment that is ready to be repeated, with the scaled-down drives on which it is repeated.
pub(super) enum Ready {
    Latency(Latency, Scaled),
    /// A drive for each chain of phases.
    Fill(Fill, Vec<Scaled>),
    Depth(Vec<AtDepth>, Scaled),
    Rates(Vec<(usize, Reading)>, Scaled),
}

impl Ready {
    /// Reads `measurements`, and makes the drives of `plan` on which they are repeated. Nothing is simulated.
    ///
    /// # Errors
    /// If a row of the measurements or a setting is wrong, or if a drive cannot do what a row says.
    pub fn new(measurements: &Measurements, plan: &CheckPlan) -> Result<Self, Error> {
        let drive = || made_small(measurements, plan);
        Ok(match measurements.shape {
            Shape::Latency => Self::Latency(readings::latency(measurements)?, drive()?),
            Shape::Fill => {
                let fill = readings::fill(measurements)?;
                let drives = filled(measurements, &fill, plan)?;
                Self::Fill(fill, drives)
            }
            Shape::Depth => {
                let loads = readings::depth(measurements)?;
                let drive = drive()?;
                let most = drive.used(BLOCK) * BLOCK;
                for (row, of) in measurements.rows.iter().zip(&loads) {
                    if of.load.bytes > most {
                        let cause = Error::Input(format!(
                            "the scaled-down drive offers {most} bytes; expected at most as many"
                        ));
                        return Err(measurements.because(row, "block_bytes", cause));
                    }
                }
                Self::Depth(loads, drive)
            }
            Shape::Rates => Self::Rates(readings::rates(measurements)?, drive()?),
        })
    }
}

/// The scaled-down drive of `plan`. The host uses as much of it as in `measurements`.
fn made_small(measurements: &Measurements, plan: &CheckPlan) -> Result<Scaled, Error> {
    let used_gib = readings::used_gib(measurements)?;
    let drive = FullSize::new(&plan.settings)?;
    let made = drive.made_small(plan.scale, used_gib.map(|gib| gib * GIB), Buffer::SameBytes);
    match (used_gib, measurements.rows.first()) {
        (Some(_), Some(row)) => made.map_err(|cause| measurements.because(row, USED, cause)),
        _ => made,
    }
}

/// A drive whose host writes zones is simulated with all its superblocks, or with this many if it has more. Zones are
/// reduced as superblocks are, so with fewer superblocks there are fewer zones, and a larger share of them is being
/// written. What these zones do not use yet is room for garbage collection.
const ZONED_SUPERBLOCKS: u32 = 1024;

/// The scaled-down drive of `plan` for each chain of `fill`.
fn filled(
    measurements: &Measurements,
    fill: &Fill,
    plan: &CheckPlan,
) -> Result<Vec<Scaled>, Error> {
    let drive = FullSize::new(&plan.settings)?;
    let mut drives = Vec::new();
    for chain in &fill.chains {
        let mut scale = plan.scale;
        let mut phases = chain.phases.iter();
        if phases.any(|(phase, ..)| matches!(phase.pattern, Pattern::Zones { .. })) {
            scale.superblocks = scale.superblocks.max(ZONED_SUPERBLOCKS);
        }
        let made = drive.made_small(scale, Some(chain.used_gib * GIB), Buffer::SameShare);
        let because = |place: usize, column: &str, cause: Error| {
            measurements.because(&measurements.rows[place], column, cause)
        };
        let first = chain.phases.first().map_or(0, |(_, place, _)| *place);
        let made = made.map_err(|cause| because(first, USED, cause))?;
        for (phase, place, _) in &chain.phases {
            let checked = phase.check(&made);
            checked.map_err(|cause| because(*place, "detail", cause))?;
        }
        drives.push(made);
    }
    Ok(drives)
}

struct Work<'a> {
    plan: &'a CheckPlan,
    states: &'a States,
    effort: &'a Effort<'a>,
    rows: Vec<Compared>,
    left_out: Vec<String>,
}

impl Work<'_> {
    fn bench<'d>(&self, drive: &'d Scaled, passes: u64) -> Result<Bench<'d>, Error> {
        let progress = self.effort.progress;
        Bench::new(drive, passes, self.plan.requests, self.states, progress)
    }

    /// The steady states under `loads`, simulated in parallel.
    fn steady(&self, bench: &Bench<'_>, loads: &[Load]) -> Result<Vec<Option<Steady>>, Error> {
        let found = Found::of(loads.len());
        let tasks: Vec<_> = loads.iter().enumerate().collect();
        side_by_side(
            &tasks,
            |_| 1,
            self.effort,
            |(place, load), effort| {
                found.put(*place, bench.steady(**load, effort.progress)?);
                Ok(())
            },
        )?;
        Ok(found.into_vec())
    }

    fn latency(&mut self, latency: Latency, drive: &Scaled) -> Result<(), Error> {
        let bench = self.bench(drive, 3)?;
        let steady = self.steady(&bench, &latency.loads)?;
        for time in latency.times {
            let steady = steady[time.load].as_ref();
            let modelled =
                steady.and_then(|steady| steady.responses.us(time.operation, &time.percentile));
            self.rows.push(time.reading.beside(modelled));
        }
        let rates = steady.iter().flatten().filter_map(|steady| steady.rates);
        let most = rates.map(|[_, writes]| writes).max_by(f64::total_cmp);
        match latency.saturated {
            Some(reading) => self.rows.push(reading.beside(most)),
            None => self.left_out.push(format!(
                "the saturated rate is not compared: at every load the drive writes at least {} % of what is offered",
                100.0 * SATURATED
            )),
        }
        Ok(())
    }

    fn fill(&mut self, fill: Fill, drives: &[Scaled]) -> Result<(), Error> {
        self.left_out.extend(fill.left_out);
        for interval in fill.unmodelled {
            self.interval(interval, None);
        }
        let found = Found::of(fill.chains.len());
        let tasks: Vec<_> = fill.chains.iter().zip(drives).enumerate().collect();
        side_by_side(
            &tasks,
            |_| 1,
            self.effort,
            |(place, (chain, drive)), effort| {
                let phases: Vec<_> = chain.phases.iter().map(|(phase, ..)| *phase).collect();
                let course = Course::new(drive, &phases, FILL_DEPTH, effort.progress)?;
                found.put(*place, course);
                Ok(())
            },
        )?;
        for (chain, course) in fill.chains.into_iter().zip(found.into_vec()) {
            for (number, (_, _, intervals)) in chain.phases.into_iter().enumerate() {
                for interval in intervals {
                    let course = course.as_ref();
                    let modelled = course
                        .and_then(|course| course.between(number, interval.from, interval.to));
                    self.interval(interval, modelled);
                }
            }
        }
        Ok(())
    }

    /// Adds the rows of `interval`, in which the model has these write amplification and rate.
    fn interval(&mut self, interval: Interval, modelled: Option<(f64, f64)>) {
        let [waf, rate] = interval.readings;
        let values = [
            waf.beside(modelled.map(|both| both.0)),
            rate.beside(modelled.map(|both| both.1)),
        ];
        self.rows.extend(values);
    }

    fn depth(&mut self, loads: Vec<AtDepth>, drive: &Scaled) -> Result<(), Error> {
        let bench = self.bench(drive, 3)?;
        let of_bench: Vec<_> = loads.iter().map(|of| of.load).collect();
        let steady = self.steady(&bench, &of_bench)?;
        for (of, steady) in loads.into_iter().zip(&steady) {
            let operation = match of.load.write_percent > 0.0 {
                true => Operation::Write,
                false => Operation::Read,
            };
            let steady = steady.as_ref();
            let us = |percentile: &str| {
                steady.and_then(|steady| steady.responses.us(operation, percentile))
            };
            let [iops, p50, p99] = of.readings;
            self.rows.extend([
                iops.beside(steady.and_then(Steady::per_s)),
                p50.beside(us("50")),
                p99.beside(us("99")),
            ]);
        }
        Ok(())
    }

    fn rates(&mut self, rates: Vec<(usize, Reading)>, drive: &Scaled) -> Result<(), Error> {
        // After sequential writes, the blocks that garbage collection erases have no valid pages. After random
        // writes, such blocks have valid pages. For most rates the drive is therefore only written once in order; for
        // that of random writes it is also overwritten at random.
        let (in_order, at_random) = (self.bench(drive, 0)?, self.bench(drive, 3)?);
        let loads = readings::rate_loads().map(|(_, load)| load);
        let is_random_write = |load: &Load| load.write_percent > 0.0 && !load.sequential;
        let loads_of = |random: bool| {
            let some = loads.iter().copied();
            some.filter(|load| is_random_write(load) == random)
                .collect::<Vec<_>>()
        };
        let mut steady = self.steady(&in_order, &loads_of(false))?;
        steady.extend(self.steady(&at_random, &loads_of(true))?);
        for (of, reading) in rates {
            let scale = match loads[of].bytes {
                RATE_BYTES => RATE_BYTES as f64,
                _ => 1.0,
            };
            let per_s = steady[of].as_ref().and_then(Steady::per_s);
            self.rows
                .push(reading.beside(per_s.map(|per_s| scale * per_s)));
        }
        Ok(())
    }
}

/// A summary of the errors for each measured quantity, from the `rows` that count. The order is that of the first row
/// of each quantity.
pub(super) fn summed<'r>(rows: impl Iterator<Item = &'r Compared>) -> Vec<Summary> {
    let mut groups: Vec<(&str, Vec<f64>)> = Vec::new();
    for compared in rows.filter(|compared| compared.counts) {
        let Some(error) = compared.error else {
            continue;
        };
        match groups.iter_mut().find(|(what, _)| *what == compared.what) {
            Some((_, errors)) => errors.push(error.abs()),
            None => groups.push((&compared.what, vec![error.abs()])),
        }
    }
    let summary = groups.into_iter().map(|(what, mut errors)| {
        errors.sort_by(f64::total_cmp);
        let rows = errors.len();
        Summary {
            what: what.to_owned(),
            rows,
            median: f64::midpoint(errors[(rows - 1) / 2], errors[rows / 2]),
            p90: errors[(9 * rows).div_ceil(10) - 1],
        }
    });
    summary.collect()
}

impl Summary {
    pub(super) fn value(&self) -> Value {
        json!({"what": self.what, "rows": self.rows, "median": self.median, "p90": self.p90})
    }
}

impl Check {
    /// A summary of the errors for each measured quantity, in the order of the file. Only the rows that count are
    /// used.
    #[must_use]
    pub fn summary(&self) -> Vec<Summary> {
        summed(self.rows.iter())
    }

    /// A JSON object with the unchanged columns of the file, `"what"`, `"measured"`, `"modelled"`, `"error"` and
    /// `"counts"`.
    pub(super) fn row(&self, compared: &Compared) -> Map<String, Value> {
        let columns = self.measurements.columns.iter();
        let fields = &self.measurements.rows[compared.row].fields;
        let mut map: Map<String, Value> = columns
            .zip(fields)
            .map(|(column, text)| (column.clone(), json!(text)))
            .collect();
        map.insert("what".to_owned(), json!(compared.what));
        map.insert("measured".to_owned(), json!(compared.measured));
        map.insert("modelled".to_owned(), json!(compared.modelled));
        map.insert("error".to_owned(), json!(compared.error));
        map.insert("counts".to_owned(), json!(compared.counts));
        map
    }

    /// A CSV line for each value: the columns of the file, `what`, `measured`, `modelled`, `error` and `counts`.
    /// The cells `modelled` and `error` are empty if the model has no value.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let added = ["what", "measured", "modelled", "error", "counts"];
        let columns = self.measurements.columns.iter().cloned();
        let head: Vec<_> = columns.chain(added.map(str::to_owned)).collect();
        let mut text = csv::line(&head);
        for compared in &self.rows {
            let number =
                |number: Option<f64>| number.map_or(String::new(), |number| number.to_string());
            let mut fields = self.measurements.rows[compared.row].fields.clone();
            fields.extend([
                compared.what.clone(),
                compared.measured.to_string(),
                number(compared.modelled),
                number(compared.error),
                compared.counts.to_string(),
            ]);
            text.push_str(&csv::line(&fields));
        }
        text
    }

    /// `{"manifest", "drive", "rows", "summary", "left_out"}`: the output of `destage drive check --json`. A row
    /// has the unchanged columns of the file, `"what"`, `"measured"`, `"modelled"`, `"error"` and `"counts"`.
    /// `"modelled"` and `"error"` are `null` if the model has no value.
    #[must_use]
    pub fn to_json(&self) -> String {
        let row = |compared: &Compared| Value::Object(self.row(compared));
        let summary: Vec<_> = self.summary().iter().map(Summary::value).collect();
        json::text(&json!({
            "manifest": self.manifest.many(),
            "drive": self.measurements.drive(),
            "rows": self.rows.iter().map(row).collect::<Vec<_>>(),
            "summary": summary,
            "left_out": self.left_out,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(error: f64) -> Compared {
        Compared {
            row: 0,
            what: "read p50".to_owned(),
            measured: 1.0,
            modelled: Some(1.0 + error),
            error: Some(error),
            off: Some(error.abs()),
            counts: true,
        }
    }

    #[test]
    fn the_median_of_an_even_number_of_errors_is_between_the_middle_two() {
        for (errors, median, p90) in [
            (vec![0.25], 0.25, 0.25),
            (vec![0.25, -0.75], 0.5, 0.75),
            (vec![3.0, 1.0, 2.0], 2.0, 3.0),
            (vec![4.0, 1.0, 2.0, 3.0], 2.5, 4.0),
            ((1..=10).map(f64::from).collect(), 5.5, 9.0),
        ] {
            let rows: Vec<_> = errors.iter().copied().map(compared).collect();
            let of = &summed(rows.iter())[0];
            assert_eq!((of.rows, of.median, of.p90), (errors.len(), median, p90));
        }
    }

    /// A drive with zones has the superblocks of the full drive, so the share of active zones is that of the full drive.
    #[test]
    fn a_drive_with_zones_is_not_reduced_to_few_superblocks() {
        let columns = [
            "drive",
            "run",
            "started",
            "used_gib",
            "pattern",
            "detail",
            "block_bytes",
            "drive_writes",
            "waf",
            "host_mib_per_s",
        ];
        let rows = [
            "D,r,1,500,zns-noshuffle,activeZones: 2 pagesPerZone: 16384,524288,1,1.1,900",
            "D,r,2,500,uniform,,4096,1,1.5,800",
        ];
        let measurements = Measurements::of_lines(Shape::Fill, &columns, &rows);
        let mut settings = Settings::new();
        settings.load_profile("datacenter-tlc").unwrap();
        settings.set_pair("flash.blocks_per_plane=700").unwrap();
        let plan = CheckPlan::new(settings);
        let Ready::Fill(_, drives) = Ready::new(&measurements, &plan).unwrap() else {
            panic!("these are rows of a fill");
        };
        let blocks = drives.iter().map(|drive| {
            let text = drive.settings.text("flash.blocks_per_plane").unwrap();
            text.parse::<u32>().unwrap()
        });
        let blocks: Vec<_> = blocks.collect();
        assert_eq!(blocks[0], 700);
        assert!((256..=384).contains(&blocks[1]), "{blocks:?}");
    }
}
