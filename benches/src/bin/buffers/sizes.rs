//! The cost of a page in buffers of 1 Ki to 1 Mi pages, and the part of it that comes from the processor's cache.
//!
//! A larger buffer is slower for two reasons: its orders are larger, and its tables fit no cache. To tell the two apart, each size is measured twice
//! on the same pages, which are written at random and are twice as many as fit:
//!
//! * in one buffer of that size;
//! * in as many buffers of 1 Ki pages as make that size, the page number saying which.
//!
//! Both touch as much memory as randomly, so both miss the caches alike; only the size of the orders differs.
//! The quotient is the cost of size itself.

use std::path::Path;

use destage_base::Lpn;
use destage_buffer::{Buffer, Release, SCHEMES, SchemeRow};

use crate::chart::{self, Line};
use crate::clock::Stopwatch;
use crate::drive::{Programs, build};
use crate::streams::uniform;

/// Pages of the smallest buffer.
const SMALLEST: u32 = 1 << 10;
/// Buffers measured, in pages.
pub const SIZES: [u32; 6] = [1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20];
/// Pages written to, in buffers.
const SPREAD: u64 = 2;
/// Measured page writes, after every page was written once.
const WRITES: u64 = 1_200_000;
/// Parts they are measured in; other work on the machine only adds, so the least counts.
const RUNS: usize = 4;
/// By how much size itself may slow a page down.
const TARGET: f64 = 2.0;

/// Prints the table and draws `chart`; of the schemes called `only`, or of all if that is empty.
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
        // Its work is done when it is built, and it keeps a table of the whole stream.
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

/// Nanoseconds per page write in `size` pages of buffer.
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
    // Multiplying by an odd number visits every page once, in no order.
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
