//! The waits of a request: the last event that the request waited for, and the work of the dies before this event.

use std::collections::HashMap;

use destage_base::Ticks;
use destage_device::{PageOperation, Work};

use super::queues::{Phases, Serving, Span, Spent, within};

/// Number of parts of a response time.
pub const PARTS: usize = 12;
/// The names of the parts.
pub const PART_NAMES: [&str; PARTS] = [
    "queue",
    "bus",
    "slot",
    "slot_gc",
    "die",
    "die_gc",
    "flash",
    "die_read",
    "die_program",
    "die_erase",
    "channel",
    "transfer",
];
/// If commands do not wait in queues, only the first parts are used. This is the number of these parts.
pub(super) const PARTS_OF_STEPS: usize = 7;
pub(super) const QUEUE: usize = 0;
pub(super) const BUS: usize = 1;
const SLOT: usize = 2;
const SLOT_GC: usize = 3;
const DIE: usize = 4;
const DIE_GC: usize = 5;
const FLASH: usize = 6;
/// The first of three successive parts: waits for a die that reads, for a die that programs, and for a die that
/// erases.
const DIE_WITH: usize = 7;
const CHANNEL: usize = 10;
const TRANSFER: usize = 11;

/// A response time divided into its parts, in ticks, in the order of [`PART_NAMES`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Split(pub [Ticks; PARTS]);

impl Split {
    /// The response time, in ticks.
    #[must_use]
    pub fn total(&self) -> Ticks {
        self.0.iter().sum()
    }
}

/// The event that decided when a request was answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Awaited {
    /// A buffer slot became free.
    Slot,
    /// A read of flash ended.
    Read,
    /// A program of flash ended.
    Program,
    /// A trim ended.
    Trim,
}

impl Awaited {
    /// The name in results.
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

/// The work of a die so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Die {
    busy: Ticks,
    busy_until: Ticks,
    gc: Ticks,
    /// Begin and end of the latest garbage collection.
    gc_span: Span,
    /// The start of the command in service.
    began: Ticks,
    /// The work of the die before the command in service.
    before: Spent,
    /// The time of the command in service that is garbage collection.
    gc_of_command: Ticks,
    /// The commands of the die. Only used if commands wait in queues.
    pub serving: Serving,
}

impl Die {
    /// A command begins at `now` and lasts `time` ticks. Its first `gc` ticks are garbage collection.
    pub fn begin(&mut self, now: Ticks, time: Ticks, gc: Ticks) {
        (self.began, self.before, self.gc_of_command) = (now, self.spent(now), gc);
        self.work(now, time);
        self.collect(now, (now, now.saturating_add(gc)));
    }

    /// The command continues at `now` for `time` ticks. The first `waits` of these ticks are a wait. The other ticks
    /// are garbage collection.
    pub fn go_on(&mut self, now: Ticks, waits: Ticks, time: Ticks) {
        self.work(now, time);
        self.collect(now, (now + waits, now + time));
        self.gc_of_command += time - waits;
    }

    /// Notes that the die collects garbage in `span`. This becomes known at `now`.
    fn collect(&mut self, now: Ticks, span: Span) {
        self.gc = self.gc_in_steps(now).saturating_add(span.1 - span.0);
        self.gc_span = span;
    }

    /// Notes that the die is busy from `now` for `time` ticks. Time for which several commands keep the die busy
    /// counts once.
    pub fn work(&mut self, now: Ticks, time: Ticks) {
        let until = now.saturating_add(time).max(self.busy_until);
        self.busy = self.busy_in_steps(now).saturating_add(until - now);
        self.busy_until = until;
    }

    /// Time of garbage collection up to `now`, which is not before the start of the latest command.
    pub fn gc(&self, now: Ticks) -> Ticks {
        self.gc_in_steps(now) + self.serving.spent(now).gc
    }

    fn gc_in_steps(&self, now: Ticks) -> Ticks {
        self.gc - within(self.gc_span, now, Ticks::MAX)
    }

    /// Busy time up to `now`, which is not before the start of the latest command.
    pub fn busy(&self, now: Ticks) -> Ticks {
        self.busy_in_steps(now) + self.serving.busy(now)
    }

    fn busy_in_steps(&self, now: Ticks) -> Ticks {
        self.busy - self.busy_until.saturating_sub(now)
    }

    /// The work up to `now` that other operations had to wait for.
    pub fn spent(&self, now: Ticks) -> Spent {
        let with = self.serving.spent(now).with;
        let gc = self.gc(now);
        Spent { gc, with }
    }

    /// Whether the die collects garbage at `now`.
    pub fn collects(&self, now: Ticks) -> bool {
        (self.gc_span.0 <= now && now < self.gc_span.1) || self.serving.is_collecting()
    }
}

