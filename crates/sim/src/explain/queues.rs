//! The work of a die whose commands wait in queues, and the phases of each command.

use destage_base::Ticks;
use destage_nand::Kind;
use destage_nand::media::dispatch::Phase;

/// Begin and end of a span of time, in ticks.
pub(super) type Span = (Ticks, Ticks);

/// The length of the part of `span` between `from` and `until`.
pub(super) fn within((begin, end): Span, from: Ticks, until: Ticks) -> Ticks {
    end.min(until).saturating_sub(begin.max(from))
}

/// The work of a die so far that other operations had to wait for, in ticks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent {
    /// Time of garbage collection.
    pub gc: Ticks,
    /// Time in which the die served a command, by the kind of the command. 0 unless commands wait in queues.
    pub with: [Ticks; 3],
}

impl Spent {
    /// The work since the state `earlier`.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            gc: self.gc.saturating_sub(earlier.gc),
            with: std::array::from_fn(|kind| self.with[kind].saturating_sub(earlier.with[kind])),
        }
    }
}

/// The phases of a command; (0, 0) if a phase has not begun.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Phases {
    pub command: Span,
    pub cells: Span,
    pub data: Span,
    /// The transfer between page register and cache register; only if planes have cache registers.
    pub register: Span,
}

impl Phases {
    /// The spans in which the command waited for the cells, and for a cache register.
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
    /// Whether the command moves or erases existing contents, and serves no request.
    moves: bool,
    /// Whether the die may begin the next command while this command continues.
    has_left: bool,
    phases: Phases,
}

/// The commands of a die whose commands wait in queues.
#[derive(Clone, Debug, Default)]
pub(super) struct Serving {
    spent: Spent,
    busy: Ticks,
    /// The time up to which `spent` and `busy` are counted.
    since: Ticks,
    is_collecting: bool,
    /// Commands in the order in which they began.
    commands: Vec<UnderWay>,
}

impl Serving {
    /// The work up to `now` that other commands have to wait for.
    pub fn spent(&self, now: Ticks) -> Spent {
        let (mut spent, time) = (self.spent, now - self.since);
        // If the latest command has released the die, the next command may begin. So no command waits for the die.
        match self.commands.last().filter(|latest| !latest.has_left) {
            _ if self.is_collecting => spent.gc += time,
            Some(latest) if latest.moves => spent.gc += time,
            Some(latest) => spent.with[latest.kind as usize] += time,
            None => {}
        }
        spent
    }

    /// Busy time up to `now`, in ticks.
    pub fn busy(&self, now: Ticks) -> Ticks {
        match self.commands.is_empty() {
            true => self.busy,
            false => self.busy + (now - self.since),
        }
    }

    /// Whether the die collects garbage.
    pub fn is_collecting(&self) -> bool {
        self.is_collecting
    }

    /// The phases of the first read if `reads` is true, otherwise of the first command that is no read.
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

    /// A garbage collection begins at `now`, or ends if `begins` is false.
    pub fn collects(&mut self, now: Ticks, begins: bool) {
        self.turn(now);
        self.is_collecting = begins;
    }

    /// A command begins at `now`.
    pub fn begins(&mut self, now: Ticks, kind: Kind, moves: bool) {
        self.turn(now);
        self.commands.push(UnderWay {
            kind,
            moves,
            has_left: false,
            phases: Phases::default(),
        });
    }

    /// `phase` of a command begins. Commands use the cells in the order in which the commands
    /// began. Reads send their pages over the channel in the same order.
    pub fn phase_begins(&mut self, phase: Phase, span: Span) {
        const NOT_YET: Span = (0, 0);
        if phase == Phase::Cells
            && self
                .commands
                .iter()
                .all(|command| command.phases.cells != NOT_YET)
            && let Some(index) = self.first(false)
        {
            // Reads have interrupted this command. Now its cells continue.
            self.commands[index].phases.cells.1 = span.1;
            return;
        }
        let mut commands = self.commands.iter_mut().map(|command| {
            let reads = command.kind == Kind::Read;
            (reads, &mut command.phases)
        });
        let of_phase = match phase {
            Phase::Command => commands.next_back().map(|(_, of)| &mut of.command),
            Phase::Cells | Phase::Between => commands
                .find(|(_, of)| of.cells == NOT_YET)
                .map(|(_, of)| &mut of.cells),
            Phase::Data => commands
                .find(|(reads, _)| *reads)
                .map(|(_, of)| &mut of.data),
            // A program has this phase before its cells work, a read after its cells have worked.
            Phase::Register => commands
                .find(|(reads, of)| of.register == NOT_YET && *reads == (of.cells != NOT_YET))
                .map(|(_, of)| &mut of.register),
        };
        if let Some(of_phase) = of_phase {
            *of_phase = span;
        }
    }

    /// The die may begin the next command, while the command that began last continues.
    pub fn leaves(&mut self, now: Ticks) {
        self.turn(now);
        if let Some(latest) = self.commands.last_mut() {
            latest.has_left = true;
        }
    }

    /// A command has ended: the first read if `kind` is a read, and otherwise the first command that is no read.
    pub fn ends(&mut self, now: Ticks, kind: Kind) {
        self.turn(now);
        if let Some(index) = self.first(kind == Kind::Read) {
            self.commands.remove(index);
        }
    }
}
