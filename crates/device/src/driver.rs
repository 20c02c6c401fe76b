//! Who drives a device: gives it time and requests, and carries out its flash commands.

use destage_base::{Lpn, Ticks};
use destage_buffer::Buffer;
use destage_buffer::destage::Destage;
use destage_flash::Operations;
use destage_flash::batch::Batch;

use crate::operation::PageOperation;
use crate::request::Span;

/// How far a driver is with a command it was just given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// It runs. The driver calls [`Device::complete`](crate::Device::complete) when it has ended; or, of a page operation,
    /// [`Device::free_die`](crate::Device::free_die) when the die may begin the next, and then
    /// [`Device::complete_queued`](crate::Device::complete_queued), or of a program in units
    /// [`Device::complete_unit`](crate::Device::complete_unit).
    Running,
    /// It has ended already: nothing takes time here.
    Ended,
    /// It waits with others of its die, which may begin the next. The driver calls
    /// [`Device::complete_queued`](crate::Device::complete_queued) when it has ended. Only for page operations. Over a layer
    /// that [places writes](destage_flash::ftl::Properties::places_writes) the die begins nothing else all the same.
    Queued,
}

/// Several page operations that a die serves together.
#[derive(Clone, Copy, Debug)]
pub struct BatchStep<'a> {
    /// The page operations; positions count from 0.
    pub taken: &'a [PageOperation],
    /// Operations on the same pages that end with one of them, by its position.
    pub followers: &'a [(u16, PageOperation)],
    /// How many of them, from position 0 on, end at once. The others follow in the order of `batch.entries`.
    pub at_once: u32,
    /// When each of the others is done.
    pub batch: &'a Batch,
    /// Everything flash does.
    pub operations: &'a Operations,
}

/// Carries out what a [`Device`](crate::Device) wants, and hears what becomes of requests and pages.
///
/// A device calls its driver from within `submit`, `complete`, `complete_batched`, `wake`, `retire` and `drain`, in the order in which things
/// happen. The driver may note and schedule; it calls the device again only after that call has returned.
///
/// The methods with a default are for drivers that move bytes or measure. A driver without them pays nothing.
pub trait Driver {
    /// Commands take time here: none has [ended](Progress::Ended) when it begins.
    const TAKES_TIME: bool = false;

    /// Every command [has ended](Progress::Ended) when it begins, and the driver wants to hear of none
    /// where [there is no flash](destage_flash::ftl::Properties::is_hollow): neither of operations that join a queue or end.
    const SKIPS_HOLLOW: bool = false;

    /// `die` begins to serve `operation`. The flash does `operations` one after the other; meanwhile the map is
    /// busy for `map_time` ticks.
    fn serve(
        &mut self,
        die: u32,
        operation: PageOperation,
        operations: &Operations,
        map_time: Ticks,
    ) -> Progress;

    /// `die` begins one step of garbage collection, whose lanes run side by side.
    fn collect_garbage(&mut self, die: u32, operations: &Operations) -> Progress;

    /// `die` begins to serve a batch on its parallel units. The driver calls
    /// [`Device::complete_batched`](crate::Device::complete_batched) for each position.
    fn serve_batch(&mut self, die: u32, step: BatchStep<'_>);

    /// `die` begins to program fillers that complete a unit; of [`DeviceConfig::units`](crate::DeviceConfig::units) only.
    fn fill(&mut self, die: u32, operations: &Operations) -> Progress {
        let _ = (die, operations);
        Progress::Ended
    }

    /// Whether `die`, which is busy, lets a read begin all the same. Default: no.
    fn takes_read(&self, die: u32) -> bool {
        let _ = die;
        false
    }

    /// The read `operation` begins at `die` in the midst of its step, after [`Driver::takes_read`] or
    /// [`Device::let_reads_pass`](crate::Device::let_reads_pass). The driver calls
    /// [`Device::complete_between`](crate::Device::complete_between) with `number` when it has ended. Only for drivers that
    /// ask for such reads.
    fn read_between(
        &mut self,
        die: u32,
        number: u32,
        operation: PageOperation,
        operations: &Operations,
    ) {
        let _ = (die, number, operation, operations);
    }

    /// The host request `token` is done and may be answered.
    fn answer(&mut self, token: u32);

    /// The device wants [`Device::wake`](crate::Device::wake) to be called with `alarm` when `delay` ticks have passed.
    fn wake_after(&mut self, delay: Ticks, alarm: u32);

    /// What garbage collection takes for the time; `now` unless nothing takes time.
    #[inline]
    fn flash_time(&self, now: Ticks) -> Ticks {
        now
    }

    /// Whether page operations that wait with the driver have their turn as they came. A read that takes no command of flash then
    /// waits for those before it, and else for none.
    #[inline]
    fn keeps_order(&self) -> bool {
        true
    }

    /// Whether [`Driver::record`] is wanted for writes that go past the buffer.
    #[inline]
    fn wants_records(&self) -> bool {
        false
    }

    /// `record` was emitted `now`.
    #[inline]
    fn record(&mut self, record: &Destage, now: Ticks) {
        let _ = (record, now);
    }

    /// The last program of a record emitted at `emitted` has ended `now`.
    #[inline]
    fn record_ended(&mut self, emitted: Ticks, now: Ticks) {
        let _ = (emitted, now);
    }

    /// Page `offset` of the request being submitted is in the buffer, as `page`.
    #[inline]
    fn taken_in(&mut self, page: Lpn, offset: u32) {
        let _ = (page, offset);
    }

    /// Page `offset` of the request being submitted is written past the buffer, as `page`.
    #[inline]
    fn bypassed(&mut self, page: Lpn, offset: u32) {
        let _ = (page, offset);
    }

    /// The pages that `span` covers whole are trimmed. [`Driver::trimmed`] follows for each of them that may have contents.
    #[inline]
    fn trimming(&mut self, span: &Span) {
        let _ = span;
    }

    /// `page` is trimmed, and an operation for that follows.
    #[inline]
    fn trimmed(&mut self, page: Lpn) {
        let _ = page;
    }

    /// A page of the read being submitted is served from RAM (`true`), or read from flash.
    #[inline]
    fn read(&mut self, page: Lpn, offset: u32, from_ram: bool) {
        let _ = (page, offset, from_ram);
    }

    /// `buffer` is not what it was: a page was taken in, read, trimmed or written past it, a record was emitted, or a
    /// page of one was programmed. For drivers that watch it.
    #[inline]
    fn look(&mut self, buffer: &Buffer) {
        let _ = buffer;
    }

    /// `operation` has joined the queue of `die`.
    #[inline]
    fn queued(&mut self, operation: PageOperation, die: u32) {
        let _ = (operation, die);
    }

    /// A page of a request that waited for a slot has one. If the request waited for nothing else, its answer follows.
    #[inline]
    fn slot_given(&mut self) {}

    /// `operation` has ended.
    #[inline]
    fn ended(&mut self, operation: PageOperation) {
        let _ = operation;
    }
}
