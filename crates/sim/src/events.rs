//! The event list: first in, first out among equal times.
//!
//! Many things are due at the same instant, and their order decides block contents once garbage collection is
//! active. Events for the present instant go to a plain queue. Later ones go to a *lane* if their delay is
//! a usual one (a page read, a page program): events of equal delay fall due in the order they were
//! scheduled, so a lane is a plain queue too. The rest goes to a heap. What lanes and heap hold for an
//! instant was put there before that instant began, so it goes first.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use destage_base::time::TICKS_PER_MS;
use destage_base::{Ticks, choices};

/// The last moment. An event that would be due later is due then; an empty lane comes one tick after it.
pub const LAST: Ticks = Ticks::MAX - 1;

choices! {
    /// How the end of a span of time is computed from its start.
    pub enum Clock {
        /// In whole ticks, exactly.
        Exact = "exact",
        /// As the reference simulator does: milliseconds in double precision. In a busy period every sum is
        /// rounded the same way, so a queue that never empties drifts by some 1e-10 ms per operation,
        /// 1e-5 ms in all after a hundred thousand. Only with this clock are such runs equal to its digits.
        DoubleMs = "double_ms",
    }
}

impl Clock {
    /// The ordering key of a moment given in ticks.
    #[inline]
    fn key(self, time: Ticks) -> u64 {
        match self {
            Self::Exact => time.min(LAST),
            // The bits of non-negative numbers ascend as the numbers do.
            Self::DoubleMs => (time as f64 / TICKS_PER_MS as f64).to_bits(),
        }
    }

    /// The key of the moment `delay` ticks after that of `key`: never one before it.
    #[inline]
    fn after(self, key: u64, delay: Ticks) -> u64 {
        match self {
            Self::Exact => key.saturating_add(delay).min(LAST),
            Self::DoubleMs => (f64::from_bits(key) + delay as f64 / TICKS_PER_MS as f64).to_bits(),
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

/// Delays that get a lane of their own: a read, a program, a program that fills its block.
const LANES: usize = 3;
/// The order of the front of an empty lane: later than everything.
const NEVER: u128 = u128::MAX;

/// Events of type `E`, delivered by time and, among equal times, in the order they were scheduled.
pub struct EventList<E> {
    clock: Clock,
    now_key: u64,
    now: Ticks,
    scheduled: u64,
    instant: VecDeque<E>,
    /// Order of the first event of each lane, and of the heap behind them.
    fronts: [u128; LANES + 1],
    delays: [Ticks; LANES],
    lanes: [VecDeque<Entry<E>>; LANES],
    heap: BinaryHeap<Reverse<Entry<E>>>,
}

#[derive(Clone, Copy)]
struct Entry<E> {
    key: u64,
    rank: u64,
    event: E,
}

impl<E> Entry<E> {
    /// Time, then rank, in one number: the search for the next event has no branch to mispredict.
    #[inline]
    fn order(&self) -> u128 {
        u128::from(self.key) << 64 | u128::from(self.rank)
    }
}
impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
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
        self.order().cmp(&other.order())
    }
}

impl<E: Copy> EventList<E> {
    /// An empty list at time 0.
    pub fn new(clock: Clock) -> Self {
        Self {
            clock,
            now_key: clock.key(0),
            now: 0,
            scheduled: 0,
            instant: VecDeque::new(),
            fronts: [NEVER; LANES + 1],
            delays: [0; LANES],
            lanes: std::array::from_fn(|_| VecDeque::new()),
            heap: BinaryHeap::new(),
        }
    }

    /// The list is empty, and its time is `time`.
    pub fn begin_at(&mut self, time: Ticks) {
        self.now_key = self.clock.key(time);
        self.now = self.clock.ticks(self.now_key);
    }

    /// The time of the event delivered last.
    #[inline]
    pub fn now(&self) -> Ticks {
        self.now
    }

