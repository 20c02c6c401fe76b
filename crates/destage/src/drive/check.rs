//! Comparison of a profile with measurements: the experiments of a file of measurements are repeated on a
//! simulated drive.

use std::time::Instant;

use destage_sim::settings::Settings;
use destage_trace::Operation;
use serde_json::{Map, Value, json};

use super::experiment::{
    Arrivals, Bench, Course, Found, Load, OF_STREAM, Pattern, Phase, STREAMS, States, Steady,
    Streams,
};
use super::measured::{Measurements, Row, Shape};
use super::scaled::{GIB, Scale, Scaled};
use crate::compare::Effort;
use crate::csv;
use crate::error::Error;
use crate::json;
use crate::manifest::Manifest;
use crate::side_by_side::side_by_side;

/// The largest number of outstanding requests in `latency.csv`: seven streams with a queue depth of 64.
pub(super) const LATENCY_DEPTH: u64 = STREAMS * OF_STREAM;
/// The reads per second, and also the writes per second, of the stream that has the same rate at every load.
pub(super) const STREAM_PER_S: f64 = 5000.0;
/// The fraction of writes among the requests of all other streams.
pub(super) const WRITE_SHARE: f64 = 0.99;
/// A load counts as below saturation if its write rate is less than this fraction of the drive's highest write rate.
pub(super) const SATURATED: f64 = 0.98;
/// Outstanding requests while a drive is filled.
const FILL_DEPTH: u64 = 512;
/// The columns of a fill that have measured values.
const FILL_VALUES: [&str; 2] = ["waf", "host_mib_per_s"];
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
    /// The median of the absolute errors, as a fraction of the measured value.
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

/// A measured value with the range of its repetitions.
struct Measured {
    what: String,
    value: f64,
    low: f64,
    high: f64,
    counts: bool,
}

impl Measured {
    fn exactly(what: impl Into<String>, value: f64) -> Self {
        Self {
            what: what.into(),
            value,
            low: value,
            high: value,
            counts: true,
        }
    }

    /// This value, if the range of its repetitions is not turned round.
    fn checked(self, measurements: &Measurements, row: &Row) -> Result<Self, Error> {
        if self.low <= self.high {
            return Ok(self);
        }
        Err(Error::Input(format!(
            "{}, line {}: {}: the range begins at {} and ends at {}; expected the smallest and the largest of the repetitions",
            measurements.file, row.line, self.what, self.low, self.high
        )))
    }

    fn beside(self, row: usize, modelled: Option<f64>) -> Compared {
        let off = modelled.map(|modelled| modelled - modelled.clamp(self.low, self.high));
        let error = off.map(|off| off / self.value);
        Compared {
            row,
            what: self.what,
            measured: self.value,
            modelled,
            error: error.filter(|error| error.is_finite()),
            off: off.map(f64::abs),
            counts: self.counts,
        }
    }
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
    let mut work = Work {
        measurements: &measurements,
        plan,
        states,
        effort,
        rows: Vec::new(),
        left_out: Vec::new(),
    };
    match measurements.shape {
        Shape::Latency => work.latency()?,
        Shape::Fill => work.fill()?,
        Shape::Depth => work.depth()?,
        Shape::Rates => work.rates()?,
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

/// Consecutive phases of writes to one drive, which is empty before the first phase.
struct Chain {
    /// The capacity that the host uses.
    used_gib: f64,
    /// Each phase, with the indices of its rows.
    phases: Vec<(Phase, Vec<usize>)>,
}

struct Work<'a> {
    measurements: &'a Measurements,
    plan: &'a CheckPlan,
    states: &'a States,
    effort: &'a Effort<'a>,
    rows: Vec<Compared>,
    left_out: Vec<String>,
}

impl Work<'_> {
    fn bench(&self, passes: u64) -> Result<Bench, Error> {
        let drive = Scaled::new(&self.plan.settings, self.plan.scale, None)?;
        let progress = self.effort.progress;
        Bench::new(drive, passes, self.plan.requests, self.states, progress)
    }

