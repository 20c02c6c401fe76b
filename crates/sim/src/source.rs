//! Where requests come from: a trace being read, a trace in memory, or a workload.

mod ahead;

use destage_trace::{Operation, Passed, Reader, Request, Sieve, SoFar, TraceError};

use self::ahead::Ahead;

/// Requests in a batch, for inputs that are not traces.
const BATCH: usize = 4096;

/// The kinds of requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Seen {
    /// How many there were.
    pub requests: u64,
    /// There was a trim.
    pub trims: bool,
    /// There was a flush, or a write with force unit access.
    pub durable: bool,
}

impl Seen {
    fn add(&mut self, batch: &[Request]) {
        self.requests += batch.len() as u64;
        // Nearly all requests only read and write, which have the numbers 0 and 1: any other operation sets a bit above those.
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
    seen: Seen,
}

enum Kind<'a> {
    Memory(std::slice::Chunks<'a, Request>),
    Reading(Box<Reader>),
    Generated(Box<dyn Iterator<Item = Request> + Send + 'a>),
    Ahead(Ahead),
}

impl Source<'static> {
    /// This source, whose requests are read or generated on a thread of their own, some batches ahead of the caller. Batches, errors and the facts
    /// about the trace after each batch stay as they are. If the system has no thread to give, the source stays as it is.
    #[must_use]
    pub fn ahead(self) -> Self {
        let origin = self.origin.clone();
        match Ahead::of(self) {
            Ok(ahead) => Self {
                origin,
                kind: Kind::Ahead(ahead),
                seen: Seen::default(),
            },
            Err(source) => *source,
        }
    }
}

impl<'a> Source<'a> {
    /// Requests already in memory; `origin` names them in errors.
    pub fn memory(origin: impl Into<String>, requests: &'a [Request]) -> Self {
        Self {
            origin: origin.into(),
            kind: Kind::Memory(requests.chunks(BATCH)),
            seen: Seen::default(),
        }
    }

    /// Requests decoded as they are needed, in bounded memory.
    pub fn reading(origin: impl Into<String>, reader: Reader) -> Self {
        Self {
            origin: origin.into(),
            kind: Kind::Reading(Box::new(reader)),
            seen: Seen::default(),
        }
    }

    /// Requests made as they are needed.
    pub fn generated(
        origin: impl Into<String>,
        requests: Box<dyn Iterator<Item = Request> + Send + 'a>,
    ) -> Self {
        Self {
            origin: origin.into(),
            kind: Kind::Generated(requests),
            seen: Seen::default(),
        }
    }

    /// The name of the requests in errors.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Replaces the content of `batch` by the next requests, up to some thousands. Returns `false`, with an empty
    /// batch, at the end.
    ///
    /// # Errors
    /// An error in the trace.
    pub fn fill(&mut self, batch: &mut Vec<Request>) -> Result<bool, TraceError> {
        let more = self.take(batch)?;
        self.seen.add(batch);
        Ok(more)
    }

    /// The kinds of requests that [`Source::fill`] has handed out.
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

    /// As [`Source::fill`], without most of the requests that `sieve` drops, which are counted instead; `None` at the end.
    ///
    /// # Errors
    /// An error in the trace.
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

    /// The reader, if requests are decoded as they are needed.
    pub fn reader(&self) -> Option<&Reader> {
        match &self.kind {
            Kind::Reading(reader) => Some(reader),
            _ => None,
        }
    }

    /// The facts about the trace after the batch that was handed out last, if a trace is read.
    #[must_use]
    pub fn so_far(&self) -> Option<SoFar> {
        match &self.kind {
            Kind::Reading(reader) => Some(reader.so_far()),
            Kind::Ahead(ahead) => ahead.so_far(),
            Kind::Memory(_) | Kind::Generated(_) => None,
        }
    }
}
