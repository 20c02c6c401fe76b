//! The witness of a run with a clock: it observes all events and can record where the time goes.

use destage_base::Ticks;
use destage_device::{Device, Note, PageOperation};
use destage_nand::media::dispatch::End;
use destage_nand::{Kind, Operations, Timing};
use destage_trace::Request;

use crate::explain::Explained;
use crate::host::Identity;

/// A flash command, or a step of a die, that begins.
#[derive(Clone, Copy, Debug)]
pub struct Command<'a> {
    /// The die.
    pub die: u32,
    /// The command is a step of garbage collection, and serves no page operation.
    pub collects: bool,
    /// The flash operations.
    pub operations: &'a Operations,
    /// The times of single operations.
    pub timing: &'a Timing,
    /// How long the command takes, in ticks; for a batch, until its last part has ended. 0 where commands are timed
    /// one by one.
    pub time: Ticks,
}

/// A request that the host learns to be complete.
#[derive(Clone, Copy, Debug)]
pub struct Completion<'a> {
    /// The number of the request, from its arrival on.
    pub id: u32,
    /// The request.
    pub request: &'a Request,
    /// The request to which the response is credited, and its time of arrival.
    pub identity: &'a Identity,
    /// Whether the response is in the statistics.
    pub counts: bool,
}

/// Observes the events of a run, in the order in which they happen, and changes nothing.
///
/// The witness `()` belongs to a run that is not explained: it does nothing and costs nothing. The time of each
/// call is that of the latest call of [`Witness::moment`].
pub trait Witness: Send {
    /// Whether the witness uses the calls.
    const LISTENS: bool = true;

    /// The run is over. Returns where its time went, if the witness finds that out.
    fn explained(self) -> Option<Explained>
    where
        Self: Sized,
    {
        None
    }

    /// The time is `now`, and an event is about to be handled. `device` is as the last event left it.
    #[inline]
    fn moment(&mut self, now: Ticks, device: &Device) {
        let _ = (now, device);
    }
    /// Statistics open.
    fn opened(&mut self) {}
    /// Statistics close.
    fn closed(&mut self, device: &Device) {
        let _ = device;
    }
    /// Request `id` arrives at the host.
    #[inline]
    fn arrived(&mut self, id: u32) {
        let _ = id;
    }
    /// The data of request `id` begins to move over the host bus; with a front end, one of its servers begins to
    /// serve the request.
    #[inline]
    fn transfers(&mut self, id: u32) {
        let _ = id;
    }
    /// The transfer or service of request `id` that [`Witness::transfers`] announced last is over.
    #[inline]
    fn moved(&mut self, id: u32) {
        let _ = id;
    }
    /// The device is about to accept request `id`.
    #[inline]
    fn accepted(&mut self, id: u32, device: &Device) {
        let _ = (id, device);
    }
    /// The device has accepted request `id`. The request now waits, unless it was answered already.
    #[inline]
    fn taken_in(&mut self, id: u32) {
        let _ = id;
    }
    /// The device has answered request `id`.
    #[inline]
    fn answered(&mut self, id: u32) {
        let _ = id;
    }
    /// The host learns that a request is complete.
    #[inline]
    fn completed(&mut self, completion: &Completion<'_>) {
        let _ = completion;
    }
    /// A flash command begins.
    #[inline]
    fn begins(&mut self, command: &Command<'_>) {
        let _ = command;
    }
    /// Only where commands are timed one by one: the step of `die` continues for `time` ticks with one command.
    /// During the first `waits` of these ticks the die still works on earlier steps. `moves` says that the command
    /// moves or erases present contents, and serves no request.
    #[inline]
    fn goes_on(&mut self, die: u32, waits: Ticks, time: Ticks, moves: bool) {
        let _ = (die, waits, time, moves);
    }
    /// A step of `die` begins that is numbered `number` and hands its die over before its end. `waited` holds the
    /// begin and the end of its wait for the cells, and of its wait for the cache register.
    #[inline]
    fn begins_beside(
        &mut self,
        number: u32,
        die: u32,
        operations: &Operations,
        waited: [(Ticks, Ticks); 2],
    ) {
        let _ = (number, die, operations, waited);
    }
    /// A command of a step of `die` that hands its die over runs for `time` ticks.
    #[inline]
    fn goes_on_beside(&mut self, die: u32, time: Ticks) {
        let _ = (die, time);
    }
    /// The step `number`, which has handed its die over, is about to end.
    #[inline]
    fn ending_beside(&mut self, number: u32) {
        let _ = number;
    }
    /// Only where commands wait in queues: a garbage collection of `die` begins, or ends if `begins` is false.
    #[inline]
    fn collects(&mut self, die: u32, begins: bool) {
        let _ = (die, begins);
    }
    /// Only where commands wait in queues: a command of `die` begins. `moves` says that it moves or erases present
    /// contents, and serves no request.
    #[inline]
    fn command_begins(&mut self, die: u32, kind: Kind, moves: bool) {
        let _ = (die, kind, moves);
    }
    /// The command of `die` that [`Witness::command_begins`] reported last does all work of `operation`.
    #[inline]
    fn serves(&mut self, die: u32, operation: PageOperation) {
        let _ = (die, operation);
    }
    /// A phase of a command begins at `die`, and takes `time` ticks. `end` says which phase it is.
    #[inline]
    fn phase_begins(&mut self, die: u32, end: End, time: Ticks) {
        let _ = (die, end, time);
    }
    /// The work of a command for `operation`, announced by [`Witness::serves`], is done.
    #[inline]
    fn served(&mut self, operation: PageOperation) {
        let _ = operation;
    }
    /// The command that began last at `die` continues, and the die may begin the next one.
    #[inline]
    fn command_leaves(&mut self, die: u32) {
        let _ = die;
    }
    /// A command of `die` has ended. If `kind` is a read, it is the read that began first; otherwise, it is the
    /// program or erase that began first.
    #[inline]
    fn command_ended(&mut self, die: u32, kind: Kind) {
        let _ = (die, kind);
    }
    /// A read begins at `die` during a step of the die.
    #[inline]
    fn reads_between(&mut self, die: u32, operation: PageOperation, operations: &Operations) {
        let _ = (die, operation, operations);
    }
    /// The command at `die`, or a part of a batch there, is about to end.
    #[inline]
    fn ending(&mut self, die: u32) {
        let _ = die;
    }
    /// An event in the device: see [`Driver::note`](destage_device::Driver::note).
    #[inline]
    fn note(&mut self, note: &Note<'_>) {
        let _ = note;
    }
}

impl Witness for () {
    const LISTENS: bool = false;
}
