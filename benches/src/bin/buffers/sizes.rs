//! The cost of a page in buffers of 1 Ki to 1 Mi pages, and how much of it comes from misses in the processor's
//! caches.
//!
//! A larger buffer is slower for two reasons: its ordered structures are larger, and its tables no longer fit into a
//! processor cache. To tell the two apart, each size is measured twice, with the same random writes to twice as many
//! pages as fit:
//!
//! * in one buffer of that size;
//! * in buffers of 1 Ki pages that together have that size; the page number selects the buffer.
//!
//! Both touch the same amount of memory at random, so both miss the caches equally; only the size of the ordered
//! structures differs. The quotient of the two costs is the cost of size itself.

use std::path::Path;

use destage_base::Lpn;
use destage_buffer::{Buffer, Release, SCHEMES, SchemeRow};

use crate::chart::{self, Line};
use crate::clock::Stopwatch;
use crate::drive::{Programs, build};
use crate::streams::uniform;

/// Pages of the smallest buffer.
const SMALLEST: u32 = 1 << 10;
/// Capacities of the measured buffers, in pages.
pub const SIZES: [u32; 6] = [1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20];
/// The range of the page numbers, in multiples of the buffer.
const SPREAD: u64 = 2;
/// Measured page writes; before them every page is written once.
const WRITES: u64 = 1_200_000;
/// The number of parts in which the writes are measured. Other work on the machine only adds time, so the fastest
/// part counts.
const RUNS: usize = 4;
/// The largest acceptable quotient of the two costs.
const TARGET: f64 = 2.0;

/// Prints the table and draws the file `chart`, for the schemes named in `only`, or for all if it is empty.
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
        // A scheme that needs the future does its work when it is built and keeps a table of the whole stream.
        let is_wanted = only.is_empty() || only.iter().any(|name| name == row.name);
        if row.needs_future || !is_wanted {
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

/// Nanoseconds per page write with `size` pages of buffer, in one buffer or `split` into small ones.
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
    // Multiplying by an odd number visits every page exactly once, in scattered order.
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
