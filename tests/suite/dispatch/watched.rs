//! Runs the dispatcher and checks rules that must hold after every event.

use std::collections::BTreeMap;

use destage_base::Ticks;
use destage_nand::Kind;
use destage_nand::media::dispatch::{
    Clock, DispatchConfig, Dispatcher, Operation, Order, Phase, Together,
};
use destage_sim::events::{Clock as Sums, EventList};

/// A command in progress.
#[derive(Clone)]
struct Command {
    pages: Vec<Operation>,
    /// The times at which the command has crossed the channel (`there`), the cells are done, and the data have
    /// moved between registers. A time is `None` until it is known.
    there: Ticks,
    cells_end: Option<Ticks>,
    moved: Option<Ticks>,
    /// Whether the die may have begun the next command.
    has_left: bool,
    left: usize,
}

impl Command {
    fn reads(&self) -> bool {
        self.pages[0].kind == Kind::Read
    }

    /// Whether the command occupies neither the cells nor the page registers.
    fn is_out_of_cells(&self, now: Ticks) -> bool {
        let began = self.cells_end.is_some() || self.moved.is_some();
        let is_out = match self.reads() {
            true if self.has_left => self.moved,
            _ => self.cells_end,
        };
        !began || is_out.is_some_and(|end| end <= now)
    }

    /// Whether the command has pages in the cache register of `plane`.
    fn holds_register(&self, plane: u32, now: Ticks) -> bool {
        let mut pages = self.pages[self.left..].iter();
        match self.reads() {
            true => self.moved.is_some() && pages.any(|page| page.plane == plane),
            false => {
                let is_taken = match (self.moved, self.cells_end) {
                    (Some(moved), _) => moved <= now,
                    (None, begun) => begun.is_some(),
                };
                !is_taken && pages.any(|page| page.plane == plane)
            }
        }
    }
}

/// The operations that wait at a die, and its commands.
#[derive(Clone, Default)]
struct Die {
    waiting: Vec<Operation>,
    /// The commands in progress, in the order in which they began.
    commands: Vec<Command>,
    /// Reads that began in a row although another operation could have begun.
    reads_ahead: u32,
    /// Programs and erases that began in a row although a read could have begun.
    others_ahead: u32,
}

impl Die {
    /// The index of the first command in progress that is a read (if `reads`) or not a read (otherwise).
    fn first(&self, reads: bool) -> usize {
        let mut commands = self.commands.iter();
        let first = commands.position(|command| command.reads() == reads);
        first.expect("a command under way")
    }
}

struct Watcher<'a> {
    config: &'a DispatchConfig,
    events: EventList<(Phase, u32)>,
    dies: Vec<Die>,
    /// For each channel, the time until which it is held.
    held: Vec<Ticks>,
    done: Vec<(Ticks, u32)>,
    came: BTreeMap<u32, Ticks>,
}

/// The completion time of each operation of `batches`, in the order of completion.
pub fn run(config: &DispatchConfig, batches: &[(Ticks, Vec<Operation>)]) -> Vec<(Ticks, u32)> {
    let dies = (config.channels * config.dies_per_channel) as usize;
    let mut media = Dispatcher::new(config.clone());
    let mut watcher = Watcher {
        config,
        events: EventList::new(Sums::Exact),
        dies: vec![Die::default(); dies],
        held: vec![0; config.channels as usize],
        done: Vec::new(),
        came: BTreeMap::new(),
    };
    for (time, operations) in batches {
        while watcher.events.next_time().is_some_and(|next| next <= *time) {
            step(&mut media, &mut watcher);
        }
        watcher.events.begin_at(*time);
        for operation in operations {
            media.push(*operation);
            watcher.dies[operation.die as usize]
                .waiting
                .push(*operation);
            watcher.came.insert(operation.token, *time);
        }
        media.dispatch(&mut watcher);
        watcher.nobody_waits_for_nothing();
    }
    while watcher.events.next_time().is_some() {
        step(&mut media, &mut watcher);
    }
    watcher.done
}

fn step(media: &mut Dispatcher, watcher: &mut Watcher<'_>) {
    let (phase, die) = watcher.events.take().expect("an event");
    media.end(phase, die, watcher);
    let is_over = watcher.events.next_time() != Some(watcher.events.now());
    if is_over {
        watcher.nobody_waits_for_nothing();
    }
}

fn place(operation: &Operation) -> (u32, u32, u32) {
    (operation.plane, operation.block, operation.page)
}

