//! Estimates of the values of the whole input, and their intervals, from a few samples.
//!
//! Each sample is corrected by the requested pages, which are known for the sample and for the whole input. If a hot
//! block is in one sample and not in others, the samples differ in requested pages, and also in misses. The sampled
//! blocks show by how much misses grow with requested pages ([`BlockCounts`](super::BlockCounts)). Hits are the
//! requested pages minus the misses. Evictions, programs and erases are caused by misses, so they are corrected as
//! well. A regression over the samples themselves would need many samples, and would not account for a hot block that
//! is in no sample. The differences that remain after the correction are chance, and Student's distribution gives the
//! interval. (With few hits this is SHARDS, with many SHARDS-adj: Waldspurger and others, FAST 2015.)
//!
//! A sample whose buffer holds all of its pages evicts no page. If some samples evict pages and others do not, the
//! full buffer is close to the size that holds all pages. The samples do not show whether it is smaller or larger
//! than this size. Then the interval contains the means of both kinds of samples. If at least half of the samples
//! evict no page, the value is the mean of these samples. Otherwise the value is the corrected mean of all samples.

use super::split::Asked;
use crate::measured::HostCounts;
use crate::metrics::{MetricRow, Metrics, Number, rows};

/// Metrics that are counts. The count of a sample is proportional to the fraction of blocks in the sample.
const COUNTS: &[&MetricRow] = &[
    rows::BUFFER_WRITE_HITS,
    rows::BUFFER_READ_HITS,
    rows::BUFFER_EVICTIONS,
    rows::BUFFER_DESTAGED_PAGES,
    rows::BUFFER_ON_DEMAND_UPDATES,
    rows::BUFFER_PAD_READS,
    rows::BUFFER_PAD_FILLS,
    rows::BUFFER_DIRTY_AT_END,
    rows::FLASH_READS,
    rows::FLASH_PROGRAMS,
    rows::FLASH_ERASES,
    rows::FLASH_PAGES_MOVED,
    rows::FLASH_PROGRAMS_HOST,
    rows::FLASH_PROGRAMS_PAD,
    rows::FLASH_PROGRAMS_COPY,
    rows::FLASH_PROGRAMS_MAP,
    rows::FLASH_PROGRAMS_WEAR,
    rows::FTL_GC_RUNS,
    rows::FTL_GC_TIME_MS,
    rows::FTL_MERGES_SWITCH,
    rows::FTL_MERGES_PARTIAL,
    rows::FTL_MERGES_FULL,
    rows::FTL_MERGE_CAUSES_OWN_LOG,
    rows::FTL_MERGE_CAUSES_ROOM,
    rows::FTL_MERGE_CAUSES_EAGER,
    rows::FTL_MERGE_COPIES,
    rows::FTL_MERGE_ERASES,
    rows::FTL_MERGE_TIME_MS,
];

/// Two-sided 95 % points of Student's distribution, from one degree of freedom on.
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
];

/// Error at a bend of a curve, in units of the standard deviation times the change of slope: the mean of the positive
/// part of a standard normal variable.
const BEND: f64 = 0.4;

/// The requested pages of samples may differ by chance from the expected number, by up to this number of standard
/// deviations. A larger difference is attributed to blocks that are hotter than all sampled blocks. Such blocks
/// hardly miss.
const LIKELY: f64 = 2.0;

/// A number and its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The likeliest value.
    pub value: Number,
    /// Lower and upper end of the interval; `None` if there is only one sample.
    pub range: Option<[Number; 2]>,
}

/// Metrics by name, in the order of the registry.
pub type Estimates = Vec<(String, Estimate)>;

/// The results of the miniatures of one buffer.
#[derive(Clone, Copy)]
pub struct Sampled<'a> {
    /// The metrics of each miniature.
    pub metrics: &'a [Metrics],
    /// Pages that reads request.
    pub reads: &'a Asked,
    /// Pages that writes request.
    pub writes: &'a Asked,
    /// The fraction of all blocks that each sample has.
    pub rate: f64,
    /// Requests, pages and bytes of the whole input.
    pub host: &'a HostCounts,
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Erase blocks of the full device; 0 without flash.
    pub flash_blocks: u64,
}

/// Whether [`estimates`] may contain the metric `name`.
#[must_use]
pub fn is_estimated(name: &str) -> bool {
    let more = [
        rows::BUFFER_WRITE_HITS_PERCENT,
        rows::BUFFER_MEAN_DESTAGE_PAGES,
        rows::WAF_BYTES,
        rows::WAF_HOST,
        rows::WAF_FTL,
        rows::WEAR_ERASE_MEAN,
    ];
    COUNTS.iter().chain(&more).any(|row| row.name == name)
}

