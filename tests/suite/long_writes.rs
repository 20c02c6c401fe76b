//! Tests that the translation layer learns the length of each write. Without a buffer it is the length of the
//! request, and with a buffer the length of the run of destaged pages. The event model and the operation counts
//! must agree.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use destage_base::time::TICKS_PER_MS;
use destage_sim::observer::Silent;
use destage_sim::prepass::Prepass;
use destage_sim::run::run;
use destage_sim::settings::Settings;
use destage_sim::source::Source;
use destage_trace::{Operation, Request};

/// The number of pages that the layer `last` treats as parts of long writes, and the number of all other pages.
/// Each request is (page, pages), and a block has 4 pages.
fn long_and_others(costing: &str, pairs: &[&str], requests: &[(u64, u32)]) -> (f64, f64) {
    let requests: Vec<_> = requests
        .iter()
        .enumerate()
        .map(|(number, (page, pages))| Request {
            arrival: number as u64 * TICKS_PER_MS,
            sector: 8 * page,
            sectors: 8 * pages,
            operation: Operation::Write,
            ..Request::BLANK
        })
        .collect();
    let mut settings = Settings::new();
    settings.set_kind("ftl", "last").unwrap();
    let device = [
        "flash.dies=2",
        "flash.planes_per_die=1",
        "flash.blocks_per_plane=40",
        "flash.pages_per_block=4",
        "sim.precondition=sequential_fill",
        "sim.drain=true",
    ];
    for pair in device.iter().chain(pairs) {
        settings.set_pair(pair).unwrap();
    }
    settings
        .set_pair(&format!("sim.costing={costing}"))
        .unwrap();
    let config = settings.resolve().unwrap();
    let source = Source::memory("requests", &requests);
    let (result, _) = run(&config, source, &Prepass::default(), &mut Silent).unwrap();
    let figure = |name| result.metrics.get(name).unwrap().as_f64();
    let others = figure("ftl.hot_writes") + figure("ftl.cold_writes");
    (figure("ftl.sequential_writes"), others)
}

#[test]
fn without_a_buffer_the_request_counts() {
    let requests = [(0, 1), (8, 2), (16, 5), (3, 1), (24, 3)];
    for costing in ["event", "op_count"] {
        let of = |pages: &str| {
            let pairs = ["buffer.kind=nocache", &format!("ftl.seq_pages={pages}")];
            long_and_others(costing, &pairs, &requests)
        };
        assert_eq!(of("2"), (10.0, 2.0));
        assert_eq!(of("3"), (8.0, 4.0));
        assert_eq!(of("6"), (0.0, 12.0));
        assert_eq!(of("1"), (12.0, 0.0));
    }
}

#[test]
fn of_destaged_pages_those_count_that_follow_one_another() {
    // The blocks are evicted as 4 5 6, then 9 11, then 0 1.
    let requests = [(5, 1), (4, 1), (6, 1), (11, 1), (9, 1), (1, 1), (0, 1)];
    for costing in ["event", "op_count"] {
        let of = |pairs: &[&str]| long_and_others(costing, pairs, &requests);
        let blocks = ["buffer.kind=block-lru", "buffer.capacity_bytes=16KiB"];
        assert_eq!(of(&blocks), (5.0, 2.0));
        let longer = [&blocks[..], &["ftl.seq_pages=3"]].concat();
        assert_eq!(of(&longer), (3.0, 4.0));
        // `lru` evicts single pages.
        let pages = ["buffer.kind=lru", "buffer.capacity_bytes=16KiB"];
        assert_eq!(of(&pages).0, 0.0);
        // Padding completes all blocks.
        let padded = ["buffer.kind=bplru", "buffer.capacity_bytes=16KiB"];
        assert_eq!(of(&padded), (12.0, 0.0));
    }
}
