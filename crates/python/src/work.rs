//! Long work in a separate thread.
//!
//! Long work runs in a separate thread without the lock of the interpreter. The calling thread waits, and regularly
//! checks whether the user wants to stop. So Ctrl-C works even while the work waits for a pipe.
//!
//! At each step, the work checks the memory limit, and ends if the limit is exceeded. If a single step requests more
//! than twice the limit, the allocator blocks the thread of the work for ever. The calling thread then raises an
//! error.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use destage::{Error, Progress, Stage};
use pyo3::prelude::*;

use crate::errors::{self, raised};
use crate::memory;

/// The interval at which the calling thread checks for an interrupt.
const INTERVAL: Duration = Duration::from_millis(50);
/// The time that interrupted work has to stop by itself. After this time the call returns, even if the thread of the
/// work still waits in a read.
const GRACE: Duration = Duration::from_millis(700);

/// The progress of work, and whether it has to stop.
#[derive(Default)]
pub(crate) struct Watch {
    stop: AtomicBool,
    stage: AtomicU8,
    done: AtomicU64,
    /// The expected amount of work; 0 while it is unknown.
    expected: AtomicU64,
    /// The first exception that a scheme written in Python has raised.
    raised: Mutex<Option<PyErr>>,
}

impl Watch {
    /// Stops the work with `error`. Only the first error is stored, and later raised.
    pub(crate) fn fail(&self, error: PyErr) {
        if let Ok(mut raised) = self.raised.lock() {
            raised.get_or_insert(error);
        }
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether the work has to stop, because of an error or an interrupt.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// The stages, with their names in Python.
const STAGES: [(Stage, &str); 4] = [
    (Stage::FirstPass, "first pass"),
    (Stage::Preparation, "preparation"),
    (Stage::Simulation, "simulation"),
    (Stage::Runs, "runs"),
];

impl Progress for Watch {
    fn report(&self, stage: Stage, done: u64, expected: Option<u64>) -> bool {
        let place = STAGES.iter().position(|(each, _)| *each == stage);
        self.stage
            .store(place.unwrap_or_default() as u8, Ordering::Relaxed);
        self.done.store(done, Ordering::Relaxed);
        self.expected
            .store(expected.unwrap_or_default(), Ordering::Relaxed);
        if let Err(excess) = memory::check() {
            self.fail(excess);
        }
        !self.is_stopped()
    }

    /// The thread attaches to the interpreter once. So the interpreter makes the state of this thread only once, not for
    /// each call of a scheme.
    fn on_thread(&self, work: &mut (dyn FnMut() + Send)) {
        Python::attach(|py| py.detach(work));
    }
}

/// Runs `work` and returns its result. If `tell` is not None, the calling thread regularly calls `tell` with the
/// stage, the amount of work done, and the expected amount.
pub(crate) fn watched<T: Send + 'static>(
    py: Python<'_>,
    watch: &Arc<Watch>,
    tell: &Bound<'_, PyAny>,
    work: impl FnOnce(&Watch) -> Result<T, Error> + Send + 'static,
) -> PyResult<T> {
    let held_before = destage_memory::held();
    let (sender, receiver) = mpsc::channel();
    let of_work = Arc::clone(watch);
    let thread = move || {
        let (mut work, mut result) = (Some(work), None);
        of_work.on_thread(&mut || result = work.take().map(|work| work(&of_work)));
        let Some(result) = result else {
            return;
        };
        // Sending fails if the caller was interrupted and no longer waits.
        let _ = sender.send(result);
    };
    let spawned = std::thread::Builder::new()
        .name("destage".to_owned())
        .spawn(thread);
    spawned.map_err(|error| errors::Error::new_err(format!("no thread can be made: {error}")))?;
    // The lock allows the closure to share the receiver. Only this thread uses the lock, so the lock is always free.
    let receiver = Mutex::new(receiver);
    let wait = |time| {
        py.detach(|| {
            let receiver = receiver.lock();
            receiver.map_or(Err(RecvTimeoutError::Disconnected), |receiver| {
                receiver.recv_timeout(time)
            })
        })
    };
    let result = loop {
        match wait(INTERVAL) {
            Ok(result) => break result,
            Err(RecvTimeoutError::Disconnected) => {
                break Err(Error::Internal("the simulation broke off".to_owned()));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        if let Err(interrupt) = py.check_signals().and_then(|()| watch.tell(tell)) {
            watch.stop.store(true, Ordering::Relaxed);
            let _ = wait(GRACE);
            return Err(interrupt);
        }
        // The allocator has blocked a thread that exceeded the memory limit. It is unknown which call started this
        // thread. So all calls in progress end with an error.
        if destage_memory::held() > held_before {
            watch.stop.store(true, Ordering::Relaxed);
            let why = destage_memory::why_held();
            return Err(why.map_or_else(
                || errors::Error::new_err("the call asked for more memory than there is"),
                |why| memory::raised(&why),
            ));
        }
    };
    let of_scheme = watch
        .raised
        .lock()
        .ok()
        .and_then(|mut raised| raised.take());
    match of_scheme {
        Some(error) => Err(error),
        None => result.map_err(|error| raised(&error)),
    }
}

impl Watch {
    fn tell(&self, tell: &Bound<'_, PyAny>) -> PyResult<()> {
        if tell.is_none() {
            return Ok(());
        }
        let stage = STAGES[usize::from(self.stage.load(Ordering::Relaxed))].1;
        let expected = match self.expected.load(Ordering::Relaxed) {
            0 => None,
            expected => Some(expected),
        };
        tell.call1((stage, self.done.load(Ordering::Relaxed), expected))?;
        Ok(())
    }
}
