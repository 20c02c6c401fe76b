//! The probe of a run that loses its power. It moves the bytes of pages (the payload), records which versions of them
//! must survive (the ledger), and decides when the power fails (the trigger).

use destage_base::{Random, Ticks};
use destage_device::ledger::Ledger;
use destage_device::payload::Payload;
use destage_device::{BatchStep, Device, Note, Request, RequestKind, Transaction};
use destage_ftl::Ftl;
use destage_nand::Operations;
use destage_nand::medium::{FlashCommand, Refusal};

use super::CutPlan;
use super::trigger::Trigger;
use crate::config::Config;
use crate::engine::{Completion, Probe};

/// See the [module](self).
pub struct Moving {
    pub payload: Payload,
    pub ledger: Ledger,
    /// The number of accepted requests, and the number of these that were answered.
    pub requests: [u64; 2],
    pub trigger: Trigger,
    pages: u64,
    page_bytes: usize,
    data: Vec<u8>,
}

impl Moving {
    pub fn new(config: &Config, ftl: &dyn Ftl, plan: CutPlan) -> Self {
        let geometry = config.geometry();
        let page_bytes = geometry.page_bytes as usize;
        let payload = Payload::new(config.medium(ftl), page_bytes, page_bytes / 512);
        Self {
            payload,
            ledger: Ledger::new(config.terms(ftl.pages())),
            requests: [0; 2],
            trigger: Trigger::new(plan, config.timing()),
            pages: ftl.pages(),
            page_bytes,
            data: Vec::new(),
        }
    }

    /// Makes the bytes of a write. The bytes of each sector identify the sector and the write.
    fn make_data(&mut self, request: &Request) {
        self.data.clear();
        let sectors = self.page_bytes as u64 / 512;
        let span = request.span;
        for offset in 0..span.pages {
            let page = span.page(offset, self.pages).0;
            let from = if offset == 0 { span.head } else { 0 };
            let tail = if offset + 1 == span.pages {
                span.tail
            } else {
                0
            };
            for sector in u64::from(from)..sectors - u64::from(tail) {
                let mut words =
                    Random::new(self.trigger.writes() << 32 ^ (page * sectors + sector));
                let word = words.next_u64().to_le_bytes();
                self.data.extend((0..64).flat_map(|_| word));
            }
        }
    }

    /// The time at which the power fails, if it is known at `now`.
    pub fn fails_at(&mut self, now: Ticks) -> Option<Ticks> {
        self.trigger.fails_at(now, self.payload.medium())
    }
}

impl Probe for Moving {
    fn accepted(&mut self, id: u32, request: &Request, _: &Device) {
        self.requests[0] += 1;
        self.trigger.accepted(request.kind);
        self.data.clear();
        if request.kind == RequestKind::Write {
            self.make_data(request);
        }
        let version = self.payload.accept(request, &self.data);
        self.ledger.accept(id, request, version, [&self.data[..]]);
    }

    fn completed(&mut self, completion: &Completion<'_>, _: Ticks) {
        self.requests[1] += 1;
        self.ledger.answer(completion.id);
    }

    fn transaction(&mut self, die: u32, transaction: Transaction, operations: &Operations) {
        let outcome = self.payload.transaction(die, transaction, operations);
        self.begun(die, outcome);
    }

    fn batch(&mut self, die: u32, step: BatchStep<'_>) {
        let outcome = self.payload.serve_batch(die, step);
        self.begun(die, outcome);
    }

    /// # Panics
    /// If flash refuses the command, or a die does not keep the order of its commands. Both would be bugs of this
    /// program.
    fn command_begins(&mut self, die: u32, command: &FlashCommand, begins: Ticks, time: Ticks) {
        let outcome = self.payload.command_begins(die, command, begins, time);
        outcome.unwrap_or_else(|refusal| panic!("flash refuses a command: {refusal}"));
        self.trigger.command_begun(command, begins, time);
    }

    fn command_ended(&mut self, die: u32, command: &FlashCommand) {
        self.payload.command_ended(die, command);
    }

    fn step_ended(&mut self, die: u32) {
        self.payload.end(die);
    }

    fn note(&mut self, note: &Note<'_>) {
        self.payload.note(note);
    }
}

impl Moving {
    /// # Panics
    /// If flash refuses an operation of the layer, which is a bug of the layer.
    fn begun(&mut self, die: u32, outcome: Result<(), Refusal>) {
        if let Err(refusal) = outcome {
            panic!("flash refuses an operation of the layer: {refusal}");
        }
        self.trigger.begun(die);
    }
}
