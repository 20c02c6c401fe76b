//! When the power fails: requests and programs are counted until the moment is known.

use destage_base::{Random, Ticks};
use destage_device::RequestKind;
use destage_nand::medium::{FlashCommand, Medium, Pass};
use destage_nand::{Kind, Timing};

use super::{CutAt, CutPlan};

/// Waits for the moment of a plan, from now on.
#[derive(Clone)]
pub(crate) struct Trigger {
    plan: CutPlan,
    timing: Timing,
    writes: u64,
    flushes: u64,
    programs: u64,
    /// Dies that have begun a step since the clock was looked at.
    begun: Vec<u32>,
    /// The power fails at the moment that is now.
    fails_now: bool,
    fails_at: Option<Ticks>,
}

impl Trigger {
    /// For a device whose operations take the times of `timing`.
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

    /// The event that it waits for.
    pub fn plan(&self) -> &CutPlan {
        &self.plan
    }

    /// Writes accepted, write-zeroes included.
    pub fn writes(&self) -> u64 {
        self.writes
    }

    /// Page programs begun.
    pub fn programs(&self) -> u64 {
        self.programs
    }

    /// How many of the awaited events there were.
    pub fn seen(&self) -> u64 {
        match self.plan.at {
            CutAt::Time(_) => 0,
            CutAt::Write(_) => self.writes,
            CutAt::Flush(_) => self.flushes,
            CutAt::Program(_) => self.programs,
        }
    }

    /// A request is accepted.
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

    /// A step has begun at `die`.
    pub fn begun(&mut self, die: u32) {
        self.begun.push(die);
    }

    /// `command` begins at time `begins`, and takes `time`.
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

    /// When the power fails, if that is known `now`: steps may have begun, and requests been accepted.
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
