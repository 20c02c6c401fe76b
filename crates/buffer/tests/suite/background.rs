//! Tests of destaging in idle time (`bg_destage`) with the schemes of the registry.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use crate::common;

use common::{Bench, Completion, Operation, completions, random_operations, variants};
use destage_base::Random;
use destage_base::parameter::{Value, Values};
use destage_base::time::TICKS_PER_US;
use destage_buffer::scheme::{IdleAgain, IdleRule};
use destage_buffer::{Common, Contradiction, DestageCause, SCHEMES, SchemeRow, find};
use destage_sample::sampled;

/// The defaults of `row` with `bg_destage` on; `high` and `low` are the high and the low mark, as fractions of
/// the buffer's capacity.
fn values(row: &SchemeRow, high: f64, low: f64) -> Values {
    let mut values = variants(row).remove(0).1;
    values.set("bg_destage", Value::Flag(true));
    values.set("bg_high", Value::Number(high));
    values.set("bg_low", Value::Number(low));
    values
}

/// A bench of `capacity` pages for each scheme that keeps pages, has a bounded buffer, and has no idle rule of
/// its own.
fn benches(capacity: u32, high: f64, low: f64, stream: &[Operation]) -> Vec<Bench> {
    let bench = |row| {
        let values = values(row, high, low);
        let bench = Bench::for_operations(row, capacity, &values, Completion::AtOnce, stream);
        let alone = Bench::for_operations(
            row,
            capacity,
            &variants(row).remove(0).1,
            Completion::AtOnce,
            stream,
        );
        let is_left_alone = alone.buffer.idle_rule().is_none() && row.name != "infinite";
        (is_left_alone && bench.buffer.keeps_pages()).then_some(bench)
    };
    SCHEMES.iter().filter_map(bench).collect()
}

fn writes(pages: impl IntoIterator<Item = u64>) -> Vec<Operation> {
    let pages = pages.into_iter();
    pages.map(|page| Operation::Write(vec![page])).collect()
}

