//! Page writes per second and bytes per page of every scheme, beside the targets.

use destage_buffer::{Release, SCHEMES, SchemeRow};

use crate::drive::measure;
use crate::memory::bytes_per_page;
use crate::streams::{self, Stream};

/// Pages of the buffer.
const CAPACITY: u32 = 1 << 16;
/// Page writes of a measurement; a shorter trace is repeated.
const WRITES: u64 = 4_000_000;
/// Measurements per cell, of which the median is shown.
const RUNS: usize = 3;
/// Bytes of heap per buffered page.
const BYTES_TARGET: f64 = 64.0;
/// The schemes with a target of their own, in million page writes per second; the others have [`OTHERS`].
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

/// Prints the table; of the schemes called `only`, or of all if that is empty.
pub fn print(only: &[String]) {
    let mut speed = vec![streams::zipf(WRITES)];
    speed.extend(
        streams::traces(|name, reason| println!("{name:<10} skipped: {reason}"))
            .into_iter()
            .map(|trace| trace.repeated(WRITES)),
    );
    // Without a target: nothing but misses on scattered pages, and whole blocks in order.
    let others = [
        streams::uniform(WRITES, streams::DEVICE_PAGES),
        streams::sequential(WRITES),
    ];
    // Twice the buffer, so that what evictions leave behind is counted.
    let fills = u64::from(CAPACITY) * 2;
    let memory = [streams::lone(fills), streams::sequential(fills)];

    println!(
        "the buffer alone, one thread, {CAPACITY} pages; million page writes per second, median of {RUNS} runs \
         of {WRITES} or more\n\
         slots are free at issue, in zipf/c at completion; bytes of heap per buffered page with every page in a \
         block of its own (lone) and with whole blocks (full)\n\
         target: zipf and traces; * marks what misses it\n"
    );
    print!("{:<10} {:>6} {:>8}", "scheme", "target", "zipf/c");
    for stream in speed.iter().chain(&others) {
        print!(" {:>10}", stream.name);
    }
    println!(" | {:>6} {:>7} {:>7}", "target", "lone", "full");
    for row in SCHEMES {
        if !only.is_empty() && !only.iter().any(|name| name == row.name) {
            continue;
        }
        print_row(row, &speed, &others, &memory);
    }
}

fn print_row(row: &SchemeRow, speed: &[Stream], others: &[Stream], memory: &[Stream]) {
    let rate = |stream: &Stream, release| {
        let (seconds, _) = measure(row, CAPACITY, release, stream, RUNS)?;
        Some(stream.len() as f64 / seconds / 1e6)
    };
    let Some(waiting) = rate(&speed[0], Release::Complete) else {
        return;
    };
    let target = target(row);
    let mark = |misses: bool| if misses { '*' } else { ' ' };
    print!("{:<10} {target:>6} {waiting:>8.1}", row.name);
    for stream in speed {
        let rate = rate(stream, Release::Issue).unwrap_or(0.0);
        print!(" {rate:>9.1}{}", mark(rate < target));
    }
    for stream in others {
        print!(" {:>10.1}", rate(stream, Release::Issue).unwrap_or(0.0));
    }
    print!(" | {BYTES_TARGET:>6}");
    for stream in memory {
        let bytes = bytes_per_page(row, CAPACITY, stream).unwrap_or(0.0);
        print!(" {bytes:>6.1}{}", mark(bytes >= BYTES_TARGET));
    }
    println!();
}
