//! A naive model of dispatched commands. It keeps lists and searches each of them completely.

use destage_base::Ticks;
use destage_nand::Kind;
use destage_nand::media::dispatch::{DispatchConfig, Operation, Order, Together};

/// What a command is doing, or what the command waits for.
#[derive(Clone, Copy, PartialEq)]
enum Stage {
    /// The command is on the channel.
    Comes,
    /// The command waits for the cells.
    IsThere,
    /// The data of a program move to the page registers.
    IsTaken,
    InCells,
    /// The pages have been read and wait for the cache registers of their planes.
    WasRead,
    /// The pages move to the cache registers.
    Moves,
    /// The pages wait for the channel, or are transferred.
    Leaves,
    /// The command is interrupted for reads. The value is its remaining time in the cells.
    Interrupted(Ticks),
}

#[derive(Clone)]
struct Command {
    number: usize,
    pages: Vec<Operation>,
    /// Whether the die may begin the next command before this one is done.
    caches: bool,
    stage: Stage,
    left: usize,
    /// How often the command was interrupted in the cells.
    interruptions: u32,
}

impl Command {
    fn is(&self, kind: Kind) -> bool {
        self.pages[0].kind == kind
    }

    fn is_of(&self, plane: u32) -> bool {
        self.pages[self.left..]
            .iter()
            .any(|page| page.plane == plane)
    }

    fn has_left_die(&self) -> bool {
        use Stage::{InCells, Leaves, Moves, WasRead};
        self.caches
            && match self.stage {
                WasRead | Moves | Leaves => true,
                InCells => self.is(Kind::Program),
                _ => false,
            }
    }

    fn needs_cells(&self) -> bool {
        use Stage::{InCells, IsTaken, Moves, WasRead};
        matches!(self.stage, IsTaken | InCells)
            || (self.caches && matches!(self.stage, WasRead | Moves))
    }
}

struct Model<'a> {
    config: &'a DispatchConfig,
    now: Ticks,
    /// The end times of phases, with the numbers of the commands, in the order in which the ends were scheduled.
    events: Vec<(Ticks, usize)>,
    /// The operations that wait at each die, in the order of their arrival.
    waiting: Vec<Vec<Operation>>,
    /// The commands of each die, in the order in which they began.
    commands: Vec<Vec<Command>>,
    begun: usize,
    ahead: Vec<u32>,
    busy: Vec<bool>,
    /// For each channel, the pages that wait for it: die and number of the command.
    data: Vec<Vec<(usize, usize)>>,
    turn: Vec<usize>,
    done: Vec<(Ticks, u32)>,
}

/// The completion time of each operation of `batches`, in the order of completion. The operations of a batch
/// arrive together.
pub fn run(config: &DispatchConfig, batches: &[(Ticks, Vec<Operation>)]) -> Vec<(Ticks, u32)> {
    let dies = (config.channels * config.dies_per_channel) as usize;
    let channels = config.channels as usize;
    let mut model = Model {
        config,
        now: 0,
        events: Vec::new(),
        waiting: vec![Vec::new(); dies],
        commands: vec![Vec::new(); dies],
        begun: 0,
        ahead: vec![0; dies],
        busy: vec![false; channels],
        data: vec![Vec::new(); channels],
        turn: vec![0; channels],
        done: Vec::new(),
    };
    let mut batches = batches.iter().peekable();
    loop {
        let mut first: Option<(Ticks, usize)> = None;
        for (index, (due, _)) in model.events.iter().enumerate() {
            if first.is_none_or(|(earliest, _)| *due < earliest) {
                first = Some((*due, index));
            }
        }
        match (first, batches.peek()) {
            (None, None) => return model.done,
            (Some((due, index)), Some((time, _))) if due <= *time => model.event(index),
            (Some((_, index)), None) => model.event(index),
            (_, Some((time, operations))) => {
                model.now = *time;
                for operation in operations {
                    model.waiting[operation.die as usize].push(*operation);
                }
                batches.next();
                for channel in 0..channels {
                    model.use_channel(channel);
                }
            }
        }
    }
}

