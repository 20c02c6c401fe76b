//! A naive model of flash with cache registers. In each step, the model issues the command that can be issued
//! first among the next commands of all dies.

use std::collections::VecDeque;

use destage_trace::{Operation, Request};

/// The times of the cells in ticks. They are not round numbers, so that events rarely coincide.
pub const READ: u64 = 400_137;
pub const PROGRAM: u64 = 2_000_331;
pub const FIRST_PASS: u64 = 700_173;

#[derive(Clone, Debug)]
pub struct Flash {
    pub dies: u64,
    pub channels: u64,
    pub command: u64,
    pub status: u64,
    pub data: u64,
    /// Ticks to move a page between the page register and the cache register, for reads and for programs. `None`
    /// means that there is no cache register.
    pub read: Option<u64>,
    pub program: Option<u64>,
    /// Pages of a program unit, passes of a unit, and pages of a block.
    pub unit: u64,
    pub passes: u64,
    pub block_pages: u64,
}

/// A channel, with the time until which it is held and the transfers booked on it.
#[derive(Default)]
pub struct Line {
    held: u64,
    booked: Vec<(u64, u64)>,
}

impl Line {
    fn place(&self, earliest: u64, length: u64) -> u64 {
        let mut start = earliest.max(self.held);
        let over = |start: u64| {
            let mut booked = self.booked.iter();
            booked.find(|(begin, end)| start < *end && *begin < start + length)
        };
        while let Some((_, end)) = over(start) {
            start = *end;
        }
        start
    }

    pub fn now(&mut self, earliest: u64, length: u64) -> u64 {
        if length == 0 {
            return earliest;
        }
        self.held = self.place(earliest, length) + length;
        self.held
    }

    pub fn later(&mut self, earliest: u64, length: u64) -> u64 {
        if length == 0 {
            return earliest;
        }
        let start = self.place(earliest, length);
        self.booked.push((start, start + length));
        start + length
    }
}

#[derive(Clone, Copy)]
enum What {
    Read,
    /// Transfers a page of a unit that is not the last page of the unit.
    Load,
    /// Transfers the last page of a unit, or all pages of the unit again, for `data` ticks. Then a program pass
    /// of `time` ticks follows.
    Pass {
        data: u64,
        time: u64,
    },
}

/// A command, and the requests that end when the command ends.
#[derive(Clone)]
struct Command {
    what: What,
    ends: Vec<usize>,
}

#[derive(Clone, Default)]
struct Die {
    queue: VecDeque<usize>,
    /// The remaining commands of the current step.
    step: VecDeque<Command>,
    /// The times at which the next command can be issued (`next`), the cells are free, the cache register is
    /// free, and all commands have ended (`ended`).
    next: u64,
    cells: u64,
    cache: u64,
    ended: u64,
    /// `placed` is the number of pages placed so far. `waiting` has the unit and the request of each page whose
    /// unit still needs a pass.
    placed: u64,
    waiting: Vec<(u64, usize)>,
    /// The sequence number of the die's last command among all commands. If several dies are ready at the same
    /// time, the die with the lowest number issues its command first.
    rank: u64,
}

impl Die {
    /// Adds a page to the current unit, for a request or as a filler.
    fn place(&mut self, flash: &Flash, request: Option<usize>) {
        let unit = self.placed / flash.unit;
        self.placed += 1;
        self.waiting.extend(request.map(|request| (unit, request)));
        let mut step = |what| {
            let ends = Vec::new();
            self.step.push_back(Command { what, ends });
        };
        if !self.placed.is_multiple_of(flash.unit) {
            return step(What::Load);
        }
        let ends_block = self.placed.is_multiple_of(flash.block_pages);
        let begins_block = (self.placed - flash.unit).is_multiple_of(flash.block_pages);
        let data = flash.data;
        let mut last = Some(unit);
        if flash.passes == 1 {
            let time = PROGRAM;
            step(What::Pass { data, time });
        } else {
            let time = FIRST_PASS;
            step(What::Pass { data, time });
            let (data, time) = (flash.unit * data, PROGRAM);
            for _ in 0..u32::from(!begins_block) + u32::from(ends_block) {
                step(What::Pass { data, time });
            }
            if !ends_block {
                last = unit.checked_sub(1);
            }
        }
        let is_over = |of: u64| last.is_some_and(|last| of <= last);
        let command = self.step.back_mut().expect("a pass");
        let over = self.waiting.iter().filter(|(of, _)| is_over(*of));
        command.ends.extend(over.map(|(_, request)| *request));
        self.waiting.retain(|(of, _)| !is_over(*of));
    }

