//! Dispatched commands, as plainly as they can be written: lists that are searched from end to end.

use destage_base::Ticks;
use destage_flash::Kind;
use destage_flash::media::dispatch::{DispatchConfig, Operation, Order, Together};

#[derive(Clone, Copy)]
enum Event {
    CommandEnds(usize),
    CellsEnd(usize),
    DataEnd(usize),
}

struct Model<'a> {
    config: &'a DispatchConfig,
    now: Ticks,
    /// Due times, and what is due, in the order in which it was put there.
    events: Vec<(Ticks, Event)>,
    /// What waits at each die, in the order in which it came.
    waiting: Vec<Vec<Operation>>,
    /// The command of each die.
    command: Vec<Vec<Operation>>,
    left: Vec<usize>,
    ahead: Vec<u32>,
    busy: Vec<bool>,
    /// Dies with a page that waits for the channel.
    data: Vec<Vec<usize>>,
    turn: Vec<usize>,
    done: Vec<(Ticks, u32)>,
}

/// When each operation of `batches` is done, in the order in which that happens. Those of a batch come at once.
pub fn run(config: &DispatchConfig, batches: &[(Ticks, Vec<Operation>)]) -> Vec<(Ticks, u32)> {
    let dies = (config.channels * config.dies_per_channel) as usize;
    let channels = config.channels as usize;
    let mut model = Model {
        config,
        now: 0,
        events: Vec::new(),
        waiting: vec![Vec::new(); dies],
        command: vec![Vec::new(); dies],
        left: vec![0; dies],
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
                    if !model.busy[channel] {
                        model.issue(channel);
                    }
                }
            }
        }
    }
}

impl Model<'_> {
    fn after(&mut self, time: Ticks, event: Event) {
        self.events.push((self.now + time, event));
    }

    fn channel_of(&self, die: usize) -> usize {
        die / self.config.dies_per_channel as usize
    }

    fn event(&mut self, index: usize) {
        let (time, event) = self.events.remove(index);
        self.now = time;
        match event {
            Event::CommandEnds(die) => {
                let first = self.command[die][0];
                let cells = &self.config.cells;
                let time = match first.kind {
                    Kind::Read => cells.read[first.page_type as usize] + self.config.ready,
                    Kind::Program => cells.program[first.page_type as usize],
                    Kind::Erase => cells.erase,
                };
                self.after(time, Event::CellsEnd(die));
                self.free_channel(self.channel_of(die));
            }
            Event::CellsEnd(die) => {
                let channel = self.channel_of(die);
                if self.command[die][0].kind == Kind::Read {
                    for _ in 0..self.command[die].len() {
                        self.data[channel].push(die);
                    }
                    if !self.busy[channel] {
                        self.free_channel(channel);
                    }
                } else {
                    for operation in std::mem::take(&mut self.command[die]) {
                        self.done.push((self.now, operation.token));
                    }
                    if !self.busy[channel] {
                        self.issue(channel);
                    }
                }
            }
            Event::DataEnd(die) => {
                let operation = self.command[die][self.left[die]];
                self.done.push((self.now, operation.token));
                self.left[die] += 1;
                if self.left[die] == self.command[die].len() {
                    self.command[die].clear();
                    self.left[die] = 0;
                }
                self.free_channel(self.channel_of(die));
            }
        }
    }

    fn free_channel(&mut self, channel: usize) {
        self.busy[channel] = false;
        if self.data[channel].is_empty() {
            return self.issue(channel);
        }
        let die = self.data[channel].remove(0);
        self.busy[channel] = true;
        let length = self.command[die][self.left[die]].data;
        self.after(length, Event::DataEnd(die));
    }

    fn issue(&mut self, channel: usize) {
        let dies = self.config.dies_per_channel as usize;
        for _ in 0..dies {
            let die = channel * dies + self.turn[channel];
            self.turn[channel] = (self.turn[channel] + 1) % dies;
            if self.command[die].is_empty() && !self.waiting[die].is_empty() {
                let command = self.next(die);
                let kind = command[0].kind;
                let (each, gap) = match kind {
                    Kind::Read => (self.config.command.read, self.config.gaps.read),
                    Kind::Program => (self.config.command.program, self.config.gaps.program),
                    Kind::Erase => (self.config.command.erase, self.config.gaps.erase),
                };
                let mut time = 0;
                for (index, page) in command.iter().enumerate() {
                    time += each + if index > 0 { gap } else { 0 };
                    time += if kind == Kind::Program { page.data } else { 0 };
                }
                self.command[die] = command;
                self.busy[channel] = true;
                self.after(time, Event::CommandEnds(die));
                return;
            }
        }
    }

    /// Takes the next command of a die at which something waits.
    fn next(&mut self, die: usize) -> Vec<Operation> {
        let rules = self.config.rules;
        let waiting = self.waiting[die].clone();
        let same_place =
            |a: &Operation, b: &Operation| (a.plane, a.block, a.page) == (b.plane, b.block, b.page);
        let is = |index: usize, kind: Kind| waiting[index].kind == kind;
        let may_go: Vec<bool> = (0..waiting.len())
            .map(|index| match waiting[index].kind {
                Kind::Read => !(0..index).any(|earlier| {
                    rules.reads_wait
                        && is(earlier, Kind::Program)
                        && same_place(&waiting[earlier], &waiting[index])
                }),
                Kind::Program => !(0..index).any(|earlier| is(earlier, Kind::Erase)),
                Kind::Erase => index == 0,
            })
            .collect();
        let first = |read: bool| {
            (0..waiting.len()).find(|index| may_go[*index] && is(*index, Kind::Read) == read)
        };
        let other_waits = waiting.iter().any(|other| other.kind != Kind::Read);
        let oldest_other = (0..waiting.len()).find(|index| !is(*index, Kind::Read));
        let start = match (first(true), first(false), rules.order) {
            (Some(read), None, _) => read,
            (None, Some(other), _) => other,
            (Some(read), Some(_), Order::Arrival) if Some(read) < oldest_other => read,
            (Some(_), Some(other), Order::Arrival) => other,
            (Some(read), Some(_), Order::ReadsFirst(0)) => read,
            (Some(read), Some(_), Order::ReadsFirst(most)) if self.ahead[die] < most => read,
            (Some(_), Some(other), Order::ReadsFirst(_)) => other,
            (None, None, _) => panic!("something waits, and nothing may go"),
        };
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
                && kind != Kind::Erase
                && candidate.kind == kind
                && may_go[index]
                && candidate.page == waiting[start].page
                && taken
                    .iter()
                    .all(|taken| waiting[*taken].plane != candidate.plane)
                && !(kind == Kind::Program
                    && rules.together == Together::InOrder
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