impl Model<'_> {
    fn after(&mut self, time: Ticks, command: usize) {
        self.events.push((self.now + time, command));
    }

    fn channel_of(&self, die: usize) -> usize {
        die / self.config.dies_per_channel as usize
    }

    fn find(&self, number: usize) -> (usize, usize) {
        let of = |die: &Vec<Command>| die.iter().position(|command| command.number == number);
        let mut dies = self.commands.iter().enumerate();
        dies.find_map(|(die, commands)| of(commands).map(|at| (die, at)))
            .expect("a command under way")
    }

    fn event(&mut self, index: usize) {
        let (time, number) = self.events.remove(index);
        self.now = time;
        let (die, at) = self.find(number);
        let channel = self.channel_of(die);
        let command = self.commands[die][at].clone();
        let first = command.pages[0];
        let next = match command.stage {
            Stage::Comes if first.loads => {
                self.busy[channel] = false;
                for operation in &command.pages {
                    self.done.push((time, operation.token));
                }
                None
            }
            Stage::Comes => {
                self.busy[channel] = false;
                Some(Stage::IsThere)
            }
            Stage::IsTaken => {
                self.after(self.config.cells.program[first.page_type as usize], number);
                Some(Stage::InCells)
            }
            Stage::InCells if first.kind == Kind::Read => Some(Stage::WasRead),
            Stage::InCells if first.kind == Kind::Erase && self.config.status > 0 => {
                match self.config.suspension.is_some() && self.commands[die].len() > 1 {
                    // The status is read after the end of the interrupting read.
                    true => Some(Stage::Interrupted(0)),
                    false => Some(Stage::WasRead),
                }
            }
            Stage::InCells => {
                for operation in &command.pages {
                    self.done.push((time, operation.token));
                }
                None
            }
            Stage::Moves => {
                self.data[channel].extend(command.pages.iter().map(|_| (die, number)));
                Some(Stage::Leaves)
            }
            Stage::Leaves => {
                self.busy[channel] = false;
                self.done.push((time, command.pages[command.left].token));
                self.commands[die][at].left += 1;
                let is_last = command.left + 1 == command.pages.len();
                (!is_last).then_some(Stage::Leaves)
            }
            Stage::IsThere | Stage::WasRead | Stage::Interrupted(_) => panic!("nothing ends here"),
        };
        match next {
            Some(stage) => self.commands[die][at].stage = stage,
            None => {
                self.commands[die].remove(at);
            }
        }
        for at in 0..self.commands[die].len() {
            self.go_on(die, at);
        }
        if let [
            Command {
                stage: Stage::Interrupted(left),
                number,
                ..
            },
        ] = self.commands[die][..]
            && !self.interrupts(die)
        {
            self.commands[die][0].stage = Stage::InCells;
            self.after(left, number);
        }
        self.use_channel(channel);
    }

    /// Whether the next operation of a die is a read that may interrupt the command in the cells.
    fn interrupts(&self, die: usize) -> bool {
        let (Some(suspension), [command]) = (self.config.suspension, &self.commands[die][..])
        else {
            return false;
        };
        let may = match command.stage {
            Stage::InCells => !command.is(Kind::Read) && command.interruptions < suspension.limit,
            Stage::Interrupted(_) => true,
            _ => false,
        };
        may && !self.waiting[die].is_empty() && {
            let next = &self.waiting[die][self.start(die)];
            let is_of = |page: &Operation| {
                let unit = |page: u32| page / suspension.unit_pages;
                (page.plane, page.block) == (next.plane, next.block)
                    && (page.kind == Kind::Erase || unit(page.page) == unit(next.page))
            };
            next.kind == Kind::Read && !command.pages.iter().any(is_of)
        }
    }

    /// Interrupts the cells of a die for a read that has arrived; returns the cost of the interruption.
    fn interrupt(&mut self, die: usize) -> Ticks {
        let now = self.now;
        let Some(suspension) = self.config.suspension else {
            return 0;
        };
        let Some(command) = self.commands[die].first_mut() else {
            return 0;
        };
        let due = self
            .events
            .iter()
            .position(|(_, number)| *number == command.number);
        match (command.stage, due) {
            (Stage::InCells, Some(due)) if self.events[due].0 > now => {
                command.stage = Stage::Interrupted(self.events[due].0 - now);
                command.interruptions += 1;
                self.events.remove(due);
                suspension.cost
            }
            _ => 0,
        }
    }

    /// Starts the next phase of a command, if the command may proceed.
    fn go_on(&mut self, die: usize, at: usize) {
        let Command {
            number,
            ref pages,
            caches,
            stage,
            ..
        } = self.commands[die][at];
        let first = pages[0];
        if stage == Stage::IsThere && at > 0 && self.config.suspension.is_some() {
            let cells = &self.config.cells;
            let time = cells.read[first.page_type as usize] + self.config.ready;
            let waits = self.interrupt(die);
            self.commands[die][at].stage = Stage::InCells;
            return self.after(waits + time, number);
        }
        let registers = self.config.registers;
        let others = self.commands[die].iter();
        if stage == Stage::IsThere && !others.clone().any(Command::needs_cells) {
            let cells = &self.config.cells;
            let taken = registers.and_then(|registers| registers.program);
            let (stage, time) = match first.kind {
                Kind::Program if caches => (Stage::IsTaken, taken.expect("a time")),
                Kind::Program => (Stage::InCells, cells.program[first.page_type as usize]),
                Kind::Read => (
                    Stage::InCells,
                    cells.read[first.page_type as usize] + self.config.ready,
                ),
                Kind::Erase => (Stage::InCells, cells.erase),
            };
            self.commands[die][at].stage = stage;
            return self.after(time, number);
        }
        let is_free = |page: &Operation| {
            let mut leaving = others.clone().filter(|other| other.stage == Stage::Leaves);
            page.kind == Kind::Erase || !leaving.any(|other| other.is_of(page.plane))
        };
        if stage == Stage::WasRead && pages.iter().all(is_free) {
            if caches {
                let time = registers.and_then(|registers| registers.read);
                self.commands[die][at].stage = Stage::Moves;
                return self.after(time.expect("a time"), number);
            }
            let channel = self.channel_of(die);
            self.data[channel].extend(pages.iter().map(|_| (die, number)));
            self.commands[die][at].stage = Stage::Leaves;
        }
    }

    fn use_channel(&mut self, channel: usize) {
        if self.busy[channel] {
            return;
        }
        let dies = self.config.dies_per_channel as usize;
        if let Some((die, number)) = self.data[channel].first().copied() {
            if self.may_begin(die) && self.waiting[die][self.start(die)].kind == Kind::Read {
                return self.begin(die);
            }
            self.data[channel].remove(0);
            self.busy[channel] = true;
            let (die, at) = self.find(number);
            let command = &self.commands[die][at];
            let page = command.pages[command.left];
            let is_last = command.left + 1 == command.pages.len();
            let status = match is_last && (page.data > 0 || page.kind == Kind::Erase) {
                true => self.config.status,
                false => 0,
            };
            return self.after(page.data + status, number);
        }
        for _ in 0..dies {
            let die = channel * dies + self.turn[channel];
            self.turn[channel] = (self.turn[channel] + 1) % dies;
            if self.may_begin(die) {
                return self.begin(die);
            }
        }
    }

    /// Whether a die can begin a command if its channel is idle.
    fn may_begin(&self, die: usize) -> bool {
        let commands = &self.commands[die];
        if self.interrupts(die) {
            return true;
        }
        if self.waiting[die].is_empty() || !commands.iter().all(Command::has_left_die) {
            return false;
        }
        let next = &self.waiting[die][self.start(die)];
        let is_alone = self.config.rules.together == Together::Never;
        let mut reads = commands.iter().filter(|command| command.is(Kind::Read));
        next.kind != Kind::Program || !reads.any(|read| !is_alone || read.is_of(next.plane))
    }

    fn begin(&mut self, die: usize) {
        let pages = self.next(die);
        let kind = pages[0].kind;
        let times = self.config.command;
        let (each, gap) = match kind {
            Kind::Read => (times.read, self.config.gaps.read),
            Kind::Program => (times.program, self.config.gaps.program),
            Kind::Erase => (times.erase, self.config.gaps.erase),
        };
        let mut time = 0;
        for (index, page) in pages.iter().enumerate() {
            time += each + if index > 0 { gap } else { 0 };
            time += match kind == Kind::Program || page.loads {
                true => page.data,
                false => 0,
            };
        }
        let has_register = self.config.registers.is_some_and(|registers| match kind {
            Kind::Read => registers.read.is_some(),
            Kind::Program => registers.program.is_some(),
            Kind::Erase => false,
        });
        self.begun += 1;
        self.commands[die].push(Command {
            number: self.begun,
            caches: has_register && pages.iter().all(|page| page.caches),
            pages,
            stage: Stage::Comes,
            left: 0,
            interruptions: 0,
        });
        let channel = self.channel_of(die);
        self.busy[channel] = true;
        self.after(time, self.begun);
    }

    /// For each operation that waits at a die, whether the rules allow it to begin.
    fn may_go(&self, die: usize) -> Vec<bool> {
        let rules = self.config.rules;
        let waiting = &self.waiting[die];
        let same_place =
            |a: &Operation, b: &Operation| (a.plane, a.block, a.page) == (b.plane, b.block, b.page);
        let is = |index: usize, kind: Kind| waiting[index].kind == kind;
        (0..waiting.len())
            .map(|index| match waiting[index].kind {
                Kind::Read => !(0..index).any(|earlier| {
                    rules.reads_wait
                        && is(earlier, Kind::Program)
                        && same_place(&waiting[earlier], &waiting[index])
                }),
                Kind::Program => !(0..index).any(|earlier| is(earlier, Kind::Erase)),
                Kind::Erase => index == 0,
            })
            .collect()
    }

    /// The index of the operation with which the next command of a die begins.
    fn start(&self, die: usize) -> usize {
        let rules = self.config.rules;
        let waiting = &self.waiting[die];
        let may_go = self.may_go(die);
        let is = |index: usize, kind: Kind| waiting[index].kind == kind;
        let first = |read: bool| {
            (0..waiting.len()).find(|index| may_go[*index] && is(*index, Kind::Read) == read)
        };
        let oldest_other = (0..waiting.len()).find(|index| !is(*index, Kind::Read));
        match (first(true), first(false), rules.order) {
            (Some(read), None, _) => read,
            (None, Some(other), _) => other,
            (Some(read), Some(_), Order::Arrival) if Some(read) < oldest_other => read,
            (Some(_), Some(other), Order::Arrival) => other,
            (Some(read), Some(_), Order::ReadsFirst(0)) => read,
            (Some(read), Some(_), Order::ReadsFirst(most)) if self.ahead[die] < most => read,
            (Some(_), Some(other), Order::ReadsFirst(_)) => other,
            (None, None, _) => panic!("something waits, and nothing may go"),
        }
    }

    /// The number of planes of a group if groups of planes work together, otherwise 0.
    fn planes_of_group(&self) -> u32 {
        match self.config.rules.together {
            Together::Groups(planes) => planes,
            _ => 0,
        }
    }

    /// The group of an operation; a command has at most one page of each group.
    fn group(&self, operation: &Operation) -> u32 {
        operation.plane / self.planes_of_group().max(1)
    }

    /// Removes the pages of the next command from the waiting operations of a die, and returns these pages.
    fn next(&mut self, die: usize) -> Vec<Operation> {
        let rules = self.config.rules;
        let (start, may_go) = (self.start(die), self.may_go(die));
        let waiting = self.waiting[die].clone();
        let is = |index: usize, kind: Kind| waiting[index].kind == kind;
        let other_waits = waiting.iter().any(|other| other.kind != Kind::Read);
        let kind = waiting[start].kind;
        self.ahead[die] = match kind {
            Kind::Read if other_waits => self.ahead[die] + 1,
            _ => 0,
        };
        let mut taken = vec![start];
        for index in start + 1..waiting.len() {
            let candidate = &waiting[index];
            let passes_its_plane = (start..index).any(|earlier| {
                !taken.contains(&earlier)
                    && is(earlier, kind)
                    && waiting[earlier].plane == candidate.plane
            });
            let joins = rules.together != Together::Never
                && (self.config.suspension.is_none() || self.commands[die].is_empty())
                && kind != Kind::Erase
                && candidate.kind == kind
                && may_go[index]
                && (candidate.page == waiting[start].page || self.planes_of_group() > 0)
                && candidate.page_type == waiting[start].page_type
                && candidate.loads == waiting[start].loads
                && taken
                    .iter()
                    .all(|taken| self.group(&waiting[*taken]) != self.group(candidate))
                && !(kind == Kind::Program
                    && rules.together != Together::AnyOrder
                    && passes_its_plane);
            if joins {
                taken.push(index);
            }
        }
        let mut index = 0;
        self.waiting[die].retain(|_| {
            index += 1;
            !taken.contains(&(index - 1))
        });
        taken.into_iter().map(|index| waiting[index]).collect()
    }
}