    /// The time at which the die issues its next command, and whether this command begins a step that programs
    /// fillers.
    fn first(&self, requests: &[Request]) -> Option<(u64, bool)> {
        if !self.step.is_empty() {
            return Some((self.next, false));
        }
        let front = self.queue.front();
        let own = front.map(|index| self.next.max(requests[*index].arrival));
        let idle = (!self.waiting.is_empty()).then(|| self.next.max(self.ended));
        match (own, idle) {
            (Some(own), Some(idle)) if idle < own => Some((idle, true)),
            (None, Some(idle)) => Some((idle, true)),
            (own, _) => own.map(|own| (own, false)),
        }
    }

    /// Plans the commands of the next step.
    fn begin(&mut self, flash: &Flash, requests: &[Request], fills: bool) {
        if fills {
            self.place(flash, None);
            while !self.placed.is_multiple_of(flash.unit) {
                self.place(flash, None);
            }
            return;
        }
        let index = self.queue.pop_front().expect("a request");
        if requests[index].operation == Operation::Read {
            let (what, ends) = (What::Read, vec![index]);
            return self.step.push_back(Command { what, ends });
        }
        self.place(flash, Some(index));
    }

    /// Issues the command `what` at `now`; returns the time at which the command is done.
    fn issue(&mut self, flash: &Flash, line: &mut Line, now: u64, what: What) -> u64 {
        let there = line.now(now, flash.command);
        let done = match what {
            What::Read => {
                let read = there.max(self.cells) + READ;
                let moved = read.max(self.cache) + flash.read.unwrap_or(0);
                let left = line.later(moved, flash.data);
                let done = line.later(left, flash.status);
                (self.cells, self.cache) = (moved, left);
                self.next = if flash.read.is_some() { read } else { done };
                done
            }
            What::Load => {
                self.next = line.now(there.max(self.cache), flash.data);
                self.next
            }
            What::Pass { data, time } => {
                let loaded = line.now(there.max(self.cache), data);
                let moved = loaded.max(self.cells) + flash.program.unwrap_or(0);
                let done = moved + time;
                (self.cells, self.cache) = (done, moved);
                self.next = if flash.program.is_some() { moved } else { done };
                done
            }
        };
        self.ended = self.ended.max(done);
        done
    }
}

/// Response times in ticks.
pub fn responses(flash: &Flash, requests: &[Request]) -> Vec<u64> {
    let mut dies = vec![Die::default(); flash.dies as usize];
    let mut lines: Vec<Line> = (0..flash.channels).map(|_| Line::default()).collect();
    let mut responses = vec![0; requests.len()];
    let mut issued = 0;
    for (index, request) in requests.iter().enumerate() {
        dies[(request.sector / 8 % flash.dies) as usize]
            .queue
            .push_back(index);
    }
    loop {
        let ready = (0..dies.len()).filter_map(|number| {
            let (time, fills) = dies[number].first(requests)?;
            Some((time, dies[number].rank, number, fills))
        });
        let Some((now, _, number, fills)) = ready.min() else {
            return responses;
        };
        let line = &mut lines[number % flash.channels as usize];
        let die = &mut dies[number];
        if die.step.is_empty() {
            die.begin(flash, requests, fills);
        }
        issued += 1;
        die.rank = issued;
        let command = die.step.pop_front().expect("a command");
        let done = die.issue(flash, line, now, command.what);
        for index in command.ends {
            responses[index] = done - requests[index].arrival;
        }
    }
}