    /// Whether the clock stands at the last moment: from there on it measures nothing.
    #[inline]
    pub fn has_run_out(&self) -> bool {
        self.now >= LAST
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

    /// The same for a delay that is likely to come again and again.
    #[inline]
    pub fn after_usual(&mut self, delay: Ticks, event: E) {
        // The first delays seen get the lanes; a delay of 0 means a lane is not given yet.
        let lane = self
            .delays
            .iter()
            .position(|usual| *usual == delay || *usual == 0);
        let (Some(lane), true) = (lane, delay > 0) else {
            return self.after(delay, event);
        };
        let key = self.clock.after(self.now_key, delay);
        if key <= self.now_key {
            return self.instant.push_back(event);
        }
        self.delays[lane] = delay;
        self.scheduled += 1;
        let entry = Entry {
            key,
            rank: self.scheduled,
            event,
        };
        if self.lanes[lane].is_empty() {
            self.fronts[lane] = entry.order();
        }
        self.lanes[lane].push_back(entry);
    }

    #[inline]
    fn schedule(&mut self, key: u64, event: E) {
        if key <= self.now_key {
            return self.instant.push_back(event);
        }
        self.scheduled += 1;
        let entry = Entry {
            key,
            rank: self.scheduled,
            event,
        };
        self.fronts[LANES] = self.fronts[LANES].min(entry.order());
        self.heap.push(Reverse(entry));
    }

    /// Schedules `event` behind everything that is already due now.
    #[inline]
    pub fn soon(&mut self, event: E) {
        self.instant.push_back(event);
    }

    /// Whether nothing else is due at this instant.
    #[inline]
    pub fn is_instant_over(&self) -> bool {
        self.instant.is_empty()
            && self
                .fronts
                .iter()
                .all(|front| (front >> 64) as u64 > self.now_key)
    }

    /// When the next event is due, if there is one.
    #[must_use]
    pub fn next_time(&self) -> Option<Ticks> {
        if !self.instant.is_empty() {
            return Some(self.now);
        }
        let first = self.fronts.iter().min().filter(|front| **front != NEVER)?;
        Some(self.clock.ticks((first >> 64) as u64).max(self.now))
    }

    /// Takes the next event and moves the clock to it.
    #[inline]
    pub fn take(&mut self) -> Option<E> {
        let mut first = 0;
        let mut order = self.fronts[0];
        for front in 1..=LANES {
            let earlier = self.fronts[front] < order;
            first = if earlier { front } else { first };
            order = if earlier { self.fronts[front] } else { order };
        }
        let key = (order >> 64) as u64;
        if !self.instant.is_empty() && key > self.now_key {
            return self.instant.pop_front();
        }
        let event = if first < LANES {
            let entry = self.lanes[first].pop_front()?;
            self.fronts[first] = self.lanes[first].front().map_or(NEVER, Entry::order);
            entry.event
        } else {
            let Reverse(entry) = self.heap.pop()?;
            self.fronts[first] = self
                .heap
                .peek()
                .map_or(NEVER, |Reverse(entry)| entry.order());
            entry.event
        };
        if key > self.now_key {
            self.now_key = key;
            self.now = self.clock.ticks(key);
        }
        Some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::{Clock, EventList, TICKS_PER_MS};

    #[test]
    fn equal_times_are_delivered_in_the_order_they_were_scheduled() {
        let mut list = EventList::new(Clock::Exact);
        list.at(5, "a");
        list.at(3, "first");
        list.at(5, "b");
        assert_eq!(list.take(), Some("first"));
        list.at(5, "c");
        list.at(3, "now");
        assert_eq!(list.take(), Some("now"));
        assert_eq!(list.take(), Some("a"));
        list.soon("d");
        assert!(!list.is_instant_over());
        let rest: Vec<_> = std::iter::from_fn(|| list.take()).collect();
        assert_eq!(rest, ["b", "c", "d"]);
        assert!(list.is_instant_over());
    }

    #[test]
    fn what_is_due_after_the_end_of_time_comes_last() {
        for clock in [Clock::Exact, Clock::DoubleMs] {
            let mut list = EventList::new(clock);
            list.at(1000, "begin");
            assert_eq!(list.take(), Some("begin"));
            list.after(u64::MAX, "never");
            list.after_usual(u64::MAX, "never either");
            list.after_usual(7, "lane");
            list.after(9, "heap");
            list.at(u64::MAX / 2, "late");
            let order: Vec<_> = std::iter::from_fn(|| list.take()).collect();
            assert_eq!(order[..3], ["lane", "heap", "late"], "{clock:?}");
            assert_eq!(order.len(), 5, "{clock:?}");
            assert!(list.has_run_out(), "{clock:?}");
            // There, too, everything is delivered.
            list.after(3, "one");
            list.after_usual(3, "two");
            assert_eq!(list.take(), Some("one"), "{clock:?}");
            assert_eq!(list.take(), Some("two"), "{clock:?}");
        }
    }

    #[test]
    fn double_precision_drifts_from_the_exact_sum() {
        let mut ends = [Clock::Exact, Clock::DoubleMs].map(|clock| {
            let mut list = EventList::new(clock);
            list.at(900_000 * TICKS_PER_MS, ());
            list.take();
            for _ in 0..100_000 {
                list.after_usual(3_056_000, ());
                list.take();
            }
            list.now()
        });
        ends.sort_unstable();
        assert!((1..1000).contains(&(ends[1] - ends[0])), "{ends:?}");
    }

    #[test]
    fn lanes_and_heap_deliver_what_a_sorted_list_would() {
        let mut random = destage_base::Random::new(11);
        // Whole milliseconds are exact in double precision too.
        for (clock, unit) in [(Clock::Exact, 1), (Clock::DoubleMs, TICKS_PER_MS)] {
            let mut list = EventList::new(clock);
            // (moment, order of scheduling) of everything not delivered yet.
            let mut model: Vec<(u64, u32)> = Vec::new();
            let mut scheduled = 0;
            for _ in 0..20_000 {
                if random.below(2) == 0 || model.is_empty() {
                    let usual = random.below(2) == 0;
                    let delay = unit * random.below(if usual { 9 } else { 40 });
                    model.push((list.now() + delay, scheduled));
                    if usual {
                        list.after_usual(delay, scheduled);
                    } else {
                        list.after(delay, scheduled);
                    }
                    scheduled += 1;
                } else {
                    let (position, due) = model
                        .iter()
                        .copied()
                        .enumerate()
                        .min_by_key(|(_, due)| *due)
                        .unwrap();
                    model.remove(position);
                    assert_eq!(list.take(), Some(due.1));
                    assert_eq!(list.now(), due.0);
                }
            }
        }
    }
}
