//! Runs `tests/scenarios/<scheme>.txt`. Each file has small worked examples for one scheme of the registry.
//!
//! Each line is one operation of the host or a setting of the bench. After `=>` the line lists all events that
//! the operation causes, in order:
//!
//! ```text
//! capacity 3 lru_unit=page   # a new buffer of three pages; parameters by name
//! unwritten 13 14            # pages that were never written to flash, for padding
//! collecting 0 2             # dies that collect garbage from here on; page 5 is on die 1 of four
//! queues 3 0 0 1             # operations that wait at each die from here on
//! w 1 2 3                    # one write request of three pages, which enter; nothing else happens
//! w 1 4 => hit, evict 2      # `evict`, `flush`, `drain`, `idle`, `fua`: a record of that cause
//! r 1 2 => hit, miss
//! trim 1 => dropped          # or `absent`
//! fua 3 => hit, fua 3
//! flush => flush 4           # also `drain`, `idle`
//! capacity 1 hold            # programs complete only when a page must `wait`, oldest first,
//! complete                   # or all at once at this line
//! ```
//!
//! In a record, `+5` is a page that is read from flash for padding, `=5` is a padding page whose contents are in
//! memory, and `~5` is a filler page that was never written. `kept` means that the pages stay in the buffer.
//! Clusters have four pages.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use crate::common;

use std::fs;
use std::path::Path;

use common::{Bench, Completion, Operation};
use destage_base::parameter::Values;
use destage_buffer::{COMMON, SCHEMES, SchemeRow};

#[test]
fn every_scheme_has_a_scenario_and_follows_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    for row in SCHEMES {
        let path = folder.join(format!("{}.txt", row.name));
        let text = fs::read_to_string(&path).unwrap_or_else(|error| {
            panic!(
                "scheme {} has no scenario: {}: {error}",
                row.name,
                path.display()
            )
        });
        let steps = run(row, &text);
        assert!(
            steps >= 3,
            "the scenario of {} shows next to nothing",
            row.name
        );
    }
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(
            SCHEMES.iter().any(|row| row.name == name),
            "{name}.txt is about no scheme"
        );
    }
}

/// Runs the scenario `text` and returns its number of steps; panics if a step has other events than the text
/// says.
fn run(row: &SchemeRow, text: &str) -> usize {
    let mut bench = None;
    let mut steps = 0;
    for (number, line) in text.lines().enumerate() {
        let place = format!("{}.txt:{}: {line}", row.name, number + 1);
        let line = line.split('#').next().unwrap_or_default();
        let (command, expected) = line.split_once("=>").unwrap_or((line, ""));
        let mut words = command.split_whitespace();
        let Some(verb) = words.next() else { continue };
        let words: Vec<_> = words.collect();
        steps += 1;
        if verb == "capacity" {
            let capacity = words[0].parse().expect(&place);
            let (hold, parameters): (Vec<&str>, _) =
                words[1..].iter().partition(|word| **word == "hold");
            let completion = if hold.is_empty() {
                Completion::AtOnce
            } else {
                Completion::Held
            };
            let values = values(row, &parameters, &place);
            let future = writes_until_next_capacity(text.lines().skip(number + 1));
            bench = Some(Bench::for_operations(
                row, capacity, &values, completion, &future,
            ));
            continue;
        }
        let pages: Vec<u64> = words
            .iter()
            .map(|word| word.parse().expect(&place))
            .collect();
        let operation = match verb {
            "w" => Operation::Write(pages),
            "r" => Operation::Read(pages),
            "trim" => Operation::Trim(pages[0]),
            "fua" => Operation::Fua(pages[0]),
            "flush" => Operation::Flush,
            "drain" => Operation::Drain,
            "idle" => Operation::Idle,
            _ => {
                let bench = bench.as_mut().expect("a capacity comes first");
                prepare(verb, &pages, bench, &place);
                continue;
            }
        };
        let bench = bench.as_mut().expect("a capacity comes first");
        bench.log.clear();
        bench.apply(&operation);
        assert_eq!(bench.log.join(", "), expected.trim(), "{place}");
    }
    steps
}

/// The writes up to the next `capacity` line, for a scheme that needs the future page writes.
fn writes_until_next_capacity<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<Operation> {
    let lines = lines.take_while(|line| !line.starts_with("capacity"));
    let commands = lines.map(|line| line.split(['#', '=']).next().unwrap_or_default());
    let writes = commands.filter_map(|command| {
        let mut words = command.split_whitespace();
        let is_write = matches!(words.next(), Some("w" | "fua"));
        is_write.then(|| Operation::Write(words.map(|word| word.parse().unwrap()).collect()))
    });
    writes.collect()
}

fn prepare(verb: &str, pages: &[u64], bench: &mut Bench, place: &str) {
    match verb {
        "unwritten" => bench.device.unwritten.extend(pages),
        "collecting" => bench.device.collecting = pages.iter().map(|die| *die as u32).collect(),
        "queues" => bench.device.queues = pages.iter().map(|length| *length as u32).collect(),
        "complete" => bench.complete_all(),
        other => panic!("{place}: what is {other}?"),
    }
}

fn values(row: &SchemeRow, words: &[&str], place: &str) -> Values {
    let rows = || COMMON.iter().chain(row.parameters);
    let mut values = Values::defaults(rows());
    for word in words {
        let (name, value) = word.split_once('=').expect(place);
        let row = rows()
            .find(|row| row.name == name)
            .unwrap_or_else(|| panic!("{place}: no {name}"));
        values.set(
            row.name,
            row.read(value)
                .unwrap_or_else(|expected| panic!("{place}: expected {expected}")),
        );
    }
    values
}
