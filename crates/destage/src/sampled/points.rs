//! The points of sampled curves.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use destage_base::parameter::Value;
use destage_base::sample::Samples;
use destage_sim::curve::OnePass;
use destage_sim::measured::HostCounts;
use destage_sim::metrics::{Metrics, Number, rows};
use destage_sim::observer::Silent;
use destage_sim::prepass::Prepass;
use destage_sim::run::{RunResult, Simulation};
use destage_sim::sample::{
    self, Coarseness, Estimates, Part, Sampled, Splitter, UNBOUNDED, estimates, widen,
};
use destage_sim::settings::Config;

use super::SampledPoint;
use super::work::{Measured, Miniature, Model, Parts, carry_out};
use crate::compare::Effort;
use crate::curve::{enters, reads_enter};
use crate::error::Error;
use crate::facts::Facts;
use crate::grid::{CAPACITY, Combination};
use crate::input::Input;
use crate::passes::model_bytes;
use crate::progress::{Counter, Watch};
use crate::record::Record;
use crate::survey::Survey;

/// The number of requests that are split into samples at a time.
const BATCH: usize = 1 << 16;
/// The smallest number of pages in the buffer of a miniature. In a smaller buffer, rounding to whole pages would
/// change the results.
const LEAST_PAGES: u64 = 16;
/// The smallest number of blocks in the buffer of a miniature, for schemes that work with blocks.
const LEAST_BLOCKS: u64 = 8;

/// The input, the schemes and the sizes of sampled curves, and the size and number of samples.
pub(crate) struct Asked<'a> {
    pub(crate) input: &'a Input,
    /// The schemes, each at an arbitrary size.
    pub(crate) schemes: &'a [Combination],
    /// The sizes in bytes, in ascending order. If `None`, `sizes_of` derives them from the number of pages that may
    /// enter the buffer.
    pub(crate) sizes: Option<&'a [u64]>,
    pub(crate) sizes_of: fn(u64, &Config) -> Vec<u64>,
    /// The fraction of the blocks in each sample; `salts` is the number of samples.
    pub(crate) rate: f64,
    pub(crate) salts: u32,
}

/// The sampled curves.
pub(crate) struct Found {
    pub(crate) sizes: Vec<u64>,
    /// The points of each scheme, in ascending order of size.
    pub(crate) points: Vec<Vec<SampledPoint>>,
    pub(crate) facts: Facts,
}

/// One scheme, with the configuration of the full-size device.
struct Scheme<'a> {
    of: &'a Combination,
    config: Config,
    /// The index of the splitter that feeds the miniatures of this scheme.
    splitter: usize,
    /// Pages in each sampled block; 1 if the scheme is page-level LRU, which is sampled by pages.
    block_pages: u64,
    /// The number of erase blocks of the full-size device; 0 without flash.
    flash_blocks: u64,
    /// The relative difference between the over-provisioning of the miniatures and that of the full-size device.
    spare: f64,
    keeps_pages: bool,
    is_one_pass: bool,
}

/// The rule by which requests are divided into samples. Schemes with equal divisions share a splitter.
#[derive(Clone, PartialEq)]
struct Division {
    config: usize,
    block_pages: u64,
    device_pages: u64,
    samples: u64,
}

