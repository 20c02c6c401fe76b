//! Measures page writes per second through the whole buffer, one thread.
//!
//! `cargo run --release -p destage-buffer --example page_rate [capacity pages] [page writes] [schemes and streams]`
#![allow(clippy::print_stdout, reason = "a measurement is made to be read")]

use std::collections::VecDeque;
use std::time::Instant;

use destage_base::parameter::Values;
use destage_base::{Lpn, Random};
use destage_buffer::config::{BufferConfig, Release};
use destage_buffer::view::NoDevice;
use destage_buffer::{Buffer, SCHEMES, SchemeConfig, Step};

/// Pages that may be written: 16 times the default capacity.
const DEVICE_PAGES: u64 = 1 << 20;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default| match arguments.next() {
        Some(text) => text.parse().expect("a whole number"),
        None => default,
    };
    let capacity = number(1usize << 16) as u32;
    let writes = number(20_000_000);
    let only: Vec<_> = arguments.collect();
    let is_wanted = |name: &str| only.is_empty() || only.iter().any(|word| word == name);
    let streams = [
        ("zipf", zipf(writes)),
        ("uniform", uniform(writes)),
        ("sequential", sequential(writes)),
    ];
    println!(
        "{:10} {:10} {:9} {:>9} {:>8} {:>6}",
        "scheme", "stream", "release", "M pages/s", "ns/page", "hits"
    );
    for row in SCHEMES.iter().filter(|row| is_wanted(row.name)) {
        for (name, stream) in streams.iter().filter(|stream| is_wanted(stream.0)) {
            let pages = || stream.iter().map(|page| Lpn(u64::from(*page))).collect();
            let future: Option<Vec<_>> = row.needs_future().then(pages);
            for release in [Release::Issue, Release::Complete] {
                let config = BufferConfig {
                    release,
                    ..BufferConfig::new(capacity, 64)
                };
                let values = Values::defaults(row.parameters);
                let scheme = (row.build)(&SchemeConfig {
                    capacity_pages: capacity,
                    cluster_pages: config.cluster_pages,
                    elements: 8,
                    future: future.as_deref(),
                    seed: 1,
                    values: &values,
                });
                let Some(scheme) = scheme else { continue };
                let mut buffer = Buffer::new(config, scheme);
                let start = Instant::now();
                run(&mut buffer, stream, release);
                let seconds = start.elapsed().as_secs_f64();
                let rate = writes as f64 / seconds;
                println!(
                    "{:10} {name:10} {:9} {:9.1} {:8.1} {:6.3}",
                    row.name,
                    format!("{release:?}"),
                    rate / 1e6,
                    1e9 / rate,
                    buffer.counts().write_hits as f64 / writes as f64,
                );
                assert!(buffer.counts().are_balanced());
            }
        }
    }
}

fn run(buffer: &mut Buffer, stream: &[u32], release: Release) {
    let mut in_flight = VecDeque::new();
    for (now, page) in stream.iter().enumerate() {
        let now = now as u64;
        buffer.begin_request(1);
        let mut step = buffer.write(Lpn(u64::from(*page)), now, &NoDevice);
        loop {
            match step {
                Step::Hit | Step::Placed => break,
                Step::Destage if release == Release::Issue => {}
                Step::Destage => in_flight.extend(buffer.record().pages.iter().copied()),
                Step::Wait => {
                    let page = in_flight.pop_front().expect("a wait is for a program");
                    buffer.programmed(page, false, now);
                }
            }
            step = buffer.place(now, &NoDevice);
        }
    }
}

fn uniform(count: usize) -> Vec<u32> {
    let mut random = Random::new(1);
    (0..count)
        .map(|_| random.below(DEVICE_PAGES) as u32)
        .collect()
}

/// Popularity falls with rank to the power of 1 (log-uniform rank); ranks are scattered over the device.
fn zipf(count: usize) -> Vec<u32> {
    let mut random = Random::new(2);
    let log = (DEVICE_PAGES as f64).ln();
    let rank = |random: &mut Random| ((random.unit() * log).exp() as u64).min(DEVICE_PAGES - 1);
    (0..count)
        .map(|_| (rank(&mut random).wrapping_mul(0x9E37_79B1) % DEVICE_PAGES) as u32)
        .collect()
}

fn sequential(count: usize) -> Vec<u32> {
    (0..count)
        .map(|index| (index as u64 % DEVICE_PAGES) as u32)
        .collect()
}