impl Watcher<'_> {
    fn channel_of(&self, die: u32) -> usize {
        (die / self.config.dies_per_channel) as usize
    }

    /// Checks that no channel, die or cell array is idle while work waits for it.
    fn nobody_waits_for_nothing(&self) {
        let now = self.events.now();
        for (number, die) in (0..).zip(&self.dies) {
            let are_idle = die
                .commands
                .iter()
                .all(|command| command.is_out_of_cells(now));
            let waits = |command: &Command| command.there <= now && command.cells_end.is_none();
            assert!(
                !(are_idle && die.commands.iter().any(waits)),
                "a command waits for idle cells"
            );
            if self.held[self.channel_of(number)] > now {
                continue;
            }
            let may_begin = die.commands.iter().all(|command| command.has_left);
            // A program may have to wait for a register that holds a page that was read.
            let waits_for_register = die.commands.iter().any(Command::reads)
                && die.waiting.iter().any(|other| other.kind == Kind::Program);
            assert!(
                !may_begin || waits_for_register || die.waiting.is_empty(),
                "work waits at an idle die"
            );
            for command in die.commands.iter().filter(|command| command.reads()) {
                let is_ready = match command.has_left {
                    true => command.moved,
                    false => command.cells_end,
                };
                assert!(
                    is_ready.is_none_or(|end| end > now),
                    "data wait at an idle channel"
                );
            }
        }
    }

    /// Checks that `command` follows the ordering rules. `waiting` has the operations that wait at its die.
    fn check_rules(&self, command: &[Operation], waiting: &[Operation]) {
        let rules = self.config.rules;
        let position = |operation: &Operation| {
            let found = waiting.iter().position(|other| other == operation);
            found.expect("it waited")
        };
        for operation in command {
            let earlier = &waiting[..position(operation)];
            let mut passed = earlier.iter().filter(|other| !command.contains(other));
            match operation.kind {
                Kind::Read if rules.reads_wait => {
                    let mut programs = passed.filter(|other| other.kind == Kind::Program);
                    let same = programs.any(|other| place(other) == place(operation));
                    assert!(!same, "a read before the program of its page");
                }
                Kind::Read => {}
                Kind::Erase => assert_eq!(passed.next(), None, "an erase goes past something"),
                Kind::Program => {
                    let mut passed = passed.filter(|other| other.kind != Kind::Read);
                    let wrong = passed.any(|other| {
                        let in_order = rules.together != Together::AnyOrder;
                        other.kind == Kind::Erase || (in_order && other.plane == operation.plane)
                    });
                    assert!(!wrong, "a program before an earlier one of its block");
                }
            }
        }
    }

    /// Checks that neither reads nor other operations starve.
    fn check_patience(&mut self, command: &[Operation], waiting: &[Operation]) {
        let die = &mut self.dies[command[0].die as usize];
        let is_read = command[0].kind == Kind::Read;
        let changes = waiting.iter().filter(|other| other.kind != Kind::Read);
        let could_change = match changes.clone().next() {
            Some(first) => first.kind == Kind::Program || waiting[0] == *first,
            None => false,
        };
        let mut reads = waiting.iter().filter(|other| other.kind == Kind::Read);
        let could_read = reads.any(|read| {
            !self.config.rules.reads_wait
                || changes.clone().all(|change| place(change) != place(read))
        });
        die.reads_ahead = if is_read && could_change {
            die.reads_ahead + 1
        } else {
            0
        };
        die.others_ahead = if !is_read && could_read {
            die.others_ahead + 1
        } else {
            0
        };
        match self.config.rules.order {
            Order::ReadsFirst(most) => {
                assert!(
                    most == 0 || die.reads_ahead <= most,
                    "reads starve the rest"
                );
                assert!(die.others_ahead <= 1, "the rest starves reads");
            }
            Order::Arrival => {}
        }
    }
}

