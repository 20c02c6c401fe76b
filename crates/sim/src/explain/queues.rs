//! What a die does whose commands wait in queues, and where the time of each of them goes.

use destage_base::Ticks;
use destage_flash::Kind;

/// From when to when.
pub(super) type Span = (Ticks, Ticks);

/// How much of `span` lies between `from` and `until`.
pub(super) fn within((begin, end): Span, from: Ticks, until: Ticks) -> Ticks {
    end.min(until).saturating_sub(begin.max(from))
}

/// What a die has done so far that others waited for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent {
    /// It collected garbage.
    pub gc: Ticks,
    /// Where commands wait in queues: it had a command, by kind.
    pub with: [Ticks; 3],
}

impl Spent {
    /// What it has done since it had done `earlier`.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            gc: self.gc.saturating_sub(earlier.gc),
            with: std::array::from_fn(|kind| self.with[kind].saturating_sub(earlier.with[kind])),
        }
    }
}

/// When the cells worked on a command, and when its data left.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Phases {
    pub cells: Span,
    pub data: Span,
}

/// A die whose commands wait in queues.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Serving {
    spent: Spent,
    busy: Ticks,
    /// Up to when these are counted.
    since: Ticks,
    is_collecting: bool,
    /// The command under way, and whether it moves or erases what was there.
    command: Option<(Kind, bool)>,
    /// Its phases so far.
    pub phases: Phases,
}

impl Serving {
    /// What it has done up to `now`.
    pub fn spent(&self, now: Ticks) -> Spent {
        let (mut spent, time) = (self.spent, now - self.since);
        match self.command {
            _ if self.is_collecting => spent.gc += time,
            Some((_, true)) => spent.gc += time,
            Some((kind, false)) => spent.with[kind as usize] += time,
            None => {}
        }
        spent
    }

    /// Busy time up to `now`.
    pub fn busy(&self, now: Ticks) -> Ticks {
        match self.command {
            Some(_) => self.busy + (now - self.since),
            None => self.busy,
        }
    }

    /// Whether it collects garbage.
    pub fn is_collecting(&self) -> bool {
        self.is_collecting
    }

    fn turn(&mut self, now: Ticks) {
        (self.spent, self.busy, self.since) = (self.spent(now), self.busy(now), now);
    }

    /// A garbage collection begins or ends.
    pub fn collects(&mut self, now: Ticks, begins: bool) {
        self.turn(now);
        self.is_collecting = begins;
    }

    /// A command begins, or the one under way ends.
    pub fn serves(&mut self, now: Ticks, command: Option<(Kind, bool)>) {
        self.turn(now);
        self.command = command;
    }
}
