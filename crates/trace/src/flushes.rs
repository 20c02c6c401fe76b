//! Flushes added to a trace that lost its own.
//!
//! By count, after every n-th write, with which the flush arrives; by time, at each multiple of a period after the
//! first request, if something was written since the last flush of any origin: a file system with nothing to
//! commit sends none.

use crate::options::ReadOptions;
use crate::request::{Operation, Request};
use destage_base::Ticks;

/// Adds flushes to requests that pass in order of arrival.
pub(crate) struct Flushes {
    every_writes: u64,
    every: Ticks,
    /// Writes since the last multiple of `every_writes`.
    writes: u64,
    /// Whether anything was written since the last flush.
    written: bool,
    /// The next multiple of `every`, once there was a request.
    due: Option<Ticks>,
    /// How many were added.
    pub added: u64,
    scratch: Vec<Request>,
}

impl Flushes {
    /// As `options` ask; nothing if they ask for none.
    pub fn new(options: &ReadOptions) -> Option<Self> {
        (options.flush_every_writes > 0 || options.flush_every > 0).then(|| Self {
            every_writes: options.flush_every_writes,
            every: options.flush_every,
            writes: 0,
            written: false,
            due: None,
            added: 0,
            scratch: Vec::new(),
        })
    }

    /// Adds to `batch` what is due.
    pub fn add(&mut self, batch: &mut Vec<Request>) {
        let mut made = std::mem::take(&mut self.scratch);
        made.clear();
        for request in batch.iter() {
            if self.every > 0 {
                self.by_time(request, &mut made);
            }
            made.push(*request);
            match request.operation {
                Operation::Write => {
                    self.written = true;
                    self.writes += 1;
                    if self.writes == self.every_writes {
                        self.writes = 0;
                        self.flush(request, request.arrival, &mut made);
                    }
                }
                Operation::Flush => self.written = false,
                Operation::Read | Operation::Trim => {}
            }
        }
        std::mem::swap(batch, &mut made);
        self.scratch = made;
    }

    fn by_time(&mut self, request: &Request, made: &mut Vec<Request>) {
        let due = *self
            .due
            .get_or_insert(request.arrival.saturating_add(self.every));
        if request.arrival < due {
            return;
        }
        if self.written {
            self.flush(request, due, made);
        }
        // Of the multiples in a long pause only the first had something to flush.
        let periods = (request.arrival - due) / self.every + 1;
        self.due = Some(due.saturating_add(periods.saturating_mul(self.every)));
    }

    fn flush(&mut self, near: &Request, arrival: Ticks, made: &mut Vec<Request>) {
        self.written = false;
        self.added += 1;
        made.push(Request {
            arrival,
            sector: 0,
            sectors: 0,
            operation: Operation::Flush,
            fua: false,
            ..*near
        });
    }
}
