//! The host: its queue of waiting requests, and its data about outstanding ones.

use std::collections::{BTreeMap, VecDeque};

use destage_base::{Ticks, choices};
use destage_trace::Operation;

use crate::queue::Queue;

choices! {
    /// Which waiting request is sent to the device next.
    pub enum Scheduler {
        /// Cyclic and ascending by address from the one sent last; equal addresses in arrival order.
        CLook = "clook",
        /// In arrival order.
        Fifo = "fifo",
    }
}

/// Requests that wait in the host.
pub enum Waiting {
    /// Ordered by address and arrival.
    CLook {
        /// Waiting requests by (first sector, arrival rank).
        queue: BTreeMap<(u64, u64), u32>,
        /// First sector of the request sent last.
        last: u64,
        /// Ranks given so far.
        arrivals: u64,
    },
    /// In arrival order.
    Fifo {
        /// Waiting requests.
        queue: VecDeque<u32>,
        /// How many of the first were [given](Waiting::next) already.
        given: usize,
    },
}

/// The arrival of a request with the time `arrival` in its trace, with times multiplied by `factor`. A product beyond 64 bits counts as the largest
/// number.
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

    /// Request `id`, which begins at `sector`, has arrived.
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

    /// A request that begins at `sector` is sent without having waited.
    pub fn pass(&mut self, sector: u64) {
        if let Self::CLook { last, .. } = self {
            *last = sector;
        }
    }

    /// Takes the request to send next.
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

    /// The next `count` requests to send, if it is known which these are, enough wait, and none of them was given before.
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

    /// Whether nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        match self {
            Self::CLook { queue, .. } => queue.is_empty(),
            Self::Fifo { queue, .. } => queue.is_empty(),
        }
    }
}

choices! {
    /// To which outstanding request a completion is credited.
    pub enum Attribution {
        /// The one that completed.
        Request = "request",
        /// The reference simulator's rule: the newest outstanding request if it begins at the completed one's address, otherwise the oldest that
        /// does, whatever its operation. The overall mean does not depend on it; percentiles, and the response times
        /// that count as reads', do.
        DiskSim = "disksim",
    }
}

/// Outstanding requests in arrival order, for [`Attribution::DiskSim`].
#[derive(Default)]
pub struct Outstanding {
    /// (first sector, identity), oldest first.
    requests: Queue<(u64, Identity)>,
}

/// The request that a response time is reported for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Identity {
    /// Position in the trace, from 0.
    pub index: u64,
    /// When it arrived.
    pub arrival: Ticks,
    /// What it asked.
    pub operation: Operation,
}

impl Outstanding {
    /// A request has arrived.
    #[inline]
    pub fn push(&mut self, identity: Identity, sector: u64) {
        self.requests.push((sector, identity));
    }

    /// The request that `completed`, which begins at `sector`, is complete: which one is credited?
    #[inline(always)]
    pub fn credit(&mut self, sector: u64, completed: Identity) -> Identity {
        match self.requests.last() {
            Some((newest, identity)) if *newest == sector => {
                let identity = *identity;
                self.requests.pop_last();
                identity
            }
            // Most complete in the order in which they arrived.
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
