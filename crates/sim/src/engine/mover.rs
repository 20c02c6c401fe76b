//! Who moves the bytes of a run, if anybody does.

use destage_base::{Lpn, Ticks};
use destage_buffer::destage::Destage;
use destage_device::{BatchStep, PageOperation, Request};
use destage_flash::Operations;

/// Moves the bytes of requests, and hears for that what becomes of requests, pages and flash commands.
///
/// A run that only counts has `()`, which does nothing and costs nothing. What the methods say is what those of
/// [`destage_device::Driver`] of the same name say; the rest is about host requests, which are known by the number they
/// have from their arrival to their completion.
pub trait Mover: Send {
    /// Whether flash commands have to name every page and what it is to hold.
    const WANTS_PAGES: bool = true;

    /// Request `id` has arrived, and is to be presented to the device as `asked`.
    #[inline]
    fn arrived(&mut self, id: u32, asked: &mut Request) {
        let _ = (id, asked);
    }

    /// The device takes request `id` in, as `asked`.
    #[inline]
    fn accepted(&mut self, id: u32, asked: &Request) {
        let _ = (id, asked);
    }

    /// Request `id` is complete `now`, and its number is free again.
    #[inline]
    fn completed(&mut self, id: u32, now: Ticks) {
        let _ = (id, now);
    }

    /// See [`Driver::serve`](destage_device::Driver::serve).
    #[inline]
    fn serve(&mut self, die: u32, operation: PageOperation, operations: &Operations) {
        let _ = (die, operation, operations);
    }

    /// See [`Driver::collect_garbage`](destage_device::Driver::collect_garbage).
    #[inline]
    fn collect_garbage(&mut self, die: u32, operations: &Operations) {
        let _ = (die, operations);
    }

    /// See [`Driver::serve_batch`](destage_device::Driver::serve_batch).
    #[inline]
    fn serve_batch(&mut self, die: u32, step: BatchStep<'_>) {
        let _ = (die, step);
    }

    /// The command in service at `die` has ended; of a batch, its last part.
    #[inline]
    fn end(&mut self, die: u32) {
        let _ = die;
    }

    /// See [`Driver::record`](destage_device::Driver::record).
    #[inline]
    fn record(&mut self, record: &Destage) {
        let _ = record;
    }

    /// See [`Driver::taken_in`](destage_device::Driver::taken_in).
    #[inline]
    fn taken_in(&mut self, page: Lpn, offset: u32) {
        let _ = (page, offset);
    }

    /// See [`Driver::bypassed`](destage_device::Driver::bypassed).
    #[inline]
    fn bypassed(&mut self, page: Lpn, offset: u32) {
        let _ = (page, offset);
    }

    /// See [`Driver::trimmed`](destage_device::Driver::trimmed).
    #[inline]
    fn trimmed(&mut self, page: Lpn) {
        let _ = page;
    }

    /// See [`Driver::ended`](destage_device::Driver::ended).
    #[inline]
    fn ended(&mut self, operation: PageOperation) {
        let _ = operation;
    }
}

impl Mover for () {
    const WANTS_PAGES: bool = false;
}
