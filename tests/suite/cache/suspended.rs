//! Tests of cache registers with suspension. A read interrupts a program whose data have moved from the cache
//! register to the cells.

use std::collections::VecDeque;

use destage_base::Random;
use destage_base::time::TICKS_PER_NS;
use destage_tests::single_pages;
use destage_trace::{Operation, Request};

use super::straight::{Line, PROGRAM, READ};
use super::{Flash, TRANSFER_10_US, US, any_flash, on_one_die, responses};

const CACHED: [&str; 3] = [
    TRANSFER_10_US,
    "flash.cache_program=true",
    "flash.scheduling=reads_first",
];

fn with(pairs: &[&'static str], of: &[(u64, u64, Operation)]) -> Vec<u64> {
    on_one_die(&[&CACHED[..], pairs].concat(), of)
}

#[test]
fn a_read_interrupts_the_program_in_the_cells() {
    // Without the read, the program is in the cells from 10 to 210 us. The read is in the cells from 55 to 95 us,
    // and its data are transferred until 105 us.
    let one = [(0, 0, Operation::Write), (50 * US, 9, Operation::Read)];
    assert_eq!(with(&[], &one), [210, 210]);
    assert_eq!(with(&["flash.suspend=keeps_end"], &one), [210, 55]);
    assert_eq!(with(&["flash.suspend=moves_end"], &one), [255, 55]);
    // The second write is transferred after the page that was read. The second program begins at 255 us, when the
    // first program has left the cells.
    let more = [one[0], one[1], (50 * US, 1, Operation::Write)];
    assert_eq!(with(&["flash.suspend=keeps_end"], &more), [210, 55, 405]);
    assert_eq!(with(&["flash.suspend=moves_end"], &more), [255, 55, 405]);
}

#[test]
fn a_read_does_not_pass_a_page_that_is_in_the_register() {
    // The second page is in the cache register from 20 us on, and moves to the cells at 210 us. Only from then on
    // can the read interrupt.
    let two = [
        (0, 0, Operation::Write),
        (0, 1, Operation::Write),
        (50 * US, 9, Operation::Read),
    ];
    assert_eq!(with(&["flash.suspend=moves_end"], &two), [210, 455, 215]);
    // Pages of a unit that wait for the unit's last page do not block a read.
    let units = ["flash.suspend=moves_end", "flash.program_unit=2"];
    let three = [
        (0, 0, Operation::Write),
        (0, 1, Operation::Write),
        (0, 2, Operation::Write),
        (50 * US, 9, Operation::Read),
        (300 * US, 3, Operation::Write),
    ];
    // The first unit is in the cells from 20 to 265 us, interrupted by a read from 55 to 95 us. Then a filler
    // completes the unit of the third page, and the program of this unit begins at 275 us. The page of the fifth
    // request begins a new unit.
    assert_eq!(with(&units, &three), [265, 265, 475, 55, 385]);
}

/// The rules for interrupting programs and for the number of reads in a row that may overtake other operations.
#[derive(Clone, Copy, Debug)]
struct Rules {
    /// `None` means that programs are not interrupted. Otherwise the value says whether an interruption moves the
    /// end of the program that is reported to the host.
    moves_end: Option<bool>,
    cost: u64,
    limit: u32,
    ahead: u32,
}

/// The program that is in the cells or waits for them.
struct Change {
    taken: u64,
    end: u64,
    interruptions: u32,
    /// Whether a read waits for the end of the program.
    has_behind: bool,
}

#[derive(Clone, Copy)]
enum What {
    Load,
    Pass,
}

struct End {
    time: u64,
    requests: Vec<usize>,
    /// Whether this is the end of the latest program.
    of_change: bool,
    /// Whether this is the end of a read that interrupted a program. The die need not wait for this end.
    between: bool,
}

/// The times until which parts of the die are in use.
#[derive(Default)]
struct Until {
    cells: u64,
    /// The cache register.
    cache: u64,
    /// The latest read, in the cells.
    read: u64,
}

/// One die with a channel of its own. The model updates the die whenever a request arrives or an operation ends.
struct Die<'a> {
    flash: &'a Flash,
    rules: Rules,
    line: Line,
    reads: VecDeque<usize>,
    writes: VecDeque<usize>,
    step: VecDeque<What>,
    /// The time until which the die begins no operation; `None` if the die is free.
    in_service: Option<u64>,
    until: Until,
    change: Option<Change>,
    ahead: u32,
    placed: u64,
    waiting: Vec<usize>,
    ends: Vec<End>,
}

