//! Metrics over the size of the buffer.
//!
//! For a page-level LRU buffer without flash, one pass over the input gives the metrics of every size
//! ([`destage_sim::curve`]). Other schemes have no inclusion property: a larger buffer does not always hold all pages
//! of a smaller one. For such a scheme, each size needs a separate run. All of these runs share one reading of the
//! input, if the memory allows it.

use std::time::Instant;

use destage_base::parameter::Value;
use destage_sim::curve::{Curve as EverySize, OnePass};
use destage_sim::metrics::{Number, rows};
use destage_sim::run::RunResult;
use destage_sim::settings::{Config, Settings};
use destage_trace::page_bits::PageBits;
use destage_trace::{Operation, Request};
use serde_core::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::{Map, json};

use crate::compare::{Effort, compare};
use crate::error::Error;
use crate::facts::Facts;
use crate::grid::{CAPACITY, Combination, Grid, capacities, refuse_pair};
use crate::input::Input;
use crate::json;
use crate::manifest::{Manifest, notes, unused};
use crate::progress::Counter;
use crate::record::Record;
use crate::results::add_warnings;
use crate::sampled::{Asked, Rate, SampledHow, SampledPoint, Sampling, for_error, points};

/// Pages of the smallest buffer, if no sizes are given.
const FIRST_PAGES: u64 = 64;
/// The largest number of sizes, if no sizes are given.
const SIZES: usize = 24;
/// Pages of the largest buffer, if no sizes are given. For an input that writes fewer pages, the largest buffer
/// is smaller.
pub(crate) const MOST_PAGES: u64 = (FIRST_PAGES / 2 * 3) << (SIZES / 2 - 1);
/// The word in `CurvePlan::sizes` that asks for every size.
const ALL: &str = "all";

/// The settings, the schemes and the sizes of curves, and how the curves are sampled.
#[derive(Clone)]
pub struct CurvePlan {
    /// All settings except the scheme and the size. If the settings choose no translation layer, only the buffer is
    /// simulated, without flash.
    pub settings: Settings,
    /// Schemes as in [`Grid::buffers`]; `None` uses the scheme of the settings.
    pub buffers: Option<Vec<String>>,
    /// Sizes as in [`Grid::sizes`]. `None` gives at most 24 sizes from 64 pages on; each size is alternately 1/2 and
    /// 1/3 larger than the size before. The sizes end at the number of different pages that the input writes, or, if a
    /// scheme also buffers pages that are only read, that the input writes or reads. The single item `all` gives every
    /// size at which a metric changes. It is allowed only if one pass gives all sizes for every scheme.
    pub sizes: Option<Vec<String>>,
    /// How points are estimated from samples; `None` for exact points.
    pub sampling: Option<Sampling>,
}

/// One curve for each scheme.
#[derive(Clone)]
pub struct Curves {
    /// How the curves were computed.
    pub manifest: Manifest,
    /// The sizes that every curve has, in bytes, in ascending order.
    pub sizes: Vec<u64>,
    /// The curves, in the order of the schemes.
    pub curves: Vec<Curve>,
    /// How the curves were sampled; `None` if they are exact.
    pub sampled: Option<SampledHow>,
}

/// The metrics of one scheme at many sizes of the buffer.
#[derive(Clone)]
pub struct Curve {
    /// The scheme as given, with its parameters.
    pub buffer: String,
    /// The translation layer as given, with its parameters.
    pub ftl: String,
    page_bytes: u64,
    points: Points,
}

#[derive(Clone)]
enum Points {
    /// The results of runs, in ascending order of size. A scheme without a size, such as `nocache`, has one result.
    Runs(Vec<Record>),
    /// The result of one pass: the metrics of every size, a record with the names and parameters of the run, and the
    /// sizes to show, in bytes. Without a list of sizes, every size at which a metric changes is shown.
    OnePass(std::sync::Arc<EverySize>, Box<Record>, Option<Vec<u64>>),
    /// Points that were estimated from samples, in ascending order of size.
    Sampled(Vec<SampledPoint>),
}

