//! Tests of rules that every scheme must follow. Each test runs every scheme of the registry, and most tests run
//! every variant of the scheme's parameters.
//!
//! After each page the bench checks that the occupancy and the counts are consistent, that victims are dirty and
//! resident with their newest version, that no slot is reused early, and that every read returns the newest
//! version. The tests in this file only supply the streams of operations.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use crate::common;

use std::sync::atomic::{AtomicUsize, Ordering};

use common::{
    Bench, Completion, Operation, completions, for_every_row, is_resident, random_operations,
    run_all, variants,
};
use destage_base::parameter::{Value, Values};
use destage_base::{Lpn, Random};
use destage_buffer::destage::Slot;
use destage_buffer::scheme::{Access, AccessKind, Entry, Need, Victim};
use destage_buffer::view::NoDevice;
use destage_buffer::{DestageCause, Scheme, SchemeConfig, SchemeRow};
use destage_sample::sampled;

/// Calls `visit` with every sequence of `length` digits below `base`, or with each `step`-th.
fn every_sequence(base: u64, length: usize, step: usize, mut visit: impl FnMut(&[u64])) {
    let mut digits = vec![0; length];
    for mut number in (0..base.pow(length as u32)).step_by(step) {
        for digit in &mut digits {
            *digit = number % base;
            number /= base;
        }
        visit(&digits);
    }
}

/// The number of operations of a stream for a buffer of `capacity` pages. For two pages the number is `longest`,
/// for other capacities one less. With `make whole` it is `longest` for all capacities.
fn length_with(capacity: u32, longest: usize) -> usize {
    longest - usize::from(capacity != 2 && sampled(true, false))
}

#[test]
fn every_short_stream_of_writes() {
    for_every_row(|row| {
        let values = &variants(row)[0].1;
        for capacity in 1..=3 {
            // Each stream also tests all its prefixes, so shorter streams are not needed.
            every_sequence(4, length_with(capacity, sampled(6, 7)), 1, |pages| {
                let operations: Vec<_> = pages
                    .iter()
                    .map(|page| Operation::Write(vec![*page]))
                    .collect();
                run_all(row, row.name, capacity, values, &operations, 4);
            });
        }
    });
}

#[test]
fn every_short_stream_of_all_operations() {
    let operation = |digit: u64| match digit {
        0..4 => Operation::Write(vec![digit]),
        4..6 => Operation::Write(vec![digit - 4, digit - 3]),
        6..9 => Operation::Read(vec![digit - 6]),
        9..12 => Operation::Trim(digit - 9),
        12..14 => Operation::Fua(digit - 12),
        _ => Operation::Flush,
    };
    for_every_row(|row| {
        for (index, (name, values)) in variants(row).into_iter().enumerate() {
            // The defaults are tested with longer streams. A sample has a quarter of the streams, and tests values that
            // are not the defaults with one capacity.
            let is_default = index == 0;
            let capacities = if is_default {
                1..=3
            } else {
                sampled(2..=2, 1..=3)
            };
            for capacity in capacities {
                let length = if is_default {
                    length_with(capacity, 4)
                } else {
                    3
                };
                every_sequence(15, length, sampled(4, 1), |digits| {
                    // A trim or a flush of an empty buffer does nothing. If a stream begins with one, the
                    // remaining operations are also the beginning of another stream, which is tested. So for each
                    // second operation only one such stream runs: the one that continues with writes of page 0.
                    let begins_with_nothing = matches!(digits[0], 9..12 | 14);
                    if begins_with_nothing && digits[2..].iter().any(|digit| *digit > 0) {
                        return;
                    }
                    let operations: Vec<_> = digits.iter().map(|digit| operation(*digit)).collect();
                    run_all(row, &name, capacity, &values, &operations, 4);
                });
            }
        }
    });
}

#[test]
fn long_random_streams() {
    for_every_row(|row| {
        for (name, values) in variants(row) {
            for (seed, capacity, pages) in [
                (1, 1, 20),
                (2, 5, 20),
                (3, 64, 200),
                (4, 64, 60),
                (5, 500, 4000),
            ] {
                let operations =
                    random_operations(&mut Random::new(seed), pages, sampled(1_500, 10_000));
                run_all(row, &name, capacity, &values, &operations, pages);
            }
        }
    });
}

