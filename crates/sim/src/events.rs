//! The event list. Events with equal times are delivered in the order in which they were scheduled.
//!
//! Many events are due at the same instant. Once garbage collection is active, the order of such events determines
//! the contents of blocks. Three structures hold the events:
//!
//! - Events for the present instant are in a plain queue.
//! - Later events are in a ring, ordered by time. A new event nearly always belongs at the end of the ring, or before
//!   few other events.
//! - A heap holds an event if many events of the ring would have to move for it. It also holds events at given times,
//!   such as the next arrival, because these are usually far away.
//!
//! Entries of ring and heap that are due at an instant were scheduled before this instant began. So they are
//! delivered before the events of the queue.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use destage_base::time::TICKS_PER_MS;
use destage_base::{Ticks, choices};

use crate::queue::Queue;

/// The last moment of the clock. Events that would be due later are due at this moment.
pub const LAST: Ticks = Ticks::MAX - 1;

/// The number of waits that may be lost at one moment. In double precision, a wait is lost if it is shorter than half
/// the distance to the next number. A step that waits for its time would then be tried again at the same moment, for
/// ever.
const MOST_LOST: u32 = 1 << 16;

choices! {
    /// How the end of a span of time is computed from its start.
    pub enum Clock {
        /// In whole ticks, exactly.
        Exact = "exact",
        /// As in the reference simulator: in milliseconds with double precision. Every sum in a busy period is
        /// rounded in the same direction, so the clock of a queue that never empties drifts by about 1e-10 ms per
        /// operation, or 1e-5 ms after a hundred thousand operations. Only this clock reproduces the reference's
        /// results to the last digit.
        DoubleMs = "double_ms",
    }
}

impl Clock {
    /// The key by which a moment is ordered, from its time in ticks.
    #[inline]
    fn key(self, time: Ticks) -> u64 {
        match self {
            Self::Exact => time.min(LAST),
            // The bits of non-negative floating-point numbers have the same order as the numbers.
            Self::DoubleMs => (as_number(time) / TICKS_PER_MS as f64).to_bits(),
        }
    }

    /// `delay`, a number of ticks, in the form that [`Clock::advanced`] adds to a key.
    #[inline]
    fn span(self, delay: Ticks) -> u64 {
        match self {
            Self::Exact => delay,
            Self::DoubleMs => (delay as f64 / TICKS_PER_MS as f64).to_bits(),
        }
    }

    /// The key of the moment `span` after the moment of `key`. It is never earlier than `key`.
    #[inline]
    fn advanced(self, key: u64, span: u64) -> u64 {
        match self {
            Self::Exact => key.saturating_add(span).min(LAST),
            Self::DoubleMs => (f64::from_bits(key) + f64::from_bits(span)).to_bits(),
        }
    }

    /// The time of `key`, rounded to the nearest tick.
    #[inline]
    fn ticks(self, key: u64) -> Ticks {
        match self {
            Self::Exact => key,
            Self::DoubleMs => {
                let ticks = f64::from_bits(key) * TICKS_PER_MS as f64 + 0.5;
                // Processors convert to signed integers directly; a conversion to unsigned integers takes several
                // times as long.
                match ticks < (1_u64 << 62) as f64 {
                    true => ticks as i64 as Ticks,
                    false => ticks as Ticks,
                }
            }
        }
    }
}

/// `time` as a floating-point number. Processors convert signed integers directly. The conversion of unsigned
/// integers takes several times as long.
#[inline]
fn as_number(time: Ticks) -> f64 {
    match time >> 63 {
        0 => time as i64 as f64,
        _ => large_as_number(time),
    }
}

#[cold]
#[inline(never)]
fn large_as_number(time: Ticks) -> f64 {
    time as f64
}

/// The number of places in the ring; a power of two.
const PLACES: usize = 256;
/// The number of places that stay free: one place after the last event, and some places before the first event, where
/// events can be inserted.
const MARGIN: usize = 4;
/// If at least this number of events in the ring are later than a new event, the event is not simply inserted from
/// the end of the ring: it may also be inserted from the front, or go to the heap.
const FEW: usize = 8;
/// Maximum number of events that move when a new event is inserted.
const STEPS: usize = 16;
/// The cache of spans has 2 to the power of this number entries. The delay is multiplied by an odd number, and the
/// highest bits of the product select an entry.
const SPAN_BITS: u32 = 2;
const MIXER: u64 = 0x9E37_79B9_7F4A_7C15;
/// The key of the entry after the last event. The key is larger than that of every event.
const NEVER: u64 = u64::MAX;