impl Curve {
    /// The points of the curve: one record for each size, in ascending order. If the plan requests `all` sizes, there
    /// is one record for each size at which a metric changes.
    pub fn points(&self) -> Box<dyn Iterator<Item = Record> + '_> {
        match &self.points {
            Points::Runs(records) => Box::new(records.iter().cloned()),
            Points::Sampled(points) => Box::new(points.iter().map(|point| point.record.clone())),
            Points::OnePass(all, of, None) => {
                let sizes = all.changes();
                let sizes = sizes.map(|pages| u64::from(pages) * self.page_bytes);
                Box::new(sizes.map(|bytes| self.of_pass(all, of, bytes)))
            }
            Points::OnePass(all, of, Some(sizes)) => {
                Box::new(sizes.iter().map(|bytes| self.of_pass(all, of, *bytes)))
            }
        }
    }

    /// The points with their confidence intervals; `None` if the curve is exact.
    #[must_use]
    pub fn sampled(&self) -> Option<&[SampledPoint]> {
        match &self.points {
            Points::Sampled(points) => Some(points),
            Points::Runs(_) | Points::OnePass(..) => None,
        }
    }

    /// The confidence interval of `metric` at `bytes`; `None` if the value is exact or has no interval.
    #[must_use]
    pub fn range(&self, bytes: u64, metric: &str) -> Option<[Number; 2]> {
        let mut points = self.sampled()?.iter();
        let sized = |point: &&SampledPoint| {
            let capacity = point.record.capacity();
            capacity.is_none_or(|size| size == bytes)
        };
        points.find(sized)?.ranges.get(metric).copied()
    }

    /// Whether one pass gave the metrics of every size.
    #[must_use]
    pub fn has_every_size(&self) -> bool {
        matches!(self.points, Points::OnePass(..))
    }

    /// The metrics of a buffer of `bytes`; `None` if no run has this size. A scheme without a size, such as
    /// `nocache`, has the same record at every size.
    #[must_use]
    pub fn at(&self, bytes: u64) -> Option<Record> {
        let sized = |record: &&Record| record.capacity().is_none_or(|size| size == bytes);
        match &self.points {
            Points::Runs(records) => records.iter().find(sized).cloned(),
            Points::Sampled(points) => {
                let mut records = points.iter().map(|point| &point.record);
                records.find(sized).cloned()
            }
            Points::OnePass(all, of, _) => Some(self.of_pass(all, of, bytes)),
        }
    }

    /// The record of a buffer of `bytes`. As in a run, a remainder smaller than a page is not used.
    fn of_pass(&self, all: &EverySize, of: &Record, bytes: u64) -> Record {
        let mut record = of.clone();
        let pages = u32::try_from(bytes / self.page_bytes).unwrap_or(u32::MAX);
        let capacity = Value::Integer(bytes);
        record.parameters.insert(CAPACITY.to_owned(), capacity);
        record.metrics = all.at(pages);
        record
    }
}

