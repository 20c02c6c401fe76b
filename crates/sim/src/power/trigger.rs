//! The trigger of a loss of power. It counts requests and programs until the moment of the loss is known.

use destage_base::{Random, Ticks};
use destage_device::RequestKind;
use destage_nand::medium::{FlashCommand, Medium, Pass};
use destage_nand::{Kind, Timing};

use super::{CutAt, CutPlan};

/// The trigger of the loss of power in a plan. It counts events from its creation on.
#[derive(Clone)]
pub(crate) struct Trigger {
    plan: CutPlan,
    timing: Timing,
    writes: u64,
    flushes: u64,
    programs: u64,
    /// Dies that began a step since the last call of [`Trigger::fails_at`].
    begun: Vec<u32>,
    /// Whether the power fails at the present moment.
    fails_now: bool,
    fails_at: Option<Ticks>,
}

impl Trigger {
    /// A trigger for `plan`, on a device whose operations have the times `timing`.
    pub fn new(plan: CutPlan, timing: Timing) -> Self {
        Self {
            plan,
            timing,
            writes: 0,
            flushes: 0,
            programs: 0,
            begun: Vec::new(),
            fails_now: false,
            fails_at: match plan.at {
                CutAt::Time(time) => Some(time),
                _ => None,
            },
        }
    }

    /// The plan of the loss of power.
    pub fn plan(&self) -> &CutPlan {
        &self.plan
    }

    /// The number of accepted writes, including write-zeroes.
    pub fn writes(&self) -> u64 {
        self.writes
    }

    /// The number of page programs that began.
    pub fn programs(&self) -> u64 {
        self.programs
    }

    /// The number of events that happened of the kind that the plan counts. 0 for a loss at a fixed time.
    pub fn seen(&self) -> u64 {
        match self.plan.at {
            CutAt::Time(_) => 0,
            CutAt::Write(_) => self.writes,
            CutAt::Flush(_) => self.flushes,
            CutAt::Program(_) => self.programs,
        }
    }

    /// Notes that the device accepted a request.
    pub fn accepted(&mut self, kind: RequestKind) {
        match kind {
            RequestKind::Write | RequestKind::WriteZeroes => {
                self.writes += 1;
                self.fails_now |= self.plan.at == CutAt::Write(self.writes);
            }
            RequestKind::Flush => {
                self.flushes += 1;
                self.fails_now |= self.plan.at == CutAt::Flush(self.flushes);
            }
            RequestKind::Read | RequestKind::Trim => {}
        }
    }

    /// Notes that a step began at `die`.
    pub fn begun(&mut self, die: u32) {
        self.begun.push(die);
    }

    /// Notes that `command` begins at time `begins` and lasts `time`.
    pub fn command_begun(&mut self, command: &FlashCommand, begins: Ticks, time: Ticks) {
        if command.kind != Kind::Program || command.pass == Pass::Second {
            return;
        }
        let programs = self.programs + 1..=self.programs + u64::from(command.pages);
        self.programs += u64::from(command.pages);
        if let CutAt::Program(number) = self.plan.at
            && programs.contains(&number)
        {
            let mut random = Random::new(self.plan.seed);
            self.fails_at = Some(begins + random.below(time + 1));
        }
    }

    /// The time at which the power fails; `None` while it is unknown. The call first evaluates the steps and requests
    /// that were noted since the previous call.
    pub fn fails_at(&mut self, now: Ticks, medium: &Medium) -> Option<Ticks> {
        for die in std::mem::take(&mut self.begun) {
            for (begin, end) in medium.programs(die, &self.timing) {
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