/// An operation that has ended, with all that is needed to divide its time into parts.
#[derive(Clone, Copy, Debug)]
struct Step {
    operation: PageOperation,
    die: u32,
    /// Set if this operation could join the queue of its die only after another operation had ended. The values are
    /// the time at which it joined the queue, and the work of the die up to this time. `None` if this operation
    /// waited for no other operation.
    queued: Option<(Ticks, Spent)>,
    began: Ticks,
    /// The work of the die up to the start of the operation.
    spent: Spent,
    /// The time of garbage collection of the die up to the end of the operation.
    gc_ended: Ticks,
    /// The spans in which the operation waited for the die after it had begun.
    waited: [Span; 2],
    /// The phases of the command that carried out the operation. `None` unless commands wait in queues and one
    /// command did all work of the operation.
    phases: Option<Phases>,
}

impl Step {
    /// Divides the time of the operation's service, from `from` to `until`, among the parts of `split`. `gc` is the
    /// time of garbage collection of the die before the wait for the operation began.
    fn serve(&self, split: &mut Split, from: Ticks, until: Ticks, gc: Ticks) {
        let time = until - from;
        if let Some(phases) = &self.phases {
            let of = |spans: [Span; 2]| -> Ticks {
                spans.map(|span| within(span, from, until)).iter().sum()
            };
            let in_cells = of([phases.cells, phases.register]);
            let moved = of([phases.command, phases.data]);
            let waited = of(phases.waited());
            split.0[FLASH] += in_cells;
            split.0[TRANSFER] += moved;
            split.0[DIE] += waited;
            split.0[CHANNEL] += time - in_cells - moved - waited;
            return;
        }
        let waited: Ticks = self
            .waited
            .map(|span| within(span, from, until))
            .iter()
            .sum();
        let gc = self.gc_ended - self.spent.gc.max(gc).min(self.gc_ended);
        let gc = gc.min(time - waited);
        split.0[DIE] += waited;
        split.0[DIE_GC] += gc;
        split.0[FLASH] += time - waited - gc;
    }
}

/// A step that releases its die before its own end, or a command from a queue.
#[derive(Clone, Copy, Debug, Default)]
struct Overlapping {
    die: u32,
    began: Ticks,
    /// The work of the die up to the start of the step or command.
    spent: Spent,
    waited: [Span; 2],
    phases: Option<Phases>,
}

/// Operations that have ended, the latest first. Each was queued when the next one in the list ended.
type Steps = Vec<Step>;
/// Maximum number of operations in such a list. For example, a list contains a read for padding or for a partial
/// write, and earlier operations on the same page.
const STEPS_KEPT: usize = 4;

/// Facts about an operation that joined the queue of a die because another operation had ended: the die, the time at
/// which the operation joined the queue, the work of the die up to this time, and the operations that had ended.
#[derive(Debug)]
struct Trail {
    die: u32,
    queued: Ticks,
    spent: Spent,
    before: Steps,
}

/// The time at which the device accepted a request, and the work of each die up to this time.
#[derive(Clone, Debug, Default)]
pub(super) struct Accepted {
    pub at: Ticks,
    pub spent: Vec<Spent>,
}

/// The work of all dies, and the cause of the present event.
#[derive(Debug, Default)]
pub(super) struct Paths {
    pub dies: Vec<Die>,
    trails: HashMap<PageOperation, Trail>,
    /// Reads that a die serves during a step: the start of the read, and the work of the die up to this begin.
    between: HashMap<PageOperation, (Ticks, Spent)>,
    /// Steps that release their dies before their own end. The index is the number of the step.
    overlapping: Vec<Overlapping>,
    /// The step or command of this kind that ends now.
    ending_overlapping: Option<Overlapping>,
    /// Commands from queues that have begun and do all work of an operation.
    commands: HashMap<PageOperation, Overlapping>,
    /// The operation that has just ended, and the operations before it, the latest first. Empty unless the end of an
    /// operation is the cause of the present event.
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