#[test]
fn the_defaults_begin_at_once_and_go_on_after_each_record() {
    let rule = |set: &[(&'static str, Value)]| {
        let row = find("lru").unwrap();
        let mut values = values(row, 0.9, 0.7);
        for (name, value) in set {
            values.set(name, value.clone());
        }
        let bench = Bench::new(row, 8, &values, Completion::AtOnce);
        bench.buffer.idle_rule()
    };
    let default = IdleRule {
        after: 0,
        again: IdleAgain::AfterRecord,
        groups: 1,
    };
    assert_eq!(rule(&[]), Some(default));
    let set = [
        ("bg_idle_us", Value::Integer(30)),
        ("bg_again", Value::Text("page".into())),
    ];
    let expected = IdleRule {
        after: 30 * TICKS_PER_US,
        again: IdleAgain::AfterPage,
        groups: 1,
    };
    assert_eq!(rule(&set), Some(expected));
    assert_eq!(rule(&[("bg_destage", Value::Flag(false))]), None);
}

/// A scheme with an idle rule of its own keeps this rule, and `bg_destage` has no effect.
#[test]
fn a_scheme_with_a_rule_of_its_own_is_asked_first() {
    let row = find("apu-lru").unwrap();
    let run = |values: &Values| {
        let mut bench = Bench::new(row, 8, values, Completion::AtOnce);
        bench.run(&writes(0..8));
        bench.run(&vec![Operation::Idle; 12]);
        (bench.buffer.idle_rule(), bench.log)
    };
    assert_eq!(run(&values(row, 0.5, 0.0)), run(&variants(row)[0].1));
}

/// The buffer has ten pages, so the high mark is exactly 9 dirty pages and the low mark is exactly 7.
#[test]
fn idle_time_is_used_between_the_marks_only() {
    let row = find("lru").unwrap();
    let mut bench = Bench::new(row, 10, &values(row, 0.9, 0.7), Completion::AtOnce);
    let mut step = |operation: Operation| {
        bench.log.clear();
        bench.apply(&operation);
        bench.log.join(", ")
    };
    (0..9).for_each(|page| assert_eq!(step(Operation::Write(vec![page])), ""));
    // Nine dirty pages are not above the high mark.
    assert_eq!(step(Operation::Idle), "");
    step(Operation::Write(vec![9]));
    assert_eq!(step(Operation::Idle), "idle 0");
    // Once destaging has begun, it continues below the high mark, even after a host request.
    assert_eq!(step(Operation::Write(vec![5])), "hit");
    assert_eq!(step(Operation::Idle), "idle 1");
    assert_eq!(step(Operation::Idle), "idle 2");
    assert_eq!(step(Operation::Idle), "");
    // Destaging ends at seven dirty pages, and eight dirty pages do not start it again.
    step(Operation::Write(vec![20]));
    assert_eq!(step(Operation::Idle), "");
    // Destaging also ends if trims or a flush reduce the number of dirty pages below the low mark.
    step(Operation::Write(vec![21, 22]));
    assert_eq!(step(Operation::Idle), "idle 3");
    (20..23).for_each(|page| drop(step(Operation::Trim(page))));
    step(Operation::Write(vec![30, 31, 32]));
    assert_eq!(step(Operation::Idle), "");
    step(Operation::Write(vec![33]));
    assert_eq!(step(Operation::Idle), "idle 4");
    step(Operation::Flush);
    step(Operation::Write((40..49).collect()));
    assert_eq!(step(Operation::Idle), "");
}

#[test]
fn marks_that_cross_are_refused() {
    let row = find("fifo").unwrap();
    let check = |high, low| Common::from_values(&values(row, high, low)).check();
    let (low, high) = (1.0, 0.5);
    assert_eq!(
        check(high, low),
        Err(Contradiction::LowAboveHigh { low, high })
    );
    assert_eq!(check(0.5, 0.5), Ok(()));
}

/// Idle steps destage the same records as the beginning of a flush would, in the same order. They end at the low
/// mark.
#[test]
fn the_order_is_that_of_a_flush() {
    let mut stream = random_operations(&mut Random::new(3), 120, 400);
    stream.retain(|operation| !matches!(operation, Operation::Flush | Operation::Fua(_)));
    for length in (0..stream.len()).step_by(sampled(21, 7)) {
        let stream = &stream[..length];
        let idle = benches(40, 0.6, 0.3, stream);
        let flushed = benches(40, 0.6, 0.3, stream);
        for (mut idle, mut flushed) in idle.into_iter().zip(flushed) {
            idle.run(stream);
            flushed.run(stream);
            let done = idle.records.len();
            let dirty = idle.buffer.counts().dirty;
            idle.run(&vec![Operation::Idle; 40]);
            flushed.apply(&Operation::Flush);
            let used = &idle.records[done..];
            let mut expected = flushed.records[done..].to_vec();
            let mut left = dirty;
            let mut records = 0;
            if dirty > 24 {
                while left > 12 {
                    left -= expected[records].pages.len() as u32;
                    records += 1;
                }
            }
            expected.truncate(records);
            for record in &mut expected {
                record.cause = DestageCause::Idle;
            }
            assert_eq!(used, expected);
            assert_eq!(idle.buffer.counts().dirty, left);
        }
    }
}

/// Runs every short stream, with idle steps at any position, with all checks of the bench.
#[test]
fn every_short_stream_with_idle_time() {
    let operation = |digit: u32| match digit {
        0..3 => Operation::Write(vec![u64::from(digit)]),
        3 => Operation::Read(vec![1]),
        4 => Operation::Trim(0),
        _ => Operation::Idle,
    };
    for row in SCHEMES {
        for (capacity, high, low) in [(1, 0.0, 0.0), (2, 0.5, 0.0), (3, 0.7, 0.4)] {
            let values = values(row, high, low);
            for number in (0..6u32.pow(5)).step_by(sampled(5, 1)) {
                let digits = (0..5).map(|place| number / 6u32.pow(place) % 6);
                let stream: Vec<_> = digits.map(operation).collect();
                let mut expected = None;
                for completion in completions(u64::from(number)) {
                    let mut bench =
                        Bench::for_operations(row, capacity, &values, completion, &stream);
                    bench.run(&stream);
                    bench.apply(&Operation::Drain);
                    bench.complete_all();
                    bench.check_all(0..3);
                    // The idle rules of these schemes may depend on whether a line is still in
                    // flight.
                    let depends_on_timing = row.name.starts_with("apu");
                    match &expected {
                        _ if depends_on_timing => {}
                        None => expected = Some(bench.records),
                        Some(expected) => {
                            assert_eq!(*expected, bench.records, "{} {stream:?}", row.name)
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn long_random_streams_with_idle_time() {
    for row in SCHEMES {
        for (seed, capacity, pages, high, low) in [
            (1, 5, 20, 0.4, 0.2),
            (2, 64, 200, 0.9, 0.7),
            (3, 64, 90, 0.0, 0.0),
        ] {
            let mut random = Random::new(seed);
            let mut stream = random_operations(&mut random, pages, 10_000);
            for operation in &mut stream {
                if random.below(4) == 0 {
                    *operation = Operation::Idle;
                }
            }
            let values = values(row, high, low);
            for completion in completions(seed) {
                let mut bench = Bench::for_operations(row, capacity, &values, completion, &stream);
                bench.run(&stream);
                bench.check_all(0..pages);
                let counts = bench.buffer.counts();
                let idle = counts.records[DestageCause::Idle as usize];
                let has_a_bound = row.name != "infinite" && bench.buffer.keeps_pages();
                // The buffers of emulators destage by themselves before the number of dirty pages exceeds the
                // high mark.
                let is_filled = has_a_bound && row.family != "emulator";
                assert!(idle > 0 || !is_filled, "{}", row.name);
            }
        }
    }
}
