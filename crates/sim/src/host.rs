//! The host: its queue of waiting requests, and its records of outstanding requests.

use std::collections::{BTreeMap, VecDeque};

use destage_base::{Ticks, choices};
use destage_trace::Operation;

use crate::queue::Queue;

choices! {
    /// Rule that selects the waiting request to send to the device next.
    pub enum Scheduler {
        /// In ascending order of addresses, beginning at the address of the request that was sent last. After the
        /// highest address, the order begins again at the lowest one. Requests with equal addresses are sent in
        /// arrival order.
        CLook = "clook",
        /// In arrival order.
        Fifo = "fifo",
    }
}

/// The times for which a request of a closed loop occupies the host's thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JobTimes {
    /// Ticks for a read.
    pub read: Ticks,
    /// Ticks for any other request.
    pub other: Ticks,
    /// Ticks in addition, for a request whose answer the thread waited for.
    pub sleep: Ticks,
}

/// The thread of the host that issues the requests of a closed loop. For each request it collects the answer and sends
/// the next request. Answers that arrive meanwhile wait for the thread. A thread that has served all answers sleeps until
/// the next one arrives.
pub struct Job {
    times: JobTimes,
    /// The time at which the thread has served all answers so far.
    free: Ticks,
}

impl Job {
    /// A thread that spends `times` on requests.
    pub fn new(times: JobTimes) -> Self {
        Self { times, free: 0 }
    }

    /// The answer to a request with `operation` arrives at `now`. Returns when the thread collects it, and when the thread
    /// has served it, so that the next request arrives.
    pub fn collects(&mut self, now: Ticks, operation: Operation) -> (Ticks, Ticks) {
        let begin = now.max(self.free);
        let time = match operation {
            Operation::Read => self.times.read,
            _ => self.times.other,
        };
        let sleep = if self.free < now { self.times.sleep } else { 0 };
        self.free = begin.saturating_add(time).saturating_add(sleep);
        (begin, self.free)
    }
}

/// Requests that wait in the host.
pub enum Waiting {
    /// Queue ordered by address, then by arrival.
    CLook {
        /// Waiting requests by (first sector, arrival rank).
        queue: BTreeMap<(u64, u64), u32>,
        /// First sector of the request sent last.
        last: u64,
        /// The number of requests that were added. It is also the arrival rank of the request that was added last.
        arrivals: u64,
    },
    /// Queue in arrival order.
    Fifo {
        /// Waiting requests.
        queue: VecDeque<u32>,
        /// The number of requests at the front that [`next`](Waiting::next) has returned already.
        given: usize,
    },
}

/// The time `arrival` of a request in its trace, multiplied by `factor` and rounded. A product beyond 64 bits
/// gives the largest number.
#[inline(always)]
pub fn scaled(arrival: Ticks, factor: f64) -> Ticks {
    if factor == 1.0 {
        arrival
    } else {
        (arrival as f64 * factor + 0.5) as Ticks
    }
}

impl Waiting {
    /// An empty queue.
    pub fn new(scheduler: Scheduler) -> Self {
        match scheduler {
            Scheduler::CLook => Self::CLook {
                queue: BTreeMap::new(),
                last: 0,
                arrivals: 0,
            },
            Scheduler::Fifo => Self::Fifo {
                queue: VecDeque::new(),
                given: 0,
            },
        }
    }

    /// Adds request `id`, which begins at `sector`.
    pub fn push(&mut self, id: u32, sector: u64) {
        match self {
            Self::CLook {
                queue, arrivals, ..
            } => {
                *arrivals += 1;
                queue.insert((sector, *arrivals), id);
            }
            Self::Fifo { queue, .. } => queue.push_back(id),
        }
    }

    /// Notes that a request that begins at `sector` is sent without waiting.
    pub fn pass(&mut self, sector: u64) {
        if let Self::CLook { last, .. } = self {
            *last = sector;
        }
    }

    /// Removes and returns the request to send next.
    pub fn pop(&mut self) -> Option<u32> {
        match self {
            Self::CLook { queue, last, .. } => {
                let key = queue
                    .range((*last, 0)..)
                    .next()
                    .or_else(|| queue.iter().next())
                    .map(|(key, _)| *key)?;
                *last = key.0;
                queue.remove(&key)
            }
            Self::Fifo { queue, given } => {
                *given = given.saturating_sub(1);
                queue.pop_front()
            }
        }
    }