/// Computes the curves that `asked` describes.
///
/// # Errors
/// If the input or a scheme cannot be sampled, or if the progress report asked to stop.
pub(crate) fn points(asked: &Asked<'_>, effort: &Effort<'_>) -> Result<Found, Error> {
    let counter = Counter::new(effort.progress, None);
    for scheme in asked.schemes {
        if let Some(why) = sample::refusal(&scheme.config) {
            return Err(Error::argument("sample", format!(": {why}")));
        }
    }
    let mut divisions: Vec<Division> = Vec::new();
    let mut schemes = schemes(asked, &mut divisions, &counter)?;
    let page_bytes = schemes[0].config.typed.flash.page_bytes;
    let mut footprint = 0;
    let is_known = asked.sizes.is_some() || schemes.iter().all(|scheme| scheme.is_one_pass);
    if !is_known {
        if !asked.input.allows_second_pass() {
            return Err(Error::Input(format!(
                "{}: can be read only once, but must be read once more to choose the buffer sizes; expected a list of sizes, or a regular file",
                asked.input.name()
            )));
        }
        footprint = self::footprint(asked, &schemes[0].config, &counter)?;
    }
    let mut sizes = match asked.sizes {
        Some(sizes) => sizes.to_vec(),
        None => (asked.sizes_of)(footprint, &schemes[0].config),
    };
    let runs = runs(asked, &mut schemes, &divisions, &sizes)?;
    let mut measured: Vec<Measured> = Vec::with_capacity(runs.len());
    let mut reading = None;
    for share in shares(asked, &runs, effort) {
        let done = read(asked, &schemes, &divisions, &runs[share], &counter, effort)?;
        measured.extend(done.measured);
        reading = Some((done.splitters, done.facts));
    }
    let Some((splitters, facts)) = reading else {
        return Err(Error::Internal("a curve has no miniature".to_owned()));
    };
    if !is_known_size(asked, is_known) {
        let largest = measured.iter().filter_map(|of| match of {
            Measured::OnePass(curve) => Some(curve.largest()),
            Measured::Run(_) => None,
        });
        let largest = f64::from(largest.max().unwrap_or(1));
        let footprint = (largest / splitters[0].samples().rate()) as u64;
        sizes = (asked.sizes_of)(footprint, &schemes[0].config);
    }
    let gathered = Gathered {
        asked,
        sizes: &sizes,
        page_bytes,
        splitters: &splitters,
        of_samples: splitters.iter().map(Splitter::asked).collect(),
    };
    let mut points: Vec<Vec<Point>> = schemes.iter().map(|_| Vec::new()).collect();
    let mut rest = measured.into_iter();
    let mut from = 0;
    while from < runs.len() {
        let Run { scheme, bytes, .. } = runs[from];
        let of = &schemes[scheme];
        let samples: Vec<Measured> = rest.by_ref().take(asked.salts as usize).collect();
        from += asked.salts as usize;
        points[scheme].extend(gathered.points(of, bytes, samples));
    }
    let points = schemes.iter().zip(points);
    let points = points.map(|(scheme, points)| gathered.curve(scheme, points));
    let points: Vec<Vec<SampledPoint>> = points.collect();
    if points.iter().all(Vec::is_empty) {
        return Err(too_small(asked.rate));
    }
    Ok(Found {
        sizes,
        points,
        facts,
    })
}

/// Whether the sizes are known before the miniatures are simulated.
fn is_known_size(asked: &Asked<'_>, is_known: bool) -> bool {
    asked.sizes.is_some() || !is_known
}

/// A miniature that is to be simulated. All samples of one size are adjacent.
struct Run {
    scheme: usize,
    sample: u32,
    /// The number of bytes in the buffer of the full-size device; `None` if one pass gives all sizes.
    bytes: Option<u64>,
    /// The configuration of the miniature. If one pass gives all sizes, the buffer size of the configuration is not
    /// used.
    config: Config,
}

fn schemes<'a>(
    asked: &Asked<'a>,
    divisions: &mut Vec<Division>,
    counter: &Counter<'_>,
) -> Result<Vec<Scheme<'a>>, Error> {
    let configs: Vec<&Config> = asked.schemes.iter().map(|scheme| &scheme.config).collect();
    let configs: Vec<Config> = match configs.iter().any(|config| config.has_flash()) {
        true => {
            let survey = Survey::of(asked.input, &configs, counter)?;
            // A configuration that a run would refuse has no size, or one that the layer does not allow.
            let checked = survey.plans.into_iter().map(|plan| {
                plan.prepass?;
                Ok::<Config, Error>(plan.config)
            });
            checked.collect::<Result<_, Error>>()?
        }
        false => configs.into_iter().cloned().collect(),
    };
    let mut schemes = Vec::with_capacity(configs.len());
    for (index, (of, config)) in asked.schemes.iter().zip(configs).enumerate() {
        let is_one_pass = OnePass::new(&config, "").is_some();
        let block_pages = match is_one_pass {
            true => 1,
            false => sample::block_pages(&config)?,
        };
        let (mut device_pages, mut samples, mut flash_blocks) = (u64::MAX, UNBOUNDED, 0);
        if config.has_flash() {
            device_pages = config.offered_pages()?;
            samples = device_pages.div_ceil(block_pages);
            let data = u64::from(config.data_pages()?) * config.typed.flash.page_bytes;
            flash_blocks = config.flash_bytes() / data;
        }
        let division = Division {
            config: index,
            block_pages,
            device_pages,
            samples,
        };
        let same = divisions.iter().position(|other| {
            Division {
                config: index,
                ..other.clone()
            } == division
        });
        let splitter = same.unwrap_or_else(|| {
            divisions.push(division);
            divisions.len() - 1
        });
        schemes.push(Scheme {
            of,
            splitter,
            block_pages,
            flash_blocks,
            spare: 0.0,
            keeps_pages: config.keeps_pages(),
            is_one_pass,
            config,
        });
    }
    Ok(schemes)
}

