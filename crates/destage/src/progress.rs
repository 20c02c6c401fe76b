//! Reports of progress, which can also stop the work.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use destage_base::Ticks;
use destage_buffer::destage::Destage;
use destage_sim::course::Point;
use destage_sim::observer::{Observer, Response};

/// The kind of work in progress.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Requests are read before the simulation, because a run has to know them in advance. The unit is a request.
    FirstPass,
    /// A device is written before the first request (`sim.precondition`). The unit is a page write.
    Preparation,
    /// Requests are simulated. The unit is a request of any run.
    Simulation,
    /// Runs of a study are simulated. The unit is a run.
    Runs,
}

/// Receives the progress of the work, from any thread.
pub trait Progress: Sync {
    /// Reports that `done` of `expected` units of `stage` are complete. `expected` may be an estimate, and is `None`
    /// if the number is not known. If the function returns `false`, the work ends with
    /// [`Error::Interrupted`](crate::Error::Interrupted).
    fn report(&self, stage: Stage, done: u64, expected: Option<u64>) -> bool;

    /// Does `work`, which is all work of one thread. A caller whose schemes need something of each thread that is costly
    /// to make, such as the state of an interpreter, can make it before and keep it until `work` ends.
    fn on_thread(&self, work: &mut (dyn FnMut() + Send)) {
        work();
    }
}

/// A receiver that ignores all reports.
pub struct Silent;

impl Progress for Silent {
    fn report(&self, _: Stage, _: u64, _: Option<u64>) -> bool {
        true
    }
}

/// Counts the simulated requests of all runs.
pub(crate) struct Counter<'a> {
    progress: &'a dyn Progress,
    done: AtomicU64,
    /// The expected number of requests; 0 if the number is not known.
    expected: AtomicU64,
    stopped: AtomicBool,
}

impl<'a> Counter<'a> {
    pub(crate) fn new(progress: &'a dyn Progress, expected: Option<u64>) -> Self {
        Self {
            progress,
            done: AtomicU64::new(0),
            expected: AtomicU64::new(expected.unwrap_or(0)),
            stopped: AtomicBool::new(false),
        }
    }

    /// Does `work`, which is all work of one thread.
    pub(crate) fn on_thread(&self, work: &mut (dyn FnMut() + Send)) {
        self.progress.on_thread(work);
    }

    /// Changes the expected number of requests.
    pub(crate) fn expect(&self, requests: u64) {
        self.expected.store(requests, Ordering::Relaxed);
    }

    /// Stops the work: all later reports return `false`.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Adds `requests` simulated requests. Returns whether the work continues.
    pub(crate) fn advance(&self, requests: u64) -> bool {
        let done = self.done.fetch_add(requests, Ordering::Relaxed) + requests;
        let expected = match self.expected.load(Ordering::Relaxed) {
            0 => None,
            expected => Some(expected.max(done)),
        };
        self.report(Stage::Simulation, done, expected)
    }

    /// Reports the progress of any stage. Returns whether the work continues.
    pub(crate) fn report(&self, stage: Stage, done: u64, expected: Option<u64>) -> bool {
        !self.stopped.load(Ordering::Relaxed) && self.progress.report(stage, done, expected)
    }
}

/// The observer of one run. It counts the requests, and forwards all events to `inner`.
pub(crate) struct Watch<'a, O> {
    counter: &'a Counter<'a>,
    seen: u64,
    inner: O,
}

impl<'a, O> Watch<'a, O> {
    pub(crate) fn new(counter: &'a Counter<'a>, inner: O) -> Self {
        Self {
            counter,
            seen: 0,
            inner,
        }
    }
}

impl<O: Observer> Observer for Watch<'_, O> {
    fn wants_responses(&self) -> bool {
        self.inner.wants_responses()
    }

    fn response(&mut self, response: &Response) {
        self.inner.response(response);
    }

    fn wants_destages(&self) -> bool {
        self.inner.wants_destages()
    }

    fn destage(&mut self, now: Ticks, record: &Destage) {
        self.inner.destage(now, record);
    }

    fn wants_erases(&self) -> bool {
        self.inner.wants_erases()
    }

    fn erases(&mut self, die: u32, block: u32, erases: u32) {
        self.inner.erases(die, block, erases);
    }

    fn wants_course(&self) -> bool {
        self.inner.wants_course()
    }

    fn course(&mut self, points: &[Point]) {
        self.inner.course(points);
    }

    fn preparing(&mut self, done: u64, total: u64) -> bool {
        self.inner.preparing(done, total)
            && self.counter.report(Stage::Preparation, done, Some(total))
    }

    fn progress(&mut self, requests: u64) -> bool {
        let more = requests.saturating_sub(self.seen);
        self.seen = requests;
        self.inner.progress(requests) && self.counter.advance(more)
    }
}