/// Whether the metric `name` is a count or a time that adds up over the requests.
#[must_use]
pub fn is_sum(name: &str) -> bool {
    // The dirty pages at the end are a state, and do not add up.
    let is_state = name == rows::BUFFER_DIRTY_AT_END.name;
    !is_state && COUNTS.iter().any(|row| row.name == name)
}

/// The metrics of the full buffer, estimated from `sampled`: all metrics that are counts, and the metrics that are
/// computed from counts.
#[must_use]
pub fn estimates(sampled: &Sampled<'_>) -> Estimates {
    let of = |row: &MetricRow| -> Option<Vec<f64>> {
        let values = sampled.metrics.iter().map(|metrics| metrics.get(row.name));
        let values: Vec<Option<Number>> = values.collect();
        let known = values.iter().any(Option::is_some);
        known.then(|| {
            values
                .iter()
                .map(|value| value.map_or(0.0, Number::as_f64))
                .collect()
        })
    };
    let is_whole = |row: &MetricRow| {
        let mut values = sampled
            .metrics
            .iter()
            .filter_map(|metrics| metrics.get(row.name));
        values.all(|value| matches!(value, Number::Integer(_)))
    };
    let mut found = Vec::new();
    let writes = sampled.host.page_writes as f64;
    for row in COUNTS {
        let Some(values) = of(row) else { continue };
        let asked = match row.name {
            name if name == rows::BUFFER_WRITE_HITS.name => Some(sampled.writes),
            name if name == rows::BUFFER_READ_HITS.name => Some(sampled.reads),
            _ => None,
        };
        let most = asked.map_or(f64::INFINITY, |asked| asked.all);
        let number = |value: f64| match is_whole(row) {
            true => Number::Integer(value.clamp(0.0, most).round() as u64),
            false => Number::Real(value.clamp(0.0, most)),
        };
        let total = match asked {
            Some(asked) => sampled.hits(asked, &values),
            // Host reads also cause flash reads, in a varying proportion, so requested page writes give no correction.
            None if row.name == rows::FLASH_READS.name => {
                sampled.corrected(&values, sampled.writes, 0.0)
            }
            None => sampled.total(&values),
        };
        found.push((row.name.to_owned(), total.of(number)));
        if *row == rows::BUFFER_WRITE_HITS && writes > 0.0 {
            let percent = |hits: f64| Number::Real(100.0 * (number(hits).as_f64() / writes));
            let name = rows::BUFFER_WRITE_HITS_PERCENT.name;
            found.push((name.to_owned(), total.of(percent)));
        }
    }
    let real = |value: f64| Number::Real(value.max(0.0));
    let destaged = of(rows::BUFFER_DESTAGED_PAGES);
    let means = of(rows::BUFFER_MEAN_DESTAGE_PAGES);
    if let Some((pages, means)) = destaged.zip(means) {
        let of_mean = |(pages, mean): (&f64, &f64)| if *mean > 0.0 { pages / mean } else { 0.0 };
        let records: Vec<f64> = pages.iter().zip(&means).map(of_mean).collect();
        if let Some(ratio) = sampled.ratio(&pages, &records) {
            found.push((
                rows::BUFFER_MEAN_DESTAGE_PAGES.name.to_owned(),
                ratio.of(real),
            ));
        }
    }
    let Some(programs) = of(rows::FLASH_PROGRAMS) else {
        return found;
    };
    let total = sampled.total(&programs);
    if sampled.host.bytes_written > 0 {
        let per_byte = sampled.page_bytes as f64 / sampled.host.bytes_written as f64;
        for (row, factor) in [(rows::WAF_BYTES, per_byte), (rows::WAF_HOST, 1.0 / writes)] {
            let of_row = total.times(factor).of(real);
            found.push((row.name.to_owned(), of_row));
        }
    }
    if let Some(given) = of(rows::FLASH_PROGRAMS_HOST)
        && let Some(ratio) = sampled.ratio(&programs, &given)
    {
        found.push((rows::WAF_FTL.name.to_owned(), ratio.of(real)));
    }
    if let Some(erases) = of(rows::FLASH_ERASES).filter(|_| sampled.flash_blocks > 0) {
        let mean = sampled
            .total(&erases)
            .times(1.0 / sampled.flash_blocks as f64);
        found.push((rows::WEAR_ERASE_MEAN.name.to_owned(), mean.of(real)));
    }
    found
}