/// An estimate of the number of different pages that may enter the buffers of the schemes.
fn footprint(asked: &Asked<'_>, config: &Config, counter: &Counter<'_>) -> Result<u64, Error> {
    let samples = Samples::new(UNBOUNDED, asked.rate, asked.salts, config.typed.sim.seed);
    let mut source = asked.input.open_first_pass(config)?;
    let addressing = config.addressing(0);
    let (mut batch, mut known) = (Vec::new(), HashSet::new());
    let reads_enter = reads_enter(asked.schemes);
    while source.fill(&mut batch)? {
        if !counter.advance(0) {
            return Err(Error::Interrupted);
        }
        let entering = batch.iter().filter(|request| enters(request, reads_enter));
        for request in entering {
            let span = addressing.span(request);
            let pages = span.first..span.first + u64::from(span.pages);
            known.extend(pages.filter(|page| samples.has(*page)));
        }
    }
    let share = (samples.rate() * f64::from(asked.salts)).min(1.0);
    Ok((known.len() as f64 / share).ceil() as u64)
}

/// The number of pages in the buffer of a miniature that represents a buffer of `pages` pages; `None` if the
/// miniature's buffer would be too small.
fn small(scheme: &Scheme<'_>, rate: f64, pages: u64) -> Option<u64> {
    let small = (pages as f64 * rate).round() as u64;
    let least = match scheme.is_one_pass {
        true => LEAST_PAGES,
        false => LEAST_PAGES.max(LEAST_BLOCKS * scheme.block_pages),
    };
    (small >= least || rate >= 1.0).then_some(small)
}

