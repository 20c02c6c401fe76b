//! A naive model of a drive. The coarse model and the simulator differ in several assumptions, and this model has
//! a setting for each of them.
//!
//! The model shares neither an event list nor queues with the simulator. It serves requests in order of arrival.
//! Only the programs of evicted pages are in a queue that is ordered by time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use destage_base::Ticks;
use destage_base::time::{TICKS_PER_MS, TICKS_PER_US};
use destage_trace::Request;

use crate::apu_split::lines::{Found, LINES, Lines, PACKAGES, Split};

/// Time to program and transfer a page.
const PROGRAM: Ticks = 3024 * TICKS_PER_US / 10;
const IDLE: Ticks = 2 * TICKS_PER_MS;

/// What a request waits for after its data have arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waits {
    /// The on-demand updates of the request.
    Updates,
    /// The on-demand updates of the request, and running write-backs of the lines that the pages of the request
    /// use.
    ItsLines,
    /// Room in any line. The pages in the cache and the evicted pages being programmed must together not exceed
    /// the number of lines.
    AnyLine,
    /// Room in any line, and each page enters only after the previous page has a slot.
    AnyLineByPage,
}

/// What happens to a round of idle work when a request arrives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interrupted {
    /// The lines of the round are clean, and no request waits for the round.
    Vanishes,
    /// The packages in the round finish it before they serve the request.
    HoldsPackages,
    /// The request does not enter the device before the round has ended.
    HoldsDevice,
}

/// The assumptions of one run of the drive.
#[derive(Clone, Copy, Debug)]
pub struct Assumptions {
    pub sector: Ticks,
    /// The largest number of requests in the device at once.
    pub depth: usize,
    pub waits: Waits,
    pub interrupted: Interrupted,
}

/// The state of the drive.
#[derive(Default)]
struct Drive {
    /// For each package, the time at which all its work is done.
    package_free: [Ticks; PACKAGES],
    /// For each evicted page that is being programmed: the end of the program, and the request that waits for
    /// this very program, if there is one.
    leaving: BinaryHeap<Reverse<(Ticks, Option<usize>)>>,
    /// The number of lines that have ever held a page.
    used: usize,
    /// The requests of the pages that wait for a slot, in order.
    waiting: VecDeque<usize>,
    /// For each request in the device, the number of events that the request waits for. The intake of its pages
    /// counts as one event.
    remaining: BTreeMap<usize, usize>,
    /// The time at which the last request completed.
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

    /// Ends the earliest program of an evicted page; returns the time of this end.
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

/// Counts on-demand updates under `assumptions`.
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

/// Runs rounds of idle work from 2 ms after the last completion until `arrival`; returns the end of the last
/// round.
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