#[test]
fn idle_time_and_bypassing_requests() {
    for_every_row(|row| {
        let mut values = variants(row).remove(0).1;
        values.set("bypass_pages", Value::Integer(5));
        let with_background = completions(9).map(|completion| (true, completion));
        let without = completions(9).map(|completion| (false, completion));
        for (background, completion) in without.into_iter().chain(with_background) {
            values.set("bg_destage", Value::Flag(background));
            let mut random = Random::new(6);
            let operations = random_operations(&mut random, 150, 10_000);
            let mut bench = Bench::for_operations(row, 40, &values, completion, &operations);
            for operation in operations {
                bench.apply(&operation);
                if random.below(8) == 0 {
                    bench.apply(&Operation::Idle);
                }
            }
            bench.check_all(0..150);
            let superseded = bench.buffer.counts().dropped.superseded;
            assert_eq!(superseded > 0, bench.buffer.keeps_pages());
        }
    });
}

/// A scheme that lists candidates lists all its pages, in the order in which it would evict them to make room.
#[test]
fn candidates_leave_in_the_order_they_are_shown() {
    let shown = AtomicUsize::new(0);
    for_every_row(|row| {
        for (name, values) in variants(row) {
            for (seed, capacity, pages) in [(1, 1, 20), (2, 5, 20), (3, 40, 120), (4, 40, 45)] {
                let operations = random_operations(&mut Random::new(seed), pages, 60);
                let mut on_scheme = OnScheme::new(row, capacity, &values, &operations);
                for round in 0..20 {
                    // Each round runs three more operations and then compares candidates with evictions. The last
                    // round evicts all pages.
                    on_scheme.run(round);
                    let candidates = on_scheme.candidates();
                    if candidates.is_empty() {
                        break;
                    }
                    assert_eq!(candidates.len(), on_scheme.scheme.len(), "{name}");
                    let left = on_scheme.evict(if round < 19 { capacity / 3 } else { capacity });
                    assert_eq!(left, candidates[..left.len()], "{name}, {capacity} pages");
                    shown.fetch_add(left.len(), Ordering::Relaxed);
                }
            }
        }
    });
    assert!(shown.into_inner() > 1_000);
}

/// A scheme that the test drives without a `Buffer`, over a device that reports no state.
struct OnScheme {
    scheme: Box<dyn Scheme>,
    capacity: usize,
    held: Vec<Entry>,
    operations: std::vec::IntoIter<Operation>,
    access: Access,
}

impl OnScheme {
    fn new(row: &SchemeRow, capacity: u32, values: &Values, operations: &[Operation]) -> Self {
        // This test evicts pages itself, so future page writes would not match the contents of the scheme. A
        // scheme that has to know future writes gets an empty list.
        let scheme = (row.build)(&SchemeConfig {
            dies: 4,
            future: row.needs_future().then_some(&[]),
            ..SchemeConfig::new(capacity, 4, values)
        });
        // A scheme that has to know future writes, or keeps no pages, gets no operations.
        let operations = if row.needs_future() || !scheme.properties().keeps_pages {
            &[]
        } else {
            operations
        };
        Self {
            scheme,
            capacity: capacity as usize,
            held: Vec::new(),
            operations: Vec::from(operations).into_iter(),
            access: Access {
                kind: AccessKind::Write,
                virtual_time: 0,
                now: 0,
                request: 0,
                request_pages: 1,
            },
        }
    }

    /// Runs three operations. A flush or an FUA write requests one victim from the scheme.
    fn run(&mut self, round: u64) {
        for operation in self.operations.by_ref().take(3).collect::<Vec<_>>() {
            self.access.request += 1;
            self.access.now += round;
            match operation {
                Operation::Write(pages) => {
                    self.access.request_pages = pages.len() as u32;
                    pages.into_iter().for_each(|page| self.write(Lpn(page)));
                }
                Operation::Read(pages) => {
                    self.access.kind = AccessKind::Read;
                    for page in pages {
                        if let Some(entry) = self.find(Lpn(page)) {
                            self.scheme.touch(entry, &self.access);
                        }
                    }
                }
                Operation::Trim(page) => {
                    if let Some(entry) = self.find(Lpn(page)) {
                        self.scheme.remove(entry);
                        self.held.retain(|held| *held != entry);
                    }
                }
                _ if !self.held.is_empty() => {
                    self.ask(Need::Flush);
                }
                _ => {}
            }
        }
    }