impl Die<'_> {
    /// Whether the cells interrupt the current program for a read that is ready at `ready`.
    fn takes_read(&self, ready: u64) -> bool {
        self.rules.moves_end.is_some()
            && self.change.as_ref().is_some_and(|change| {
                !change.has_behind
                    && (change.taken..change.end).contains(&ready)
                    && (self.until.read > ready || change.interruptions < self.rules.limit)
            })
    }

    /// The end of the latest program as reported to the host.
    fn end_of_change(&self) -> u64 {
        let mut ends = self.ends.iter();
        ends.find(|end| end.of_change).map_or(0, |end| end.time)
    }

    fn interrupt(&mut self, now: u64) {
        while self.ahead < self.rules.ahead
            && !self.reads.is_empty()
            && now < self.end_of_change()
            && self.takes_read(now + self.flash.command)
        {
            self.ahead += 1;
            let read = self.reads.pop_front().expect("a read");
            self.read_between(now, read);
        }
    }

    fn read_between(&mut self, now: u64, request: usize) {
        let ready = self.line.now(now, self.flash.command);
        let begins = if self.takes_read(ready) {
            let joins = self.until.read > ready;
            let change = self.change.as_mut().expect("a program");
            let cost = if joins { 0 } else { self.rules.cost };
            change.interruptions += u32::from(!joins);
            change.end += cost + READ;
            self.until.cells = change.end;
            let end = change.end;
            if self.rules.moves_end == Some(true) {
                let ends = self.ends.iter_mut().filter(|end| end.of_change);
                ends.for_each(|of| of.time = end);
            }
            if joins { self.until.read } else { ready + cost }
        } else {
            self.behind(ready)
        };
        self.until.read = begins + READ;
        self.leave(request, true);
    }

    /// Schedules a read for the time when the cells are free; returns the start of the read.
    fn behind(&mut self, ready: u64) -> u64 {
        let begins = ready.max(self.until.cells);
        if let Some(change) = &mut self.change {
            change.has_behind = true;
        }
        self.until.cells = begins + READ;
        begins
    }

    /// Transfers the page that was read; returns the time at which the request ends.
    fn leave(&mut self, request: usize, between: bool) -> u64 {
        let leaves = self.until.read.max(self.until.cache);
        let left = self.line.later(leaves, self.flash.data);
        self.until.cache = left;
        let done = self.line.later(left, self.flash.status);
        self.ends.push(End {
            time: done,
            requests: vec![request],
            of_change: false,
            between,
        });
        done
    }

    fn read(&mut self, now: u64, request: usize) {
        let ready = self.line.now(now, self.flash.command);
        let begins = self.behind(ready);
        self.until.read = begins + READ;
        let Some(busy) = self.flash.read else {
            let done = self.leave(request, false);
            self.in_service = Some(done);
            return;
        };
        self.in_service = Some(self.until.read);
        let moved = self.until.read.max(self.until.cache) + busy;
        let next = std::mem::replace(&mut self.until.read, moved);
        self.leave(request, false);
        (self.until.cells, self.until.read) = (moved, next);
    }

    /// Issues the next command of the current step.
    fn go_on(&mut self, now: u64) {
        let there = self.line.now(now, self.flash.command);
        let there = self.line.now(there.max(self.until.cache), self.flash.data);
        match self.step.pop_front().expect("a command") {
            What::Load => self.in_service = Some(there),
            What::Pass => {
                let taken = there.max(self.until.cells) + self.flash.program.unwrap_or(0);
                let end = taken + PROGRAM;
                (self.until.cells, self.until.cache) = (end, taken);
                self.change = Some(Change {
                    taken,
                    end,
                    interruptions: 0,
                    has_behind: false,
                });
                self.ends.iter_mut().for_each(|end| end.of_change = false);
                self.ends.push(End {
                    time: end,
                    requests: std::mem::take(&mut self.waiting),
                    of_change: true,
                    between: false,
                });
                self.in_service = Some(taken);
            }
        }
    }

    fn place(&mut self, request: Option<usize>) {
        self.placed += 1;
        self.waiting.extend(request);
        let is_full = self.placed.is_multiple_of(self.flash.unit);
        self.step
            .push_back(if is_full { What::Pass } else { What::Load });
    }

    /// Begins the next operation, if one can begin.
    fn start(&mut self, now: u64) {
        if self.in_service.is_some() {
            return self.interrupt(now);
        }
        let is_under_way = self.ends.iter().any(|end| !end.between);
        if is_under_way {
            self.interrupt(now);
        }
        if self.ahead < self.rules.ahead
            && let Some(read) = self.reads.pop_front()
        {
            self.ahead += 1;
            return self.read(now, read);
        }
        self.ahead = 0;
        if let Some(write) = self.writes.pop_front() {
            self.place(Some(write));
            self.go_on(now);
        } else if let Some(read) = self.reads.pop_front() {
            self.read(now, read);
        } else if !is_under_way && !self.waiting.is_empty() {
            while self.step.is_empty() || !self.placed.is_multiple_of(self.flash.unit) {
                self.place(None);
            }
            self.go_on(now);
        }
    }

    /// Called when the current operation has ended. Continues the current step, or begins the next operation.
    fn is_free(&mut self, now: u64) {
        self.in_service = None;
        if self.step.is_empty() {
            return self.start(now);
        }
        self.ahead = 0;
        while self.ahead < self.rules.ahead
            && let Some(read) = self.reads.pop_front()
        {
            self.ahead += 1;
            self.read_between(now, read);
        }
        self.go_on(now);
    }
}

