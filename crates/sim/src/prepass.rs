//! The pass over all requests that a few configurations need before a run begins.

use std::sync::Arc;

use destage_base::Lpn;
use destage_trace::{Operation, Request};

use crate::error::SimError;
use crate::merging::{Merged, Spans};
use crate::paging::Addressing;
use crate::settings::Config;
use crate::source::Source;

/// What the pass found. Most runs need none, and it is empty.
#[derive(Clone, Debug, Default)]
pub struct Prepass {
    /// Pages the trace reaches, from page 0; for `trace.addr_map = shrink`.
    pub span_pages: u64,
    /// What becomes one page by `trace.addr_map = shrink`, if anything is shrunk.
    pub merged: Option<Merged>,
    /// Every page write in order, for schemes that need the future.
    pub writes: Option<Arc<[Lpn]>>,
}

impl Prepass {
    /// Reads `source` to its end and keeps what `config` needs. Reads nothing if it needs nothing.
    ///
    /// # Errors
    /// What is wrong with the trace or the configuration.
    pub fn of(config: &Config, source: &mut Source<'_>) -> Result<Self, SimError> {
        let mut all = Self::of_all(&[config], source, |_| true)?;
        all.pop().unwrap_or_else(|| Ok(Self::default()))
    }

    /// The same for each of `configs`, in one pass. `progress` is told now and then how many requests were read; with
    /// `false` it stops the pass. What is wrong with a configuration stands in its place.
    ///
    /// # Errors
    /// What is wrong with the trace, or [`SimError::Interrupted`].
    pub fn of_all(
        configs: &[&Config],
        source: &mut Source<'_>,
        mut progress: impl FnMut(u64) -> bool,
    ) -> Result<Vec<Result<Self, SimError>>, SimError> {
        let needed = configs.iter().filter(|config| config.needs_prepass());
        let needs_future = needed.clone().any(|config| config.scheme.needs_future);
        // Configurations differ in little that matters here.
        let mut ends: Vec<Reach> = Vec::new();
        for config in needed {
            let in_trace = config.addressing(0);
            if ends.iter().all(|reach| reach.in_trace != in_trace) {
                ends.push(Reach {
                    in_trace,
                    end: 0,
                    spans: in_trace.shrinks().then(Spans::default),
                });
            }
        }
        if ends.is_empty() {
            return Ok(configs.iter().map(|_| Ok(Self::default())).collect());
        }
        let mut writes = Vec::new();
        let (mut batch, mut read) = (Vec::new(), 0);
        while source.fill(&mut batch)? {
            read += batch.len() as u64;
            if !progress(read) {
                return Err(SimError::Interrupted);
            }
            ends.iter_mut().for_each(|reach| reach.add(&batch));
            if needs_future {
                writes.extend(batch.iter().filter(|request| is_write(request)));
            }
        }
        let mut known: Vec<Known> = Vec::new();
        let mut of = |config: &Config| {
            if !config.needs_prepass() {
                return Ok(Self::default());
            }
            let in_trace = config.addressing(0);
            let reach = ends.iter().find(|reach| reach.in_trace == in_trace);
            let span_pages = reach.map_or(0, |reach| reach.end);
            let mut merged = None;
            if let Some(spans) = reach.and_then(|reach| reach.spans.as_ref()) {
                merged = spans.merged(&config.addressing(span_pages), config.ftl()?.pages());
            }
            let mut writes_of = None;
            if config.scheme.needs_future {
                let key = Target {
                    addressing: config.addressing(span_pages),
                    device_pages: config.ftl()?.pages(),
                    strict_trim: config.has_strict_trim(),
                };
                let pages = match known.iter().find(|(other, _)| *other == key) {
                    Some((_, pages)) => Arc::clone(pages),
                    None => {
                        let pages = key.pages(&writes, source.origin())?;
                        known.push((key, Arc::clone(&pages)));
                        pages
                    }
                };
                writes_of = Some(pages);
            }
            Ok(Self {
                span_pages,
                merged,
                writes: writes_of,
            })
        };
        Ok(configs.iter().map(|config| of(config)).collect())
    }
}

/// Where the requests of a trace reach, in its own pages.
struct Reach {
    in_trace: Addressing,
    /// Behind the last page.
    end: u64,
    /// What they read and write, if that is to be shrunk.
    spans: Option<Spans>,
}

impl Reach {
    fn add(&mut self, batch: &[Request]) {
        for request in batch {
            if request.operation == Operation::Flush {
                continue;
            }
            let span = self.in_trace.span(request);
            self.end = self.end.max(span.first + u64::from(span.pages));
            let moves = matches!(request.operation, Operation::Read | Operation::Write);
            if let (Some(spans), true) = (&mut self.spans, moves) {
                spans.add(span);
            }
        }
    }
}

fn is_write(request: &Request) -> bool {
    matches!(request.operation, Operation::Write | Operation::Trim)
}

/// What decides which pages the writes of a trace are.
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
