//! Merges the requests of all copies of all jobs into one sequence.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use destage_base::{Random, Ticks};
use destage_trace::Request;

use super::plan::JobCopy;
use super::worker::{Step, Worker};

/// The next request of a copy. Requests are issued in the order of their arrivals, then of their turns, then of their
/// workers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Next {
    arrival: Ticks,
    /// If requests have no arrival times, the number of requests that the copy has issued before, divided by the
    /// depth of the copy. Otherwise 0.
    turn: u64,
    worker: usize,
}

/// The requests of all copies, in the order in which the drive receives them.
pub(super) struct Merged {
    groups: std::vec::IntoIter<Vec<JobCopy>>,
    workers: Vec<Worker>,
    waiting: BinaryHeap<Reverse<Next>>,
    /// The next request of each copy.
    steps: Vec<Step>,
    turns: Vec<u64>,
    has_rates: bool,
    seeds: Random,
    /// The time at which the current group began, in ticks. `last` is the last arrival so far.
    begun: Ticks,
    last: Ticks,
    line: u32,
}

impl Merged {
    pub fn new(groups: Vec<Vec<JobCopy>>, has_rates: bool, seed: u64) -> Self {
        Self {
            groups: groups.into_iter(),
            workers: Vec::new(),
            waiting: BinaryHeap::new(),
            steps: Vec::new(),
            turns: Vec::new(),
            has_rates,
            seeds: Random::new(seed),
            begun: 0,
            last: 0,
            line: 0,
        }
    }

    /// Queues the next request of a copy, if it has one.
    fn wait(&mut self, worker: usize) {
        const SHARES: u64 = 1 << 20;
        let Some((arrival, step)) = self.workers[worker].next() else {
            return;
        };
        self.steps[worker] = step;
        let turn = match self.has_rates {
            true => 0,
            // A copy with a larger depth issues requests more often.
            false => self.turns[worker] * SHARES / u64::from(self.workers[worker].depth()),
        };
        self.turns[worker] += 1;
        self.waiting.push(Reverse(Next {
            arrival: self.begun.saturating_add(arrival),
            turn,
            worker,
        }));
    }
}

impl Iterator for Merged {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        while self.waiting.is_empty() {
            let group = self.groups.next()?;
            self.begun = self.last;
            self.steps = vec![Step::FLUSH; group.len()];
            self.turns = vec![0; group.len()];
            let seeds = &mut self.seeds;
            let workers = group
                .into_iter()
                .map(|copy| Worker::new(copy, seeds.next_u64()));
            self.workers = workers.collect();
            (0..self.workers.len()).for_each(|worker| self.wait(worker));
        }
        let Reverse(next) = self.waiting.pop()?;
        let step = self.steps[next.worker];
        let is_fua = self.workers[next.worker].is_fua(&step);
        self.wait(next.worker);
        self.last = next.arrival;
        self.line = self.line.saturating_add(1);
        Some(Request {
            arrival: next.arrival,
            sector: step.sector,
            sectors: step.sectors,
            volume: 0,
            line: self.line,
            operation: step.operation,
            fua: is_fua,
            stream: 0,
        })
    }
}
