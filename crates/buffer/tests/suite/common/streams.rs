//! Inputs of the bench: parameter values, streams of operations, and kinds of completion.

use std::sync::atomic::{AtomicUsize, Ordering};

use destage_base::parameter::{Kind, Parameter, Values};
use destage_base::{Lpn, Random};
use destage_buffer::{BufferConfig, COMMON, Common, SCHEMES, SchemeRow};

use super::{Bench, Completion, Operation};

/// The defaults of all parameters of a row, then one variant for each other value of a flag or a choice.
pub fn variants(row: &SchemeRow) -> Vec<(String, Values)> {
    let defaults = || Values::defaults(COMMON.iter().chain(row.parameters));
    let mut all = vec![(row.name.to_string(), defaults())];
    let pads = pads(row);
    for parameter in COMMON.iter().chain(row.parameters) {
        // Three groups of parameters have no variants. The bench sets `release` itself. `bg_*` act only in idle
        // time, and random streams have no idle time. Padding parameters have no effect on schemes that never
        // pad.
        let is_elsewhere = match parameter.name {
            "release" => true,
            "pad_charge_reads" | "pad_unwritten" | "flush_pads" => !pads,
            name => name.starts_with("bg_"),
        };
        for word in words(parameter)
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

/// The values that a flag or a choice can have; empty for other kinds of parameters.
fn words(parameter: &Parameter) -> &'static [&'static str] {
    match parameter.kind {
        Kind::Choice(words) => words,
        Kind::Flag => &["true", "false"],
        _ => &[],
    }
}

/// Whether the scheme pads for at least one value of its own parameters.
fn pads(row: &SchemeRow) -> bool {
    let defaults = Values::defaults(COMMON.iter().chain(row.parameters));
    let own = row.parameters.iter().flat_map(|parameter| {
        let words = words(parameter).iter();
        words.map(|word| (parameter.name, parameter.read(word).unwrap()))
    });
    let operations = random_operations(&mut Random::new(12), 30, 300);
    let is_padded = |values: &Values| {
        let mut bench = Bench::for_operations(row, 8, values, Completion::AtOnce, &operations);
        bench.run(&operations);
        bench.records.iter().any(|record| !record.pads.is_empty())
    };
    is_padded(&defaults) || { own }.any(|(name, value)| {
        let mut values = defaults.clone();
        values.set(name, value);
        is_padded(&values)
    })
}

/// Calls `visit` with every row of the registry, on as many threads as the machine has hardware threads.
pub fn for_every_row(visit: impl Fn(&'static SchemeRow) + Sync) {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                // The last rows of the registry have most parameters and the longest tests, so the threads start
                // with them.
                let take = || {
                    SCHEMES
                        .iter()
                        .rev()
                        .nth(next.fetch_add(1, Ordering::Relaxed))
                };
                while let Some(row) = take() {
                    visit(row);
                }
            });
        }
    });
}

/// A random stream of `count` operations over `pages` pages: runs of writes and reads, trims, FUA writes
/// and flushes.
pub fn random_operations(random: &mut Random, pages: u64, count: usize) -> Vec<Operation> {
    (0..count)
        .map(|_| {
            // Half of the accesses are limited to an eighth of the pages.
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

/// The pages that `operations` write, in order.
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

/// One completion of each kind.
pub fn completions(seed: u64) -> [Completion; 3] {
    [
        Completion::AtOnce,
        Completion::Held,
        Completion::Random(Random::new(seed)),
    ]
}

/// Runs `operations` with each kind of completion. All runs must produce the same sequence of records.
pub fn run_all(
    row: &SchemeRow,
    name: &str,
    capacity: u32,
    values: &Values,
    operations: &[Operation],
    pages: u64,
) {
    let mut expected = None;
    let config = BufferConfig::from_parameters(capacity, 4, &Common::from_values(values));
    let future = row.needs_future().then(|| page_writes(operations));
    for completion in completions(operations.len() as u64) {
        let (config, future) = (config.clone(), future.as_deref());
        let mut bench = Bench::configured(4, row, config, values, completion, future);
        // This function compares the records themselves, so the log need not contain them as text.
        bench.tells_records = false;
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
