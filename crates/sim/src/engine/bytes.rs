//! What moves the bytes of a run, and when its power fails.

use destage_base::{Lpn, Ticks};
use destage_buffer::destage::Destage;
use destage_device::{BatchStep, PageOperation, Request};
use destage_flash::Operations;

/// Hears what a device and its driver do. Nothing of this is there in a run that only counts.
#[allow(unused_variables, reason = "most who implement it want a few of these")]
pub trait Bytes {
    /// Request `id` is about to be submitted.
    #[inline]
    fn accepted(&mut self, id: u32, request: &Request, now: Ticks) {}
    /// Request `id` is answered.
    #[inline]
    fn answered(&mut self, id: u32) {}
    /// See [`destage_device::Driver::serve`].
    #[inline]
    fn serve(&mut self, die: u32, operation: PageOperation, operations: &Operations, now: Ticks) {}
    /// See [`destage_device::Driver::collect_garbage`].
    #[inline]
    fn collect_garbage(&mut self, die: u32, operations: &Operations, now: Ticks) {}
    /// See [`destage_device::Driver::serve_batch`].
    #[inline]
    fn serve_batch(&mut self, die: u32, step: BatchStep<'_>, now: Ticks) {}
    /// The command in service at `die`, or a part of its batch, has ended.
    #[inline]
    fn end(&mut self, die: u32) {}
    /// See [`destage_device::Driver::ended`].
    #[inline]
    fn ended(&mut self, operation: PageOperation) {}
    /// See [`destage_device::Driver::record`].
    #[inline]
    fn record(&mut self, record: &Destage) {}
    /// See [`destage_device::Driver::taken_in`].
    #[inline]
    fn taken_in(&mut self, page: Lpn, offset: u32) {}
    /// See [`destage_device::Driver::bypassed`].
    #[inline]
    fn bypassed(&mut self, page: Lpn, offset: u32) {}
    /// See [`destage_device::Driver::trimmed`].
    #[inline]
    fn trimmed(&mut self, page: Lpn) {}
    /// When the power fails, once that is known.
    #[inline]
    fn fails_at(&self) -> Option<Ticks> {
        None
    }
}

/// No bytes.
pub struct NoBytes;

impl Bytes for NoBytes {}