/// Events of type `E`. They are delivered by time, and at equal times in the order in which they were scheduled.
pub struct EventList<E> {
    clock: Clock,
    now_key: u64,
    now: Ticks,
    scheduled: u64,
    instant: Queue<E>,
    /// Later events, ordered by time and rank. Entries before `first` were delivered. The entry at `end` is never
    /// due. The indices may exceed the size of the ring: each access takes its index modulo this size.
    ring: [Entry<E>; PLACES],
    first: usize,
    end: usize,
    /// The earliest event outside the ring, or an entry that is never due.
    aside: Entry<E>,
    /// The other events outside the ring.
    heap: BinaryHeap<Reverse<Entry<E>>>,
    /// A cache of delays and their spans. A run has few different delays, and each occurs many times.
    spans: [(Ticks, u64); 1 << SPAN_BITS],
    /// A moment at which waits were lost, and their number.
    lost: (u64, u32),
}

#[derive(Clone, Copy)]
struct Entry<E> {
    key: u64,
    rank: u64,
    event: E,
}

impl<E> Entry<E> {
    /// Time and rank in one number.
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

impl<E: Copy + Default> EventList<E> {
    /// An empty list at time 0.
    pub fn new(clock: Clock) -> Self {
        let entry = |key| Entry {
            key,
            rank: 0,
            event: E::default(),
        };
        let mut ring = [entry(0); PLACES];
        ring[0] = entry(NEVER);
        Self {
            clock,
            now_key: clock.key(0),
            now: 0,
            scheduled: 0,
            instant: Queue::default(),
            ring,
            first: 0,
            end: 0,
            aside: entry(NEVER),
            heap: BinaryHeap::new(),
            spans: [(0, clock.span(0)); 1 << SPAN_BITS],
            lost: (0, 0),
        }
    }

    /// Sets the time of an empty list to `time`.
    pub fn begin_at(&mut self, time: Ticks) {
        self.now_key = self.clock.key(time);
        self.now = self.clock.ticks(self.now_key);
    }

    /// The time of the latest delivered event.
    #[inline]
    pub fn now(&self) -> Ticks {
        self.now
    }

    /// Whether the clock has reached the last moment, after which it measures nothing.
    #[inline]
    pub fn has_run_out(&self) -> bool {
        self.now >= LAST
    }

    /// Whether the clock cannot move on, because the waits of events are too short for its numbers. Then there are no
    /// more events.
    #[inline]
    pub fn stands_still(&self) -> bool {
        self.lost.1 > MOST_LOST
    }

    /// Notes that the clock has lost a wait. Returns whether it stands still, and then removes all events.
    #[cold]
    #[inline(never)]
    fn loses(&mut self) -> bool {
        // The exact clock loses a wait only at the last moment, where the run ends anyway.
        if self.clock == Clock::Exact {
            return false;
        }
        if !self.stands_still() {
            if self.lost.0 != self.now_key {
                self.lost = (self.now_key, 0);
            }
            self.lost.1 += 1;
        }
        if self.stands_still() {
            self.instant.clear();
            self.heap.clear();
            self.aside.key = NEVER;
            self.first = self.end;
            let end = self.end;
            self.at_place(end).key = NEVER;
        }
        self.stands_still()
    }

    /// Schedules `event` at `time`, or now if this time has passed. The event is not put into the ring, because
    /// events at given times are few and usually far away.
    pub fn at<X>(&mut self, time: Ticks, event: X)
    where
        E: From<X>,
    {
        let key = self.clock.key(time);
        if key <= self.now_key {
            return self.instant.push(E::from(event));
        }
        self.scheduled += 1;
        self.put_aside(key, self.scheduled, E::from(event));
    }