    /// The steady states under `loads`, simulated in parallel.
    fn steady(&self, bench: &Bench, loads: &[Load]) -> Result<Vec<Option<Steady>>, Error> {
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

    /// Groups the rows of the file that have equal texts in `columns`. Groups and rows are in the order of the
    /// file.
    fn groups(&self, columns: &[&str]) -> Vec<Vec<usize>> {
        let measurements = self.measurements;
        let key = |row: &Row| -> Vec<String> {
            let texts = columns.iter();
            texts
                .map(|column| measurements.text(row, column).to_owned())
                .collect()
        };
        let mut groups: Vec<(Vec<String>, Vec<usize>)> = Vec::new();
        for (place, row) in measurements.rows.iter().enumerate() {
            let key = key(row);
            match groups.iter_mut().find(|(known, _)| *known == key) {
                Some((_, places)) => places.push(place),
                None => groups.push((key, vec![place])),
            }
        }
        groups.into_iter().map(|(_, places)| places).collect()
    }

    fn latency(&mut self) -> Result<(), Error> {
        let measurements = self.measurements;
        let number = |place: usize, column| measurements.number(&measurements.rows[place], column);
        let groups = self.groups(&["offered_writes_per_s"]);
        let mut saturation = 0.0_f64;
        for group in &groups {
            saturation = saturation.max(number(group[0], "writes_per_s")?);
        }
        let mut loads = Vec::new();
        for group in &groups {
            let offered = number(group[0], "offered_writes_per_s")?;
            // `drive measure` writes the rate of the stream; its requests form one stream. SSD-iq has several.
            let own = measurements.text(&measurements.rows[group[0]], "stream_per_s");
            let stream = match own {
                "" => STREAM_PER_S,
                _ => number(group[0], "stream_per_s")?,
            };
            let others = (offered - stream).max(0.0);
            let writes = stream + WRITE_SHARE * others;
            let all = 2.0 * stream + others;
            // At saturation the measured drive had all its requests outstanding, so the model uses a closed
            // queue.
            let is_saturated = number(group[0], "writes_per_s")? < SATURATED * writes;
            loads.push(Load {
                arrivals: match is_saturated {
                    true => Arrivals::Closed {
                        depth: LATENCY_DEPTH,
                    },
                    false if own.is_empty() => Arrivals::Several {
                        mean_ms: 1000.0 / all,
                        streams: Streams {
                            first: [stream / (all - writes), stream / writes],
                        },
                    },
                    false => Arrivals::Open {
                        mean_ms: 1000.0 / all,
                        depth: LATENCY_DEPTH,
                    },
                },
                write_percent: 100.0 * writes / all,
                bytes: super::experiment::BLOCK,
                sequential: false,
            });
        }
        // Each value is read before the first simulation, so that a wrong one is refused at once.
        let mut values = Vec::new();
        for (of, group) in groups.iter().enumerate() {
            for &place in group {
                let row = &measurements.rows[place];
                let operation = match measurements.text(row, "op") {
                    "read" => Operation::Read,
                    "write" => Operation::Write,
                    other => {
                        return Err(Error::Input(format!(
                            "{}, line {}: op: {other:?}: expected read or write",
                            measurements.file, row.line
                        )));
                    }
                };
                let percentile = measurements.text(row, "percentile");
                let name = match percentile.parse::<f64>() {
                    Ok(_) => format!("p{percentile}"),
                    Err(_) => percentile.to_owned(),
                };
                let measured = Measured {
                    what: format!("{} {name}", measurements.text(row, "op")),
                    value: measurements.number(row, "us_median_of_3")?,
                    low: measurements.number(row, "us_low")?,
                    high: measurements.number(row, "us_high")?,
                    counts: measurements.number(row, "writes_per_s")? < SATURATED * saturation,
                };
                let measured = measured.checked(measurements, row)?;
                values.push((of, place, operation, percentile, measured));
            }
        }
        let bench = self.bench(3)?;
        let steady = self.steady(&bench, &loads)?;
        let mut rows = Vec::new();
        for (of, place, operation, percentile, measured) in values {
            let times = steady[of].as_ref().map(|steady| &steady.responses);
            let modelled = times.and_then(|times| times.us(operation, percentile));
            rows.push(measured.beside(place, modelled));
        }
        let fastest = groups.iter().zip(&steady).filter_map(|(group, steady)| {
            let writes = steady.as_ref()?.writes_per_s;
            Some((group[0], writes))
        });
        let most = fastest.max_by(|one, other| one.1.total_cmp(&other.1));
        if let Some((_, writes)) = most {
            // The saturated rate is reported with the first row that reached it.
            let place = groups
                .iter()
                .map(|group| group[0])
                .find(|place| {
                    number(*place, "writes_per_s").is_ok_and(|writes| writes >= saturation)
                })
                .unwrap_or(0);
            let measured = Measured::exactly("saturated writes_per_s", saturation);
            rows.push(measured.beside(place, Some(writes)));
        }
        self.rows = rows;
        Ok(())
    }

    fn fill(&mut self) -> Result<(), Error> {
        let measurements = self.measurements;
        let mut chains: Vec<Chain> = Vec::new();
        let mut before: Option<(String, String)> = None;
        for group in self.groups(&["run", "used_gib", "started"]) {
            let row = &measurements.rows[group[0]];
            let used = measurements.positive(row, "used_gib")?;
            let mut last = 0.0_f64;
            for place in &group {
                let row = &measurements.rows[*place];
                last = last.max(measurements.number(row, "drive_writes")?);
                for what in FILL_VALUES {
                    measurements.number(row, what)?;
                }
            }
            let run = measurements.text(row, "run").to_owned();
            let key = (run, measurements.text(row, "used_gib").to_owned());
            let text = measurements.text(row, "pattern");
            let detail = measurements.text(row, "detail");
            let block = block_bytes(measurements.text(row, "block_bytes"));
            let Some(pattern) = pattern(text, detail, block) else {
                let what = text;
                self.left_out.push(format!(
                    "{} rows of {} are not modelled: writes of the kind {what} {detail:?} cannot be generated",
                    group.len(),
                    key.0
                ));
                before = None;
                for place in group {
                    self.fill_rows(place, None)?;
                }
                continue;
            };
            let phase = Phase {
                pattern,
                drive_writes: last,
            };
            let is_fill = matches!(pattern, Pattern::Sequential | Pattern::Shuffled);
            match (chains.last_mut(), before.take()) {
                (Some(chain), Some(of)) if of == key && !is_fill => {
                    chain.phases.push((phase, group));
                }
                _ => chains.push(Chain {
                    used_gib: used,
                    phases: vec![(phase, group)],
                }),
            }
            before = is_fill.then_some(key);
        }
        let found = Found::of(chains.len());
        let tasks: Vec<_> = chains.iter().enumerate().collect();
        side_by_side(
            &tasks,
            |_| 1,
            self.effort,
            |(place, chain), effort| {
                let drive = Scaled::new(
                    &self.plan.settings,
                    self.plan.scale,
                    Some(chain.used_gib * GIB),
                )?;
                let phases: Vec<_> = chain.phases.iter().map(|(phase, _)| *phase).collect();
                let course = Course::new(&drive, &phases, FILL_DEPTH, effort.progress)?;
                found.put(*place, course);
                Ok(())
            },
        )?;
        for (chain, course) in chains.iter().zip(found.into_vec()) {
            for (number, (_, group)) in chain.phases.iter().enumerate() {
                let mut from = 0.0;
                for &place in group {
                    let to = measurements.number(&measurements.rows[place], "drive_writes")?;
                    let course = course.as_ref();
                    let modelled = course.and_then(|course| course.between(number, from, to));
                    self.fill_rows(place, modelled)?;
                    from = to;
                }
            }
        }
        Ok(())
    }

    fn fill_rows(&mut self, place: usize, modelled: Option<(f64, f64)>) -> Result<(), Error> {
        let row = &self.measurements.rows[place];
        let modelled = [modelled.map(|both| both.0), modelled.map(|both| both.1)];
        for (what, modelled) in FILL_VALUES.into_iter().zip(modelled) {
            let value = self.measurements.number(row, what)?;
            self.rows
                .push(Measured::exactly(what, value).beside(place, modelled));
        }
        Ok(())
    }

    fn depth(&mut self) -> Result<(), Error> {
        let measurements = self.measurements;
        let (mut loads, mut values) = (Vec::new(), Vec::new());
        for row in &measurements.rows {
            let op = measurements.text(row, "op");
            let write_percent = match op {
                "randread" | "read" => 0.0,
                "randwrite" | "write" => 100.0,
                other => {
                    return Err(Error::Input(format!(
                        "{}, line {}: op: {other:?}: expected randread, randwrite, read or write",
                        measurements.file, row.line
                    )));
                }
            };
            let bytes = measurements.text(row, "block_bytes");
            let bytes = block_bytes(bytes).ok_or_else(|| {
                Error::Input(format!(
                    "{}, line {}: block_bytes: {bytes:?}: expected a multiple of 4096, such as 4k",
                    measurements.file, row.line
                ))
            })?;
            let depth =
                measurements.positive(row, "iodepth")? * measurements.positive(row, "jobs")?;
            loads.push(Load {
                arrivals: Arrivals::Closed {
                    depth: depth as u64,
                },
                write_percent,
                bytes,
                sequential: !op.starts_with("rand"),
            });
            let value = |name: &str, column| -> Result<Measured, Error> {
                let value = measurements.number(row, column)?;
                Ok(Measured::exactly(format!("{op} {name}"), value))
            };
            values.push([
                value("iops", "iops")?,
                value("p50", "p50_us")?,
                value("p99", "p99_us")?,
            ]);
        }
        let bench = self.bench(3)?;
        let steady = self.steady(&bench, &loads)?;
        for (place, ((load, steady), [iops, p50, p99])) in
            loads.iter().zip(&steady).zip(values).enumerate()
        {
            let operation = match load.write_percent > 0.0 {
                true => Operation::Write,
                false => Operation::Read,
            };
            let per_s = steady
                .as_ref()
                .map(|steady| steady.reads_per_s + steady.writes_per_s);
            self.rows.push(iops.beside(place, per_s));
            for (measured, percentile) in [(p50, "50"), (p99, "99")] {
                let times = steady.as_ref().map(|steady| &steady.responses);
                let modelled = times.and_then(|times| times.us(operation, percentile));
                self.rows.push(measured.beside(place, modelled));
            }
        }
        Ok(())
    }

    fn rates(&mut self) -> Result<(), Error> {
        let [of_blocks, of_bytes] = RATE_DEPTHS;
        let load = |write_percent, bytes, sequential| Load {
            arrivals: Arrivals::Closed {
                depth: if bytes == RATE_BYTES {
                    of_bytes
                } else {
                    of_blocks
                },
            },
            write_percent,
            bytes,
            sequential,
        };
        let block = super::experiment::BLOCK;
        let loads = [
            ("rbps", load(0.0, RATE_BYTES, true)),
            ("rseqiops", load(0.0, block, true)),
            ("rrandiops", load(0.0, block, false)),
            ("wbps", load(100.0, RATE_BYTES, true)),
            ("wseqiops", load(100.0, block, true)),
            (RANDOM_WRITES, load(100.0, block, false)),
        ];
        let mut values = Vec::new();
        for (place, row) in self.measurements.rows.iter().enumerate() {
            for (of, (what, _)) in loads.iter().enumerate() {
                let value = self.measurements.positive(row, what)?;
                let bound = |end: &str, default: f64| {
                    let column = format!("{what}_{end}");
                    match self.measurements.text(row, &column).is_empty() {
                        true => Ok(default),
                        false => self.measurements.number(row, &column),
                    }
                };
                let measured = Measured {
                    what: (*what).to_owned(),
                    value,
                    low: bound("low", value)?,
                    high: bound("high", value)?,
                    counts: true,
                };
                values.push((of, place, measured.checked(self.measurements, row)?));
            }
        }
        // After sequential writes, the blocks that garbage collection erases have no valid pages. After random
        // writes, such blocks have valid pages. The drive of the first bench is therefore only written once in order;
        // that of the second is also overwritten at random.
        let (in_order, at_random) = (self.bench(0)?, self.bench(3)?);
        let is_random_write = |load: &Load| load.write_percent > 0.0 && !load.sequential;
        let loads_of = |random: bool| {
            let loads = loads.iter().map(|(_, load)| *load);
            let some: Vec<_> = loads
                .filter(|load| is_random_write(load) == random)
                .collect();
            some
        };
        let mut steady = self.steady(&in_order, &loads_of(false))?;
        steady.extend(self.steady(&at_random, &loads_of(true))?);
        for (of, place, measured) in values {
            let scale = match loads[of].1.bytes {
                RATE_BYTES => RATE_BYTES as f64,
                _ => 1.0,
            };
            let per_s = steady[of].as_ref();
            let per_s = per_s.map(|steady| scale * (steady.reads_per_s + steady.writes_per_s));
            self.rows.push(measured.beside(place, per_s));
        }
        Ok(())
    }
}

/// The write pattern that a file names `text`, with the parameter `detail` and requests of `block` bytes; `None` if the
/// pattern is not known.
fn pattern(text: &str, detail: &str, block: Option<u64>) -> Option<Pattern> {
    Some(match text {
        "sequential" | "sequential-noshuffle" => Pattern::Sequential,
        "sequential-shuffle" => Pattern::Shuffled,
        "uniform" => Pattern::Uniform,
        "zipf-shuffle" => Pattern::Zipf(detail.parse().ok()?),
        // The detail is `activeZones: 2 pagesPerZone: 4096`. In it, a page is a request of `block` bytes.
        "zns-noshuffle" => {
            let number = |name: &str| {
                let (_, rest) = detail.split_once(name)?;
                let text = rest.split_whitespace().next()?;
                text.parse::<u64>().ok().filter(|number| *number > 0)
            };
            Pattern::Zones {
                bytes: number("pagesPerZone:")?.checked_mul(block?)?,
                open: number("activeZones:")?,
            }
        }
        _ => return None,
    })
}

/// The number of bytes in `text`, such as `4k` or `4096`; `None` if it is not a multiple of 4 KiB, or is too large.
fn block_bytes(text: &str) -> Option<u64> {
    let bytes = match text.strip_suffix(['k', 'K']) {
        Some(number) => number.parse::<u64>().ok()?.checked_mul(1024)?,
        None => text.parse().ok()?,
    };
    let block = super::experiment::BLOCK;
    (bytes > 0 && bytes % block == 0 && bytes <= block << 16).then_some(bytes)
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
        let rank = |share: f64| errors[((share * errors.len() as f64).ceil() as usize).max(1) - 1];
        Summary {
            what: what.to_owned(),
            rows: errors.len(),
            median: rank(0.5),
            p90: rank(0.9),
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