/// How coarse miniatures are.
#[derive(Clone, Copy, Debug)]
pub struct Coarseness {
    /// The fraction of all blocks that each sample has.
    pub rate: f64,
    /// Number of pages of the full buffer that correspond to one block, or one page, of a miniature's buffer.
    pub step: f64,
    /// How much the samples differ in the number of pages that they have to hold: the standard deviation divided by
    /// the mean.
    pub spread: f64,
    /// The relative difference between the over-provisioning of the miniatures and that of the full device.
    pub spare: f64,
}

/// Whether the metric `name` depends on garbage collection, and so on the over-provisioning.
fn is_of_flash(name: &str) -> bool {
    let sections = ["flash.", "ftl.", "waf.", "wear."];
    sections.iter().any(|section| name.starts_with(section))
}

/// Widens the intervals of `curve` by errors that the differences between samples do not show. `pages` are the sizes
/// of the curve's buffers, in pages. The first error: the size of a miniature's buffer is exact only to half a block.
/// The second: where the curve bends, differences in the number of pages that samples have to hold shift the mean of
/// the samples to one side. The third: a sample has its fraction of the contents of a buffer only by chance, so the
/// error is larger for a buffer that holds fewer blocks. The fourth: with a little less over-provisioning, the counts
/// of garbage collection are larger in about the same ratio.
pub fn widen(curve: &mut [Estimates], pages: &[f64], coarse: Coarseness) {
    let value = |of: &Estimates, name: &str| {
        let found = of.iter().find(|(other, _)| other == name)?;
        Some(found.1.value.as_f64())
    };
    // The slope of a metric from one size to the next.
    let slope = |curve: &[Estimates], name: &str, at: usize| -> Option<f64> {
        let rise = value(curve.get(at + 1)?, name)? - value(&curve[at], name)?;
        Some(rise / (pages[at + 1] - pages[at]))
    };
    let known = curve.to_vec();
    for (at, estimates) in curve.iter_mut().enumerate() {
        for (name, estimate) in estimates {
            let Some([low, high]) = estimate.range else {
                continue;
            };
            let before = at.checked_sub(1).and_then(|at| slope(&known, name, at));
            let after = slope(&known, name, at);
            // Beyond the largest size, the curve may be flat, so its slope is taken as 0.
            let (before, after) = (before.or(after).unwrap_or(0.0), after.unwrap_or(0.0));
            let steepest = before.abs().max(after.abs());
            let by_chance = (1.0 - coarse.rate) * coarse.step / pages[at].max(coarse.step);
            let spread = coarse.spread.max(by_chance.sqrt());
            let off =
                steepest * coarse.step / 2.0 + BEND * spread * pages[at] * (after - before).abs();
            let of_spare = match is_of_flash(name) {
                true => coarse.spare * estimate.value.as_f64(),
                false => 0.0,
            };
            let off = off + of_spare;
            let moved = |number: Number, by: f64| match number {
                Number::Integer(whole) => {
                    Number::Integer((whole as f64 + by).max(0.0).round() as u64)
                }
                Number::Real(real) => Number::Real((real + by).max(0.0)),
            };
            estimate.range = Some([moved(low, -off), moved(high, off)]);
        }
    }
}

/// A value, and its interval if the interval is known.
#[derive(Clone, Copy, Debug)]
struct Spread {
    value: f64,
    range: Option<[f64; 2]>,
}

impl Spread {
    /// The mean of `values`, and Student's interval around it.
    fn of_mean(values: &[f64]) -> Self {
        let (count, level) = (values.len(), mean(values));
        let squares: f64 = values.iter().map(|value| (value - level).powi(2)).sum();
        let deviation = || (squares / (count - 1) as f64 / count as f64).sqrt();
        Self::around(level, (count > 1).then(|| student(count - 1) * deviation()))
    }

    /// `value` with an interval that reaches `off` to either side.
    fn around(value: f64, off: Option<f64>) -> Self {
        Self {
            value,
            range: off.map(|off| [value - off, value + off]),
        }
    }

    fn moved(self, by: f64) -> Self {
        Self {
            value: self.value + by,
            range: self.range.map(|range| range.map(|end| end + by)),
        }
    }

    fn times(self, factor: f64) -> Self {
        Self {
            value: self.value * factor,
            range: self.range.map(|range| range.map(|end| end * factor)),
        }
    }

    /// `all` minus this value.
    fn rest_of(self, all: f64) -> Self {
        Self {
            value: all - self.value,
            range: self.range.map(|[low, high]| [all - high, all - low]),
        }
    }