/// The curves of `input` that `plan` asks for.
///
/// # Errors
/// If the plan or the input is wrong, if the input would have to be read twice but can be read only once, or if
/// `effort.progress` asked to stop. If the run of one size fails, the point of this size contains the error.
pub fn curve(input: &Input, plan: &CurvePlan, effort: &Effort<'_>) -> Result<Curves, Error> {
    let started = Instant::now();
    input.check_exists()?;
    refuse_pair(&plan.settings, CAPACITY, "sizes")?;
    let grid = grid(plan)?;
    let schemes = grid.combinations()?;
    let Some(first) = schemes.first() else {
        return Err(Error::Internal("a grid has no combination".to_owned()));
    };
    let of_input = std::slice::from_ref(input);
    let in_vain = unused(schemes.iter().map(|scheme| &scheme.config), of_input);
    let page_bytes = first.config.typed.flash.page_bytes;
    let seed = first.config.typed.sim.seed;
    let wants_all = plan.sizes.as_ref().is_some_and(|sizes| sizes[..] == [ALL]);
    let sizes = plan.sizes.as_ref().filter(|_| !wants_all);
    if wants_all {
        check_all(plan, &schemes)?;
    }
    if let Some(sampling) = &plan.sampling {
        let sizes = sizes.map(|sizes| bytes_of(&grid, sizes)).transpose()?;
        return sampled(input, &schemes, sizes.as_deref(), sampling, effort);
    }
    let mut passes: Vec<_> = schemes
        .iter()
        .map(|scheme| OnePass::new(&scheme.config, &input.name()))
        .collect();
    let runs = passes.iter().any(Option::is_none);
    let finds_sizes = sizes.is_none();
    if runs && finds_sizes && !input.allows_second_pass() {
        return Err(Error::Input(format!(
            "{}: can be read only once, but must be read once more to choose the buffer sizes; expected a list of sizes, or a regular file",
            input.name()
        )));
    }
    let (mut facts, mut of_devices) = (None, Vec::new());
    let mut sizes = sizes.map(|sizes| bytes_of(&grid, sizes)).transpose()?;
    if finds_sizes || !runs {
        let read = read(input, &schemes, &mut passes, effort)?;
        facts = Some(read.facts);
        sizes.get_or_insert_with(|| default_sizes(read.footprint, &first.config));
    } else {
        // Sizes are given, and at least one scheme needs runs. Every scheme is then simulated by runs, so that the
        // input is read only once.
        passes.iter_mut().for_each(|pass| *pass = None);
    }
    let sizes = sizes.unwrap_or_default();
    let shown = (!wants_all).then(|| {
        let sizes = sizes.iter().copied();
        let shown = sizes.filter(|bytes| *bytes >= page_bytes);
        shown.collect::<Vec<_>>()
    });
    let mut records = Vec::new();
    let is_run = |pass: &Option<OnePass>| pass.is_none();
    if passes.iter().any(is_run) {
        let items = schemes.iter().zip(&passes);
        let items = items.filter(|(_, pass)| is_run(pass));
        let items: Vec<_> = items.map(|(scheme, _)| scheme.buffer.clone()).collect();
        let texts: Vec<_> = sizes.iter().map(u64::to_string).collect();
        let combinations = grid.buffers(items).sizes(texts).combinations()?;
        let results = compare(of_input, &combinations, effort)?;
        facts = results.manifest.inputs.into_iter().next();
        of_devices = results.manifest.notes;
        records = results.runs;
    }
    let curves = schemes.into_iter().zip(passes).map(|(scheme, pass)| Curve {
        points: match pass {
            Some(pass) => {
                let none = RunResult {
                    parameters: scheme.config.parameters(),
                    metrics: Default::default(),
                    explained: None,
                };
                let of = Record::new(input, &scheme, &scheme.config, Ok(none));
                Points::OnePass(pass.finish().into(), Box::new(of), shown.clone())
            }
            None => {
                let own = |record: &&Record| record.buffer == scheme.buffer;
                Points::Runs(records.iter().filter(own).cloned().collect())
            }
        },
        buffer: scheme.buffer,
        ftl: scheme.ftl,
        page_bytes,
    });
    let curves = curves.collect();
    Ok(Curves {
        manifest: Manifest {
            command: Vec::new(),
            inputs: facts.into_iter().collect(),
            unused: in_vain,
            notes: of_devices,
            seed,
            wall_time_s: started.elapsed().as_secs_f64(),
        },
        sizes,
        curves,
        sampled: None,
    })
}

/// Returns an error if one pass cannot give every size for all of `schemes`.
fn check_all(plan: &CurvePlan, schemes: &[Combination]) -> Result<(), Error> {
    let wrong = |why: &str| {
        Err(Error::argument(
            "sizes",
            format!(" {ALL}: {why}; expected sizes, such as 1MiB..64MiB"),
        ))
    };
    if plan.sampling.is_some() {
        return wrong("samples cannot give every size");
    }
    let needs_runs = |scheme: &&Combination| OnePass::new(&scheme.config, "").is_none();
    match schemes.iter().find(needs_runs) {
        Some(scheme) => wrong(&format!("{} needs a run for each size", scheme.buffer)),
        None => Ok(()),
    }
}

