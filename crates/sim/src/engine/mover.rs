//! The mover of a run, which moves its bytes if it has any.

use destage_base::Ticks;
use destage_device::payload::Payload;
use destage_device::{BatchStep, Note, PageOperation, Request};
use destage_nand::Operations;
use destage_nand::medium::{FlashCommand, Refusal};

use crate::observer::Response;

/// Moves the bytes of requests, or watches what happens, and hears for that what becomes of requests, pages and flash commands.
///
/// A run that only counts has `()`, which does nothing and costs nothing. What the device has to say it hears
/// as [`Note`]s; the rest is about host requests, which are known by the number they
/// have from their arrival to their completion.
pub trait Mover: Send {
    /// Whether flash commands have to name every page and what it is to hold.
    const WANTS_PAGES: bool = true;

    /// Whether it hears of commands one by one, where they begin and end so.
    const HEARS_COMMANDS: bool = true;

    /// The time is `now`.
    #[inline]
    fn time(&mut self, now: Ticks) {
        let _ = now;
    }

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

    /// The host has the answer to a request, as the observer hears it.
    #[inline]
    fn answered(&mut self, response: &Response) {
        let _ = response;
    }

    /// The step that has just begun at `die` takes `time` ticks; of a batch, its longest part.
    #[inline]
    fn busy(&mut self, die: u32, time: Ticks) {
        let _ = (die, time);
    }

    /// The bytes of the device, which the methods below pass on to.
    #[inline]
    fn payload(&mut self) -> Option<&mut Payload> {
        None
    }

    /// A step has begun at `die`, as far as flash takes it.
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

    /// Fillers of a unit begin: see [`Driver::begin`](destage_device::Driver::begin).
    #[inline]
    fn fill(&mut self, die: u32, operations: &Operations) {
        if let Some(payload) = self.payload() {
            let outcome = payload.collect_garbage(die, operations);
            self.begun(die, outcome);
        }
    }

    /// `command` of `die` begins at time `begins`, not before the present, where commands begin and end one by one; it takes `time` if nothing
    /// interrupts it.
    #[inline]
    fn command_begins(&mut self, die: u32, command: &FlashCommand, begins: Ticks, time: Ticks) {
        if let Some(payload) = self.payload() {
            let outcome = payload.command_begins(die, command, begins, time);
            self.command_begun(command, begins, time, outcome);
        }
    }

    /// The same, as far as flash takes it.
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

    /// `command` of `die` has ended.
    #[inline]
    fn command_ended(&mut self, die: u32, command: &FlashCommand) {
        if let Some(payload) = self.payload() {
            payload.command_ended(die, command);
        }
    }

    /// The command in service at `die` has ended; of a batch, its last part.
    #[inline]
    fn end(&mut self, die: u32) {
        if let Some(payload) = self.payload() {
            payload.end(die);
        }
    }

    /// Something has happened in the device: see [`Driver::note`](destage_device::Driver::note).
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