    /// Schedules `event` after `delay`.
    #[inline(always)]
    pub fn after<X>(&mut self, delay: Ticks, event: X)
    where
        E: From<X>,
    {
        let key = self.key_after(delay);
        if key > self.now_key {
            return self.insert(key, E::from(event));
        }
        if delay == 0 || !self.loses() {
            self.instant.push(E::from(event));
        }
    }

    /// `event` is due after `delay`. If it would be delivered before every other event, moves the clock to its time
    /// and returns `true`, and the caller handles the event at once. Otherwise schedules the event and returns
    /// `false`.
    #[inline(always)]
    pub fn delivers_after<X>(&mut self, delay: Ticks, event: X) -> bool
    where
        E: From<X>,
    {
        let key = self.key_after(delay);
        let is_next = self.instant.is_empty() && key < self.next_key();
        match is_next {
            true => self.move_clock(key),
            false => self.schedule(key, E::from(event)),
        }
        is_next
    }

    /// The only event that is due now, which is also the next event to be delivered. `None` if no event is due now,
    /// or several are.
    #[inline(always)]
    pub fn sole_due(&self) -> Option<E> {
        let is_next = self.next_key() > self.now_key;
        self.instant.only().filter(|_| is_next)
    }

    /// Removes the event that [`sole_due`](Self::sole_due) returned.
    #[inline(always)]
    pub fn take_sole_due(&mut self) {
        self.instant.clear();
    }

    #[inline(always)]
    fn key_after(&mut self, delay: Ticks) -> u64 {
        let place = delay.wrapping_mul(MIXER) >> (u64::BITS - SPAN_BITS);
        let mut known = self.spans[place as usize];
        if delay != known.0 {
            known = (delay, self.clock.span(delay));
            self.spans[place as usize] = known;
        }
        self.clock.advanced(self.now_key, known.1)
    }

    #[inline(always)]
    fn move_clock(&mut self, key: u64) {
        self.now_key = key;
        self.now = self.clock.ticks(key);
    }

    #[inline(always)]
    fn schedule(&mut self, key: u64, event: E) {
        match key > self.now_key {
            true => self.insert(key, event),
            false => self.instant.push(event),
        }
    }

    /// Inserts `event`, which is not due now, into the ring or the heap.
    #[inline(always)]
    fn insert(&mut self, key: u64, event: E) {
        self.scheduled += 1;
        let entry = Entry {
            key,
            rank: self.scheduled,
            event,
        };
        let passes_many = |list: &mut Self| list.at_place(list.end.wrapping_sub(FEW)).key > key;
        if self.end.wrapping_sub(self.first) >= FEW && (self.is_full() || passes_many(self)) {
            return self.schedule_before_many(entry);
        }
        self.schedule_from_the_end(entry);
    }

    /// Whether the ring has no place for another event.
    #[inline]
    fn is_full(&self) -> bool {
        self.end.wrapping_sub(self.first) > PLACES - MARGIN
    }

    /// Schedules `entry` if the ring is full or has many later events. If the ring is full, the entry goes to the
    /// heap. If few events precede the entry, these events move towards the front. If few events follow the entry,
    /// these events move towards the end. Otherwise the entry goes to the heap.
    #[inline(never)]
    fn schedule_before_many(&mut self, entry: Entry<E>) {
        if self.is_full() {
            return self.put_among(entry.key, entry.rank, entry.event);
        }
        let first = self.first;
        let is_before =
            |step: &usize| self.ring[first.wrapping_add(*step) % PLACES].key <= entry.key;
        let before = (0..STEPS).take_while(is_before).count();
        if before < STEPS {
            self.first = first.wrapping_sub(1);
            for step in 0..before {
                let place = first.wrapping_add(step);
                *self.at_place(place.wrapping_sub(1)) = *self.at_place(place);
            }
            *self.at_place(self.first.wrapping_add(before)) = entry;
        } else if self.at_place(self.end.wrapping_sub(STEPS)).key <= entry.key {
            self.schedule_from_the_end(entry);
        } else {
            self.put_among(entry.key, entry.rank, entry.event);
        }
    }

