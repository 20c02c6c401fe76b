//! The queues of the host, and the rule for the request that is sent next.

use destage_base::choices;

use crate::host::{Scheduler, Waiting};

choices! {
    /// Rule that assigns a request to a queue.
    pub enum QueueBy {
        /// The number of the request's volume, modulo the number of queues.
        Volume = "volume",
        /// The position of the request in the input, modulo the number of queues.
        RoundRobin = "round_robin",
    }
}

struct Queue {
    waiting: Waiting,
    /// The number of requests that this queue may send in one turn.
    turn: u32,
    in_device: u32,
}

/// Requests that wait in several queues. Weighted round robin chooses the next request.
pub struct Queues {
    queues: Vec<Queue>,
    /// Maximum number of requests of one queue in the device.
    depth: u32,
    /// The queue whose turn it is. The field `credit` is the number of requests that this queue may still send in its
    /// turn.
    pointer: usize,
    credit: u32,
    waiting: u64,
}

impl Queues {
    /// Empty queues, one for each entry of `weights`. A queue sends up to weight times `burst` requests in its
    /// turn, and has at most `depth` requests in the device.
    #[must_use]
    pub fn new(weights: &[u32], burst: u32, depth: u32, scheduler: Scheduler) -> Self {
        let queues = weights.iter().map(|weight| Queue {
            waiting: Waiting::new(scheduler),
            turn: weight.saturating_mul(burst),
            in_device: 0,
        });
        let queues: Vec<Queue> = queues.collect();
        Self {
            depth,
            pointer: 0,
            credit: queues.first().map_or(0, |queue| queue.turn),
            waiting: 0,
            queues,
        }
    }

    /// The number of queues.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.queues.len() as u64
    }

    /// Adds request `id`, which begins at `sector`, to `queue`.
    pub fn push(&mut self, queue: usize, id: u32, sector: u64) {
        self.queues[queue].waiting.push(id, sector);
        self.waiting += 1;
    }

    /// Removes and returns the request to send next; `None` if no request waits, or if every queue with waiting
    /// requests already has its maximum number of requests in the device.
    pub fn pop(&mut self) -> Option<u32> {
        if self.waiting == 0 {
            return None;
        }
        let (mut pointer, mut credit) = (self.pointer, self.credit);
        // The last iteration considers the first queue again, with a full credit.
        for _ in 0..=self.queues.len() {
            let queue = &mut self.queues[pointer];
            if credit > 0
                && queue.in_device < self.depth
                && let Some(id) = queue.waiting.pop()
            {
                queue.in_device += 1;
                self.waiting -= 1;
                (self.pointer, self.credit) = (pointer, credit - 1);
                return Some(id);
            }
            pointer = (pointer + 1) % self.queues.len();
            credit = self.queues[pointer].turn;
        }
        None
    }

    /// Notes that a request of `queue` has left the device.
    pub fn completed(&mut self, queue: usize) {
        self.queues[queue].in_device -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(queues: &mut Queues) -> Vec<u32> {
        std::iter::from_fn(|| queues.pop()).collect()
    }

    #[test]
    fn each_queue_has_its_weight_in_bursts() {
        let mut queues = Queues::new(&[1, 2], 2, 100, Scheduler::Fifo);
        for id in 0..12 {
            queues.push(usize::from(id >= 6), id, 0);
        }
        assert_eq!(order(&mut queues), [0, 1, 6, 7, 8, 9, 2, 3, 10, 11, 4, 5]);
        // It is still the turn of queue 0, but its credit is used up, and no other queue has requests.
        queues.push(0, 20, 0);
        assert_eq!(order(&mut queues), [20]);
    }

    #[test]
    fn a_queue_at_its_depth_lets_others_go() {
        let mut queues = Queues::new(&[4, 4], 1, 1, Scheduler::Fifo);
        for id in 0..4 {
            queues.push(usize::from(id == 3), id, 0);
        }
        assert_eq!(order(&mut queues), [0, 3]);
        queues.completed(0);
        assert_eq!(order(&mut queues), [1]);
        queues.completed(1);
        assert_eq!(order(&mut queues), []);
    }

    #[test]
    fn a_queue_has_the_order_of_the_scheduler() {
        let mut queues = Queues::new(&[9, 9], 1, 100, Scheduler::CLook);
        for (id, sector) in [(0, 50), (1, 10), (2, 90)] {
            queues.push(0, id, sector);
        }
        queues.push(1, 3, 5);
        assert_eq!(order(&mut queues), [1, 0, 2, 3]);
    }
}