    fn write(&mut self, page: Lpn) {
        self.access.virtual_time += 1;
        self.access.kind = AccessKind::Write;
        if let Some(entry) = self.find(page) {
            self.scheme.touch(entry, &self.access);
            return;
        }
        while !self.held.is_empty()
            && self
                .scheme
                .is_full_for(page, self.capacity - self.held.len())
        {
            self.ask(Need::Evict(page));
        }
        let is_free = |slot: &Slot| self.held.iter().all(|held| held.slot != *slot);
        let slot = (0..).map(Slot).find(is_free).unwrap();
        let entry = Entry { page, slot };
        self.held.push(entry);
        self.scheme.insert(entry, &self.access);
    }

    fn find(&self, page: Lpn) -> Option<Entry> {
        self.held.iter().copied().find(|held| held.page == page)
    }

    fn ask(&mut self, need: Need) -> Vec<Entry> {
        let mut victim = Victim::default();
        let access = self.access;
        self.scheme.evict(need, &access, &NoDevice, &mut victim);
        if !victim.retain {
            self.held.retain(|held| !victim.entries.contains(held));
        }
        victim.entries
    }

    fn candidates(&self) -> Vec<Entry> {
        let mut candidates = Vec::new();
        self.scheme.candidates(&mut |entry| {
            candidates.push(entry);
            true
        });
        candidates
    }

    /// Requests evictions until `pages` pages are evicted or the scheme is empty; returns the evicted entries.
    /// The page that needs the room is never resident.
    fn evict(&mut self, pages: u32) -> Vec<Entry> {
        let mut left = Vec::new();
        while left.len() < pages as usize && !self.held.is_empty() {
            left.extend(self.ask(Need::Evict(Lpn(1 << 40))));
        }
        left
    }
}

#[test]
fn a_buffer_without_capacity_sends_every_page_past_it() {
    for_every_row(|row| {
        for (name, values) in variants(row) {
            let operations = random_operations(&mut Random::new(3), 20, 200);
            let completion = Completion::Held;
            let mut bench = Bench::for_operations(row, 0, &values, completion, &operations);
            assert!(!bench.buffer.keeps_pages() && bench.buffer.bypasses(1));
            assert_eq!(bench.buffer.idle_rule(), None, "{name}");
            bench.run(&operations);
            bench.apply(&Operation::Idle);
            bench.apply(&Operation::Drain);
            let counts = bench.buffer.counts();
            let bypassed = counts.destaged_pages[DestageCause::Bypass as usize];
            assert_eq!((bypassed, counts.read_hits), (counts.page_writes, 0));
            assert_eq!((counts.dirty_max, bench.buffer.occupied()), (0, 0));
            assert!(bench.records.is_empty(), "{name}");
        }
    });
}

/// The properties of a scheme say whether it keeps pages; only `nocache` keeps none.
#[test]
fn a_page_that_enters_is_found_unless_the_scheme_keeps_none() {
    for_every_row(|row| {
        let operations = [Operation::Write(vec![7])];
        let values = variants(row).remove(0).1;
        let mut bench = Bench::for_operations(row, 4, &values, Completion::Held, &operations);
        bench.run(&operations);
        let keeps = bench.buffer.keeps_pages();
        assert_eq!(keeps, row.name != "nocache");
        assert_eq!(bench.buffer.find(Lpn(7)).is_some(), keeps);
        assert_eq!(bench.buffer.occupied(), keeps.into());
        // An eager scheme may have evicted the page already.
        let left = bench.buffer.is_eager() && bench.buffer.dirty() == 0;
        assert_eq!(is_resident(&bench.buffer, 7), keeps && !left);
        assert_eq!(bench.buffer.dirty(), u32::from(keeps && !left));
    });
}

#[test]
fn equal_calls_give_equal_records() {
    for_every_row(|row| {
        for (name, values) in variants(row) {
            let run = || {
                let operations =
                    random_operations(&mut Random::new(8), 1000, sampled(3_000, 20_000));
                let completion = Completion::AtOnce;
                let mut bench = Bench::for_operations(row, 100, &values, completion, &operations);
                bench.run(&operations);
                (bench.log, bench.buffer.counts())
            };
            assert_eq!(run(), run(), "{name}");
        }
    });
}
