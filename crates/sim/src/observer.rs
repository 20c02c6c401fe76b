//! Observers of a run: logs, progress, interruption.

use destage_base::Ticks;
use destage_buffer::destage::Destage;
use destage_trace::Operation;

/// One host request and its outcome.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Response {
    /// Position in the trace, from 0.
    pub index: u64,
    /// When it arrived, in ticks.
    pub arrival: Ticks,
    /// From arrival to completion, in ticks; `None` if the run ended before it was complete.
    pub response: Option<Ticks>,
    /// First sector.
    pub sector: u64,
    /// Sectors.
    pub sectors: u32,
    /// What was asked.
    pub operation: Operation,
}

/// Watches a run. Every method has a default, so that an observer defines only those that it needs.
/// It moves with its run from thread to thread.
pub trait Observer: Send {
    /// Whether [`Observer::response`] is wanted, asked before the run; a run without it may end earlier.
    fn wants_responses(&self) -> bool {
        false
    }
    /// A request is complete, or never will be. In order of completion, not of arrival. Only where that is wanted.
    fn response(&mut self, response: &Response) {
        let _ = response;
    }
    /// Whether [`Observer::destage`] is wanted.
    fn wants_destages(&self) -> bool {
        false
    }
    /// Pages leave the buffer, or are written back.
    fn destage(&mut self, now: Ticks, record: &Destage) {
        let _ = (now, record);
    }
    /// Whether [`Observer::erases`] is wanted.
    fn wants_erases(&self) -> bool {
        false
    }
    /// How often `block` of `die` was erased when statistics closed; blocks count through the planes of
    /// a die. Once for every block of the device.
    fn erases(&mut self, die: u32, block: u32, erases: u32) {
        let _ = (die, block, erases);
    }
    /// Called while the device is brought into its state before the first request, with page writes done and
    /// page writes to do, and once when all are done; `false` stops the run.
    fn preparing(&mut self, done: u64, total: u64) -> bool {
        let _ = (done, total);
        true
    }
    /// Called every few thousand requests with the number taken so far; `false` stops the run.
    fn progress(&mut self, requests: u64) -> bool {
        let _ = requests;
        true
    }
}

/// Watches nothing.
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
    fn preparing(&mut self, done: u64, total: u64) -> bool {
        (**self).preparing(done, total)
    }
    fn progress(&mut self, requests: u64) -> bool {
        (**self).progress(requests)
    }
}