    /// This value, with its interval extended to contain `values`.
    fn with(mut self, values: &[f64]) -> Self {
        for value in values {
            self.range = self
                .range
                .map(|[low, high]| [low.min(*value), high.max(*value)]);
        }
        self
    }

    fn of(self, number: impl Fn(f64) -> Number) -> Estimate {
        Estimate {
            value: number(self.value),
            range: self.range.map(|range| range.map(number)),
        }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn student(freedom: usize) -> f64 {
    match freedom {
        0 => f64::INFINITY,
        known if known <= STUDENT.len() => STUDENT[known - 1],
        more => 1.96 + 2.4 / more as f64,
    }
}

impl Sampled<'_> {
    /// The misses of each sample: its requested pages minus its hits.
    fn misses(asked: &Asked, hits: &[f64]) -> Vec<f64> {
        let samples = asked.of_samples.iter().zip(hits);
        samples.map(|(asked, hits)| asked - hits).collect()
    }

    /// The hits of the whole input, if the samples have `hits`.
    fn hits(&self, asked: &Asked, hits: &[f64]) -> Spread {
        let misses = Self::misses(asked, hits);
        let slope = asked.of_blocks.slope(misses.iter().sum());
        self.corrected(&misses, asked, slope).rest_of(asked.all)
    }

    /// The value for the whole input of a metric that page writes cause, if the samples have `counts`.
    fn total(&self, counts: &[f64]) -> Spread {
        let hits = self.metrics.iter().map(|metrics| {
            let hits = metrics.get(rows::BUFFER_WRITE_HITS.name);
            hits.map_or(0.0, Number::as_f64)
        });
        let misses: f64 = Self::misses(self.writes, &hits.collect::<Vec<_>>())
            .iter()
            .sum();
        let slope = match misses > 0.0 {
            true => self.writes.of_blocks.slope(misses) * counts.iter().sum::<f64>() / misses,
            false => 0.0,
        };
        self.corrected(counts, self.writes, slope)
    }

    /// The value for the whole input of a metric. The samples have `counts`, which grow by `slope` with each
    /// requested page. `asked` holds the requested pages of the samples and of the whole input.
    fn corrected(&self, counts: &[f64], asked: &Asked, slope: f64) -> Spread {
        let wanted = asked.all * self.rate;
        let samples = counts.iter().zip(&asked.of_samples);
        let corrected = samples.map(|(count, asked)| count + slope * (wanted - asked));
        let beside = wanted - mean(&asked.of_samples);
        let expected = LIKELY * asked.of_blocks.deviation(self.rate, counts.len());
        let unexpected = beside - beside.clamp(-expected, expected);
        let spread = Spread::of_mean(&corrected.collect::<Vec<_>>());
        let spread = spread.moved(-slope * unexpected).times(1.0 / self.rate);
        let Some([holding, others]) = self.on_both_sides(counts) else {
            return spread;
        };
        let [of_holding, of_others] = [&holding, &others].map(|counts| mean(counts) / self.rate);
        let value = match holding.len() >= others.len() {
            true => of_holding,
            false => spread.value,
        };
        Spread { value, ..spread }.with(&[of_holding, of_others])
    }

    /// The counts of samples whose buffers hold all of their pages, and the counts of the other samples. `None`
    /// unless there are samples of both kinds.
    fn on_both_sides(&self, counts: &[f64]) -> Option<[Vec<f64>; 2]> {
        let evictions = |metrics: &Metrics| metrics.get(rows::BUFFER_EVICTIONS.name);
        let holds = |metrics: &Metrics| evictions(metrics) == Some(Number::Integer(0));
        let all = || self.metrics.iter().zip(counts);
        let of = |which: bool| -> Vec<f64> {
            let chosen = all().filter(|(metrics, _)| holds(metrics) == which);
            chosen.map(|(_, count)| *count).collect()
        };
        let sides = [of(true), of(false)];
        sides.iter().all(|side| !side.is_empty()).then_some(sides)
    }

    /// The sum of `above` divided by the sum of `below`. Each list has one number for each sample. `None` if the sum
    /// of `below` is 0.
    fn ratio(&self, above: &[f64], below: &[f64]) -> Option<Spread> {
        let (count, level) = (above.len(), mean(below));
        if level <= 0.0 {
            return None;
        }
        let value = mean(above) / level;
        let rest = above.iter().zip(below);
        let rest: f64 = rest.map(|(one, other)| (one - value * other).powi(2)).sum();
        let off = (count > 1).then(|| {
            let variance = rest / (count - 1) as f64 / count as f64;
            student(count - 1) * variance.sqrt() / level
        });
        Some(Spread::around(value, off))
    }
}
