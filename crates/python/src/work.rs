//! Work beside the interpreter.
//!
//! Long work runs on a thread of its own, without the interpreter's lock. The calling thread waits, and looks again
//! and again whether the user wants to stop. So Ctrl-C is heard also where the work waits for a pipe.
//!
//! At each step the work looks whether more memory is in use than may be, and ends then. If one step asks for far too much memory, its thread is
//! held, and the calling thread continues without it.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use destage::{Error, Progress, Stage};
use pyo3::prelude::*;

use crate::errors::{self, raised};
use crate::memory;

/// How often the calling thread looks.
const INTERVAL: Duration = Duration::from_millis(50);
/// How long work may take to stop by itself; a thread that waits in a read is then left behind.
const GRACE: Duration = Duration::from_millis(700);

/// How far work is, and whether it goes on.
#[derive(Default)]
pub(crate) struct Watch {
    stop: AtomicBool,
    stage: AtomicU8,
    done: AtomicU64,
    /// 0 while it is not known.
    expected: AtomicU64,
    /// The first exception of a scheme written in Python.
    raised: Mutex<Option<PyErr>>,
}

impl Watch {
    /// Ends the work with `error`. Of several errors the first counts.
    pub(crate) fn fail(&self, error: PyErr) {
        if let Ok(mut raised) = self.raised.lock() {
            raised.get_or_insert(error);
        }
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// The stages by the names that Python sees.
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
        !self.stop.load(Ordering::Relaxed)
    }
}

/// What `work` gives. `tell`, if it is not None, is called from time to time with stage, done and expected.
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
        // Attached once, so that a thread's state for schemes in Python is built once.
        let result = Python::attach(|py| py.detach(|| work(&of_work)));
        // An interrupted caller does not wait for it.
        let _ = sender.send(result);
    };
    let spawned = std::thread::Builder::new()
        .name("destage".to_owned())
        .spawn(thread);
    spawned.map_err(|error| errors::Error::new_err(format!("no thread can be made: {error}")))?;
    // Nobody else waits here, so that the lock is always free.
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
        // The call that the thread belongs to is not known: all calls under way end.
        if destage_memory::held() > held_before {
            watch.stop.store(true, Ordering::Relaxed);
            let why = destage_memory::why_held();
            return Err(why.map_or_else(
                || errors::Error::new_err("more memory was asked for than there is"),
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