/// Response times in ticks.
fn straight(flash: &Flash, rules: Rules, requests: &[Request]) -> Vec<u64> {
    let mut die = Die {
        flash,
        rules,
        line: Line::default(),
        reads: VecDeque::new(),
        writes: VecDeque::new(),
        step: VecDeque::new(),
        in_service: None,
        until: Until::default(),
        change: None,
        ahead: 0,
        placed: 0,
        waiting: Vec::new(),
        ends: Vec::new(),
    };
    let mut responses = vec![0; requests.len()];
    let mut arrived = 0;
    loop {
        let arrival = requests.get(arrived).map(|request| request.arrival);
        let end = (0..die.ends.len()).min_by_key(|index| die.ends[*index].time);
        let ends = end.map(|index| die.ends[index].time);
        let times = [arrival, die.in_service, ends];
        let Some(now) = times.into_iter().flatten().min() else {
            return responses;
        };
        if die.in_service == Some(now) {
            die.is_free(now);
        } else if let Some(index) = end.filter(|_| ends == Some(now)) {
            let end = die.ends.remove(index);
            for request in end.requests {
                responses[request] = now - requests[request].arrival;
            }
            if !end.between {
                die.start(now);
            }
        } else {
            match requests[arrived].operation {
                Operation::Read => die.reads.push_back(arrived),
                _ => die.writes.push_back(arrived),
            }
            arrived += 1;
            if requests[arrived - 1].operation == Operation::Read || die.in_service.is_none() {
                die.start(now);
            }
        }
    }
}

#[test]
fn random_streams_with_suspension_end_when_a_straight_line_model_says() {
    let mut random = Random::new(13);
    let (mut moved, mut cached) = (0, 0);
    for seed in 0..48 {
        let mut one_of = |choices: &[u64]| choices[random.below(choices.len() as u64) as usize];
        let rules = Rules {
            moves_end: [None, Some(false), Some(true)][one_of(&[0, 1, 2]) as usize],
            cost: 50_003,
            limit: one_of(&[1, 3]) as u32,
            ahead: one_of(&[1, 2, 16]) as u32,
        };
        let unit = one_of(&[1, 2, 4]);
        let gap = one_of(&[50, 150, 400]) * US;
        let flash = Flash {
            dies: 1,
            channels: 1,
            unit,
            block_pages: 8,
            program: Some(one_of(&[0, 50_021])),
            ..any_flash(&mut random)
        };
        let (mut time, mut stream) = (0, Random::new(300 + seed));
        let mut written = 0;
        let all: Vec<_> = (0..400)
            .map(|_| {
                time += stream.below(gap);
                match stream.below(2) {
                    0 => (time, 2000 + stream.below(2000), Operation::Read),
                    _ => {
                        written += 1;
                        (time, written, Operation::Write)
                    }
                }
            })
            .collect();
        let requests = single_pages(&all);
        let suspend = match rules.moves_end {
            None => "never",
            Some(false) => "keeps_end",
            Some(true) => "moves_end",
        };
        let pairs = [
            "flash.blocks_per_plane=2048".to_owned(),
            "flash.scheduling=reads_first".to_owned(),
            format!("flash.suspend={suspend}"),
            format!("flash.suspend_us={}", rules.cost as f64 / US as f64),
            format!("flash.suspend_limit={}", rules.limit),
            format!("flash.read_starvation_limit={}", rules.ahead),
        ];
        let pairs: Vec<&str> = pairs.iter().map(String::as_str).collect();
        let seen = responses(&flash, &pairs, &requests);
        let of = |flash: &Flash, rules| -> Vec<u64> {
            let ticks = straight(flash, rules, &requests).into_iter();
            ticks.map(|ticks| ticks / TICKS_PER_NS).collect()
        };
        let expected = of(&flash, rules);
        let differs = (0..seen.len()).find(|index| seen[*index] != expected[*index]);
        assert_eq!(differs, None, "{flash:?} {rules:?}");
        let never = Rules {
            moves_end: None,
            ..rules
        };
        moved += u32::from(rules.moves_end.is_some() && of(&flash, never) != seen);
        cached += 1;
    }
    assert!(moved > 16, "{moved} of {cached} streams know of suspension");
}
