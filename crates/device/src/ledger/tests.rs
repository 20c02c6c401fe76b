//! Tests of the ledger without a device.

use super::*;
use crate::request::Span;

const TERMS: Terms = Terms {
    pages: 8,
    sectors: 2,
    sector_bytes: 4,
    volatile_cache: true,
    strict_trim: false,
    relies_on_capacitor: false,
    remembered: 64,
};

struct Bench(Ledger, u64);

impl Bench {
    fn new(terms: Terms) -> Self {
        Self(Ledger::new(terms), 0)
    }

    /// Passes a request for page 1, or a flush, to the ledger with this `token`. A write fills the page with
    /// `letter`.
    fn ask(&mut self, token: u32, kind: RequestKind, letter: u8) {
        let changes = !matches!(kind, Read | Flush);
        self.1 += u64::from(changes);
        let request = Request {
            kind,
            span: Span::whole(1, 1),
            fua: false,
        };
        let data = [letter; 8];
        let data = match kind {
            Write => &data[..],
            _ => &[],
        };
        self.0.accept(token, &request, self.1, [data]);
    }

    fn done(&mut self, token: u32, kind: RequestKind, letter: u8) {
        self.ask(token, kind, letter);
        self.0.answer(token);
    }

    /// For each of these letters, whether the ledger allows that page 1 is filled with this letter.
    fn allows<const N: usize>(&self, letters: [u8; N]) -> [bool; N] {
        letters.map(|letter| self.0.check(Lpn(1), &[letter; 8], None).is_empty())
    }
}

use RequestKind::{Flush, Read, Trim, Write};

#[test]
fn a_flush_covers_what_was_answered_before_it_came() {
    let mut bench = Bench::new(TERMS);
    bench.done(0, Write, b'a');
    bench.ask(1, Write, b'b');
    bench.ask(2, Flush, 0);
    bench.0.answer(1);
    assert_eq!(
        bench.allows([0, b'a', b'b', b'c']),
        [true, true, true, false]
    );
    bench.0.answer(2);
    assert_eq!(
        bench.allows([0, b'a', b'b', b'c']),
        [false, true, true, false]
    );
    bench.done(3, Flush, 0);
    assert_eq!(bench.allows([0, b'a', b'b']), [false, false, true]);
    assert_eq!(
        bench.0.counts(),
        Counts {
            sectors: 2,
            must: 2,
            may: 0
        }
    );
}

#[test]
fn a_read_that_is_answered_says_nothing_of_the_write_before_it() {
    let mut bench = Bench::new(TERMS);
    bench.ask(0, Write, b'a');
    bench.done(1, Read, 0);
    bench.done(2, Flush, 0);
    assert_eq!(bench.allows([0, b'a']), [true, true]);
}

#[test]
fn a_write_that_was_answered_is_counted_as_lost_if_neither_it_nor_a_later_one_is_there() {
    let mut bench = Bench::new(TERMS);
    let lost = |bench: &Bench, letter| bench.0.count_lost(Lpn(1), &[letter; 8]);
    assert_eq!(lost(&bench, b'x'), 0);
    bench.ask(0, Write, b'a');
    assert_eq!(lost(&bench, 0), 0);
    bench.0.answer(0);
    bench.done(1, Write, b'b');
    bench.ask(2, Write, b'c');
    let each = [0, b'a', b'b', b'c'].map(|letter| lost(&bench, letter));
    assert_eq!(each, [2, 2, 0, 0]);
    assert_eq!(bench.0.count_lost(Lpn(1), b"bbbbaaaa"), 1);
    // Trimmed data are not counted as lost, whatever the page holds after the trim.
    bench.done(3, Trim, 0);
    assert_eq!(lost(&bench, b'a'), 0);
}

#[test]
fn a_trim_allows_zeros_and_what_ever_was_there_until_the_next_mount() {
    let mut bench = Bench::new(TERMS);
    for letter in [b'a', b'b'] {
        bench.done(0, Write, letter);
        bench.done(1, Flush, 0);
    }
    bench.done(0, Trim, 0);
    bench.done(1, Flush, 0);
    assert_eq!(
        bench.allows([0, b'a', b'b', b'c']),
        [true, true, true, false]
    );
    bench.0.restart(|_, bytes| bytes.extend([b'a'; 8]));
    assert_eq!(bench.allows([0, b'a', b'b']), [false, true, false]);
}

