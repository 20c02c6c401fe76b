//! What a request waited for: the last cause of its answer, and the time of the dies before that.

use std::collections::HashMap;

use destage_base::Ticks;
use destage_device::{PageOperation, Work};

/// How many parts a response has.
pub const PARTS: usize = 7;
/// The names of the parts.
pub const PART_NAMES: [&str; PARTS] = ["queue", "bus", "slot", "slot_gc", "die", "die_gc", "flash"];
pub(super) const QUEUE: usize = 0;
pub(super) const BUS: usize = 1;
const SLOT: usize = 2;
const SLOT_GC: usize = 3;
const DIE: usize = 4;
const DIE_GC: usize = 5;
const FLASH: usize = 6;

/// A response in its parts, in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Split(pub [Ticks; PARTS]);

impl Split {
    /// The response.
    #[must_use]
    pub fn total(&self) -> Ticks {
        self.0.iter().sum()
    }
}

/// What decided when a request was answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Awaited {
    /// A buffer slot.
    Slot,
    /// A read of flash.
    Read,
    /// A program of flash.
    Program,
    /// A trim.
    Trim,
}

impl Awaited {
    /// Its name in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Slot => "slot",
            Self::Read => "read",
            Self::Program => "program",
            Self::Trim => "trim",
        }
    }
}

/// What a die has done so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Die {
    busy: Ticks,
    busy_until: Ticks,
    gc: Ticks,
    gc_until: Ticks,
    /// Of the command in service: its begin, the garbage collection before it, and its own.
    began: Ticks,
    gc_before: Ticks,
    gc_of_command: Ticks,
}

impl Die {
    /// A command begins `now` that takes `time`, of which `gc` is garbage collection and comes first.
    pub fn begin(&mut self, now: Ticks, time: Ticks, gc: Ticks) {
        (self.began, self.gc_before, self.gc_of_command) = (now, self.gc(now), gc);
        self.work(now, time);
        self.gc = self.gc_before.saturating_add(gc);
        self.gc_until = now.saturating_add(gc);
    }

    /// The command goes on `now` for `time`, of which `gc` is garbage collection.
    pub fn go_on(&mut self, now: Ticks, time: Ticks, gc: Ticks) {
        self.work(now, time);
        self.gc = self.gc(now).saturating_add(gc);
        self.gc_until = now.saturating_add(gc);
        self.gc_of_command += gc;
    }

    /// It is busy from `now` for `time`, and for what began before.
    pub fn work(&mut self, now: Ticks, time: Ticks) {
        let until = now.saturating_add(time).max(self.busy_until);
        self.busy = self.busy(now).saturating_add(until - now);
        self.busy_until = until;
    }

    /// Time of garbage collection up to `now`, which is not before the latest command.
    pub fn gc(&self, now: Ticks) -> Ticks {
        self.gc - self.gc_until.saturating_sub(now)
    }

    /// Busy time up to `now`, which is not before the latest command.
    pub fn busy(&self, now: Ticks) -> Ticks {
        self.busy - self.busy_until.saturating_sub(now)
    }

    /// Whether it collects garbage `now`.
    pub fn collects(&self, now: Ticks) -> bool {
        self.gc_until > now
    }
}

/// An operation that has ended, and why it was not queued earlier.
#[derive(Clone, Copy, Debug)]
struct Step {
    operation: PageOperation,
    die: u32,
    /// When another's end let it join its queue, and the garbage collection of its die before that.
    queued: Option<(Ticks, Ticks)>,
    began: Ticks,
    /// Garbage collection of its die up to its begin, and up to its end.
    gc_began: Ticks,
    gc_ended: Ticks,
    /// From when to when it had begun and waited for its die.
    waited: [(Ticks, Ticks); 2],
}

impl Step {
    /// How long it waited for its die between `from` and `until`.
    fn waited(&self, from: Ticks, until: Ticks) -> Ticks {
        let within = |(begin, end): (Ticks, Ticks)| end.min(until).saturating_sub(begin.max(from));
        self.waited.map(within).iter().sum()
    }
}

/// A step that leaves its die to the next before its end.
#[derive(Clone, Copy, Debug, Default)]
struct Beside {
    die: u32,
    began: Ticks,
    /// Garbage collection of its die up to then.
    gc: Ticks,
    waited: [(Ticks, Ticks); 2],
}

/// Steps of which each was queued when the next one ended; the latest first.
type Steps = Vec<Step>;
/// Steps kept behind one another: a read for padding or a partial write, and turns on a page before it.
const STEPS_KEPT: usize = 4;

/// Operations that joined their queue because another had ended.
#[derive(Debug)]
struct Trail {
    die: u32,
    queued: Ticks,
    gc: Ticks,
    before: Steps,
}

/// When a request was taken in, and the garbage collection of each die up to then.
#[derive(Clone, Debug, Default)]
pub(super) struct Accepted {
    pub at: Ticks,
    pub gc: Vec<Ticks>,
}

/// The dies, and what led to what is happening now.
#[derive(Debug, Default)]
pub(super) struct Paths {
    pub dies: Vec<Die>,
    trails: HashMap<PageOperation, Trail>,
    /// Reads in the midst of a step: when they began, and the garbage collection of their die up to then.
    between: HashMap<PageOperation, (Ticks, Ticks)>,
    /// Steps that leave their dies to the next, by their number, and the one that ends now.
    beside: Vec<Beside>,
    ending_beside: Option<Beside>,
    /// What has just ended, latest first; empty unless an operation is the cause of what happens.
    steps: Steps,
    by_slot: bool,
    ending: u32,
}