    /// Inserts `entry` into the ring, after all events that are not due later.
    #[inline(always)]
    fn schedule_from_the_end(&mut self, entry: Entry<E>) {
        let (key, mut place) = (entry.key, self.end);
        self.end = place.wrapping_add(1);
        self.at_place(self.end).key = NEVER;
        // Entries before `first` were delivered, so they are not later and end the loop.
        while self.at_place(place.wrapping_sub(1)).key > key {
            *self.at_place(place) = *self.at_place(place.wrapping_sub(1));
            place = place.wrapping_sub(1);
        }
        *self.at_place(place) = entry;
    }

    #[inline]
    fn at_place(&mut self, place: usize) -> &mut Entry<E> {
        &mut self.ring[place % PLACES]
    }

    #[inline]
    fn put_aside(&mut self, key: u64, rank: u64, event: E) {
        // Usually no other event is outside the ring, so the next arrival finds `aside` empty.
        if self.aside.key == NEVER {
            self.aside = Entry { key, rank, event };
            return;
        }
        self.put_among(key, rank, event);
    }

    /// Does the work of [`EventList::put_aside`] if `aside` may be in use.
    #[inline(never)]
    fn put_among(&mut self, key: u64, rank: u64, event: E) {
        let entry = Entry { key, rank, event };
        if self.aside.key == NEVER {
            self.aside = entry;
            return;
        }
        let later = if entry.order() < self.aside.order() {
            std::mem::replace(&mut self.aside, entry)
        } else {
            entry
        };
        self.heap.push(Reverse(later));
    }

    /// Schedules `event` after all events that are due now.
    #[inline]
    pub fn soon<X>(&mut self, event: X)
    where
        E: From<X>,
    {
        self.instant.push(E::from(event));
    }

    /// Whether no more events are due at this instant.
    #[inline]
    pub fn is_instant_over(&self) -> bool {
        self.instant.is_empty() && self.next_key() > self.now_key
    }

    /// The time at which the next event is due; `None` if there is none.
    #[must_use]
    pub fn next_time(&self) -> Option<Ticks> {
        if !self.instant.is_empty() {
            return Some(self.now);
        }
        let key = self.next_key();
        (key != NEVER).then(|| self.clock.ticks(key).max(self.now))
    }

    /// The key of the first event that is not in the queue of the present instant.
    #[inline]
    fn next_key(&self) -> u64 {
        self.ring[self.first % PLACES].key.min(self.aside.key)
    }

    /// Removes the next event, moves the clock to it and returns it; `None` if there is no event.
    #[inline(always)]
    pub fn take(&mut self) -> Option<E> {
        let first = &self.ring[self.first % PLACES];
        let key = first.key.min(self.aside.key);
        if !self.instant.is_empty() && key > self.now_key {
            return self.instant.pop();
        }
        if key == NEVER {
            return None;
        }
        let is_aside = match self.aside.key == first.key {
            true => self.aside.rank < first.rank,
            false => self.aside.key < first.key,
        };
        let event = if is_aside {
            self.take_aside()
        } else {
            let event = first.event;
            self.first = self.first.wrapping_add(1);
            event
        };
        if key > self.now_key {
            self.move_clock(key);
        }
        Some(event)
    }

    #[inline]
    fn take_aside(&mut self) -> E {
        let event = self.aside.event;
        // Nearly always this event is the next arrival, and no other event is outside the ring.
        if self.heap.is_empty() {
            self.aside.key = NEVER;
        } else if let Some(Reverse(next)) = self.heap.pop() {
            self.aside = next;
        }
        event
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
            list.after(u64::MAX, "never either");
            list.after(7, "near");
            list.after(9, "nearer");
            list.at(u64::MAX / 2, "late");
            let order: Vec<_> = std::iter::from_fn(|| list.take()).collect();
            assert_eq!(order[..3], ["near", "nearer", "late"], "{clock:?}");
            assert_eq!(order.len(), 5, "{clock:?}");
            assert!(list.has_run_out(), "{clock:?}");
            // Events at the last moment are delivered as well.
            list.after(3, "one");
            list.after(3, "two");
            assert_eq!(list.take(), Some("one"), "{clock:?}");
            assert_eq!(list.take(), Some("two"), "{clock:?}");
        }
    }

