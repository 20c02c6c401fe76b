//! Observers of a run, for logs, progress and interruption.

use destage_base::Ticks;
use destage_buffer::destage::Destage;
use destage_trace::Operation;

use crate::course::Point;

/// A host request and its outcome.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Response {
    /// Position in the trace, counted from 0.
    pub index: u64,
    /// Arrival time, in ticks.
    pub arrival: Ticks,
    /// Ticks from arrival until the request was sent to the device; 0 if it was not sent, or if the device is live.
    pub waited: Ticks,
    /// Ticks from arrival to completion; `None` if the run ended before the request was complete, or if
    /// a server refused the request.
    pub response: Option<Ticks>,
    /// First sector of the request.
    pub sector: u64,
    /// Number of sectors of the request.
    pub sectors: u32,
    /// Requested operation.
    pub operation: Operation,
}

/// Watches a run. Every method has a default, so an observer defines only the methods that it needs. An observer
/// moves with its run from thread to thread.
pub trait Observer: Send {
    /// Whether the observer wants [`Observer::response`]. The run calls this method before it begins. If the observer
    /// wants no responses, the run may end earlier.
    fn wants_responses(&self) -> bool {
        false
    }
    /// Called for each request when it is complete, or when it is certain that the request will never be complete.
    /// The calls are in the order of completion, not of arrival. Called only if [`Observer::wants_responses`].
    fn response(&mut self, response: &Response) {
        let _ = response;
    }
    /// Whether the observer wants [`Observer::destage`].
    fn wants_destages(&self) -> bool {
        false
    }
    /// Called when the buffer emits `record` at `now`.
    fn destage(&mut self, now: Ticks, record: &Destage) {
        let _ = (now, record);
    }
    /// Whether the observer wants [`Observer::erases`].
    fn wants_erases(&self) -> bool {
        false
    }
    /// Called once for every block of the device, with its number of erases when statistics closed. `block` is
    /// counted through all planes of the die.
    fn erases(&mut self, die: u32, block: u32, erases: u32) {
        let _ = (die, block, erases);
    }
    /// Whether the observer wants [`Observer::course`]. The run calls this method before it begins. A run without a clock
    /// has no course.
    fn wants_course(&self) -> bool {
        false
    }
    /// Called once when statistics close, with totals of the run at up to 1000 moments, in the order of time.
    fn course(&mut self, points: &[Point]) {
        let _ = points;
    }
    /// Called from time to time while the device is preconditioned, with the number of page writes done so far, and
    /// their total number. It is also called once at the end. `false` stops the run.
    fn preparing(&mut self, done: u64, total: u64) -> bool {
        let _ = (done, total);
        true
    }
    /// Called every few thousand requests with the number of requests so far. `false` stops the run.
    fn progress(&mut self, requests: u64) -> bool {
        let _ = requests;
        true
    }
}

/// An observer that ignores everything.
pub struct Silent;

impl Observer for Silent {}

impl<O: Observer + ?Sized> Observer for &mut O {
    fn wants_responses(&self) -> bool {
        (**self).wants_responses()
    }
    fn response(&mut self, response: &Response) {
        (**self).response(response);
    }
    fn wants_destages(&self) -> bool {
        (**self).wants_destages()
    }
    fn destage(&mut self, now: Ticks, record: &Destage) {
        (**self).destage(now, record);
    }
    fn wants_erases(&self) -> bool {
        (**self).wants_erases()
    }
    fn erases(&mut self, die: u32, block: u32, erases: u32) {
        (**self).erases(die, block, erases);
    }
    fn wants_course(&self) -> bool {
        (**self).wants_course()
    }
    fn course(&mut self, points: &[Point]) {
        (**self).course(points);
    }
    fn preparing(&mut self, done: u64, total: u64) -> bool {
        (**self).preparing(done, total)
    }
    fn progress(&mut self, requests: u64) -> bool {
        (**self).progress(requests)
    }
}