impl Clock for Watcher<'_> {
    fn now(&self) -> Ticks {
        self.events.now()
    }

    fn issued(&mut self, command: &[Operation]) {
        let (first, now) = (command[0], self.events.now());
        let waiting = self.dies[first.die as usize].waiting.clone();
        let die = &mut self.dies[first.die as usize];
        let gives_way = |other: &Command| {
            let is_changed = !other.reads() && other.cells_end.is_some();
            self.config.suspension.is_some() && first.kind == Kind::Read && is_changed
        };
        let mut others = die.commands.iter();
        assert!(
            others.all(|other| other.has_left || gives_way(other)),
            "a die does two things"
        );
        if first.kind == Kind::Program {
            for (page, other) in command.iter().flat_map(|page| {
                let others = die.commands.iter();
                others.map(move |other| (page, other))
            }) {
                let follows = other.reads()
                    && other.pages[other.left..]
                        .iter()
                        .any(|of| of.plane == page.plane);
                assert!(
                    !follows && !other.holds_register(page.plane, now),
                    "a register holds two pages"
                );
            }
        }
        die.waiting.retain(|other| !command.contains(other));
        die.commands.push(Command {
            pages: command.to_vec(),
            there: Ticks::MAX,
            cells_end: None,
            moved: None,
            has_left: false,
            left: 0,
        });
        for (index, page) in command.iter().enumerate() {
            assert_eq!((page.kind, page.die), (first.kind, first.die));
            let mut before = command[..index].iter();
            assert!(
                before.all(|other| other.plane != page.plane),
                "a plane twice"
            );
            let in_groups = matches!(self.config.rules.together, Together::Groups(_));
            assert!(in_groups || page.page == first.page, "other offsets");
        }
        assert!(command.len() <= self.config.planes as usize);
        self.check_rules(command, &waiting);
        self.check_patience(command, &waiting);
    }

    fn begins(&mut self, phase: Phase, die: u32, length: Ticks) {
        let now = self.events.now();
        let channel = self.channel_of(die);
        if matches!(phase, Phase::Command | Phase::Data) {
            assert!(self.held[channel] <= now, "a channel does two things");
            self.held[channel] = now + length;
        }
        let state = &mut self.dies[die as usize];
        let before = state.commands.clone();
        match phase {
            Phase::Command => {
                let latest = state
                    .commands
                    .last_mut()
                    .expect("a phase without a command");
                latest.there = now + length;
                if latest.pages[0].loads {
                    // This command does not use the cells.
                    latest.cells_end = Some(now + length);
                }
            }
            Phase::Between => {
                let latest = state.commands.len() - 1;
                for other in &mut state.commands[..latest] {
                    // The end of the interrupted operation is unknown until the operation resumes.
                    if other.cells_end.is_some_and(|end| end > now) {
                        other.cells_end = Some(Ticks::MAX);
                    }
                }
                let latest = &mut state.commands[latest];
                assert!(latest.there <= now, "cells before their command");
                latest.cells_end = Some(now + length);
            }
            Phase::Cells => {
                let at = before
                    .iter()
                    .position(|command| command.cells_end.is_none());
                let at = match at {
                    Some(at) => at,
                    None => {
                        assert!(self.config.suspension.is_some(), "cells without a command");
                        before
                            .iter()
                            .position(|command| !command.reads())
                            .expect("what was interrupted goes on")
                    }
                };
                let command = &mut state.commands[at];
                assert!(command.there <= now, "cells before their command");
                assert!(command.moved.is_none_or(|moved| moved == now));
                command.cells_end = Some(now + length);
                let mut others = before.iter().enumerate().filter(|(other, _)| *other != at);
                assert!(
                    others.all(|(_, other)| other.is_out_of_cells(now)),
                    "cells do two things"
                );
            }
            Phase::Register => {
                let at = before.iter().position(|command| {
                    command.moved.is_none() && command.reads() == command.cells_end.is_some()
                });
                let at = at.expect("registers without a command");
                let command = &mut state.commands[at];
                command.moved = Some(now + length);
                let mut others = before.iter().enumerate().filter(|(other, _)| *other != at);
                if command.reads() {
                    assert!(
                        command.cells_end.is_some_and(|end| end <= now),
                        "moved before they were read"
                    );
                    let holds = |other: &Command| {
                        command
                            .pages
                            .iter()
                            .any(|page| other.holds_register(page.plane, now))
                    };
                    assert!(
                        !others.any(|(_, other)| holds(other)),
                        "a register holds two pages"
                    );
                } else {
                    assert!(command.there <= now, "taken before they came");
                    assert!(
                        others.all(|(_, other)| other.is_out_of_cells(now)),
                        "cells do two things"
                    );
                }
            }
            Phase::Data => {
                let is_read = before.iter().any(Command::reads);
                let command = &before[state.first(is_read)];
                let is_ready = match command.has_left {
                    true => command.moved,
                    false => command.cells_end,
                };
                assert!(
                    is_ready.is_some_and(|end| end <= now),
                    "data before they were read"
                );
            }
        }
        self.events.after(length, (phase, die));
    }

    fn leaves(&mut self, die: u32) {
        let now = self.events.now();
        let latest = self.dies[die as usize].commands.last_mut();
        let latest = latest.expect("a command under way");
        let is_over = match latest.reads() {
            true => latest.cells_end,
            false => latest.moved,
        };
        assert!(
            is_over.is_some_and(|end| end <= now),
            "it leaves its die too early"
        );
        assert!(latest.pages.iter().all(|page| page.caches));
        latest.has_left = true;
    }

    fn done(&mut self, operation: &Operation) {
        let now = self.events.now();
        let die = &mut self.dies[operation.die as usize];
        let first = die.first(operation.kind == Kind::Read);
        let command = &mut die.commands[first];
        assert_eq!(
            command.pages[command.left], *operation,
            "pages end in their order"
        );
        assert!(
            command.cells_end.is_some_and(|end| end <= now),
            "done before its cells"
        );
        command.left += 1;
        self.done.push((now, operation.token));
    }

    fn idle(&mut self, die: u32, kind: Kind) {
        let die = &mut self.dies[die as usize];
        let ended = die.commands.remove(die.first(kind == Kind::Read));
        assert_eq!(
            ended.left,
            ended.pages.len(),
            "over before its pages are done"
        );
    }
}
