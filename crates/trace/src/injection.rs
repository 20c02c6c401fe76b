//! Inserts by rules what was lost when a trace was recorded: flushes, force unit access, trims and streams.
//!
//! All rules count only the requests that the reader returns. `flush_every_writes` adds a flush with every n-th
//! write. `flush_every` adds a flush at each multiple of a period after the first request, if a write arrived
//! since the last flush of the trace and since the last inserted flush. Without such a write no flush is added,
//! because a file system that has nothing to commit sends no flush. `fua_every_writes` sets FUA in every n-th
//! write. `trim_every_writes` adds, with every n-th write, a trim of the range that the previous n-th write
//! wrote. So each n-th write is like a temporary file that is removed when the next one is made. `streams` can
//! derive the stream of a request from the number of its volume.

use crate::options::{InjectionRules, ReadOptions, Streams};
use crate::request::{Operation, Request};
use destage_base::Ticks;

/// Applies the rules to requests, which must be given in order of arrival.
pub(crate) struct Injection {
    flush_every: Ticks,
    flush_writes: Countdown,
    fua_writes: Countdown,
    trim_writes: Countdown,
    streams: Streams,
    /// Whether a write arrived since the last flush.
    written: bool,
    /// The next multiple of `flush_every`; `None` before the first request.
    due: Option<Ticks>,
    /// The write whose range the next inserted trim covers.
    temporary: Option<Request>,
    /// The number of inserted requests.
    pub added: u64,
    scratch: Vec<Request>,
}

/// Counts down from a number, again and again.
struct Countdown {
    every: u64,
    left: u64,
}

impl Countdown {
    /// Creates a countdown of `every` writes; with 0 it never ends.
    fn new(every: u64) -> Self {
        Self { every, left: every }
    }

    /// Counts one write. Returns whether the countdown has ended; if so, it begins again.
    fn strike(&mut self) -> bool {
        if self.every == 0 {
            return false;
        }
        self.left -= 1;
        let struck = self.left == 0;
        if struck {
            self.left = self.every;
        }
        struck
    }
}

impl Injection {
    /// Prepares to apply `rules`; `None` if they insert nothing.
    pub fn new(rules: &InjectionRules) -> Option<Self> {
        let InjectionRules {
            flush_every,
            flush_every_writes,
            fua_every_writes,
            trim_every_writes,
            streams,
        } = *rules;
        (*rules != InjectionRules::default()).then(|| Self {
            flush_every,
            flush_writes: Countdown::new(flush_every_writes),
            fua_writes: Countdown::new(fua_every_writes),
            trim_writes: Countdown::new(trim_every_writes),
            streams,
            written: false,
            due: None,
            temporary: None,
            added: 0,
            scratch: Vec::new(),
        })
    }

    /// Applies the rules to `batch`.
    pub fn apply(&mut self, batch: &mut Vec<Request>) {
        let mut made = std::mem::take(&mut self.scratch);
        made.clear();
        for request in batch.iter() {
            self.add(*request, &mut made);
        }
        std::mem::swap(batch, &mut made);
        self.scratch = made;
    }

    /// Changes `request` by the rules and adds it to `made`, together with the requests that the rules insert.
    fn add(&mut self, mut request: Request, made: &mut Vec<Request>) {
        if self.streams == Streams::Volume && request.operation != Operation::Flush {
            // Stream 0 means that a request has no stream.
            request.stream = (request.volume % u32::from(u16::MAX)) as u16 + 1;
        }
        if self.flush_every > 0 {
            self.flush_by_time(&request, made);
        }
        match request.operation {
            Operation::Write => self.write(request, made),
            Operation::Flush => {
                self.written = false;
                made.push(request);
            }
            Operation::Read | Operation::Trim => made.push(request),
        }
    }

    fn write(&mut self, mut request: Request, made: &mut Vec<Request>) {
        request.fua |= self.fua_writes.strike();
        self.written = true;
        made.push(request);
        if self.trim_writes.strike()
            && let Some(old) = self.temporary.replace(request)
        {
            self.added += 1;
            made.push(Request {
                arrival: request.arrival,
                operation: Operation::Trim,
                fua: false,
                ..old
            });
        }
        if self.flush_writes.strike() {
            self.flush(&request, request.arrival, made);
        }
    }

    fn flush_by_time(&mut self, request: &Request, made: &mut Vec<Request>) {
        let due = *self
            .due
            .get_or_insert(request.arrival.saturating_add(self.flush_every));
        if request.arrival < due {
            return;
        }
        if self.written {
            self.flush(request, due, made);
        }
        // No write arrives during a pause between two requests, so only the first multiple of the period in the
        // pause can need a flush. The other multiples are skipped.
        let periods = (request.arrival - due) / self.flush_every + 1;
        self.due = Some(due.saturating_add(periods.saturating_mul(self.flush_every)));
    }

    fn flush(&mut self, near: &Request, arrival: Ticks, made: &mut Vec<Request>) {
        self.written = false;
        self.added += 1;
        made.push(Request {
            arrival,
            ..near.flush_of_volume()
        });
    }
}

/// Returns `requests`, which must be in order of arrival, together with the requests that the rules in
/// `options` insert. If `options` describe an array, only the part of one disk is returned. A [`crate::Reader`]
/// does both itself for the requests of a trace.
#[must_use]
pub fn injected(
    mut requests: Box<dyn Iterator<Item = Request> + Send>,
    options: &ReadOptions,
) -> Box<dyn Iterator<Item = Request> + Send> {
    if let Some(mut injection) = Injection::new(&options.injection) {
        requests = Box::new(requests.flat_map(move |request| {
            let mut made = Vec::new();
            injection.add(request, &mut made);
            made
        }));
    }
    let array = options.array;
    match array.divides() {
        true => Box::new(requests.filter_map(move |request| array.part(&request))),
        false => requests,
    }
}
