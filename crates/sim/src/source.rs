//! Sources of requests: a trace that is being read, requests in memory, or a workload.

mod ahead;

use destage_trace::{Operation, Passed, Reader, Request, Sieve, SoFar, TraceError};

use self::ahead::Ahead;

/// The number of requests in a batch, for sources that are not read from a trace file.
const BATCH: usize = 4096;

/// The number of requests, and whether certain kinds were among them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Seen {
    /// The number of requests.
    pub requests: u64,
    /// Whether there was a trim.
    pub trims: bool,
    /// Whether there was a flush, or a write with force unit access (FUA).
    pub durable: bool,
}

impl Seen {
    fn add(&mut self, batch: &[Request]) {
        self.requests += batch.len() as u64;
        // Nearly all requests are plain reads and writes, whose operations have the numbers 0 and 1. Any other
        // operation, and FUA, sets a higher bit.
        let bits = |request: &Request| request.operation as u8 | u8::from(request.fua) << 2;
        if batch.iter().map(bits).fold(0, |all, bits| all | bits) <= 1 {
            return;
        }
        for request in batch {
            self.trims |= request.operation == Operation::Trim;
            self.durable |= request.fua | (request.operation == Operation::Flush);
        }
    }
}

/// A stream of requests in arrival order.
pub struct Source<'a> {
    origin: String,
    kind: Kind<'a>,
    /// The number of requests that are still to be left out.
    left_out: u64,
    seen: Seen,
}

enum Kind<'a> {
    Memory(std::slice::Chunks<'a, Request>),
    Reading(Box<Reader>),
    Generated(Box<dyn Iterator<Item = Request> + Send + 'a>),
    Ahead(Box<Ahead>),
}

impl Source<'static> {
    /// Moves the reading or generation of this source's requests to a thread that works some batches ahead of the
    /// caller. Batches, errors and the facts about the trace after each batch stay the same. If the system cannot
    /// start a thread, the source stays as it is.
    #[must_use]
    pub fn ahead(self) -> Self {
        let origin = self.origin.clone();
        match Ahead::of(self) {
            Ok(ahead) => Self {
                origin,
                kind: Kind::Ahead(Box::new(ahead)),
                left_out: 0,
                seen: Seen::default(),
            },
            Err(source) => *source,
        }
    }
}

impl<'a> Source<'a> {
    /// A source of requests that are in memory. Error messages call the source `origin`.
    pub fn memory(origin: impl Into<String>, requests: &'a [Request]) -> Self {
        Self {
            origin: origin.into(),
            kind: Kind::Memory(requests.chunks(BATCH)),
            left_out: 0,
            seen: Seen::default(),
        }
    }

    /// A source that decodes requests from a trace as they are needed, in bounded memory; `origin` names them in
    /// errors.
    pub fn reading(origin: impl Into<String>, reader: Reader) -> Self {
        Self {
            origin: origin.into(),
            kind: Kind::Reading(Box::new(reader)),
            left_out: 0,
            seen: Seen::default(),
        }
    }

    /// A source that generates requests as they are needed. Error messages call the source `origin`.
    pub fn generated(
        origin: impl Into<String>,
        requests: Box<dyn Iterator<Item = Request> + Send + 'a>,
    ) -> Self {
        Self {
            origin: origin.into(),
            kind: Kind::Generated(requests),
            left_out: 0,
            seen: Seen::default(),
        }
    }

    /// This source without its first `requests` requests. The times of the other requests do not change.
    #[must_use]
    pub fn after(self, requests: u64) -> Self {
        Self {
            left_out: self.left_out + requests,
            ..self
        }
    }

    /// The name by which error messages call the source of the requests.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Replaces the content of `batch` with the next requests, at most some thousands. At the end, returns
    /// `false` and an empty batch.
    ///
    /// # Errors
    /// If the trace has an error.
    pub fn fill(&mut self, batch: &mut Vec<Request>) -> Result<bool, TraceError> {
        let mut more = self.take(batch)?;
        while self.left_out > 0 && more {
            let out =
                usize::try_from(self.left_out).map_or(batch.len(), |left| left.min(batch.len()));
            batch.drain(..out);
            self.left_out -= out as u64;
            if batch.is_empty() {
                more = self.take(batch)?;
            }
        }
        self.seen.add(batch);
        Ok(more)
    }

    /// The number and kinds of the requests that [`Source::fill`] has returned so far.
    #[must_use]
    pub fn seen(&self) -> Seen {
        self.seen
    }

    fn take(&mut self, batch: &mut Vec<Request>) -> Result<bool, TraceError> {
        match &mut self.kind {
            Kind::Memory(chunks) => {
                batch.clear();
                batch.extend_from_slice(chunks.next().unwrap_or_default());
            }
            Kind::Reading(reader) => return reader.fill(batch),
            Kind::Generated(requests) => {
                batch.clear();
                batch.extend(requests.take(BATCH));
            }
            Kind::Ahead(ahead) => return ahead.fill(batch),
        }
        Ok(!batch.is_empty())
    }

    /// Like [`Source::fill`], but a trace reader drops the requests that `sieve` does not want, and counts them
    /// instead. Returns `None` at the end.
    ///
    /// # Errors
    /// If the trace has an error.
    pub fn sift(
        &mut self,
        sieve: &Sieve,
        batch: &mut Vec<Request>,
    ) -> Result<Option<Passed>, TraceError> {
        match &mut self.kind {
            Kind::Reading(reader) => reader.sift(sieve, batch),
            Kind::Memory(_) | Kind::Generated(_) | Kind::Ahead(_) => {
                Ok(self.fill(batch)?.then(Passed::default))
            }
        }
    }

    /// The trace reader, if the source decodes requests as they are needed on the caller's thread.
    pub fn reader(&self) -> Option<&Reader> {
        match &self.kind {
            Kind::Reading(reader) => Some(reader),
            _ => None,
        }
    }

    /// The facts about the trace up to the end of the last returned batch, if the source is a trace that is being
    /// read.
    #[must_use]
    pub fn so_far(&self) -> Option<SoFar> {
        match &self.kind {
            Kind::Reading(reader) => Some(reader.so_far()),
            Kind::Ahead(ahead) => ahead.so_far(),
            Kind::Memory(_) | Kind::Generated(_) => None,
        }
    }
}
