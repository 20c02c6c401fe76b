//! The pass over all requests that a few configurations need before a run begins.

use std::sync::Arc;

use destage_base::Lpn;
use destage_trace::{Operation, Request};

use crate::error::SimError;
use crate::merging::{Merged, Spans};
use crate::paging::Addressing;
use crate::settings::Config;
use crate::source::Source;

/// The facts about the coming requests that a run needs at its start. Most runs need none.
#[derive(Clone, Debug, Default)]
pub struct Prepass {
    /// The end of the trace's addresses in pages, for `trace.addr_map = shrink`.
    pub span_pages: u64,
    /// The number of device pages onto which several trace pages fall; `None` unless addresses are shrunk.
    pub merged: Option<Merged>,
    /// The page of every page write in order, for schemes that have to know future writes.
    pub writes: Option<Arc<[Lpn]>>,
}

/// The results of one pass for several configurations.
pub struct Pass {
    origin: String,
    /// The extent of the requests, for each different rule by which requests become pages. Most configurations have
    /// the same rule.
    reaches: Vec<Reach>,
    /// Writes and trims, if any configuration has to know future requests.
    writes: Vec<Request>,
    /// The written pages, for each different set of settings on which they depend.
    known: Vec<Known>,
}

impl Pass {
    /// Reads `source` to its end for `configs`. `progress` is called from time to time with the number of
    /// requests read; `false` stops the pass.
    ///
    /// # Errors
    /// If the trace has an error, or [`SimError::Interrupted`].
    pub fn read(
        configs: &[&Config],
        source: &mut Source<'_>,
        mut progress: impl FnMut(u64) -> bool,
    ) -> Result<Self, SimError> {
        let needs_future = configs.iter().any(|config| config.scheme.needs_future());
        let mut reaches: Vec<Reach> = Vec::new();
        for config in configs {
            let in_trace = config.addressing(0);
            if reaches.iter().all(|reach| reach.in_trace != in_trace) {
                reaches.push(Reach {
                    in_trace,
                    end: 0,
                    spans: in_trace.shrinks().then(Spans::default),
                });
            }
        }
        let mut writes = Vec::new();
        let (mut batch, mut read) = (Vec::new(), 0);
        while source.fill(&mut batch)? {
            read += batch.len() as u64;
            if !progress(read) {
                return Err(SimError::Interrupted);
            }
            reaches.iter_mut().for_each(|reach| reach.add(&batch));
            if needs_future {
                writes.extend(batch.iter().filter(|request| is_write(request)));
            }
        }
        Ok(Self {
            origin: source.origin().to_owned(),
            reaches,
            writes,
            known: Vec::new(),
        })
    }

    /// The end of the addresses of all requests under `config`, in pages. The pass must have included `config`.
    #[must_use]
    pub fn end(&self, config: &Config) -> u64 {
        self.reach(config).map_or(0, |reach| reach.end)
    }

    fn reach(&self, config: &Config) -> Option<&Reach> {
        let in_trace = config.addressing(0);
        self.reaches.iter().find(|reach| reach.in_trace == in_trace)
    }

    /// The facts that a run under `config` needs.
    ///
    /// # Errors
    /// If the configuration has an error, or a request does not fit the device.
    pub fn prepass(&mut self, config: &Config) -> Result<Prepass, SimError> {
        if !config.needs_prepass() {
            return Ok(Prepass::default());
        }
        let span_pages = self.end(config);
        let mut merged = None;
        if let Some(spans) = self.reach(config).and_then(|reach| reach.spans.as_ref()) {
            merged = spans.merged(&config.addressing(span_pages), config.ftl()?.pages());
        }
        let mut writes = None;
        if config.scheme.needs_future() {
            let key = Target {
                addressing: config.addressing(span_pages),
                device_pages: config.ftl()?.pages(),
                strict_trim: config.has_strict_trim(),
            };
            writes = Some(match self.known.iter().find(|(other, _)| *other == key) {
                Some((_, pages)) => Arc::clone(pages),
                None => {
                    let pages = key.pages(&self.writes, &self.origin)?;
                    self.known.push((key, Arc::clone(&pages)));
                    pages
                }
            });
        }
        Ok(Prepass {
            span_pages,
            merged,
            writes,
        })
    }
}

/// The extent of the requests of a trace, in pages of the trace.
struct Reach {
    in_trace: Addressing,
    /// The page after the last page that a request touches.
    end: u64,
    /// The spans that requests read and write, if addresses are shrunk.
    spans: Option<Spans>,
}

impl Reach {
    fn add(&mut self, batch: &[Request]) {
        // The writes in this function cannot change a copy. So the compiler evaluates the rule of alignment once, and
        // not for each request.
        let in_trace = self.in_trace;
        let placed = batch
            .iter()
            .filter(|request| request.operation != Operation::Flush);
        let ends = placed.map(|request| {
            let span = in_trace.span(request);
            span.first + u64::from(span.pages)
        });
        self.end = ends.fold(self.end, u64::max);
        if let Some(spans) = &mut self.spans {
            let moves = |operation| matches!(operation, Operation::Read | Operation::Write);
            let moved = batch.iter().filter(|request| moves(request.operation));
            moved.for_each(|request| spans.add(in_trace.span(request)));
        }
    }
}

fn is_write(request: &Request) -> bool {
    matches!(request.operation, Operation::Write | Operation::Trim)
}

/// The settings on which the pages written by a trace depend.
#[derive(PartialEq)]
struct Target {
    addressing: Addressing,
    device_pages: u64,
    strict_trim: bool,
}

/// The settings, and the written pages that follow from them.
type Known = (Target, Arc<[Lpn]>);

impl Target {
    /// The pages of `writes`, in the order of writing.
    fn pages(&self, writes: &[Request], origin: &str) -> Result<Arc<[Lpn]>, SimError> {
        let mut pages = Vec::new();
        for request in writes {
            let origin = || origin.to_owned();
            let asked = self
                .addressing
                .request(request, self.device_pages, origin)?;
            if let Some(write) = asked.as_write(self.strict_trim) {
                let span = write.span;
                pages.extend((0..span.pages).map(|offset| span.page(offset, self.device_pages)));
            }
        }
        Ok(pages.into())
    }
}