impl Paths {
    pub fn new(dies: u32) -> Self {
        Self {
            dies: vec![Die::default(); dies as usize],
            ..Self::default()
        }
    }

    /// Another event begins.
    pub fn forget_cause(&mut self) {
        self.steps.clear();
        self.by_slot = false;
        self.ending_beside = None;
    }

    pub fn slot_given(&mut self) {
        self.by_slot = true;
    }

    pub fn ending(&mut self, die: u32) {
        self.ending = die;
    }

    pub fn queued(&mut self, operation: PageOperation, die: u32, now: Ticks) {
        if self.steps.is_empty() {
            return;
        }
        let trail = Trail {
            die,
            queued: now,
            gc: self.dies[die as usize].gc(now),
            before: self.steps.clone(),
        };
        self.trails.insert(operation, trail);
    }

    pub fn begins_between(&mut self, operation: PageOperation, die: u32, now: Ticks) {
        let gc = self.dies[die as usize].gc(now);
        self.between.insert(operation, (now, gc));
    }

    pub fn begins_beside(
        &mut self,
        number: u32,
        die: u32,
        now: Ticks,
        waited: [(Ticks, Ticks); 2],
    ) {
        let number = number as usize;
        if number >= self.beside.len() {
            self.beside.resize_with(number + 1, Beside::default);
        }
        self.beside[number] = Beside {
            die,
            began: now,
            gc: self.dies[die as usize].gc(now),
            waited,
        };
    }

    pub fn ending_beside(&mut self, number: u32) {
        let step = self.beside[number as usize];
        self.ending = step.die;
        self.ending_beside = Some(step);
    }

    pub fn ended(&mut self, operation: PageOperation, now: Ticks) {
        self.by_slot = false;
        self.steps.clear();
        let die = self.dies[self.ending as usize];
        let mut step = Step {
            operation,
            die: self.ending,
            queued: None,
            began: die.began,
            gc_began: die.gc_before,
            gc_ended: die.gc_before + die.gc_of_command.min(now - die.began),
            waited: [(0, 0); 2],
        };
        if let Some(beside) = self.ending_beside {
            (step.began, step.waited) = (beside.began, beside.waited);
            (step.gc_began, step.gc_ended) = (beside.gc, beside.gc);
        }
        if !self.between.is_empty()
            && let Some((began, gc)) = self.between.remove(&operation)
        {
            (step.began, step.gc_began, step.gc_ended) = (began, gc, gc);
        }
        let trail = match self.trails.is_empty() {
            true => None,
            false => self.trails.remove(&operation),
        };
        let Some(trail) = trail else {
            self.steps.push(step);
            return;
        };
        // A read may have followed its page to another die.
        let stayed = trail.die == self.ending;
        step.queued = Some((trail.queued, if stayed { trail.gc } else { step.gc_began }));
        self.steps.push(step);
        let before = trail.before.into_iter().take(STEPS_KEPT - 1);
        self.steps.extend(before);
    }

    /// What request `token` waited for from when it was `accepted` until `now`, when it is answered.
    pub fn device_part(
        &self,
        token: u32,
        accepted: &Accepted,
        now: Ticks,
    ) -> (Split, Option<(Awaited, Option<u32>)>) {
        let mut split = Split::default();
        let Some(last) = self.steps.first() else {
            let by = self.by_slot.then_some((Awaited::Slot, None));
            split.0[if self.by_slot { SLOT } else { DIE }] = now - accepted.at;
            return (split, by);
        };
        let (wait, wait_gc, awaited) = match (self.by_slot, last.operation) {
            (true, _) => (SLOT, SLOT_GC, Awaited::Slot),
            (_, operation) if operation.is_read() => (DIE, DIE_GC, Awaited::Read),
            (_, operation) if operation.is_trim() => (DIE, DIE_GC, Awaited::Trim),
            _ => (DIE, DIE_GC, Awaited::Program),
        };
        let mut until = now;
        for (index, step) in self.steps.iter().enumerate() {
            let (from, gc_from) = match step.queued {
                Some((queued, gc)) if queued > accepted.at => (queued, gc),
                _ => (accepted.at, accepted.gc[step.die as usize]),
            };
            let mut take = |part: usize, part_gc: usize, time: Ticks, gc: Ticks| {
                let gc = gc.min(time);
                split.0[part_gc] += gc;
                split.0[part] += time - gc;
            };
            let is_own = index == 0 || is_read_for(step.operation, token, last.operation);
            if self.by_slot || !is_own {
                let gc = step.gc_ended.saturating_sub(gc_from);
                take(wait, wait_gc, until - from, gc);
            } else {
                let began = step.began.clamp(from, until);
                let gc = step.gc_began.saturating_sub(gc_from);
                take(DIE, DIE_GC, began - from, gc);
                let waited = step.waited(began, until);
                take(DIE, DIE_GC, waited, 0);
                let gc = step.gc_ended - step.gc_began.max(gc_from).min(step.gc_ended);
                take(FLASH, DIE_GC, until - began - waited, gc);
            }
            until = from;
            if until == accepted.at {
                break;
            }
        }
        // Steps that are not kept any more.
        split.0[wait] += until - accepted.at;
        (split, Some((awaited, Some(last.die))))
    }
}

/// Whether `operation`, which ended before `last` was queued, reads something for the same request.
fn is_read_for(operation: PageOperation, token: u32, last: PageOperation) -> bool {
    match operation.work() {
        Work::Fill(of) | Work::HostRead(of) => of == token,
        Work::PadRead(record) => matches!(
            last.work(),
            Work::Destage(of, _) | Work::PadWrite(of) if of == record
        ),
        _ => false,
    }
}
