//! The pass over all requests that a few configurations need before a run begins.

use destage_base::Lpn;
use destage_trace::Operation;

use crate::error::SimError;
use crate::merging::{Merged, Spans};
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
    pub writes: Option<Vec<Lpn>>,
}

impl Prepass {
    /// Reads `source` to its end and keeps what `config` needs. Reads nothing if it needs nothing.
    ///
    /// # Errors
    /// What is wrong with the trace or the configuration.
    pub fn of(config: &Config, source: &mut Source<'_>) -> Result<Self, SimError> {
        let mut prepass = Self::default();
        if !config.needs_prepass() {
            return Ok(prepass);
        }
        let in_trace = config.addressing(0);
        let mut spans = in_trace.shrinks().then(Spans::default);
        let mut writes = Vec::new();
        while let Some(request) = source.take()? {
            let span = in_trace.span(&request);
            if request.operation != Operation::Flush {
                let end = span.first + u64::from(span.pages);
                prepass.span_pages = prepass.span_pages.max(end);
            }
            if let (Some(spans), Operation::Read | Operation::Write) =
                (&mut spans, request.operation)
            {
                spans.add(span);
            }
            let is_write = matches!(request.operation, Operation::Write | Operation::Trim);
            if is_write && config.scheme.needs_future {
                writes.push(request);
            }
        }
        if let Some(spans) = spans {
            let device_pages = config.ftl()?.pages();
            prepass.merged = spans.merged(&config.addressing(prepass.span_pages), device_pages);
        }
        if config.scheme.needs_future {
            let device_pages = config.ftl()?.pages();
            let on_device = config.addressing(prepass.span_pages);
            let mut pages = Vec::new();
            for request in &writes {
                let origin = || source.origin().to_owned();
                let asked = on_device.request(request, device_pages, origin)?;
                if let Some(write) = asked.as_write(config.has_strict_trim()) {
                    let span = write.span;
                    pages.extend((0..span.pages).map(|offset| span.page(offset, device_pages)));
                }
            }
            prepass.writes = Some(pages);
        }
        Ok(prepass)
    }
}
