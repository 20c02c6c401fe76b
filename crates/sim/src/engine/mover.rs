//! The mover of a run, which moves the bytes of requests if the run has bytes.

use destage_base::Ticks;
use destage_device::payload::Payload;
use destage_device::{BatchStep, Note, PageOperation, Request};
use destage_nand::Operations;
use destage_nand::medium::{FlashCommand, Refusal};

use crate::observer::Response;

/// Moves the bytes of requests, or watches the run. The engine reports to the mover what happens to requests, pages
/// and flash commands.
///
/// A run without bytes that is not watched has the mover `()`, which does nothing and needs no time. Events of the
/// device are reported as [`Note`]s. The other methods report host requests and the work of dies. A host request has
/// the same number from its arrival to its completion.
pub trait Mover: Send {
    /// Whether flash commands have to name every page and its contents.
    const WANTS_PAGES: bool = true;

    /// Whether the mover needs the start and the end of single commands, if commands are timed one by one.
    const HEARS_COMMANDS: bool = true;

    /// The time is `now`, in ticks. Called before each event.
    #[inline]
    fn time(&mut self, now: Ticks) {
        let _ = now;
    }

    /// Request `id` has arrived. The device will receive the request in the form `asked`, which the mover may change.
    #[inline]
    fn arrived(&mut self, id: u32, asked: &mut Request) {
        let _ = (id, asked);
    }

    /// The device accepts request `id` in the form `asked`.
    #[inline]
    fn accepted(&mut self, id: u32, asked: &Request) {
        let _ = (id, asked);
    }

    /// Request `id` is complete at `now`, and its number is free again.
    #[inline]
    fn completed(&mut self, id: u32, now: Ticks) {
        let _ = (id, now);
    }

    /// The host has received the answer to a request. The observer gets the same `response`.
    #[inline]
    fn answered(&mut self, response: &Response) {
        let _ = response;
    }

    /// The step that has just begun at `die` lasts `time` ticks. A batch lasts until its longest operation has ended.
    /// Not called if commands are timed one by one.
    #[inline]
    fn busy(&mut self, die: u32, time: Ticks) {
        let _ = (die, time);
    }

    /// The bytes of the device, to which the default methods below pass on their calls. `None` if the run has no
    /// bytes.
    #[inline]
    fn payload(&mut self) -> Option<&mut Payload> {
        None
    }

    /// A step has begun at `die`. `outcome` is an error if the flash has refused an operation of the step.
    #[inline]
    fn begun(&mut self, die: u32, outcome: Result<(), Refusal>) {
        let _ = (die, outcome);
    }

    /// A page operation begins: see [`Driver::begin`](destage_device::Driver::begin).
    #[inline]
    fn serve(&mut self, die: u32, operation: PageOperation, operations: &Operations) {
        if let Some(payload) = self.payload() {
            let outcome = payload.serve(die, operation, operations);
            self.begun(die, outcome);
        }
    }

    /// A step of garbage collection begins: see [`Driver::begin`](destage_device::Driver::begin).
    #[inline]
    fn collect_garbage(&mut self, die: u32, operations: &Operations) {
        if let Some(payload) = self.payload() {
            let outcome = payload.collect_garbage(die, operations);
            self.begun(die, outcome);
        }
    }

    /// See [`Driver::serve_batch`](destage_device::Driver::serve_batch).
    #[inline]
    fn serve_batch(&mut self, die: u32, step: BatchStep<'_>) {
        if let Some(payload) = self.payload() {
            let outcome = payload.serve_batch(die, step);
            self.begun(die, outcome);
        }
    }

    /// A step with fillers of a unit begins: see [`Driver::begin`](destage_device::Driver::begin).
    #[inline]
    fn fill(&mut self, die: u32, operations: &Operations) {
        if let Some(payload) = self.payload() {
            let outcome = payload.collect_garbage(die, operations);
            self.begun(die, outcome);
        }
    }

    /// Only called if commands are timed one by one. `command` of `die` begins at the time `begins`, which may be
    /// later than now. It lasts `time` ticks if nothing interrupts it.
    #[inline]
    fn command_begins(&mut self, die: u32, command: &FlashCommand, begins: Ticks, time: Ticks) {
        if let Some(payload) = self.payload() {
            let outcome = payload.command_begins(die, command, begins, time);
            self.command_begun(command, begins, time, outcome);
        }
    }

    /// The command of [`Mover::command_begins`] has begun. `outcome` is an error if the flash has refused it.
    #[inline]
    fn command_begun(
        &mut self,
        command: &FlashCommand,
        begins: Ticks,
        time: Ticks,
        outcome: Result<(), Refusal>,
    ) {
        let _ = (command, begins, time, outcome);
    }

    /// `command` of `die` ends now.
    #[inline]
    fn command_ended(&mut self, die: u32, command: &FlashCommand) {
        if let Some(payload) = self.payload() {
            payload.command_ended(die, command);
        }
    }

    /// The command in service at `die` has ended. A batch has ended when its last operation has ended.
    #[inline]
    fn end(&mut self, die: u32) {
        if let Some(payload) = self.payload() {
            payload.end(die);
        }
    }

    /// An event in the device: see [`Driver::note`](destage_device::Driver::note).
    #[inline]
    fn note(&mut self, note: &Note<'_>) {
        if let Some(payload) = self.payload() {
            payload.note(note);
        }
    }
}

impl Mover for () {
    const WANTS_PAGES: bool = false;
    const HEARS_COMMANDS: bool = false;
}
