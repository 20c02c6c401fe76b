//! A run of the dispatcher in which everything that may never happen is looked for.

use std::collections::BTreeMap;

use destage_base::Ticks;
use destage_flash::Kind;
use destage_flash::media::dispatch::{
    Clock, DispatchConfig, Dispatcher, End, Operation, Order, Together,
};
use destage_sim::events::{Clock as Sums, EventList};

/// What waits at a die, and what it does.
#[derive(Clone, Default)]
struct Die {
    waiting: Vec<Operation>,
    command: Vec<Operation>,
    /// When its cells are done, once that is known.
    cells_end: Option<Ticks>,
    left: usize,
    /// Reads that began in a row while something else could have.
    reads_ahead: u32,
    /// Programs and erases that began in a row while a read could have.
    others_ahead: u32,
}

struct Watcher<'a> {
    config: &'a DispatchConfig,
    events: EventList<End>,
    dies: Vec<Die>,
    /// Until when each channel is held.
    held: Vec<Ticks>,
    done: Vec<(Ticks, u32)>,
    came: BTreeMap<u32, Ticks>,
}

/// When each operation of `batches` is done, in the order in which that happens.
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
    let end = watcher.events.take().expect("an event");
    media.end(end, watcher);
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

    /// Work is conserved: over an idle channel no idle die has work, and no page waits to leave.
    fn nobody_waits_for_nothing(&self) {
        let now = self.events.now();
        for (number, die) in (0..).zip(&self.dies) {
            if self.held[self.channel_of(number)] > now {
                continue;
            }
            let is_idle = die.command.is_empty();
            assert!(
                !is_idle || die.waiting.is_empty(),
                "work waits at an idle die"
            );
            let is_read = die.command.first().map(|first| first.kind) == Some(Kind::Read);
            let has_read = die.cells_end.is_some_and(|end| end <= now);
            assert!(!(is_read && has_read), "data wait at an idle channel");
        }
    }

    /// What `command` may not do, of what waits at its die.
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

    /// Nothing starves: how many of the one kind go before the other.
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
    fn issued(&mut self, command: &[Operation]) {
        let first = command[0];
        let waiting = self.dies[first.die as usize].waiting.clone();
        let die = &mut self.dies[first.die as usize];
        assert!(die.command.is_empty(), "a die does two things");
        die.waiting.retain(|other| !command.contains(other));
        die.command = command.to_vec();
        die.cells_end = None;
        die.left = 0;
        for (index, page) in command.iter().enumerate() {
            assert_eq!((page.kind, page.die), (first.kind, first.die));
            let mut before = command[..index].iter();
            assert!(
                before.all(|other| other.plane != page.plane),
                "a plane twice"
            );
            assert_eq!(page.page, first.page, "other offsets");
        }
        assert!(command.len() <= self.config.planes as usize);
        self.check_rules(command, &waiting);
        self.check_patience(command, &waiting);
    }

    fn begins(&mut self, end: End, length: Ticks) {
        let now = self.events.now();
        let (die, on_channel) = match end {
            End::Command(die) | End::Data(die) => (die, true),
            End::Cells(die) => (die, false),
        };
        let channel = self.channel_of(die);
        if on_channel {
            assert!(self.held[channel] <= now, "a channel does two things");
            self.held[channel] = now + length;
        }
        let state = &mut self.dies[die as usize];
        assert!(!state.command.is_empty(), "a phase without a command");
        match end {
            End::Command(_) => assert_eq!(state.cells_end, None),
            End::Cells(_) => state.cells_end = Some(now + length),
            End::Data(_) => {
                let read = state.cells_end.is_some_and(|end| end <= now);
                assert!(read, "data before they were read");
            }
        }
        self.events.after(length, end);
    }

    fn done(&mut self, operation: &Operation) {
        let now = self.events.now();
        let die = &mut self.dies[operation.die as usize];
        assert_eq!(
            die.command[die.left], *operation,
            "pages end in their order"
        );
        assert!(
            die.cells_end.is_some_and(|end| end <= now),
            "done before its cells"
        );
        die.left += 1;
        self.done.push((now, operation.token));
    }

    fn idle(&mut self, die: u32) {
        let die = &mut self.dies[die as usize];
        assert_eq!(
            die.left,
            die.command.len(),
            "idle before its pages are done"
        );
        die.command.clear();
    }
}
