//! Measures the processor time of a page write in buffers of 1 Ki to 1 Mi pages, and the part of this time that comes
//! from misses in the processor's caches.
//!
//! A page write in a larger buffer takes longer for two reasons: the ordered structures of the buffer are larger, and
//! its tables no longer fit into a processor cache. To separate the two reasons, each size is measured twice. Both
//! measurements use the same random writes, to twice as many pages as the buffer can hold:
//!
//! * in one buffer of that size;
//! * in buffers of 1 Ki pages that together have that size. The page number selects the buffer.
//!
//! Both measurements access the same amount of memory at random, so both have about the same number of cache misses.
//! Only the size of the ordered structures differs. So the quotient of the two times shows the cost of larger
//! structures.

use std::path::Path;

use destage_base::Lpn;
use destage_buffer::{Buffer, Release, SCHEMES, SchemeRow};

use crate::chart::{self, Line};
use crate::clock::Stopwatch;
use crate::drive::{Programs, build};
use crate::streams::uniform;

/// The number of pages of the smallest buffer.
const SMALLEST: u32 = 1 << 10;
/// Capacities of the measured buffers, in pages.
pub const SIZES: [u32; 6] = [1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20];
/// The number of different pages that the writes concern, in multiples of the capacity of the buffer.
const SPREAD: u64 = 2;
/// The number of measured page writes. Before these writes, every page is written once.
const WRITES: u64 = 1_200_000;
/// The measured writes are divided into this number of parts, and the time of each part is measured. Other work on
/// the machine can only add time, so the shortest time counts.
const RUNS: usize = 4;
/// The largest acceptable quotient of the two times.
const TARGET: f64 = 2.0;

/// Prints the table and draws the chart `chart`, for the schemes that `only` names. If `only` is empty, for all
/// schemes.
pub fn print(chart: &Path, only: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    println!(
        "cost over size: ns of processor time per page write, pages at random out of {SPREAD} times the buffer, least of {RUNS} measurements\n\
         upper row: one buffer of that many pages; lower row: the same pages in buffers of {SMALLEST} pages\n\
         quotient: the largest ratio of upper to lower, target under {TARGET}; * marks a miss of the target\n"
    );
    print!("{:<10}", "scheme");
    for size in SIZES {
        print!(" {:>8}", format!("{} Ki", size >> 10));
    }
    println!(" {:>9}", "quotient");
    let mut lines = Vec::new();
    for row in SCHEMES {
        // A scheme that needs the future is not measured, because it does its work when it is built and has a table
        // of the whole stream.
        let is_wanted = only.is_empty() || only.iter().any(|name| name == row.name);
        if row.needs_future() || !is_wanted {
            continue;
        }
        let costs = |split| -> Option<Vec<f64>> {
            SIZES.iter().map(|size| cost(row, *size, split)).collect()
        };
        let (Some(whole), Some(split)) = (costs(false), costs(true)) else {
            continue;
        };
        let quotients = whole.iter().zip(&split).map(|(one, many)| one / many);
        let largest = quotients.fold(0.0, f64::max);
        print_costs(row.name, &whole);
        println!(" {largest:>9.2}{}", if largest < TARGET { "" } else { "*" });
        print_costs("", &split);
        println!();
        lines.push(Line {
            family: row.family,
            name: row.name,
            whole,
            split,
        });
    }
    chart::draw(chart, &SIZES, &lines)?;
    println!("\ndrawn: {}", chart.display());
    Ok(())
}

fn print_costs(name: &str, costs: &[f64]) {
    print!("{name:<10}");
    for cost in costs {
        print!(" {cost:>8.1}");
    }
}

/// Nanoseconds per page write with `size` pages of buffer. If `split` is set, these pages are divided into small
/// buffers.
fn cost(row: &SchemeRow, size: u32, split: bool) -> Option<f64> {
    let capacity = if split { SMALLEST } else { size };
    let mut buffers: Vec<Buffer> = (0..size / capacity)
        .map(|_| build(row, capacity, Release::Issue, None))
        .collect::<Option<_>>()?;
    let pages = u64::from(capacity) * SPREAD;
    let all_pages = u64::from(size) * SPREAD;
    let mut programs = Programs::default();
    let mut now = 0;
    let mut write = |page: u64| {
        let buffer = &mut buffers[(page / pages) as usize];
        buffer.begin_request(1);
        programs.write(buffer, Lpn(page % pages), now);
        now += 1;
    };
    // The number of pages is a power of two, so multiplying by an odd number gives every page exactly once, in
    // scattered order.
    for index in 0..all_pages {
        write(index.wrapping_mul(0x9E37_79B1) % all_pages);
    }
    let stream = uniform(WRITES, all_pages);
    let windows = stream.requests.chunks(stream.requests.len() / RUNS);
    let costs = windows.map(|requests| {
        let watch = Stopwatch::start();
        for request in requests {
            write(request.first);
        }
        watch.seconds() * 1e9 / requests.len() as f64
    });
    costs.reduce(f64::min)
}
