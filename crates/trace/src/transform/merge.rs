//! Several traces as one, in order of arrival.

use crate::error::TraceError;
use crate::reader::Reader;
use crate::request::Request;
use std::collections::BTreeMap;

/// What becomes of the volumes of merged traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Volumes {
    /// Each volume of each trace gets a number of its own, in the order of first appearance.
    #[default]
    Apart,
    /// Volumes of equal number are one volume.
    Same,
}

/// Reads several traces at once. Requests that arrive together come in the order of their traces.
pub struct Merge {
    traces: Vec<Head>,
    volumes: Volumes,
    numbers: BTreeMap<(usize, u32), u32>,
}

struct Head {
    reader: Reader,
    batch: Vec<Request>,
    next: usize,
}

impl Head {
    /// The next request, without taking it.
    fn peek(&mut self) -> Result<Option<&Request>, TraceError> {
        if self.next == self.batch.len() {
            self.next = 0;
            self.reader.fill(&mut self.batch)?;
        }
        Ok(self.batch.get(self.next))
    }
}

impl Merge {
    /// Of what `readers` read.
    #[must_use]
    pub fn new(readers: Vec<Reader>, volumes: Volumes) -> Self {
        let head = |reader| Head {
            reader,
            batch: Vec::new(),
            next: 0,
        };
        Self {
            traces: readers.into_iter().map(head).collect(),
            volumes,
            numbers: BTreeMap::new(),
        }
    }

    /// The next request of all traces; nothing at their end.
    ///
    /// # Errors
    /// As [`Reader::fill`].
    pub fn take(&mut self) -> Result<Option<Request>, TraceError> {
        let mut first: Option<(usize, Request)> = None;
        for (index, trace) in self.traces.iter_mut().enumerate() {
            if let Some(request) = trace.peek()?
                && first.is_none_or(|(_, other)| request.arrival < other.arrival)
            {
                first = Some((index, *request));
            }
        }
        let Some((index, mut request)) = first else {
            return Ok(None);
        };
        self.traces[index].next += 1;
        if self.volumes == Volumes::Apart {
            let next = self.numbers.len();
            let number = self.numbers.entry((index, request.volume));
            // More volumes than 32 bits hold do not fit in memory either.
            request.volume = *number.or_insert(u32::try_from(next).unwrap_or(u32::MAX));
        }
        Ok(Some(request))
    }

    /// The readers, for what they met.
    pub fn readers(&self) -> impl Iterator<Item = &Reader> {
        self.traces.iter().map(|trace| &trace.reader)
    }
}
