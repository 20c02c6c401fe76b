//! A thread that reads or generates requests some batches ahead of the caller.

use std::mem;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{Builder, JoinHandle};

use destage_trace::{Request, SoFar, TraceError};

use super::Source;

/// The largest number of filled batches that wait for the caller.
const WAITING: usize = 4;

/// A message of the thread: a batch or an error.
type Step = Result<Batch, TraceError>;

struct Batch {
    requests: Vec<Request>,
    /// The facts about the trace up to the end of this batch.
    so_far: Option<SoFar>,
}

/// The requests of a source, in the same batches in which the source returns them.
pub(super) struct Ahead {
    /// The channel of filled batches; `None` after [`Ahead::let_go`].
    filled: Option<Receiver<Step>>,
    /// The channel that returns used vectors to the thread for refilling.
    emptied: Sender<Vec<Request>>,
    thread: Option<JoinHandle<()>>,
    so_far: Option<SoFar>,
}

impl Ahead {
    /// Starts a thread that takes all requests from `source`. If no thread can be started, the error is the
    /// source itself.
    pub fn of(source: Source<'static>) -> Result<Self, Box<Source<'static>>> {
        let so_far = source.so_far();
        let (full, filled) = sync_channel(WAITING);
        let (emptied, empty) = channel();
        // The source is sent to the running thread. If the closure of the thread owned the source, a failed start
        // would lose the source.
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

    /// Does the same as [`Source::fill`].
    pub fn fill(&mut self, batch: &mut Vec<Request>) -> Result<bool, TraceError> {
        batch.clear();
        match self.filled.as_ref().map(Receiver::recv) {
            Some(Ok(Ok(next))) => {
                self.so_far = next.so_far;
                let spent = mem::replace(batch, next.requests);
                // After the last batch the thread has ended, and sending fails.
                let _ = self.emptied.send(spent);
                Ok(!batch.is_empty())
            }
            Some(Ok(Err(error))) => Err(error),
            // The thread has ended. Before that, it sent the end of the requests or an error, unless it panicked.
            Some(Err(_)) | None => match self.let_go() {
                Ok(()) => Ok(false),
                Err(panic) => resume_unwind(panic),
            },
        }
    }

    pub fn so_far(&self) -> Option<SoFar> {
        self.so_far.clone()
    }

    /// Closes the channel and waits for the thread, which stops after the batch it is working on.
    fn let_go(&mut self) -> std::thread::Result<()> {
        self.filled = None;
        self.thread.take().map_or(Ok(()), JoinHandle::join)
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        // No more requests are needed, so a panic of the thread is ignored.
        let _ = self.let_go();
    }
}

/// Sends batch after batch, up to and including an empty one or an error.
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
