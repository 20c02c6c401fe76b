//! Limits on the values of a run. Once a value is beyond its limit, the rest of the run cannot bring it back below
//! the limit.
//!
//! Counts and sums of times only grow, and a run has at most the requests and writes of its input. Suppose that a run
//! has programmed more pages than the limit of write amplification allows for the whole input. Then the write
//! amplification cannot fall below the limit again. The same is true of the 99th percentile, if more than a hundredth
//! of all requests took longer than its limit. Waiting requests count as well, because the response time of a request
//! is at least the time that it has already waited. Every comparison uses the numbers and the rounding of
//! [`crate::metrics`].

use destage_base::Ticks;
use destage_base::time::to_ms;
use destage_buffer::Counts;
use destage_buffer::destage::DestageCause;
use destage_nand::Cause;
use destage_nand::operation::Tally;

use destage_trace::request::SECTOR_BYTES;
use destage_trace::{Operation, Request};

use crate::engine::Window;
use crate::host::Attribution;
use crate::latencies::{Latencies, PERCENTILES, mean_ms};
use crate::metrics::{MetricRow, rows};
use crate::paging::Addressing;
use crate::parameters::Wearout;
use crate::settings::Config;

/// The totals of an input. No run on this input has larger totals.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Demand {
    /// Number of reads.
    pub reads: u64,
    /// Number of writes, flushes and trims.
    pub writes: u64,
    /// Number of page writes.
    pub page_writes: u64,
    /// Number of bytes written.
    pub bytes_written: u64,
}

impl Demand {
    /// Adds `request`, which `addressing` divides into pages. With `strict_trim`, trims write zeros.
    pub fn add(&mut self, addressing: &Addressing, request: &Request, strict_trim: bool) {
        match request.operation {
            Operation::Read => self.reads += 1,
            Operation::Write | Operation::Flush | Operation::Trim => self.writes += 1,
        }
        let writes = match request.operation {
            Operation::Write => true,
            Operation::Trim => strict_trim,
            Operation::Read | Operation::Flush => false,
        };
        if writes {
            self.page_writes += u64::from(addressing.span(request).pages);
            self.bytes_written += u64::from(request.sectors) * SECTOR_BYTES;
        }
    }
}

/// The values of a run so far, which are compared with limits.
pub(crate) struct SoFar<'r> {
    pub(crate) counts: Counts,
    pub(crate) tally: Tally,
    pub(crate) gc_runs: u64,
    pub(crate) response: &'r Latencies,
    /// The requests that wait; `None` if every request is answered at once.
    pub(crate) unanswered: Option<&'r dyn Unanswered>,
}

/// Requests that have arrived and are not answered.
pub(crate) trait Unanswered {
    /// The number of these requests.
    fn count(&self) -> usize;

    /// Calls `visit` for each of these requests, with `false` for a read and `true` for any other request, and with
    /// the ticks that the request has waited.
    fn each(&self, visit: &mut dyn FnMut(bool, Ticks));
}

/// The limits of one run, and the response times that were evaluated for them so far.
#[derive(Clone, Debug)]
pub struct Limits(Vec<Limit>);

#[derive(Clone, Debug)]
struct Limit {
    value: f64,
    of: Of,
}

