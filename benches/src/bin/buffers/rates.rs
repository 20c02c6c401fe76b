//! Measures the page writes per second and the bytes per page of every scheme, and compares them with targets.

use destage_buffer::{Release, SCHEMES, SchemeRow};

use crate::drive::measure;
use crate::memory::bytes_per_page;
use crate::streams::{self, Stream};

/// The number of pages of the buffer.
const CAPACITY: u32 = 1 << 16;
/// The number of page writes of a measurement. A shorter trace is repeated until it has at least this number.
const WRITES: u64 = 4_000_000;
/// The number of measurements for each cell of the table. The cell shows their median.
const RUNS: usize = 3;
/// Target: heap bytes per buffered page.
const BYTES_TARGET: f64 = 64.0;
/// Schemes and their targets, in million page writes per second. All other schemes have the target [`OTHERS`].
const TARGETS: [(&[&str], f64); 2] = [
    (&["lru"], 20.0),
    (
        &[
            "fifo",
            "fab",
            "block-lru",
            "bplru",
            "clc",
            "lb-clock",
            "bpac",
            "epo",
            "wb",
            "apu-lru",
            "apu-lfu",
            "apu-lru-d",
            "apu-lfu-d",
        ],
        10.0,
    ),
];
const OTHERS: f64 = 2.0;

fn target(row: &SchemeRow) -> f64 {
    let named = TARGETS.iter().find(|(names, _)| names.contains(&row.name));
    named.map_or(OTHERS, |(_, target)| *target)
}

/// One column of speeds.
struct Column {
    stream: Stream,
    /// Whether the target applies to this stream. Streams without a target show two extremes: misses on scattered
    /// pages, and whole blocks in order.
    has_target: bool,
}

/// Prints the table for the schemes and streams that `only` names. If `only` names no scheme, the table shows all
/// schemes. If `only` names no stream, the table shows all streams.
pub fn print(only: &[String]) {
    let mut columns = columns();
    let streams: Vec<_> = columns.iter().map(|column| column.stream.name).collect();
    let selected = Selection::new(only, &streams);
    columns.retain(|column| selected.has(column.stream.name));
    // The streams have twice as many pages as the buffer. So the measurement also counts memory that the buffer does
    // not free after an eviction.
    let fills = u64::from(CAPACITY) * 2;
    let memory = [streams::lone(fills), streams::sequential(fills)];

    println!(
        "the buffer alone, one thread, {CAPACITY} pages; million page writes per second of processor time, median of {RUNS} runs \
         of {WRITES} or more\n\
         bytes of heap per buffered page, with every page in a block of its own (lone) and with whole blocks (full)\n\
         target: zipf and traces; * marks a miss of the target\n"
    );
    print!("{:<10} {:>6}", "scheme", "target");
    for Column { stream, .. } in &columns {
        print!(" {:>10}", stream.name);
    }
    println!(" | {:>6} {:>7} {:>7}", "target", "lone", "full");
    let names: Vec<_> = SCHEMES.iter().map(|row| row.name).collect();
    let selected = Selection::new(only, &names);
    for row in SCHEMES.iter().filter(|row| selected.has(row.name)) {
        print_row(row, &columns, &memory);
    }
}

fn columns() -> Vec<Column> {
    let traces = streams::traces(|name, reason| println!("{name:<10} skipped: {reason}"));
    let traces = traces.into_iter().map(|trace| trace.repeated(WRITES));
    let with = |has_target| move |stream| Column { stream, has_target };
    let others = [
        streams::uniform(WRITES, streams::DEVICE_PAGES),
        streams::sequential(WRITES),
    ];
    std::iter::once(streams::zipf(WRITES))
        .chain(traces)
        .map(with(true))
        .chain(others.into_iter().map(with(false)))
        .collect()
}

/// The names that the user selected. No names select everything.
struct Selection<'a>(Vec<&'a str>);

impl<'a> Selection<'a> {
    fn new(only: &[String], names: &[&'a str]) -> Self {
        let named = |name: &&str| only.iter().any(|word| word == name);
        Self(names.iter().copied().filter(named).collect())
    }

    fn has(&self, name: &str) -> bool {
        self.0.is_empty() || self.0.contains(&name)
    }
}

fn print_row(row: &SchemeRow, columns: &[Column], memory: &[Stream]) {
    let bytes = |stream| bytes_per_page(row, CAPACITY, stream);
    let Some(bytes) = memory.iter().map(bytes).collect::<Option<Vec<_>>>() else {
        // The scheme buffers nothing.
        return;
    };
    let target = target(row);
    let mark = |misses: bool| if misses { '*' } else { ' ' };
    print!("{:<10} {target:>6}", row.name);
    for Column { stream, has_target } in columns {
        let measured = measure(row, CAPACITY, Release::Issue, stream, RUNS);
        let rate = measured.map_or(0.0, |(seconds, _)| stream.len() as f64 / seconds / 1e6);
        print!(" {rate:>9.1}{}", mark(*has_target && rate < target));
    }
    print!(" | {BYTES_TARGET:>6}");
    for bytes in bytes {
        print!(" {bytes:>6.1}{}", mark(bytes >= BYTES_TARGET));
    }
    println!();
}
