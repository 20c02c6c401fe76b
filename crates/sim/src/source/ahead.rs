//! Requests that are read or generated on a thread of their own, some batches ahead of the caller.

use std::mem;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{Builder, JoinHandle};

use destage_trace::{Request, SoFar, TraceError};

use super::Source;

/// Batches that wait, at most.
const WAITING: usize = 4;

/// The data that the thread hands over.
type Step = Result<Batch, TraceError>;

struct Batch {
    requests: Vec<Request>,
    /// The facts about the trace after them.
    so_far: Option<SoFar>,
}

/// The requests of a source, in its batches.
pub(super) struct Ahead {
    /// Until it is let go.
    filled: Option<Receiver<Step>>,
    /// Vectors to fill again.
    emptied: Sender<Vec<Request>>,
    thread: Option<JoinHandle<()>>,
    so_far: Option<SoFar>,
}

impl Ahead {
    /// A thread that takes all from `source`; the source, if there is no thread to be had.
    pub fn of(source: Source<'static>) -> Result<Self, Box<Source<'static>>> {
        let so_far = source.so_far();
        let (full, filled) = sync_channel(WAITING);
        let (emptied, empty) = channel();
        // A source that went into a thread's closure would be lost with it.
        let (give, given) = channel();
        let thread = Builder::new().spawn(move || {
            if let Ok(source) = given.recv() {
                take_all(source, &full, &empty);
            }
        });
        let Ok(thread) = thread else {
            return Err(Box::new(source));
        };
        match give.send(source) {
            Ok(()) => Ok(Self {
                filled: Some(filled),
                emptied,
                thread: Some(thread),
                so_far,
            }),
            Err(unsent) => Err(Box::new(unsent.0)),
        }
    }

    /// As [`Source::fill`].
    pub fn fill(&mut self, batch: &mut Vec<Request>) -> Result<bool, TraceError> {
        batch.clear();
        match self.filled.as_ref().map(Receiver::recv) {
            Some(Ok(Ok(next))) => {
                self.so_far = next.so_far;
                let spent = mem::replace(batch, next.requests);
                // Nobody fills it any more after the last batch.
                let _ = self.emptied.send(spent);
                Ok(!batch.is_empty())
            }
            Some(Ok(Err(error))) => Err(error),
            // The end or an error was handed over before, unless the thread came to an end of its own.
            Some(Err(_)) | None => match self.let_go() {
                Ok(()) => Ok(false),
                Err(panic) => resume_unwind(panic),
            },
        }
    }

    pub fn so_far(&self) -> Option<SoFar> {
        self.so_far.clone()
    }

    /// Waits for the thread, which stops after the batch it is at.
    fn let_go(&mut self) -> std::thread::Result<()> {
        self.filled = None;
        self.thread.take().map_or(Ok(()), JoinHandle::join)
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        // If it has panicked, its requests are not needed any more.
        let _ = self.let_go();
    }
}

/// Hands over batch after batch, up to an empty one or an error.
fn take_all(mut source: Source<'_>, full: &SyncSender<Step>, empty: &Receiver<Vec<Request>>) {
    loop {
        let mut requests = empty.try_recv().unwrap_or_default();
        let filled = source.take(&mut requests);
        let goes_on = matches!(filled, Ok(true));
        let step = filled.map(|_| Batch {
            requests,
            so_far: source.so_far(),
        });
        if full.send(step).is_err() || !goes_on {
            return;
        }
    }
}