#[test]
fn what_was_held_before_the_first_request_may_have_been_something_else_before() {
    let finding = |bench: &Bench, letter| {
        let found = bench.0.check(Lpn(1), &[letter; 8], None);
        found.first().map(|(_, finding)| *finding)
    };
    let mut bench = Bench::new(TERMS);
    bench.0.hold(Lpn(1), &[b'b'; 8]);
    assert_eq!(finding(&bench, b'b'), None);
    // No request has followed, so an older version is not allowed.
    assert_eq!(finding(&bench, b'a'), Some(Finding::Bad));
    bench.done(0, Trim, 0);
    bench.done(1, Flush, 0);
    for letter in [0, b'b'] {
        assert_eq!(finding(&bench, letter), None);
    }
    assert_eq!(finding(&bench, b'a'), Some(Finding::Forgotten));
    bench.done(2, Write, b'c');
    bench.done(3, Flush, 0);
    assert_eq!(finding(&bench, b'a'), Some(Finding::Bad));
}

/// A cut has torn a page, and the page holds contents that are no known version. These contents are counted as torn,
/// and not as an older version that the ledger has forgotten.
#[test]
fn what_a_bad_drive_took_is_not_said_to_be_forgotten() {
    let mut bench = Bench::new(TERMS);
    bench.0.hold(Lpn(1), &[b'b'; 8]);
    bench.done(0, Trim, 0);
    bench.ask(1, Write, b'c');
    let found = |lost| bench.0.check(Lpn(1), &[b'?'; 8], lost);
    let named = |lost| found(lost).first().map(|(_, finding)| *finding);
    assert_eq!(named(None), Some(Finding::Forgotten));
    for lost in [Lost::Torn, Lost::Paired] {
        assert_eq!(named(Some(lost)), Some(Finding::Lost(lost)));
        let known = bench.0.check(Lpn(1), &[b'b'; 8], Some(lost));
        assert_eq!(known, []);
    }
}

#[test]
fn without_a_volatile_cache_every_answer_is_a_promise() {
    let mut bench = Bench::new(Terms {
        volatile_cache: false,
        ..TERMS
    });
    bench.done(0, Write, b'a');
    bench.ask(1, Write, b'b');
    assert_eq!(bench.allows([0, b'a', b'b']), [false, true, true]);
}

#[test]
fn without_a_promise_old_changes_are_forgotten_and_said_to_be() {
    let mut bench = Bench::new(Terms {
        remembered: 16,
        ..TERMS
    });
    for round in 1..=100 {
        bench.done(0, Write, round);
    }
    assert!(bench.0.page(1).is_some_and(|page| page.changes.len() <= 16));
    assert_eq!(bench.allows([100, 95]), [true, true]);
    let found = bench.0.check(Lpn(1), &[1; 8], None);
    assert_eq!(found[0].1, Finding::Forgotten);
    bench.done(1, Flush, 0);
    assert_eq!(bench.allows([100]), [true]);
    let found = bench.0.check(Lpn(1), &[1; 8], None);
    assert_eq!(found[0].1, Finding::Bad);
}

#[test]
fn promises_survive_the_changes_that_are_forgotten() {
    let mut bench = Bench::new(TERMS);
    for round in 0..200u8 {
        bench.done(0, Write, round);
        if round % 3 == 0 {
            bench.done(1, Flush, 0);
        }
    }
    // Write 198 was flushed, and write 199 was not.
    assert_eq!(bench.allows([197, 198, 199]), [false, true, true]);
    bench.done(0, Trim, 0);
    assert_eq!(
        bench.0.check(Lpn(1), &[7; 8], None)[0].1,
        Finding::Forgotten
    );
}

#[test]
fn what_was_there_before_may_not_change_by_itself() {
    let mut bench = Bench::new(TERMS);
    bench.0.hold(Lpn(1), &[b'x'; 8]);
    assert_eq!(bench.allows([0, b'x']), [false, true]);
    assert_eq!(bench.0.counts().must, 2);
    bench.done(0, Write, b'a');
    assert_eq!(bench.allows([0, b'x', b'a']), [false, true, true]);
}