/// Estimates the curves of `schemes` from samples.
fn sampled(
    input: &Input,
    schemes: &[Combination],
    sizes: Option<&[u64]>,
    sampling: &Sampling,
    effort: &Effort<'_>,
) -> Result<Curves, Error> {
    let started = Instant::now();
    let first = &schemes[0].config;
    let configs = || schemes.iter().map(|scheme| &scheme.config);
    sampling.check()?;
    let (page_bytes, seed) = (first.typed.flash.page_bytes, first.typed.sim.seed);
    let mut asked = Asked {
        input,
        schemes,
        sizes,
        sizes_of: default_sizes,
        rate: 0.0,
        salts: sampling.salts,
    };
    let (found, rate, error) = match &sampling.rate {
        Rate::Share(rate) => {
            asked.rate = *rate;
            (points(&asked, effort)?, *rate, None)
        }
        Rate::Error { percent, metric } => {
            let chosen = for_error(&asked, *percent, metric, effort)?;
            let error = (*percent, chosen.percent, metric.clone());
            (chosen.found, chosen.rate, Some(error))
        }
    };
    let curves = schemes
        .iter()
        .zip(found.points)
        .map(|(scheme, points)| Curve {
            buffer: scheme.buffer.clone(),
            ftl: scheme.ftl.clone(),
            page_bytes,
            points: Points::Sampled(points),
        });
    Ok(Curves {
        manifest: Manifest {
            command: Vec::new(),
            inputs: vec![found.facts],
            unused: unused(configs(), std::slice::from_ref(input)),
            notes: notes(configs()),
            seed,
            wall_time_s: started.elapsed().as_secs_f64(),
        },
        sizes: found.sizes,
        curves: curves.collect(),
        sampled: Some(SampledHow {
            rate,
            salts: sampling.salts,
            error,
        }),
    })
}

/// The grid of the schemes at a single size.
fn grid(plan: &CurvePlan) -> Result<Grid, Error> {
    let mut settings = plan.settings.clone();
    if settings.text("ftl.kind").is_none() {
        settings.set_kind("ftl", "none")?;
    }
    let grid = Grid::new(settings);
    Ok(match &plan.buffers {
        Some(items) => grid.buffers(items.iter().cloned()),
        None => grid,
    })
}

/// The different sizes in bytes that `items` describe, in ascending order.
pub fn bytes_of(grid: &Grid, items: &[String]) -> Result<Vec<u64>, Error> {
    let sized = grid.clone().sizes(items.iter().cloned());
    Ok(capacities(&sized.every()?))
}

/// The result of reading the input without simulating runs.
struct Read {
    /// The number of different pages that the input writes; with a scheme that also buffers pages that are only read,
    /// the number of pages that it writes or reads.
    footprint: u64,
    facts: Facts,
}

/// The default sizes, in bytes, for an input with `footprint` different pages that may enter the buffer. The device of
/// `config` reserves slots of the buffer for pages that wait for the rest of their program unit. Every size has more
/// slots than the reserved ones. There are at most 24 sizes. If these suffice, the largest size has slots for all of
/// these pages in addition to the reserved ones.
pub fn default_sizes(footprint: u64, config: &Config) -> Vec<u64> {
    let held = u64::from(config.pages_in_units());
    let pages = default_pages(footprint, held);
    let page_bytes = config.typed.flash.page_bytes;
    pages.into_iter().map(|pages| pages * page_bytes).collect()
}

fn default_pages(footprint: u64, held: u64) -> Vec<u64> {
    let largest = footprint.max(1) + held;
    let grown = |pages: &u64| {
        Some(match pages.is_power_of_two() {
            true => pages / 2 * 3,
            false => pages / 3 * 4,
        })
    };
    let mut steps = std::iter::successors(Some(FIRST_PAGES), grown).filter(|pages| *pages > held);
    let mut pages: Vec<u64> = steps
        .by_ref()
        .take(SIZES - 1)
        .take_while(|pages| *pages < largest)
        .collect();
    // If the input writes more pages than the largest step, this step is the largest size.
    let last = match pages.len() {
        few if few < SIZES - 1 => largest,
        _ => steps.next().map_or(largest, |step| largest.min(step)),
    };
    pages.push(last);
    pages
}

