//! Where requests come from: a trace being read, a trace in memory, or a workload.

use destage_trace::{Reader, Request, TraceError};

/// A stream of requests in arrival order.
pub struct Source<'a> {
    origin: String,
    kind: Kind<'a>,
}

enum Kind<'a> {
    Memory(std::slice::Iter<'a, Request>),
    Reading {
        reader: Box<Reader>,
        batch: Vec<Request>,
        next: usize,
    },
    Generated(Box<dyn Iterator<Item = Request> + Send + 'a>),
}

impl<'a> Source<'a> {
    /// Requests already in memory; `origin` names them in errors.
    pub fn memory(origin: impl Into<String>, requests: &'a [Request]) -> Self {
        Self {
            origin: origin.into(),
            kind: Kind::Memory(requests.iter()),
        }
    }

    /// Requests decoded as they are needed, in bounded memory.
    pub fn reading(origin: impl Into<String>, reader: Reader) -> Self {
        let kind = Kind::Reading {
            reader: Box::new(reader),
            batch: Vec::new(),
            next: 0,
        };
        Self {
            origin: origin.into(),
            kind,
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
        }
    }

    /// What the requests are called in errors.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The next request.
    #[inline]
    pub fn take(&mut self) -> Result<Option<Request>, TraceError> {
        match &mut self.kind {
            Kind::Memory(requests) => Ok(requests.next().copied()),
            Kind::Generated(requests) => Ok(requests.next()),
            Kind::Reading {
                reader,
                batch,
                next,
            } => {
                while *next == batch.len() {
                    *next = 0;
                    if !reader.fill(batch)? {
                        batch.clear();
                        return Ok(None);
                    }
                }
                *next += 1;
                Ok(Some(batch[*next - 1]))
            }
        }
    }

    /// The reader, if requests are being decoded: its counts and digest.
    pub fn reader(&self) -> Option<&Reader> {
        match &self.kind {
            Kind::Reading { reader, .. } => Some(reader),
            _ => None,
        }
    }
}
