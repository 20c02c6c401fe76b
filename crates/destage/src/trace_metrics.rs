//! Statistics of an input as metrics. They are the numbers of `destage trace info` for the requests that a run with
//! the same parameters would simulate.

use std::time::Instant;

use destage_sim::metrics::{Metrics, Number};
use destage_sim::paging::Addressing;
use destage_sim::settings::Config;
use destage_trace::statistics::{Number as Statistic, Row, Shape};
use destage_trace::{Collector, Request};

use crate::error::Error;
use crate::facts::Facts;
use crate::input::Input;
use crate::manifest::Manifest;
use crate::progress::{Progress, Silent, Stage};

/// Collects statistics of the requests of a run. The configuration of the run determines the sizes of pages and
/// blocks, and the pages that a request touches.
#[derive(Debug)]
pub struct Inspection {
    addressing: Addressing,
    /// Counts and sums of the requests.
    pub collector: Collector,
    /// Distributions, and distances between writes to the same page or block.
    pub shape: Shape,
}

impl Inspection {
    /// An inspection of the requests of a run under `config`.
    ///
    /// # Errors
    /// If a block has no page for data.
    pub fn new(config: &Config) -> Result<Self, Error> {
        Ok(Self {
            addressing: config.addressing(0),
            collector: Collector::new(config.typed.flash.page_bytes),
            shape: Shape::new(u64::from(config.data_pages()?)),
        })
    }

    /// Adds `requests` to the statistics.
    pub fn add(&mut self, requests: &[Request]) {
        /// The number of requests whose memory is read together. With more, some of it would no longer be in the
        /// processor's nearest cache when it is needed.
        const TOGETHER: usize = 32;
        let pages = |request: &Request| {
            let span = self.addressing.span(request);
            span.first..=span.first + u64::from(span.pages) - 1
        };
        // The collectors get the requests one after the other, because each of them may need more memory than fits in
        // the cache.
        for requests in requests.chunks(TOGETHER) {
            for request in requests {
                self.collector.prefetch(request, *pages(request).start());
            }
            for request in requests {
                self.collector.add_as(request, pages(request));
            }
        }
        for requests in requests.chunks(TOGETHER) {
            for request in requests {
                self.shape.prefetch(request, *pages(request).start());
            }
            for request in requests {
                self.shape.add_as(request, pages(request));
            }
        }
    }

    /// The statistics that are defined for the added requests, in the order in which they are displayed.
    #[must_use]
    pub fn rows(&self) -> Vec<Row> {
        let mut rows = self.collector.finish().rows();
        rows.extend(self.shape.locality().rows());
        rows
    }
}

/// The statistics of `input` as a run under `config` reads it. The name of each statistic is `trace.` followed by its
/// name in `destage trace info`.
///
/// The statistics depend on [`crate::Reading`] and on the `trace.*` parameters. `flash.page_bytes` and `trace.align`
/// determine pages; `flash.pages_per_block`, less a summary page, determines blocks. The statistics use the addresses
/// of the trace and ignore `trace.addr_map`. Equal pages of different volumes count as different pages. A metric that
/// is not defined for the input, such as the mean size of no reads, is absent.
///
/// # Errors
/// If the trace cannot be read, if the workload cannot be generated, or if a block has no page for data.
pub fn trace_metrics(input: &Input, config: &Config) -> Result<Metrics, Error> {
    metrics_and_facts(input, config).map(|(metrics, _)| metrics)
}

/// All statistics of `input` that `destage trace info` prints, and the manifest. The input is read as by a run under
/// `config`. `progress` receives the number of requests read.
///
/// # Errors
/// The errors of [`trace_metrics`], or an interrupt if `progress` asked to stop.
pub fn inspect(
    input: &Input,
    config: &Config,
    progress: &dyn Progress,
) -> Result<(Inspection, Manifest), Error> {
    let started = Instant::now();
    let (inspection, facts) = inspected(input, config, progress)?;
    let manifest = Manifest {
        command: Vec::new(),
        inputs: vec![facts],
        unused: Vec::new(),
        notes: Vec::new(),
        seed: config.typed.sim.seed,
        wall_time_s: started.elapsed().as_secs_f64(),
    };
    Ok((inspection, manifest))
}

fn inspected(
    input: &Input,
    config: &Config,
    progress: &dyn Progress,
) -> Result<(Inspection, Facts), Error> {
    let options = input.options(config)?;
    let mut source = input.open_ahead(config)?;
    let (mut inspection, mut batch) = (Inspection::new(config)?, Vec::new());
    let mut done = 0;
    while source.fill(&mut batch)? {
        inspection.add(&batch);
        done += batch.len() as u64;
        if !progress.report(Stage::Simulation, done, input.expected_requests()) {
            return Err(Error::Interrupted);
        }
    }
    let mut facts = Facts::of_source(&source, &options);
    facts.add_known(input);
    Ok((inspection, facts))
}

/// The statistics of the input as metrics, and the facts about the input.
pub fn metrics_and_facts(input: &Input, config: &Config) -> Result<(Metrics, Facts), Error> {
    let (inspection, facts) = inspected(input, config, &Silent)?;
    let metric = |row: Row| {
        let number = match row.value {
            Statistic::Whole(number) => Number::Integer(number),
            Statistic::Decimal(number) => Number::Real(number),
        };
        (row.of.metric(), number)
    };
    let metrics = inspection.rows().into_iter().map(metric).collect();
    Ok((metrics, facts))
}