/// Whether pages that are only read may enter the buffer of one of `schemes`.
pub(crate) fn reads_enter(schemes: &[Combination]) -> bool {
    schemes.iter().any(|scheme| scheme.config.allocates_reads())
}

/// Whether pages of `request` may enter a buffer. With `reads_enter`, pages that are only read may enter it.
pub(crate) fn enters(request: &Request, reads_enter: bool) -> bool {
    match request.operation {
        Operation::Write => true,
        Operation::Read => reads_enter,
        Operation::Flush | Operation::Trim => false,
    }
}

/// Reads all of `input`, counts the pages that may enter a buffer of `schemes`, and feeds `passes`.
fn read(
    input: &Input,
    schemes: &[Combination],
    passes: &mut [Option<OnePass>],
    effort: &Effort<'_>,
) -> Result<Read, Error> {
    let of = &schemes[0];
    let options = input.options(&of.config)?;
    let counter = Counter::new(effort.progress, input.expected_requests());
    destage_memory::doing(format!("reading {}", input.name()));
    let mut source = match effort.all_threads() {
        1 => input.open(&of.config)?,
        _ => input.open_ahead(&of.config)?,
    };
    let addressing = of.config.addressing(0);
    let (mut batch, mut pages) = (Vec::new(), PageBits::default());
    // A one-pass simulation determines its largest size itself. Pages are counted only if some scheme needs runs.
    let counts_pages = passes.iter().any(Option::is_none);
    let reads_enter = counts_pages && reads_enter(schemes);
    while source.fill(&mut batch)? {
        if !counter.advance(batch.len() as u64) {
            return Err(Error::Interrupted);
        }
        for pass in passes.iter_mut().flatten() {
            pass.feed(&batch)?;
        }
        if !counts_pages {
            continue;
        }
        let entering = batch.iter().filter(|request| enters(request, reads_enter));
        for request in entering {
            if pages.len() >= MOST_PAGES {
                break;
            }
            let span = addressing.span(request);
            pages.insert(0, span.first, span.last());
        }
    }
    let mut facts = Facts::of_source(&source, &options);
    if !of.config.follows_arrivals() {
        facts.forget_times();
    }
    let of_passes = passes.iter().flatten().map(OnePass::largest).max();
    let of_passes = u64::from(of_passes.unwrap_or(0));
    Ok(Read {
        footprint: pages.len().max(of_passes),
        facts,
    })
}

impl Curves {
    /// `{"manifest", "conclusions", "curves": [{"buffer", "ftl", "exact", "host", "points"}]}`: the output of
    /// `destage curve --json`. A point has `pages`, `bytes` and the metrics by name. Metrics of the host do not
    /// depend on the size of the buffer, so each curve has them once.
    #[must_use]
    pub fn to_json(&self) -> String {
        // All keys are strings and all numbers are finite, so serialisation cannot fail.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// A table row for each point. A sampled metric has two more columns, `NAME.low` and `NAME.high`, with the ends
    /// of its confidence interval.
    #[must_use]
    pub fn rows(&self) -> Vec<Record> {
        let with_ends = |point: &SampledPoint| {
            let mut record = point.record.clone();
            let ends = point.ranges.iter().flat_map(|(name, [low, high])| {
                [
                    (format!("{name}.low"), *low),
                    (format!("{name}.high"), *high),
                ]
            });
            let metrics = record
                .metrics
                .iter()
                .map(|(name, of)| (name.to_owned(), of));
            record.metrics = metrics.chain(ends).collect();
            record
        };
        let of_curve = |curve: &Curve| -> Vec<Record> {
            match curve.sampled() {
                Some(points) => points.iter().map(with_ends).collect(),
                None => curve.points().collect(),
            }
        };
        self.curves.iter().flat_map(of_curve).collect()
    }

    /// Conclusions from the curves; one sentence each.
    #[must_use]
    pub fn conclusions(&self) -> Vec<String> {
        let metric = rows::BUFFER_WRITE_HITS_PERCENT.name;
        let range = |record: &Record| {
            let mut curves = self.curves.iter();
            let curve = curves.find(|curve| curve.buffer == record.buffer)?;
            match curve.sampled() {
                Some(_) => {
                    let range = curve.range(record.capacity()?, metric)?;
                    Some(range.map(Number::as_f64))
                }
                None => record.write_hit_percent().map(|percent| [percent; 2]),
            }
        };
        crate::words::of_curves(&self.records(), range)
    }

    /// The points at the sizes that all curves have.
    #[must_use]
    pub fn records(&self) -> Vec<Record> {
        let of_curve = |curve: &Curve| -> Vec<Record> {
            match &curve.points {
                Points::Runs(_) | Points::Sampled(_) => curve.points().collect(),
                Points::OnePass(..) => {
                    let sizes = self.sizes.iter();
                    sizes.filter_map(|bytes| curve.at(*bytes)).collect()
                }
            }
        };
        self.curves.iter().flat_map(of_curve).collect()
    }
}

impl Serialize for Curves {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("manifest", &self.manifest.single())?;
        map.serialize_entry("conclusions", &self.conclusions())?;
        map.serialize_entry("curves", &self.curves)?;
        if let Some(how) = &self.sampled {
            map.serialize_entry("sampled", &how.to_json())?;
        }
        add_warnings(&mut map, &self.records())?;
        map.end()
    }
}

