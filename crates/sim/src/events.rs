//! The event list: first in, first out among equal times.
//!
//! Many things are due at the same instant, and their order decides block contents once cleaning is
//! active. Events for the present instant go to a plain queue, later ones to a heap. What the heap holds
//! for an instant was put there before that instant began, so it goes first.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use destage_base::Ticks;
use destage_base::time::TICKS_PER_MS;

/// How the end of a span of time is computed from its start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clock {
    /// In whole ticks, exactly.
    Exact,
    /// As the reference simulator does: milliseconds in double precision. In a busy period every sum is
    /// rounded the same way, so a queue that never empties drifts by some 1e-10 ms per operation,
    /// 1e-5 ms in all after a hundred thousand. Only with this clock are such runs equal to its digits.
    DoubleMs,
}

impl Clock {
    /// The ordering key of a moment given in ticks.
    #[inline]
    fn key(self, time: Ticks) -> u64 {
        match self {
            Self::Exact => time,
            // The bits of non-negative numbers ascend as the numbers do.
            Self::DoubleMs => (time as f64 / TICKS_PER_MS as f64).to_bits(),
        }
    }

    /// The key of the moment `delay` ticks after that of `key`.
    #[inline]
    fn after(self, key: u64, delay: Ticks) -> u64 {
        match self {
            Self::Exact => key + delay,
            Self::DoubleMs => {
                (f64::from_bits(key) + delay as f64 / TICKS_PER_MS as f64).to_bits()
            }
        }
    }

    /// The moment of `key`, to the nearest tick.
    #[inline]
    fn ticks(self, key: u64) -> Ticks {
        match self {
            Self::Exact => key,
            Self::DoubleMs => (f64::from_bits(key) * TICKS_PER_MS as f64 + 0.5) as Ticks,
        }
    }
}

/// Events of type `E`, delivered by time and, among equal times, in the order they were scheduled.
pub struct EventList<E> {
    clock: Clock,
    now_key: u64,
    now: Ticks,
    scheduled: u64,
    later: BinaryHeap<Reverse<Entry<E>>>,
    instant: VecDeque<E>,
}

struct Entry<E> {
    key: u64,
    rank: u64,
    event: E,
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        (self.key, self.rank) == (other.key, other.rank)
    }
}
impl<E> Eq for Entry<E> {}
impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<E> Ord for Entry<E> {
    #[inline]
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.key, self.rank).cmp(&(other.key, other.rank))
    }
}

impl<E> EventList<E> {
    /// An empty list at time 0.
    pub fn new(clock: Clock) -> Self {
        Self {
            clock,
            now_key: clock.key(0),
            now: 0,
            scheduled: 0,
            later: BinaryHeap::new(),
            instant: VecDeque::new(),
        }
    }

    /// The time of the event delivered last.
    #[inline]
    pub fn now(&self) -> Ticks {
        self.now
    }

    /// Schedules `event` at `time`; a time that has passed means now.
    #[inline]
    pub fn at(&mut self, time: Ticks, event: E) {
        self.schedule(self.clock.key(time), event);
    }

    /// Schedules `event` when `delay` has passed.
    #[inline]
    pub fn after(&mut self, delay: Ticks, event: E) {
        self.schedule(self.clock.after(self.now_key, delay), event);
    }

    #[inline]
    fn schedule(&mut self, key: u64, event: E) {
        if key <= self.now_key {
            self.instant.push_back(event);
        } else {
            self.scheduled += 1;
            self.later.push(Reverse(Entry { key, rank: self.scheduled, event }));
        }
    }

    /// Schedules `event` behind everything that is already due now.
    #[inline]
    pub fn soon(&mut self, event: E) {
        self.instant.push_back(event);
    }

    /// Whether something else is due at this instant.
    #[inline]
    pub fn is_instant_over(&self) -> bool {
        self.instant.is_empty()
            && self.later.peek().is_none_or(|Reverse(entry)| entry.key > self.now_key)
    }

    /// Takes the next event and moves the clock to it.
    #[inline]
    pub fn next(&mut self) -> Option<E> {
        if !self.instant.is_empty() {
            let heap_first =
                self.later.peek().is_some_and(|Reverse(entry)| entry.key <= self.now_key);
            if !heap_first {
                return self.instant.pop_front();
            }
        }
        let Reverse(entry) = self.later.pop()?;
        self.now_key = entry.key;
        self.now = self.clock.ticks(entry.key);
        Some(entry.event)
    }
}

#[cfg(test)]
mod tests {
    use super::{Clock, EventList};

    #[test]
    fn equal_times_are_delivered_in_the_order_they_were_scheduled() {
        let mut list = EventList::new(Clock::Exact);
        list.at(5, "a");
        list.at(3, "first");
        list.at(5, "b");
        assert_eq!(list.next(), Some("first"));
        list.at(5, "c");
        list.at(3, "now");
        assert_eq!(list.next(), Some("now"));
        assert_eq!(list.next(), Some("a"));
        list.soon("d");
        assert!(!list.is_instant_over());
        let rest: Vec<_> = std::iter::from_fn(|| list.next()).collect();
        assert_eq!(rest, ["b", "c", "d"]);
        assert!(list.is_instant_over());
    }
}
