//! The pass over all requests that a few configurations need before a run begins.

use std::sync::Arc;

use destage_base::Lpn;
use destage_trace::{Operation, Request};

use crate::error::SimError;
use crate::merging::{Merged, Spans};
use crate::paging::Addressing;
use crate::settings::Config;
use crate::source::Source;

/// A run's knowledge of the coming requests. Most runs need nothing, and it is empty.
#[derive(Clone, Debug, Default)]
pub struct Prepass {
    /// Pages the trace reaches, from page 0; for `trace.addr_map = shrink`.
    pub span_pages: u64,
    /// The pages that become one page with `trace.addr_map = shrink`, if addresses are shrunk.
    pub merged: Option<Merged>,
    /// Every page write in order, for schemes that need the future.
    pub writes: Option<Arc<[Lpn]>>,
}

impl Prepass {
    /// Reads `source` to its end and keeps what `config` needs. Reads nothing if it needs nothing.
    ///
    /// # Errors
    /// An error in the trace or the configuration.
    pub fn of(config: &Config, source: &mut Source<'_>) -> Result<Self, SimError> {
        match config.needs_prepass() {
            true => Pass::read(&[config], source, |_| true)?.prepass(config),
            false => Ok(Self::default()),
        }
    }
}

/// The findings of one pass for several configurations.
pub struct Pass {
    origin: String,
    /// By how requests become pages. Configurations differ in little that matters here.
    reaches: Vec<Reach>,
    /// Writes and trims, if a configuration needs the future.
    writes: Vec<Request>,
    /// The pages of the writes, by the settings that they depend on.
    known: Vec<Known>,
}

impl Pass {
    /// Reads `source` to its end for `configs`. `progress` is told from time to time how many requests were read; if it returns `false`, the pass
    /// stops.
    ///
    /// # Errors
    /// An error in the trace, or [`SimError::Interrupted`].
    pub fn read(
        configs: &[&Config],
        source: &mut Source<'_>,
        mut progress: impl FnMut(u64) -> bool,
    ) -> Result<Self, SimError> {
        let needs_future = configs.iter().any(|config| config.scheme.needs_future);
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

    /// The end of the requests under `config`, in pages; `config` was one of those the pass was for.
    #[must_use]
    pub fn end(&self, config: &Config) -> u64 {
        self.reach(config).map_or(0, |reach| reach.end)
    }

    fn reach(&self, config: &Config) -> Option<&Reach> {
        let in_trace = config.addressing(0);
        self.reaches.iter().find(|reach| reach.in_trace == in_trace)
    }

    /// The needs of a run under `config`.
    ///
    /// # Errors
    /// An error in the configuration, or a request beyond the device.
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
        if config.scheme.needs_future {
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

/// Where the requests of a trace reach, in its own pages.
struct Reach {
    in_trace: Addressing,
    /// Behind the last page.
    end: u64,
    /// The pages that they read and write, if addresses are to be shrunk.
    spans: Option<Spans>,
}

impl Reach {
    fn add(&mut self, batch: &[Request]) {
        // Copied: nothing that is written here can change them, and the compiler asks once for all requests how they become pages.
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

/// The settings that determine which pages the writes of a trace are.
#[derive(PartialEq)]
struct Target {
    addressing: Addressing,
    device_pages: u64,
    strict_trim: bool,
}

/// A target, and the pages written there.
type Known = (Target, Arc<[Lpn]>);

impl Target {
    /// The pages of `writes`, in order.
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
