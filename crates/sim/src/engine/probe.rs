//! The probe of a run with a clock. It hears of every event, and moves bytes, records the run, or explains it.

use destage_base::Ticks;
use destage_device::{BatchStep, Device, Note, PageOperation, Request, Transaction};
use destage_nand::media::dispatch::Phase;
use destage_nand::medium::FlashCommand;
use destage_nand::{Kind, Operations, Timing};

use crate::host::Identity;
use crate::observer::Observer;

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
    /// The number that the engine gave the request at its arrival. It is free again after the call.
    pub id: u32,
    /// The request.
    pub request: &'a destage_trace::Request,
    /// The request to which the response is credited, and its time of arrival.
    pub identity: &'a Identity,
    /// Whether the response is in the statistics.
    pub counts: bool,
}

/// Hears of the events of a run, in the order in which they happen. A probe cannot change what happens, except for the
/// kind of a request at its arrival.
///
/// A run without bytes that is neither watched nor explained has the probe `()`, which does nothing and needs no time.
/// The simulated time of a call is the time that the latest call of [`Probe::moment`] gave. A request has the same
/// number from its arrival to its completion.
pub trait Probe: Send {
    /// Whether the probe needs the start and the end of single flash commands, if commands are timed one by one. If
    /// not, [`Probe::command_begins`] and [`Probe::command_ended`] may be left out.
    const HEARS_COMMANDS: bool = true;

    /// Whether the probe needs the page operations and the phases of commands that wait in queues. If not,
    /// [`Probe::issued`], [`Probe::serves`], [`Probe::served`] and [`Probe::phase_begins`] may be left out, and
    /// [`Probe::ending`] for such commands.
    const FOLLOWS_PAGES: bool = false;

    /// The time is `now`, in ticks, and an event is about to be handled. `device` is in the state after the previous
    /// event.
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

    /// Statistics have closed, and the probe may tell `observer` what it has found.
    fn tells(&mut self, observer: &mut dyn Observer) {
        let _ = observer;
    }

    /// Request `id` arrives at the host. The device will receive the request in the form `asked`, whose kind the probe
    /// may change.
    #[inline]
    fn arrived(&mut self, id: u32, asked: &mut Request) {
        let _ = (id, asked);
    }

    /// The transfer of the data of request `id` over the host bus begins. With a front end, one of the servers of the
    /// front end begins to serve the request.
    #[inline]
    fn transfers(&mut self, id: u32) {
        let _ = id;
    }

    /// The latest transfer or service of request `id` that [`Probe::transfers`] announced is over.
    #[inline]
    fn moved(&mut self, id: u32) {
        let _ = id;
    }

    /// The device is about to accept request `id` in the form `asked`.
    #[inline]
    fn accepted(&mut self, id: u32, asked: &Request, device: &Device) {
        let _ = (id, asked, device);
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

    /// The host learns at `now` that a request is complete.
    #[inline]
    fn completed(&mut self, completion: &Completion<'_>, now: Ticks) {
        let _ = (completion, now);
    }

    /// `transaction` begins at `die`: see [`Driver::begin`](destage_device::Driver::begin).
    #[inline]
    fn transaction(&mut self, die: u32, transaction: Transaction, operations: &Operations) {
        let _ = (die, transaction, operations);
    }

    /// A batch begins at `die`: see [`Driver::serve_batch`](destage_device::Driver::serve_batch).
    #[inline]
    fn batch(&mut self, die: u32, step: BatchStep<'_>) {
        let _ = (die, step);
    }

    /// The step of the transaction or batch that was announced last begins, unless it begins beside an earlier step
    /// of its die.
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
    fn overlapping_begins(
        &mut self,
        number: u32,
        die: u32,
        operations: &Operations,
        waited: [(Ticks, Ticks); 2],
    ) {
        let _ = (number, die, operations, waited);
    }

    /// `die` works for `time` ticks: on a command of a step that releases the die before its own end, on a command of a
    /// read that it serves during a step, or, if commands wait in queues, on a step that has no more commands and waits
    /// for the mapping table.
    #[inline]
    fn die_works(&mut self, die: u32, time: Ticks) {
        let _ = (die, time);
    }

    /// The step `number`, which has released its die, is about to end.
    #[inline]
    fn overlapping_ending(&mut self, number: u32) {
        let _ = number;
    }

    /// Only called if commands wait in queues. A garbage collection of `die` begins if `begins` is true, and ends
    /// otherwise.
    #[inline]
    fn collects(&mut self, die: u32, begins: bool) {
        let _ = (die, begins);
    }

    /// Only called if commands wait in queues. A command of `die` is issued. `moves` says whether the command moves or
    /// erases existing contents, and serves no request.
    #[inline]
    fn issued(&mut self, die: u32, kind: Kind, moves: bool) {
        let _ = (die, kind, moves);
    }

    /// The command of `die` that [`Probe::issued`] reported last does all work of `operation`.
    #[inline]
    fn serves(&mut self, die: u32, operation: PageOperation) {
        let _ = (die, operation);
    }

    /// `phase` of a command begins at `die`, and lasts `time` ticks.
    #[inline]
    fn phase_begins(&mut self, die: u32, phase: Phase, time: Ticks) {
        let _ = (die, phase, time);
    }

    /// The command that [`Probe::serves`] announced for `operation` has done its work.
    #[inline]
    fn served(&mut self, operation: PageOperation) {
        let _ = operation;
    }

    /// Only called if commands wait in queues. The die may begin the next command, while the command that began last
    /// at `die` continues.
    #[inline]
    fn left(&mut self, die: u32) {
        let _ = die;
    }

    /// Only called if commands wait in queues. A command of `die` is done. If `kind` is a read, it is the read that
    /// began first; otherwise, it is the program or erase that began first.
    #[inline]
    fn done(&mut self, die: u32, kind: Kind) {
        let _ = (die, kind);
    }

    /// Only called if commands are timed one by one. `command` of `die` begins at the time `begins`, which may be
    /// later than now. It lasts `time` ticks if nothing interrupts it.
    #[inline]
    fn command_begins(&mut self, die: u32, command: &FlashCommand, begins: Ticks, time: Ticks) {
        let _ = (die, command, begins, time);
    }

    /// `command` of `die` ends now.
    #[inline]
    fn command_ended(&mut self, die: u32, command: &FlashCommand) {
        let _ = (die, command);
    }

    /// The step of `die` has ended. A batch has ended when its last operation has ended. This method is not called for
    /// steps whose commands wait in queues, or for steps that released their die before.
    #[inline]
    fn step_ended(&mut self, die: u32) {
        let _ = die;
    }

    /// The device is about to learn that a transaction of `die`, or one operation of its batch, has ended.
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

impl Probe for () {
    const HEARS_COMMANDS: bool = false;
}
