//! The part that moves the bytes of a run: payload and ledger next to the engine, and the moment at which the power fails.

use destage_base::{Random, Ticks};
use destage_device::ledger::Ledger;
use destage_device::payload::Payload;
use destage_device::{Request, RequestKind};
use destage_ftl::Ftl;
use destage_nand::medium::{FlashCommand, Refusal};

use super::CutPlan;
use super::trigger::Trigger;
use crate::config::Config;
use crate::engine::Mover;

/// See the [module](self).
pub(super) struct Moving {
    pub payload: Payload,
    pub ledger: Ledger,
    /// Number of accepted requests, and of answered ones among them.
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

    /// The bytes of a write: each sector names itself and the write.
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

    /// When the power fails, if that is known `now`.
    pub fn fails_at(&mut self, now: Ticks) -> Option<Ticks> {
        self.trigger.fails_at(now, self.payload.medium())
    }
}

impl Mover for Moving {
    fn accepted(&mut self, id: u32, request: &Request) {
        self.requests[0] += 1;
        self.trigger.accepted(request.kind);
        self.data.clear();
        if request.kind == RequestKind::Write {
            self.make_data(request);
        }
        let version = self.payload.accept(request, &self.data);
        self.ledger.accept(id, request, version, [&self.data[..]]);
    }

    fn completed(&mut self, id: u32, _: Ticks) {
        self.requests[1] += 1;
        self.ledger.answer(id);
    }

    fn payload(&mut self) -> Option<&mut Payload> {
        Some(&mut self.payload)
    }

    /// # Panics
    /// A layer that flash refuses has a bug.
    fn begun(&mut self, die: u32, outcome: Result<(), Refusal>) {
        if let Err(refusal) = outcome {
            panic!("flash refuses an operation of the layer: {refusal}");
        }
        self.trigger.begun(die);
    }

    /// # Panics
    /// If flash refuses an operation of the layer, or a die does not keep the order of its commands.
    fn command_begun(
        &mut self,
        command: &FlashCommand,
        begins: Ticks,
        time: Ticks,
        outcome: Result<(), Refusal>,
    ) {
        if let Err(refusal) = outcome {
            panic!("flash refuses a command: {refusal}");
        }
        self.trigger.command_begun(command, begins, time);
    }
}
