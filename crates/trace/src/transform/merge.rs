//! Merges several traces into one, in order of arrival.

use crate::decode::{Names, TIME_MAX};
use crate::error::{Excerpt, Fault, TraceError};
use crate::reader::Reader;
use crate::request::Request;
use destage_base::Ticks;
use destage_base::time::TICKS_PER_SECOND;
use std::collections::BTreeMap;

/// How the volumes of merged traces are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Volumes {
    /// Each volume of each trace gets a new number, in the order of first appearance.
    #[default]
    Apart,
    /// Volumes of several traces with equal numbers become one volume. Names are numbered over all traces, so
    /// volumes with equal names become one volume too.
    Same,
}

/// How the times of merged traces are aligned, if their formats have calendar times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Clocks {
    /// Each trace begins at 0.
    #[default]
    Own,
    /// The earliest trace begins at 0, and each other trace begins as much later as on the clock. So traces of
    /// one system stay aligned.
    Same,
}

/// Reads several traces at once. Requests with the same arrival are returned in the order of their traces.
pub struct Merge {
    traces: Vec<Head>,
    volumes: Volumes,
    clocks: Clocks,
    aligned: bool,
    numbers: BTreeMap<(usize, u32), u32>,
}

struct Head {
    reader: Reader,
    batch: Vec<Request>,
    next: usize,
    /// The time in ticks that is added to all arrivals.
    delay: Ticks,
}

impl Head {
    /// The next request, which is not removed.
    fn peek(&mut self) -> Result<Option<&Request>, TraceError> {
        if self.next == self.batch.len() {
            self.next = 0;
            self.reader.fill(&mut self.batch)?;
        }
        Ok(self.batch.get(self.next))
    }

    /// The error of a `request` whose arrival plus the delay does not fit in 64 bits.
    #[cold]
    fn too_late(&self, request: &Request) -> TraceError {
        let seconds = |time| {
            format!(
                "{}.{:010} s",
                time / TICKS_PER_SECOND,
                time % TICKS_PER_SECOND
            )
        };
        let (time, delay) = (seconds(request.arrival), seconds(self.delay));
        let text = Excerpt::new(format!("{time}, delayed by {delay}").as_bytes());
        let file = self.reader.origin().to_owned();
        let (fault, expected) = (Fault::TooLarge("time"), TIME_MAX);
        if self.reader.format().is_text() {
            TraceError::Line {
                file,
                line: u64::from(request.line),
                fault,
                text,
                expected,
            }
        } else {
            TraceError::Row {
                file,
                row: u64::from(request.line),
                fault,
                text,
                expected,
            }
        }
    }
}

impl Merge {
    /// Creates a merge of the traces that `readers` read. No request may have been read from `readers` before.
    #[must_use]
    pub fn new(mut readers: Vec<Reader>, volumes: Volumes, clocks: Clocks) -> Self {
        if volumes == Volumes::Same {
            let names = Names::default();
            for reader in &mut readers {
                reader.share_names(&names);
            }
        }
        let head = |reader| Head {
            reader,
            batch: Vec::new(),
            next: 0,
            delay: 0,
        };
        Self {
            traces: readers.into_iter().map(head).collect(),
            volumes,
            clocks,
            aligned: false,
            numbers: BTreeMap::new(),
        }
    }

    /// The next request of all traces; `None` at their end.
    ///
    /// # Errors
    /// The errors of [`Reader::fill`]. With [`Clocks::Same`] also if the traces have different formats, or are
    /// so far apart that a time does not fit in 64 bits.
    pub fn take(&mut self) -> Result<Option<Request>, TraceError> {
        if !self.aligned {
            self.aligned = true;
            if self.clocks == Clocks::Same {
                self.align()?;
            }
        }
        let mut first: Option<(usize, Request)> = None;
        for (index, trace) in self.traces.iter_mut().enumerate() {
            let delay = trace.delay;
            if let Some(request) = trace.peek()? {
                let Some(arrival) = request.arrival.checked_add(delay) else {
                    let request = *request;
                    return Err(trace.too_late(&request));
                };
                if first.is_none_or(|(_, other)| arrival < other.arrival) {
                    let request = Request {
                        arrival,
                        ..*request
                    };
                    first = Some((index, request));
                }
            }
        }
        let Some((index, mut request)) = first else {
            return Ok(None);
        };
        self.traces[index].next += 1;
        if self.volumes == Volumes::Apart {
            let next = self.numbers.len();
            let number = self.numbers.entry((index, request.volume));
            // The number always fits in 32 bits, because memory does not suffice for more volumes.
            request.volume = *number.or_insert(u32::try_from(next).unwrap_or(u32::MAX));
        }
        Ok(Some(request))
    }

    /// Delays each trace by the time between its beginning and that of the earliest trace.
    fn align(&mut self) -> Result<(), TraceError> {
        let stranger = |reader: &Reader| TraceError::Clock {
            file: reader.origin().to_owned(),
            format: reader.format().name,
        };
        let mut starts = Vec::new();
        let mut format = None;
        for trace in &mut self.traces {
            trace.peek()?;
            if *format.get_or_insert(trace.reader.format()) != trace.reader.format() {
                return Err(stranger(&trace.reader));
            }
            starts.push(trace.reader.clock().unwrap_or(0));
        }
        let earliest = starts.iter().copied().min().unwrap_or(0);
        for (trace, start) in self.traces.iter_mut().zip(starts) {
            trace.delay = Ticks::try_from(start - earliest).map_err(|_| stranger(&trace.reader))?;
        }
        Ok(())
    }

    /// The volumes with new numbers: the index of the trace, the number in the trace, and the new number.
    pub fn renumbered(&self) -> impl Iterator<Item = (usize, u32, u32)> {
        let numbers = self.numbers.iter();
        numbers.map(|((trace, volume), number)| (*trace, *volume, *number))
    }

    /// The readers, whose counts the caller can report.
    pub fn readers(&self) -> impl Iterator<Item = &Reader> {
        self.traces.iter().map(|trace| &trace.reader)
    }
}
