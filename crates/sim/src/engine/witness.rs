//! The witness of a run with a clock. It observes all events, and can record what requests wait for.

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
    /// Whether the command is a step of garbage collection, which serves no page operation.
    pub collects: bool,
    /// The flash operations.
    pub operations: &'a Operations,
    /// The times of single operations.
    pub timing: &'a Timing,
    /// The length of the command, in ticks. A batch lasts until its last operation has ended. 0 if commands are timed
    /// one by one.
    pub time: Ticks,
}

/// A request that is complete, and the host learns of this.
#[derive(Clone, Copy, Debug)]
pub struct Completion<'a> {
    /// The number that the engine gave the request at its arrival.
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
/// A run that is not explained has the witness `()`, which does nothing and needs no time. The simulated time of a
/// call is the time that the latest call of [`Witness::moment`] gave.
pub trait Witness: Send {
    /// Whether the witness uses the events that are reported to it. If not, reports may be left out.
    const LISTENS: bool = true;

    /// The run is over. Returns the explanation of the run, if the witness has recorded one.
    fn explained(self) -> Option<Explained>
    where
        Self: Sized,
    {
        None
    }

    /// The time is `now`, and an event is about to be handled. `device` is in the state after the previous event.
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
    /// The transfer of the data of request `id` over the host bus begins. With a front end, one of the servers of the
    /// front end begins to serve the request.
    #[inline]
    fn transfers(&mut self, id: u32) {
        let _ = id;
    }
    /// The latest transfer or service of request `id` that [`Witness::transfers`] announced is over.
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
    /// Only called if commands are timed one by one. The step of `die` continues for `time` ticks with one command.
    /// During the first `waits` of these ticks the die still works on earlier steps. `moves` says whether the command
    /// moves or erases existing contents, and serves no request.
    #[inline]
    fn goes_on(&mut self, die: u32, waits: Ticks, time: Ticks, moves: bool) {
        let _ = (die, waits, time, moves);
    }
    /// The step `number` of `die` begins. It releases the die before its own end. `waited` holds the wait of the step
    /// for the cells, and its wait for the cache register. Each wait has a start and an end.
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
    /// A command runs for `time` ticks. It belongs to a step of `die` that releases the die before its own end.
    #[inline]
    fn goes_on_beside(&mut self, die: u32, time: Ticks) {
        let _ = (die, time);
    }
    /// The step `number`, which has released its die, is about to end.
    #[inline]
    fn ending_beside(&mut self, number: u32) {
        let _ = number;
    }
    /// Only called if commands wait in queues. A garbage collection of `die` begins if `begins` is true, and ends
    /// otherwise.
    #[inline]
    fn collects(&mut self, die: u32, begins: bool) {
        let _ = (die, begins);
    }
    /// Only called if commands wait in queues. A command of `die` begins. `moves` says whether the command moves or
    /// erases existing contents, and serves no request.
    #[inline]
    fn command_begins(&mut self, die: u32, kind: Kind, moves: bool) {
        let _ = (die, kind, moves);
    }
    /// The command of `die` that [`Witness::command_begins`] reported last does all work of `operation`.
    #[inline]
    fn serves(&mut self, die: u32, operation: PageOperation) {
        let _ = (die, operation);
    }
    /// A phase of a command begins at `die`, and lasts `time` ticks. `end` names the phase.
    #[inline]
    fn phase_begins(&mut self, die: u32, end: End, time: Ticks) {
        let _ = (die, end, time);
    }
    /// The command that [`Witness::serves`] announced for `operation` has done its work.
    #[inline]
    fn served(&mut self, operation: PageOperation) {
        let _ = operation;
    }
    /// The die may begin the next command, while the command that began last at `die` continues.
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
    /// The command of `die`, or one operation of the batch of `die`, is about to end.
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