    /// Another event begins, so the cause of the previous event is forgotten.
    pub fn forget_cause(&mut self) {
        self.steps.clear();
        self.by_slot = false;
        self.ending_overlapping = None;
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
            spent: self.dies[die as usize].spent(now),
            before: self.steps.clone(),
        };
        self.trails.insert(operation, trail);
    }

    pub fn begins_between(&mut self, operation: PageOperation, die: u32, now: Ticks) {
        let spent = self.dies[die as usize].spent(now);
        self.between.insert(operation, (now, spent));
    }

    pub fn overlapping_begins(
        &mut self,
        number: u32,
        die: u32,
        now: Ticks,
        waited: [(Ticks, Ticks); 2],
    ) {
        let number = number as usize;
        if number >= self.overlapping.len() {
            self.overlapping
                .resize_with(number + 1, Overlapping::default);
        }
        self.overlapping[number] = Overlapping {
            die,
            began: now,
            spent: self.dies[die as usize].spent(now),
            waited,
            phases: None,
        };
    }

    /// A command from a queue of `die` begins. This command does all work of `operation`.
    pub fn command_begins(&mut self, operation: PageOperation, die: u32, now: Ticks) {
        let overlapping = Overlapping {
            die,
            began: now,
            spent: self.dies[die as usize].spent(now),
            ..Overlapping::default()
        };
        self.commands.insert(operation, overlapping);
    }

    /// The command that does the work of `operation` has completed its phases.
    pub fn command_done(&mut self, operation: PageOperation) {
        if let Some(command) = self.commands.get_mut(&operation) {
            let serving = &self.dies[command.die as usize].serving;
            command.phases = Some(serving.phases(operation.is_read()));
            // Operations on other pages of the same unit only loaded data. They end together with this command.
            (self.ending, self.ending_overlapping) = (command.die, Some(*command));
        }
    }

    pub fn overlapping_ending(&mut self, number: u32) {
        let step = self.overlapping[number as usize];
        self.ending = step.die;
        self.ending_overlapping = Some(step);
    }

    pub fn ended(&mut self, operation: PageOperation, now: Ticks) {
        self.by_slot = false;
        self.steps.clear();
        if !self.commands.is_empty()
            && let Some(command) = self.commands.remove(&operation)
        {
            self.ending = command.die;
            self.ending_overlapping = Some(command);
        }
        let die = &self.dies[self.ending as usize];
        let in_steps = die.gc_of_command.min(now - die.began);
        let in_queues = die.serving.spent(now).gc;
        let mut step = Step {
            operation,
            die: self.ending,
            queued: None,
            began: die.began,
            spent: die.before,
            gc_ended: (die.before.gc + in_steps).max(in_queues),
            waited: [(0, 0); 2],
            phases: None,
        };
        if let Some(overlapping) = self.ending_overlapping {
            (step.began, step.waited) = (overlapping.began, overlapping.waited);
            (step.spent, step.gc_ended) = (overlapping.spent, overlapping.spent.gc);
            step.phases = overlapping.phases;
        }
        if !self.between.is_empty()
            && let Some((began, spent)) = self.between.remove(&operation)
            && step.phases.is_none()
        {
            (step.began, step.spent, step.gc_ended) = (began, spent, spent.gc);
        }
        let trail = match self.trails.is_empty() {
            true => None,
            false => self.trails.remove(&operation),
        };
        let Some(trail) = trail else {
            self.steps.push(step);
            return;
        };
        // If the page of a waiting read moves to another die, the read waits for that die instead. `trail.spent` is
        // the work of the die at which the operation began to wait, so it is used only if the operation ended at the
        // same die.
        let stayed = trail.die == self.ending;
        step.queued = Some((trail.queued, if stayed { trail.spent } else { step.spent }));
        self.steps.push(step);
        let before = trail.before.into_iter().take(STEPS_KEPT - 1);
        self.steps.extend(before);
    }

    /// Divides the time of request `token` from its acceptance to its answer at `now` into parts. Returns the parts,
    /// and the last event that the request waited for, with the die of this event. The event is `None` if the request
    /// waited for no event.
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
            let (from, before) = match step.queued {
                Some((queued, before)) if queued > accepted.at => (queued, before),
                _ => (accepted.at, accepted.spent[step.die as usize]),
            };
            let is_own = index == 0 || is_read_for(step.operation, token, last.operation);
            if self.by_slot || !is_own {
                let gc = step.gc_ended.saturating_sub(before.gc);
                let gc = gc.min(until - from);
                split.0[wait_gc] += gc;
                split.0[wait] += until - from - gc;
            } else {
                let began = step.began.clamp(from, until);
                let rest = if step.phases.is_some() { CHANNEL } else { DIE };
                wait_for_die(&mut split, began - from, step.spent.since(&before), rest);
                step.serve(&mut split, began, until, before.gc);
            }
            until = from;
            if until == accepted.at {
                break;
            }
        }
        // The remaining time belongs to operations that the list no longer holds.
        split.0[wait] += until - accepted.at;
        (split, Some((awaited, Some(last.die))))
    }
}

/// Divides `time`, in which an operation waited for its die, among the parts of `split`. In this time the die did the
/// work `spent`. Time without such work is added to the part `rest`.
fn wait_for_die(split: &mut Split, time: Ticks, spent: Spent, rest: usize) {
    let mut left = time;
    let with = (DIE_WITH..).zip(spent.with);
    for (part, of) in [(DIE_GC, spent.gc)].into_iter().chain(with) {
        let of = of.min(left);
        split.0[part] += of;
        left -= of;
    }
    split.0[rest] += left;
}

/// Whether `operation`, which ended before `last` was queued, was a read for the same request or the same record.
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
