//! What moves the bytes of a run: payload and ledger beside the engine, and the moment at which the power fails.

use destage_base::{Random, Ticks};
use destage_device::ledger::Ledger;
use destage_device::payload::Payload;
use destage_device::{Request, RequestKind};
use destage_flash::medium::Refusal;
use destage_flash::{Ftl, Timing};

use super::{CutAt, CutPlan};
use crate::config::Config;
use crate::engine::Mover;

/// See the [module](self).
pub(super) struct Moving {
    pub payload: Payload,
    pub ledger: Ledger,
    /// Requests accepted, and of these those answered.
    pub requests: [u64; 2],
    /// Page programs begun.
    pub programs: u64,
    writes: u64,
    flushes: u64,
    /// Dies that have begun a step since the clock was looked at.
    begun: Vec<u32>,
    /// The power fails at the moment that is now.
    fails_now: bool,
    plan: CutPlan,
    fails_at: Option<Ticks>,
    timing: Timing,
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
            programs: 0,
            writes: 0,
            flushes: 0,
            begun: Vec::new(),
            fails_now: false,
            plan,
            fails_at: match plan.at {
                CutAt::Time(time) => Some(time),
                _ => None,
            },
            timing: config.timing(),
            pages: ftl.pages(),
            page_bytes,
            data: Vec::new(),
        }
    }

    /// How many there were of what the cut waits for.
    pub fn seen(&self) -> u64 {
        match self.plan.at {
            CutAt::Time(_) => 0,
            CutAt::Write(_) => self.writes,
            CutAt::Flush(_) => self.flushes,
            CutAt::Program(_) => self.programs,
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
                let mut words = Random::new(self.writes << 32 ^ (page * sectors + sector));
                let word = words.next_u64().to_le_bytes();
                self.data.extend((0..64).flat_map(|_| word));
            }
        }
    }

    /// Steps have begun `now`, and requests were accepted: when the power fails, if that is known.
    pub fn fails_at(&mut self, now: Ticks) -> Option<Ticks> {
        for die in std::mem::take(&mut self.begun) {
            for (begin, end) in self.payload.medium().programs(die, &self.timing) {
                self.programs += 1;
                if self.plan.at == CutAt::Program(self.programs) {
                    let mut random = Random::new(self.plan.seed);
                    self.fails_at = Some(now + begin + random.below(end - begin + 1));
                }
            }
        }
        if std::mem::take(&mut self.fails_now) {
            self.fails_at = Some(now);
        }
        self.fails_at
    }
}

impl Mover for Moving {
    fn accepted(&mut self, id: u32, request: &Request) {
        self.requests[0] += 1;
        match request.kind {
            RequestKind::Write | RequestKind::WriteZeroes => self.writes += 1,
            RequestKind::Flush => self.flushes += 1,
            RequestKind::Read | RequestKind::Trim => {}
        }
        let is_due = match self.plan.at {
            CutAt::Write(number) => request.kind == RequestKind::Write && self.writes == number,
            CutAt::Flush(number) => request.kind == RequestKind::Flush && self.flushes == number,
            CutAt::Time(_) | CutAt::Program(_) => false,
        };
        self.fails_now |= is_due;
        self.data.clear();
        if request.kind == RequestKind::Write {
            self.make_data(request);
        }
        let version = self.payload.accept(request, &self.data);
        self.ledger.accept(id, request, version, &self.data);
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
            panic!("flash refuses what the layer wants: {refusal}");
        }
        self.begun.push(die);
    }
}
