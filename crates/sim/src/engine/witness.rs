//! The witness of a run with a clock, which hears what happens and can note where the time goes.

use destage_base::Ticks;
use destage_device::{Device, Note, PageOperation};
use destage_nand::media::dispatch::End;
use destage_nand::{Kind, Operations, Timing};
use destage_trace::Request;

use crate::explain::Explained;
use crate::host::Identity;

/// A flash command that begins.
#[derive(Clone, Copy, Debug)]
pub struct Command<'a> {
    /// Where.
    pub die: u32,
    /// It is a garbage collection, and serves no page operation.
    pub collects: bool,
    /// What flash does.
    pub operations: &'a Operations,
    /// How long each operation takes.
    pub timing: &'a Timing,
    /// How long the command takes; a batch until its last part has ended.
    pub time: Ticks,
}

/// A request of which the host learns that it is complete.
#[derive(Clone, Copy, Debug)]
pub struct Completion<'a> {
    /// The number it had.
    pub id: u32,
    /// What completed.
    pub request: &'a Request,
    /// The request for which the response is reported, and when that request arrived.
    pub identity: &'a Identity,
    /// Whether it is in the statistics.
    pub counts: bool,
}

/// Hears what happens in a run, in the order in which it happens, and changes nothing.
///
/// The witness `()` belongs to a run that is not explained: it does nothing and costs nothing. The time of each call is the one that
/// [`Witness::moment`] named last.
pub trait Witness: Send {
    /// It does something with what it hears.
    const LISTENS: bool = true;

    /// The run is over: where its time went, if that is what the witness finds out.
    fn explained(self) -> Option<Explained>
    where
        Self: Sized,
    {
        None
    }

    /// It is `now`, and something is about to happen. `device` is as the last event left it.
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
    /// The data of request `id` begins to move over the host bus; with a front end, one of its servers begins with the request.
    #[inline]
    fn transfers(&mut self, id: u32) {
        let _ = id;
    }
    /// The data has moved: the last thing of request `id` that [`Witness::transfers`] was told of is over.
    #[inline]
    fn moved(&mut self, id: u32) {
        let _ = id;
    }
    /// The device takes request `id` in.
    #[inline]
    fn accepted(&mut self, id: u32, device: &Device) {
        let _ = (id, device);
    }
    /// The device has taken request `id` in. Unless it was answered, it waits.
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
    /// What began at `die` goes on for `time`, where its commands are timed one by one, and first `waits` for what the die began
    /// before it; `moves` if that moves or erases what was there, and serves no request. [`Command::time`] is 0 there.
    #[inline]
    fn goes_on(&mut self, die: u32, waits: Ticks, time: Ticks, moves: bool) {
        let _ = (die, waits, time, moves);
    }
    /// A step of `die` begins that leaves it to the next before its end; it is called `number`. It waits for its die `waited`: from
    /// when to when, twice.
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
    /// A command of such a step of `die` goes on for `time`.
    #[inline]
    fn goes_on_beside(&mut self, die: u32, time: Ticks) {
        let _ = (die, time);
    }
    /// A step that goes on beside others is about to end.
    #[inline]
    fn ending_beside(&mut self, number: u32) {
        let _ = number;
    }
    /// A garbage collection of `die` begins or ends, where its commands wait in queues.
    #[inline]
    fn collects(&mut self, die: u32, begins: bool) {
        let _ = (die, begins);
    }
    /// A command that waited at `die` begins there; `moves` if it moves or erases what was there, and serves no request.
    #[inline]
    fn command_begins(&mut self, die: u32, kind: Kind, moves: bool) {
        let _ = (die, kind, moves);
    }
    /// The command of `die` that [`Witness::command_begins`] told of last is all of `operation`.
    #[inline]
    fn serves(&mut self, die: u32, operation: PageOperation) {
        let _ = (die, operation);
    }
    /// The phase of its command that ends so begins at `die`, and takes `time`.
    #[inline]
    fn phase_begins(&mut self, die: u32, end: End, time: Ticks) {
        let _ = (die, end, time);
    }
    /// What is done for `operation` in such a command is done.
    #[inline]
    fn served(&mut self, operation: PageOperation) {
        let _ = operation;
    }
    /// The command that began at `die` last goes on beside the next, which may begin.
    #[inline]
    fn command_leaves(&mut self, die: u32) {
        let _ = die;
    }
    /// A command of `die` of this kind has ended: of several reads the one that began first, and likewise of programs and erases.
    #[inline]
    fn command_ended(&mut self, die: u32, kind: Kind) {
        let _ = (die, kind);
    }
    /// A read begins at `die` in the midst of its step.
    #[inline]
    fn reads_between(&mut self, die: u32, operation: PageOperation, operations: &Operations) {
        let _ = (die, operation, operations);
    }
    /// The command at `die`, or a part of it, is about to end.
    #[inline]
    fn ending(&mut self, die: u32) {
        let _ = die;
    }
    /// Something has happened in the device: see [`Driver::note`](destage_device::Driver::note).
    #[inline]
    fn note(&mut self, note: &Note<'_>) {
        let _ = note;
    }
}

impl Witness for () {
    const LISTENS: bool = false;
}
