//! A drive in which each assumption that separates the coarse model from the simulator can be set.
//!
//! Written without the simulator's event list or queues: requests are worked off in order of arrival, and the only
//! thing to keep in time order are the programs that pages in the cache wait for.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use destage_base::Ticks;
use destage_base::time::{TICKS_PER_MS, TICKS_PER_US};
use destage_trace::Request;

use crate::apu_split::lines::{Found, LINES, Lines, PACKAGES, Split};

/// Program and transfer of a page.
const PROGRAM: Ticks = 3024 * TICKS_PER_US / 10;
const IDLE: Ticks = 2 * TICKS_PER_MS;

/// What a request of the host waits for, once its data is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waits {
    /// Its own on-demand updates.
    Updates,
    /// Those, and write-backs that still run of lines its pages take.
    ItsLines,
    /// Room in any line: that the cache holds no more pages than it has lines, those under program included.
    AnyLine,
    /// The same, but each page enters only once the one before it has its slot.
    AnyLineByPage,
}

/// What happens to a round of idle work when a request arrives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interrupted {
    /// Its lines are clean, and nobody waits for it.
    Vanishes,
    /// Its packages finish it first.
    HoldsPackages,
    /// The request is not taken in before it is finished.
    HoldsDevice,
}

/// The assumptions.
#[derive(Clone, Copy, Debug)]
pub struct Assumptions {
    pub sector: Ticks,
    /// Requests in the device at once.
    pub depth: usize,
    pub waits: Waits,
    pub interrupted: Interrupted,
}

/// What is under way.
#[derive(Default)]
struct Drive {
    /// By package, when it has worked off all it was given.
    package_free: [Ticks; PACKAGES],
    /// Ends of the programs of pages that left, and the request that waits for each, if it waits for just that.
    leaving: BinaryHeap<Reverse<(Ticks, Option<usize>)>>,
    /// Lines that ever held a page.
    used: usize,
    /// Requests of pages without a slot, in order.
    waiting: VecDeque<usize>,
    /// By request in the device, what it waits for, and one while it is being taken in.
    remaining: BTreeMap<usize, usize>,
    /// When the last request was complete.
    complete: Ticks,
}

impl Drive {
    fn over(&self) -> usize {
        (self.used + self.leaving.len()).saturating_sub(LINES)
    }

    fn program(&mut self, package: usize, now: Ticks) -> Ticks {
        let free = &mut self.package_free[package];
        *free = now.max(*free) + PROGRAM;
        *free
    }

    fn wait(&mut self, request: usize) {
        *self.remaining.entry(request).or_default() += 1;
    }

    fn lower(&mut self, request: usize, now: Ticks) {
        let left = self.remaining.get_mut(&request).expect("it waits");
        *left -= 1;
        if *left == 0 {
            self.remaining.remove(&request);
            self.complete = self.complete.max(now);
        }
    }

    /// The next program of a page that left ends: when.
    fn end_one(&mut self) -> Ticks {
        let Reverse((now, waiter)) = self.leaving.pop().expect("somebody waits for a program");
        waiter.into_iter().for_each(|id| self.lower(id, now));
        while self.waiting.len() > self.over() {
            let id = self.waiting.pop_front().expect("more wait than are over");
            self.lower(id, now);
        }
        now
    }

    fn end_until(&mut self, now: Ticks) {
        while self
            .leaving
            .peek()
            .is_some_and(|Reverse((end, _))| *end <= now)
        {
            self.end_one();
        }
    }
}

/// On-demand updates under `assumptions`.
pub fn updates(requests: &[Request], split: Split, assumptions: Assumptions) -> u64 {
    let mut lines = Lines::new(split);
    let mut drive = Drive::default();
    let mut written_back = vec![0; LINES];
    let (mut updates, mut bus_free) = (0, 0);
    for (id, request) in requests.iter().enumerate() {
        let mut sent = request.arrival;
        drive.end_until(sent);
        if drive.remaining.is_empty() {
            let round_end = idle(&mut lines, &mut drive, &mut written_back, sent);
            match assumptions.interrupted {
                Interrupted::Vanishes => drive.package_free = [0; PACKAGES],
                Interrupted::HoldsPackages => {}
                Interrupted::HoldsDevice => sent = sent.max(round_end),
            }
        }
        while drive.remaining.len() >= assumptions.depth {
            sent = sent.max(drive.end_one());
        }
        let mut now = sent.max(bus_free) + assumptions.sector * Ticks::from(request.sectors);
        drive.end_until(now);
        drive.wait(id);
        let first = (request.sector / 8) as usize;
        for page in first..first + (request.sectors / 8) as usize {
            let (line, found) = lines.write(page);
            let runs = assumptions.waits != Waits::Updates && written_back[line] > now;
            let end = match found {
                Found::Itself => continue,
                Found::Dirty => {
                    updates += 1;
                    Some(drive.program(page % PACKAGES, now))
                }
                Found::Clean if runs => Some(written_back[line]),
                Found::Clean => None,
                Found::Vacant => {
                    drive.used += 1;
                    None
                }
            };
            let waits_for_just_that = matches!(assumptions.waits, Waits::Updates | Waits::ItsLines);
            if let Some(end) = end {
                let waiter = waits_for_just_that.then_some(id);
                drive.leaving.push(Reverse((end, waiter)));
                waiter.into_iter().for_each(|id| drive.wait(id));
            }
            if assumptions.waits == Waits::AnyLine && drive.over() > drive.waiting.len() {
                drive.waiting.push_back(id);
                drive.wait(id);
            }
            while assumptions.waits == Waits::AnyLineByPage && drive.over() > 0 {
                now = now.max(drive.end_one());
            }
        }
        bus_free = now;
        drive.lower(id, now);
    }
    updates
}

/// Rounds of idle work from 2 ms after the last completion until `arrival`; when the last of them ends.
fn idle(lines: &mut Lines, drive: &mut Drive, written_back: &mut [Ticks], arrival: Ticks) -> Ticks {
    let mut now = drive.complete + IDLE;
    let mut round_end = 0;
    while now < arrival {
        let round = lines.round();
        for (package, line) in round.into_iter().enumerate() {
            if let Some(line) = line {
                written_back[line] = drive.program(package, now);
                round_end = round_end.max(written_back[line]);
            }
        }
        if round == [None; PACKAGES] {
            break;
        }
        now = round_end;
    }
    round_end
}
