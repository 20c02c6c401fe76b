//! What the bench is fed: parameters, streams of operations, kinds of completion.

use destage_base::parameter::{Kind, Values};
use destage_base::{Lpn, Random};
use destage_buffer::{COMMON, SchemeRow};

use super::{Bench, Completion, Operation};

/// All parameters of a row at their defaults, then each alternative of a flag or a choice.
pub fn variants(row: &SchemeRow) -> Vec<(String, Values)> {
    let defaults = || Values::defaults(COMMON.iter().chain(row.parameters));
    let mut all = vec![(row.name.to_string(), defaults())];
    for parameter in COMMON.iter().chain(row.parameters) {
        let words: &[&str] = match parameter.kind {
            Kind::Choice(words) => words,
            Kind::Flag => &["true", "false"],
            _ => &[],
        };
        // The bench sets `release` itself, and without idle time there is no destaging in it.
        let is_elsewhere = parameter.name == "release" || parameter.name.starts_with("bg_");
        for word in words
            .iter()
            .filter(|word| **word != parameter.default && !is_elsewhere)
        {
            let mut values = defaults();
            values.set(parameter.name, parameter.read(word).unwrap());
            all.push((format!("{}:{}={word}", row.name, parameter.name), values));
        }
    }
    all
}

/// A stream with runs, repeats, reads, trims, FUA and flushes over `pages` pages.
pub fn random_operations(random: &mut Random, pages: u64, count: usize) -> Vec<Operation> {
    (0..count)
        .map(|_| {
            // Half of the accesses go to an eighth of the pages.
            let range = if random.below(2) == 0 {
                pages
            } else {
                (pages / 8).max(1)
            };
            let first = random.below(range);
            let run = (first..(first + 1 + random.below(6)).min(pages)).collect();
            match random.below(100) {
                0..70 => Operation::Write(run),
                70..85 => Operation::Read(run),
                85..95 => Operation::Trim(first),
                95..99 => Operation::Fua(first),
                _ => Operation::Flush,
            }
        })
        .collect()
}

/// The pages `operations` write, in order.
pub fn page_writes(operations: &[Operation]) -> Vec<Lpn> {
    let mut pages = Vec::new();
    for operation in operations {
        match operation {
            Operation::Write(run) => pages.extend(run.iter().map(|page| Lpn(*page))),
            Operation::Fua(page) => pages.push(Lpn(*page)),
            _ => {}
        }
    }
    pages
}

/// One of each kind.
pub fn completions(seed: u64) -> [Completion; 3] {
    [
        Completion::AtOnce,
        Completion::Held,
        Completion::Random(Random::new(seed)),
    ]
}

/// Runs `operations` under every kind of completion: all must give one sequence of records.
pub fn run_all(
    row: &SchemeRow,
    name: &str,
    capacity: u32,
    values: &Values,
    operations: &[Operation],
    pages: u64,
) {
    let mut expected = None;
    for completion in completions(operations.len() as u64) {
        let Some(mut bench) = Bench::for_operations(row, capacity, values, completion, operations)
        else {
            return;
        };
        bench.run(operations);
        bench.check_all(0..pages);
        bench.apply(&Operation::Drain);
        bench.check_all(0..pages);
        bench.complete_all();
        bench.check_all(0..pages);
        let records = std::mem::take(&mut bench.records);
        match &expected {
            None => expected = Some(records),
            Some(expected) => {
                assert_eq!(
                    expected, &records,
                    "{name} depends on timing: {capacity} pages, {operations:?}"
                );
            }
        }
    }
}
