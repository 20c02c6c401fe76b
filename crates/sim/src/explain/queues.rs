//! The work of a die whose commands wait in queues, and the time of each command.

use destage_base::Ticks;
use destage_nand::Kind;
use destage_nand::media::dispatch::End;

/// From when to when.
pub(super) type Span = (Ticks, Ticks);

/// How much of `span` lies between `from` and `until`.
pub(super) fn within((begin, end): Span, from: Ticks, until: Ticks) -> Ticks {
    end.min(until).saturating_sub(begin.max(from))
}

/// The work of a die so far that others waited for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent {
    /// It collected garbage.
    pub gc: Ticks,
    /// Where commands wait in queues: it had a command, by kind.
    pub with: [Ticks; 3],
}

impl Spent {
    /// Its work since the state `earlier`.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            gc: self.gc.saturating_sub(earlier.gc),
            with: std::array::from_fn(|kind| self.with[kind].saturating_sub(earlier.with[kind])),
        }
    }
}

/// Where the time of a command went.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Phases {
    pub command: Span,
    pub cells: Span,
    pub data: Span,
    /// From register to register, where planes have cache registers.
    pub register: Span,
}

impl Phases {
    /// From when to when it waited for the cells, and for a cache register.
    pub fn waited(&self) -> [Span; 2] {
        let taken = match self.register.1 == self.cells.0 {
            true => self.register.0,
            false => self.cells.0,
        };
        [(self.command.1, taken), (self.cells.1, self.register.0)]
    }
}

/// A command under way.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    kind: Kind,
    /// It moves or erases present contents.
    moves: bool,
    /// It continues in parallel to the next.
    has_left: bool,
    phases: Phases,
}

/// A die whose commands wait in queues.
#[derive(Clone, Debug, Default)]
pub(super) struct Serving {
    spent: Spent,
    busy: Ticks,
    /// Up to when these are counted.
    since: Ticks,
    is_collecting: bool,
    /// In the order of their begin.
    commands: Vec<UnderWay>,
}

impl Serving {
    /// Its work up to `now`.
    pub fn spent(&self, now: Ticks) -> Spent {
        let (mut spent, time) = (self.spent, now - self.since);
        // After one that has left, the next may begin.
        match self.commands.last().filter(|latest| !latest.has_left) {
            _ if self.is_collecting => spent.gc += time,
            Some(latest) if latest.moves => spent.gc += time,
            Some(latest) => spent.with[latest.kind as usize] += time,
            None => {}
        }
        spent
    }

    /// Busy time up to `now`.
    pub fn busy(&self, now: Ticks) -> Ticks {
        match self.commands.is_empty() {
            true => self.busy,
            false => self.busy + (now - self.since),
        }
    }

    /// Whether it collects garbage.
    pub fn is_collecting(&self) -> bool {
        self.is_collecting
    }

    /// The phases of the first of its commands that reads, or does not.
    pub fn phases(&self, reads: bool) -> Phases {
        let first = self.first(reads).map(|index| &self.commands[index]);
        first.map(|first| first.phases).unwrap_or_default()
    }

    fn first(&self, reads: bool) -> Option<usize> {
        let mut commands = self.commands.iter();
        commands.position(|command| (command.kind == Kind::Read) == reads)
    }

    fn turn(&mut self, now: Ticks) {
        (self.spent, self.busy, self.since) = (self.spent(now), self.busy(now), now);
    }

    /// A garbage collection begins or ends.
    pub fn collects(&mut self, now: Ticks, begins: bool) {
        self.turn(now);
        self.is_collecting = begins;
    }

    /// A command begins.
    pub fn begins(&mut self, now: Ticks, kind: Kind, moves: bool) {
        self.turn(now);
        self.commands.push(UnderWay {
            kind,
            moves,
            has_left: false,
            phases: Phases::default(),
        });
    }

    /// A phase of a command begins, which will end with `end`. Commands are in the cells in the order of their begin, and so are pages that leave.
    pub fn phase_begins(&mut self, end: End, span: Span) {
        const NOT_YET: Span = (0, 0);
        if let End::Cells(_) = end
            && self
                .commands
                .iter()
                .all(|command| command.phases.cells != NOT_YET)
            && let Some(index) = self.first(false)
        {
            // Reads have interrupted it, and it goes on.
            self.commands[index].phases.cells.1 = span.1;
            return;
        }
        let mut commands = self.commands.iter_mut().map(|command| {
            let reads = command.kind == Kind::Read;
            (reads, &mut command.phases)
        });
        let phase = match end {
            End::Command(_) => commands.next_back().map(|(_, of)| &mut of.command),
            End::Cells(_) | End::Between(_) => commands
                .find(|(_, of)| of.cells == NOT_YET)
                .map(|(_, of)| &mut of.cells),
            End::Data(_) => commands
                .find(|(reads, _)| *reads)
                .map(|(_, of)| &mut of.data),
            // Of a program before its cells, of a read after them.
            End::Register(_) => commands
                .find(|(reads, of)| of.register == NOT_YET && *reads == (of.cells != NOT_YET))
                .map(|(_, of)| &mut of.register),
        };
        if let Some(phase) = phase {
            *phase = span;
        }
    }

    /// The command that began last continues in parallel to the next.
    pub fn leaves(&mut self, now: Ticks) {
        self.turn(now);
        if let Some(latest) = self.commands.last_mut() {
            latest.has_left = true;
        }
    }

    /// The first of its commands of this kind has ended.
    pub fn ends(&mut self, now: Ticks, kind: Kind) {
        self.turn(now);
        if let Some(index) = self.first(kind == Kind::Read) {
            self.commands.remove(index);
        }
    }
}