    #[test]
    fn a_clock_that_loses_the_waits_of_events_ends() {
        // At this time, numbers of double precision are 305 ticks apart.
        let late = 250_000_000_000 * TICKS_PER_MS;
        for (delay, is_lost) in [(100, true), (1000, false)] {
            let mut list = EventList::new(Clock::DoubleMs);
            list.begin_at(late);
            list.at(late + 1_000_000 * TICKS_PER_MS, "another");
            list.after(delay, "wait");
            let mut waits = 0;
            while list.take() == Some("wait") && waits < 200_000 {
                list.after(delay, "wait");
                waits += 1;
            }
            assert_eq!(list.stands_still(), is_lost, "{delay}");
            assert_eq!(list.now() == late, is_lost, "{delay}");
            assert_eq!(list.take().is_none(), is_lost, "{delay}");
        }
        // Waits that are lost at different moments do no harm.
        let mut list = EventList::new(Clock::DoubleMs);
        list.begin_at(late);
        for _ in 0..200_000 {
            list.after(100, "lost");
            list.after(1000, "kept");
            assert_eq!(list.take(), Some("lost"));
            assert_eq!(list.take(), Some("kept"));
        }
        assert!(!list.stands_still());
    }

    #[test]
    fn double_precision_drifts_from_the_exact_sum() {
        let mut ends = [Clock::Exact, Clock::DoubleMs].map(|clock| {
            let mut list = EventList::<()>::new(clock);
            list.at(900_000 * TICKS_PER_MS, ());
            list.take();
            for _ in 0..100_000 {
                list.after(3_056_000, ());
                list.take();
            }
            list.now()
        });
        ends.sort_unstable();
        assert!((1..1000).contains(&(ends[1] - ends[0])), "{ends:?}");
    }

    #[test]
    fn only_what_comes_before_everything_else_is_delivered_without_the_list() {
        let mut list = EventList::new(Clock::Exact);
        assert!(list.delivers_after(5, "alone"));
        assert_eq!(list.now(), 5);
        list.after(3, "first");
        assert!(!list.delivers_after(3, "as soon, and later in order"));
        assert!(!list.delivers_after(4, "later"));
        assert!(list.delivers_after(0, "at once"));
        list.soon("now");
        assert!(!list.delivers_after(0, "behind it"));
        list.take_sole_due();
        list.soon("now");
        assert!(!list.delivers_after(1, "soon, but not now"));
        assert_eq!(list.sole_due(), Some("now"));
        list.take_sole_due();
        assert_eq!(list.sole_due(), None);
        list.at(7, "apart");
        assert!(!list.delivers_after(2, "behind what is apart"));
        let rest: Vec<_> = std::iter::from_fn(|| list.take()).collect();
        let order = [
            "soon, but not now",
            "apart",
            "behind what is apart",
            "first",
            "as soon, and later in order",
            "later",
        ];
        assert_eq!(rest, order);
        list.at(12, "due");
        list.at(12, "due as well");
        assert_eq!(list.take(), Some("due"));
        list.soon("behind it");
        assert_eq!(list.sole_due(), None, "another is due before it");
        assert_eq!(list.take(), Some("due as well"));
        assert_eq!(list.sole_due(), Some("behind it"));
        list.soon("behind that");
        assert_eq!(list.sole_due(), None);
    }

    #[test]
    fn ring_and_heap_deliver_what_a_sorted_list_would() {
        let mut random = destage_base::Random::new(11);
        // Whole milliseconds are exact in double precision, so the model holds for both clocks.
        for (clock, unit) in [(Clock::Exact, 1), (Clock::DoubleMs, TICKS_PER_MS)] {
            let mut list = EventList::new(clock);
            // Time and order of scheduling of every event that was not delivered yet.
            let mut model: Vec<(u64, u32)> = Vec::new();
            let mut scheduled = 0;
            for step in 0..40_000 {
                // The list grows beyond the ring, and becomes empty again.
                let grows = if step / 2000 % 2 == 0 { 6 } else { 3 };
                if random.below(10) < grows || model.is_empty() {
                    let most = [9, 40, 4000][random.below(3) as usize];
                    let delay = unit * random.below(most);
                    model.push((list.now() + delay, scheduled));
                    list.after(delay, scheduled);
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