/// A count of a run that only grows.
type Counter = fn(&SoFar<'_>) -> u64;

#[derive(Clone, Debug)]
enum Of {
    /// A count, the factor that multiplies it, and the number that divides it.
    Count(Counter, f64, f64),
    Times(Times),
}

/// A statistic of the response times of reads, of other requests, or of both.
#[derive(Clone, Debug)]
struct Times {
    reads: bool,
    writes: bool,
    figure: Figure,
    /// The largest possible number of these times.
    most: u64,
    /// Whether every waiting request will be among these times.
    counts_waiting: bool,
    /// The number of evaluated times of reads, and the number of evaluated times of other requests.
    seen: [usize; 2],
    sum: u128,
    /// The number of evaluated times that are not below the limit.
    beyond: u64,
}

#[derive(Clone, Copy, Debug)]
enum Figure {
    Mean,
    /// The fraction of the percentile, as numerator and denominator.
    Percentile(u64, u64),
    Max,
}

impl Limits {
    /// Limits of a run under `config` on an input with the totals `demand`. Each of `goals` is a metric and the value
    /// that it has to stay below. `None` if no goal can be compared before the end of the run.
    #[must_use]
    pub fn new<'g>(
        config: &Config,
        demand: Demand,
        goals: impl IntoIterator<Item = (&'g str, f64)>,
    ) -> Option<Self> {
        // Counts from before the opening of statistics are subtracted only at the end of the run. So the counts so
        // far cannot be compared with limits.
        if config.warmup() > 0 {
            return None;
        }
        let limit = |(metric, value): (&str, f64)| {
            let of = of(config, demand, metric)?;
            Some(Limit { value, of })
        };
        let limits: Vec<Limit> = goals.into_iter().filter_map(limit).collect();
        (!limits.is_empty()).then_some(Self(limits))
    }

    /// Whether `run` is beyond one of these limits.
    pub(crate) fn are_passed(&mut self, run: &SoFar<'_>) -> bool {
        self.0.iter_mut().any(|limit| match &mut limit.of {
            Of::Count(count, times, over) => count(run) as f64 * *times / *over >= limit.value,
            Of::Times(times) => times.pass(run, limit.value),
        })
    }
}

fn of(config: &Config, demand: Demand, metric: &str) -> Option<Of> {
    let is = |row: &MetricRow| row.name == metric;
    let programs = |run: &SoFar<'_>| run.tally.programs.iter().sum();
    let ratio = [
        (
            rows::WAF_BYTES,
            config.geometry().page_bytes as f64,
            demand.bytes_written,
        ),
        (rows::WAF_HOST, 1.0, demand.page_writes),
    ];
    if let Some((_, times, over)) = ratio.into_iter().find(|(row, ..)| is(row)) {
        return (over > 0).then_some(Of::Count(programs, times, over as f64));
    }
    let counts: [(&MetricRow, Counter); 11] = [
        (rows::BUFFER_EVICTIONS, |run| run.counts.evictions()),
        (rows::BUFFER_DESTAGED_PAGES, |run| run.counts.destaged()),
        (rows::BUFFER_ON_DEMAND_UPDATES, |run| {
            run.counts.destaged_pages[DestageCause::Evict as usize]
        }),
        (rows::BUFFER_PAD_READS, |run| run.counts.pads.read),
        (rows::BUFFER_PAD_FILLS, |run| run.counts.pads.filled),
        (rows::FLASH_READS, |run| run.tally.reads.iter().sum()),
        (rows::FLASH_PROGRAMS, programs),
        (rows::FLASH_ERASES, |run| run.tally.erases.iter().sum()),
        (rows::FLASH_PAGES_MOVED, |run| {
            run.tally.programs[Cause::Copy as usize]
        }),
        (rows::FLASH_PROGRAMS_HOST, |run| {
            run.tally.programs[Cause::Host as usize]
        }),
        (rows::FTL_GC_RUNS, |run| run.gc_runs),
    ];
    if let Some((_, count)) = counts.into_iter().find(|(row, _)| is(row)) {
        return Some(Of::Count(count, 1.0, 1.0));
    }
    Times::of(config, demand, metric).map(Of::Times)
}

impl Times {
    /// The statistic of response times that `metric` names; `None` if it names none.
    fn of(config: &Config, demand: Demand, metric: &str) -> Option<Self> {
        let figures = [
            ("mean", Figure::Mean),
            (
                "p50",
                Figure::Percentile(PERCENTILES[0].0, PERCENTILES[0].1),
            ),
            (
                "p95",
                Figure::Percentile(PERCENTILES[1].0, PERCENTILES[1].1),
            ),
            (
                "p99",
                Figure::Percentile(PERCENTILES[2].0, PERCENTILES[2].1),
            ),
            (
                "p999",
                Figure::Percentile(PERCENTILES[3].0, PERCENTILES[3].1),
            ),
            ("max", Figure::Max),
        ];
        let rows = [
            (rows::RESPONSE, true, true),
            (rows::RESPONSE_READ, true, false),
            (rows::RESPONSE_WRITE, false, true),
        ];
        let all = rows
            .iter()
            .flat_map(|row| figures.map(|figure| (row, figure)));
        let mut named = all.filter(|((row, ..), (word, _))| row.of(word) == metric);
        let ((_, reads, writes), (_, figure)) = named.next()?;
        // With DiskSim's rule a read may be credited with the time of a write.
        let by_kind = config.typed.host.attribution == Attribution::Request;
        let of_kind = |counts: bool, number: u64| match counts || !by_kind {
            true => number,
            false => 0,
        };
        // A run may end, or close its statistics, before the waiting requests are answered.
        let typed = &config.typed;
        let answers_all = typed.host.saturation == 0
            && typed.sim.window == Window::Complete
            && typed.flash.wearout == Wearout::Ignore;
        Some(Self {
            reads: *reads,
            writes: *writes,
            figure,
            most: of_kind(*reads, demand.reads) + of_kind(*writes, demand.writes),
            counts_waiting: by_kind && answers_all,
            seen: [0; 2],
            sum: 0,
            beyond: 0,
        })
    }

    /// Adds the new values of `run`; returns whether the figure cannot stay below `value` milliseconds.
    fn pass(&mut self, run: &SoFar<'_>, value: f64) -> bool {
        let wanted = [self.reads, self.writes];
        // When the response times have moved to histograms, new times are no longer compared with the limit.
        if let Some(kept) = run.response.kept() {
            for ((times, seen), _) in kept
                .into_iter()
                .zip(&mut self.seen)
                .zip(wanted)
                .filter(|(_, wanted)| *wanted)
            {
                for time in &times[*seen..] {
                    self.sum += u128::from(*time);
                    self.beyond += u64::from(is_beyond(*time, value));
                }
                *seen = times.len();
            }
        }
        let (mut sum, mut beyond) = (self.sum, self.beyond);
        if let Some(unanswered) = run.unanswered.filter(|_| self.counts_waiting) {
            unanswered.each(&mut |is_write, time| {
                if wanted[usize::from(is_write)] {
                    sum += u128::from(time);
                    beyond += u64::from(is_beyond(time, value));
                }
            });
        }
        match self.figure {
            Figure::Mean => self.most > 0 && mean_ms(sum, self.most) >= value,
            // The percentile is the time of rank ceil(q n). So it is beyond the limit if more than n - ceil(q n)
            // times are.
            Figure::Percentile(part, whole) => {
                let above = u128::from(self.most) * u128::from(whole - part) / u128::from(whole);
                u128::from(beyond) > above
            }
            Figure::Max => beyond > 0,
        }
    }
}

fn is_beyond(time: Ticks, value: f64) -> bool {
    to_ms(time) >= value
}