/// The miniatures of all schemes. Notes in each scheme how much the over-provisioning of its miniatures differs.
fn runs(
    asked: &Asked<'_>,
    schemes: &mut [Scheme<'_>],
    divisions: &[Division],
    sizes: &[u64],
) -> Result<Vec<Run>, Error> {
    let mut runs = Vec::new();
    for (index, scheme) in schemes.iter_mut().enumerate() {
        let samples = divisions[scheme.splitter].samples(asked, &scheme.config);
        let (rate, pages) = (
            samples.rate(),
            samples.each().saturating_mul(scheme.block_pages),
        );
        let page_bytes = scheme.config.typed.flash.page_bytes;
        let miniature = sample::miniature(&scheme.config, rate, pages)?;
        scheme.spare = sample::spare_error(&scheme.config, &miniature)?;
        let mut add = |full: Option<u64>, buffer: u64| {
            let mut config = miniature.clone();
            config.set(CAPACITY, Value::Integer(buffer * page_bytes));
            runs.extend((0..asked.salts).map(|sample| Run {
                scheme: index,
                sample,
                bytes: full,
                config: config.clone(),
            }));
        };
        if scheme.is_one_pass {
            add(None, 1);
            continue;
        }
        if !scheme.keeps_pages {
            add(
                Some(0),
                scheme.config.typed.buffer.capacity_bytes / page_bytes,
            );
            continue;
        }
        for bytes in sizes {
            let pages = bytes / page_bytes;
            if let Some(buffer) = small(scheme, rate, pages) {
                add(Some(*bytes), buffer);
            }
        }
    }
    if runs.is_empty() {
        return Err(too_small(asked.rate));
    }
    Ok(runs)
}

/// The error that no size is large enough to be sampled at `rate`.
fn too_small(rate: f64) -> Error {
    let what = format!(
        " {rate}: the largest buffer has fewer than {LEAST_BLOCKS} blocks in a sample (or, for page-level LRU, fewer than {LEAST_PAGES} pages); expected a larger rate, or no sample"
    );
    Error::argument("sample", what)
}

impl Division {
    fn samples(&self, asked: &Asked<'_>, config: &Config) -> Samples {
        Samples::new(self.samples, asked.rate, asked.salts, config.typed.sim.seed)
    }
}

/// Divides `runs` into ranges, such that the models of each range fit in memory together. If the input can be read
/// only once, there is one range.
fn shares(asked: &Asked<'_>, runs: &[Run], effort: &Effort<'_>) -> Vec<Range<usize>> {
    let (mut shares, mut start, mut sum) = (Vec::new(), 0, 0_u64);
    let step = asked.salts as usize;
    for at in (0..runs.len()).step_by(step) {
        let config = &runs[at].config;
        let bytes = match config.has_flash() {
            true => model_bytes(config, 0),
            false => model_bytes(&config.with_blocks(1), 0),
        };
        let bytes = bytes.saturating_mul(step as u64);
        let is_full = sum.saturating_add(bytes) > effort.memory;
        if at > start && is_full && asked.input.allows_second_pass() {
            shares.push(start..at);
            (start, sum) = (at, 0);
        }
        sum = sum.saturating_add(bytes);
    }
    shares.push(start..runs.len());
    shares
}

struct Done {
    measured: Vec<Measured>,
    splitters: Vec<Splitter>,
    facts: Facts,
}

/// Reads the input once, and feeds all of `runs`.
fn read(
    asked: &Asked<'_>,
    schemes: &[Scheme<'_>],
    divisions: &[Division],
    runs: &[Run],
    counter: &Counter<'_>,
    effort: &Effort<'_>,
) -> Result<Done, Error> {
    let name = asked.input.name();
    let mut splitters: Vec<Splitter> = divisions
        .iter()
        .map(|division| {
            let config = &schemes[division.config].config;
            let samples = division.samples(asked, config);
            Splitter::new(
                &name,
                config,
                division.device_pages,
                division.block_pages,
                samples,
            )
        })
        .collect();
    let mut miniatures = Vec::with_capacity(runs.len());
    for run in runs {
        let scheme = &schemes[run.scheme];
        let observer = || Watch::new(counter, Silent);
        let pass = scheme
            .is_one_pass
            .then(|| OnePass::new(&run.config, &name))
            .flatten();
        let model = match pass {
            Some(pass) => Model::OnePass(Box::new(pass)),
            None => {
                let ftl = run.config.prepared_ftl(&mut observer())?;
                let none = Prepass::default();
                let run = Simulation::new(&run.config, &name, ftl, &none, Box::new(observer()))?;
                Model::Run(Box::new(run))
            }
        };
        miniatures.push(Miniature {
            splitter: scheme.splitter,
            sample: run.sample as usize,
            model,
        });
    }
    let of = &schemes[0].config;
    let options = asked.input.options(of)?;
    destage_memory::doing(format!("reading {name}"));
    // A pass that gives all sizes needs only the sampled pages, and no virtual time. If every scheme is simulated by
    // such a pass, and one splitter serves all schemes, requests without sampled pages are counted but not decoded.
    let sieve = match &splitters[..] {
        [only] if schemes.iter().all(|scheme| scheme.is_one_pass) => only.sieve(),
        _ => None,
    };
    let mut source = match sieve {
        Some(_) => asked.input.open_sifted(of)?,
        None => asked.input.open(of)?,
    };
    let (mut batch, mut part, mut has_ended) = (Vec::new(), Vec::new(), false);
    let next = || -> Result<Option<Parts>, Error> {
        batch.clear();
        while batch.len() < BATCH && !has_ended {
            has_ended = match &sieve {
                Some(sieve) => match source.sift(sieve, &mut part)? {
                    Some(passed) => {
                        splitters.iter_mut().for_each(|only| only.pass(passed));
                        false
                    }
                    None => true,
                },
                None => !source.fill(&mut part)?,
            };
            batch.extend_from_slice(&part);
            if !counter.advance(0) {
                return Err(Error::Interrupted);
            }
        }
        if batch.is_empty() {
            return Ok(None);
        }
        let mut parts: Parts = Vec::with_capacity(splitters.len());
        for splitter in &mut splitters {
            let mut own = vec![Part::default(); asked.salts as usize];
            splitter.split(&batch, &mut own)?;
            parts.push(own);
        }
        Ok(Some(parts))
    };
    let threads = effort.all_threads().min(miniatures.len());
    let measured = carry_out(miniatures, (threads, counter), next)?;
    let mut facts = Facts::of_source(&source, &options);
    facts.forget_times();
    Ok(Done {
        measured,
        splitters,
        facts,
    })
}

/// The data from which the points are computed.
struct Gathered<'a> {
    asked: &'a Asked<'a>,
    sizes: &'a [u64],
    page_bytes: u64,
    splitters: &'a [Splitter],
    /// For each splitter and sample, the numbers of pages that reads and writes request.
    of_samples: Vec<[sample::Asked; 2]>,
}

/// One size of a scheme: the number of bytes in the full-size buffer (0 without a buffer), and the estimated metrics.
type Point = (u64, Result<Estimates, Error>);

impl Gathered<'_> {
    /// The point of one size, or the points of all sizes if one pass gave the metrics of all sizes.
    fn points(
        &self,
        scheme: &Scheme<'_>,
        bytes: Option<u64>,
        samples: Vec<Measured>,
    ) -> Vec<Point> {
        let (mut curves, mut metrics) = (Vec::new(), Vec::new());
        for sample in samples {
            match sample {
                Measured::OnePass(curve) => curves.push(curve),
                Measured::Run(Ok(of)) => metrics.push(of),
                Measured::Run(Err(error)) => return vec![(bytes.unwrap_or(0), Err(error))],
            }
        }
        if let Some(bytes) = bytes {
            return vec![(bytes, Ok(self.estimates(scheme, &metrics)))];
        }
        let rate = self.splitters[scheme.splitter].samples().rate();
        let mut points = Vec::new();
        for bytes in self.sizes {
            let pages = bytes / self.page_bytes;
            let Some(small) = small(scheme, rate, pages) else {
                continue;
            };
            let small = u32::try_from(small).unwrap_or(u32::MAX);
            let metrics: Vec<Metrics> = curves.iter().map(|curve| curve.at(small)).collect();
            points.push((*bytes, Ok(self.estimates(scheme, &metrics))));
        }
        points
    }

    fn estimates(&self, scheme: &Scheme<'_>, metrics: &[Metrics]) -> Estimates {
        let splitter = &self.splitters[scheme.splitter];
        let [reads, writes] = &self.of_samples[scheme.splitter];
        estimates(&Sampled {
            metrics,
            reads,
            writes,
            rate: splitter.samples().rate(),
            host: splitter.host(),
            page_bytes: self.page_bytes,
            flash_blocks: scheme.flash_blocks,
        })
    }

    /// All points of the curve of a scheme, with their confidence intervals.
    fn curve(&self, scheme: &Scheme<'_>, points: Vec<Point>) -> Vec<SampledPoint> {
        let splitter = &self.splitters[scheme.splitter];
        let (mut sizes, mut along, mut failed) = (Vec::new(), Vec::new(), Vec::new());
        for (bytes, of) in points {
            match of {
                Ok(of) => {
                    sizes.push(bytes);
                    along.push(of);
                }
                Err(error) => failed.push((bytes, Err(error))),
            }
        }
        let in_pages = |bytes: &u64| *bytes as f64 / self.page_bytes as f64;
        let pages: Vec<f64> = sizes.iter().map(in_pages).collect();
        let coarse = Coarseness {
            rate: splitter.samples().rate(),
            step: scheme.block_pages as f64 / splitter.samples().rate(),
            spread: splitter.spread(),
            spare: scheme.spare,
        };
        widen(&mut along, &pages, coarse);
        let mut all: Vec<Point> = sizes.into_iter().zip(along.into_iter().map(Ok)).collect();
        all.extend(failed);
        all.sort_by_key(|(bytes, _)| *bytes);
        let host = splitter.host();
        all.into_iter()
            .map(|(bytes, of)| self.point(scheme, bytes, of, host))
            .collect()
    }

    fn point(
        &self,
        scheme: &Scheme<'_>,
        bytes: u64,
        of: Result<Estimates, Error>,
        host: &HostCounts,
    ) -> SampledPoint {
        let mut ranges = BTreeMap::new();
        let result = of.map(|found| {
            let known = found.iter();
            ranges = known
                .filter_map(|(name, of)| Some((name.clone(), of.range?)))
                .collect();
            let values = found.into_iter().map(|(name, of)| (name, of.value));
            RunResult {
                parameters: scheme.config.parameters(),
                metrics: of_host(host).into_iter().chain(values).collect(),
                explained: None,
            }
        });
        let mut record = Record::new(self.asked.input, scheme.of, &scheme.config, result);
        if bytes > 0 {
            let capacity = Value::Integer(bytes);
            record.parameters.insert(CAPACITY.to_owned(), capacity);
        }
        SampledPoint { record, ranges }
    }
}

/// The metrics of the host. These metrics are exact, because they count all requests.
fn of_host(host: &HostCounts) -> Vec<(String, Number)> {
    let rows = [
        (rows::HOST_REQUESTS, host.requests),
        (rows::HOST_COMPLETED, host.completed),
        (rows::HOST_PAGE_READS, host.page_reads),
        (rows::HOST_PAGE_WRITES, host.page_writes),
        (rows::HOST_BYTES_WRITTEN, host.bytes_written),
    ];
    let named = rows.into_iter();
    named
        .map(|(row, number)| (row.name.to_owned(), Number::Integer(number)))
        .collect()
}