    /// The next `count` requests to send. `None` if the scheduler cannot know these requests, if fewer requests wait,
    /// or if a request that an earlier call returned still waits.
    #[inline]
    pub fn next(&mut self, count: usize) -> Option<impl Iterator<Item = u32> + '_> {
        match self {
            Self::Fifo { queue, given } if *given == 0 && queue.len() >= count => {
                *given = count;
                Some(queue.range(..count).copied())
            }
            _ => None,
        }
    }

    /// Whether no request waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        match self {
            Self::CLook { queue, .. } => queue.is_empty(),
            Self::Fifo { queue, .. } => queue.is_empty(),
        }
    }
}

choices! {
    /// Rule that selects the outstanding request to which a completion is credited.
    pub enum Attribution {
        /// The request that completed.
        Request = "request",
        /// The reference simulator's rule. If the newest outstanding request begins at the address of the completed
        /// request, the newest request is credited. Otherwise the oldest outstanding request that begins at this
        /// address is credited, whatever its operation. The rule does not change the mean over all requests. But it
        /// changes percentiles, and the division of response times between reads and writes.
        DiskSim = "disksim",
    }
}

/// Outstanding requests in arrival order, for [`Attribution::DiskSim`].
#[derive(Default)]
pub struct Outstanding {
    /// First sector and identity of each outstanding request, oldest first.
    requests: Queue<(u64, Identity)>,
}

/// The request for which a response time is reported.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Identity {
    /// Position in the trace, counted from 0.
    pub index: u64,
    /// Arrival time.
    pub arrival: Ticks,
    /// Requested operation.
    pub operation: Operation,
}

impl Outstanding {
    /// Adds a request that has arrived.
    #[inline]
    pub fn push(&mut self, identity: Identity, sector: u64) {
        self.requests.push((sector, identity));
    }

    /// Removes and returns the request that is credited with the completion of `completed`, which begins at `sector`.
    /// If no outstanding request begins at `sector`, `completed` itself is credited.
    #[inline(always)]
    pub fn credit(&mut self, sector: u64, completed: Identity) -> Identity {
        match self.requests.last() {
            Some((newest, identity)) if *newest == sector => {
                let identity = *identity;
                self.requests.pop_last();
                identity
            }
            // Most requests complete in their order of arrival.
            _ => match self.requests.first() {
                Some((oldest, identity)) if *oldest == sector => {
                    let identity = *identity;
                    self.requests.pop();
                    identity
                }
                _ => self.credit_oldest(sector).unwrap_or(completed),
            },
        }
    }

    #[cold]
    fn credit_oldest(&mut self, sector: u64) -> Option<Identity> {
        let oldest = self.requests.take(|(other, _)| *other == sector);
        oldest.map(|(_, identity)| identity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clook_ascends_from_the_last_sent_and_then_starts_over() {
        let mut waiting = Waiting::new(Scheduler::CLook);
        for (id, sector) in [(0, 50), (1, 10), (2, 90), (3, 50)] {
            waiting.push(id, sector);
        }
        waiting.pass(40);
        let order: Vec<_> = std::iter::from_fn(|| waiting.pop()).collect();
        assert_eq!(order, [0, 3, 2, 1]);
    }

    #[test]
    fn each_that_waits_is_given_once_before_it_is_sent() {
        let mut waiting = Waiting::new(Scheduler::Fifo);
        let mut given = Vec::new();
        (0..7).for_each(|id| waiting.push(id, 0));
        for id in 0..7 {
            given.extend(waiting.next(3).into_iter().flatten());
            assert_eq!(waiting.pop(), Some(id));
        }
        assert_eq!(given, [0, 1, 2, 3, 4, 5]);
        let mut by_address = Waiting::new(Scheduler::CLook);
        (0..7).for_each(|id| by_address.push(id, 0));
        assert!(by_address.next(3).is_none());
    }

    #[test]
    fn a_completion_is_credited_to_the_newest_if_that_matches_and_else_to_the_oldest() {
        let mut outstanding = Outstanding::default();
        for (index, sector) in [(0, 7), (1, 7), (2, 8), (3, 7)] {
            outstanding.push(
                Identity {
                    index,
                    arrival: 0,
                    operation: Operation::Write,
                },
                sector,
            );
        }
        let completed = Identity {
            index: 9,
            arrival: 0,
            operation: Operation::Write,
        };
        let credited = [7, 7, 9, 8, 7, 7].map(|sector| outstanding.credit(sector, completed).index);
        assert_eq!(credited, [3, 0, 9, 2, 1, 9]);
    }
}
