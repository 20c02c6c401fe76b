//! What every scheme must do, run on every row of the registry and every word of its parameters.
//!
//! The bench checks after each page: occupancy, the balance of the counts, that victims are dirty
//! and resident with their newest bytes, that no slot is reused early, and that every read returns
//! the newest version. The tests here supply the streams.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use common::{
    Bench, Completion, Operation, completions, for_every_row, random_operations, run_all, variants,
};
use destage_base::Random;
use destage_base::parameter::Value;

/// Calls `visit` with every sequence of `length` digits below `base`.
fn every_sequence(base: u64, length: usize, mut visit: impl FnMut(&[u64])) {
    let mut digits = vec![0; length];
    for mut number in 0..base.pow(length as u32) {
        for digit in &mut digits {
            *digit = number % base;
            number /= base;
        }
        visit(&digits);
    }
}

#[test]
fn every_short_stream_of_writes() {
    for_every_row(|row| {
        let values = &variants(row)[0].1;
        for capacity in 1..=3 {
            // A prefix of a stream is checked with the stream.
            every_sequence(4, 7, |pages| {
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
            // The defaults get the longer streams.
            let length = if index == 0 { 4 } else { 3 };
            for capacity in 1..=3 {
                every_sequence(15, length, |digits| {
                    // With nothing buffered there is nothing to trim or to flush: what follows is a
                    // stream of its own, and met as such.
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
                let operations = random_operations(&mut Random::new(seed), pages, 10_000);
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
            let bench = Bench::for_operations(row, 40, &values, completion, &operations);
            let Some(mut bench) = bench else { continue };
            for operation in operations {
                bench.apply(&operation);
                if random.below(8) == 0 {
                    bench.apply(&Operation::Idle);
                }
            }
            bench.check_all(0..150);
            assert!(bench.buffer.counts().superseded_dirty > 0);
        }
    });
}

#[test]
fn equal_calls_give_equal_records() {
    for_every_row(|row| {
        for (name, values) in variants(row) {
            let run = || {
                let operations = random_operations(&mut Random::new(8), 1000, 20_000);
                let completion = Completion::AtOnce;
                let mut bench = Bench::for_operations(row, 100, &values, completion, &operations)?;
                bench.run(&operations);
                Some((bench.log, bench.buffer.counts()))
            };
            assert_eq!(run(), run(), "{name}");
        }
    });
}