/// The prefix of the names of metrics that do not depend on the size of the buffer.
const HOST: &str = "host.";

impl Serialize for Curve {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("buffer", &self.buffer)?;
        map.serialize_entry("ftl", &self.ftl)?;
        map.serialize_entry("exact", &self.sampled().is_none())?;
        let of_host = self.points().find(|point| point.error.is_none());
        let of_host = of_host.map(|point| named(&point, |name| name.starts_with(HOST)));
        map.serialize_entry("host", &of_host.unwrap_or_default())?;
        map.serialize_entry("points", &Sequence(self))?;
        map.end()
    }
}

struct Sequence<'a>(&'a Curve);

impl Serialize for Sequence<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut sequence = serializer.serialize_seq(None)?;
        for (index, point) in self.0.points().enumerate() {
            let bytes = point.capacity().unwrap_or(0);
            let mut map = Map::new();
            map.insert("pages".to_owned(), (bytes / self.0.page_bytes).into());
            map.insert("bytes".to_owned(), bytes.into());
            map.extend(named(&point, |name| !name.starts_with(HOST)));
            if let Some(points) = self.0.sampled() {
                for (name, [low, high]) in &points[index].ranges {
                    let estimate = map.get(name).cloned();
                    let [low, high] = [low, high].map(|number| json::number(*number));
                    let whole = json!({ "estimate": estimate, "low": low, "high": high });
                    map.insert(name.clone(), whole);
                }
            }
            if let Some(error) = &point.error {
                map.insert("error".to_owned(), json!(error.to_string()));
            }
            sequence.serialize_element(&map)?;
        }
        sequence.end()
    }
}

fn named(point: &Record, which: impl Fn(&str) -> bool) -> Map<String, serde_json::Value> {
    let serde_json::Value::Object(mut map) = json::metrics(&point.metrics) else {
        return Map::new();
    };
    map.retain(|name, _| which(name));
    map
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_sizes_go_up_to_what_is_written() {
        let pages = |footprint| default_pages(footprint, 0);
        assert_eq!(pages(300), [64, 96, 128, 192, 256, 300]);
        assert_eq!(pages(5), [5]);
        let many = pages(1 << 40);
        assert_eq!((many.len(), many.last()), (24, Some(&MOST_PAGES)));
        assert_eq!((pages(MOST_PAGES), MOST_PAGES), (many, 96 << 11));
        // If the device reserves 768 slots, every size has more than 768 pages, and the largest size also holds all
        // written pages.
        assert_eq!(default_pages(2000, 768), [1024, 1536, 2048, 2768]);
        assert_eq!(default_pages(5, 768), [773]);
        assert_eq!(default_pages(1 << 40, 768).len(), 24);
    }
}
