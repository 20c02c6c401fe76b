//! Compares destage orders of the schemes that know dies or sets with orders that were worked out by hand.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use crate::common;

use common::{Bench, Completion, Operation};
use destage_base::parameter::{Value, Values};
use destage_buffer::{COMMON, DestageCause, find};

/// The write sequence of BPLRU (FAST 2008), Table 1.
const S1: &[u64] = &[0, 4, 8, 12, 16, 1, 5, 9, 13, 17, 2, 6, 10, 14];
/// A stream on which the schemes destage in different orders. It contains runs of pages, a hot page, and rewrites
/// of older pages.
const S2: &[u64] = &[
    0, 1, 2, 3, 20, 4, 20, 5, 8, 20, 12, 13, 16, 9, 21, 20, 24, 28, 0, 1, 2, 3, 6, 20, 32, 17,
];

fn bench(scheme: &str, capacity: u32, set: &[(&'static str, Value)]) -> Bench {
    let row = find(scheme).unwrap();
    let mut values = Values::defaults(COMMON.iter().chain(row.parameters));
    for (name, value) in set {
        values.set(name, value.clone());
    }
    Bench::new(row, capacity, &values, Completion::AtOnce)
}

fn write(bench: &mut Bench, pages: &[u64]) {
    for page in pages {
        bench.apply(&Operation::Write(vec![*page]));
    }
}

/// The pages of each record are in brackets, and a bar precedes the records of the final drain.
fn destages(scheme: &str, stream: &[u64]) -> String {
    let mut bench = bench(scheme, 8, &[]);
    write(&mut bench, stream);
    bench.apply(&Operation::Drain);
    let text = |drained: bool| {
        let records = bench
            .records
            .iter()
            .filter(|record| (record.cause == DestageCause::Drain) == drained);
        records
            .map(|record| {
                let pages: Vec<_> = record.pages.iter().map(u64::to_string).collect();
                format!("[{}]", pages.join(" "))
            })
            .collect::<String>()
    };
    format!("{} | {}", text(false), text(true))
}

#[test]
fn epo_on_the_common_streams() {
    assert_eq!(
        destages("epo", S1),
        "[0 1][4 5][8 9 2] | [12 13 6][16 17 10][14]"
    );
    assert_eq!(
        destages("epo", S2),
        "[0 1 2 3][4 5][8 13][12 9][16 21 2][24 1 6 3] | [28 17][0][20][32]"
    );
}

/// EPO (2011), figure 2c: the order of the pages in one die's queue. All page numbers are multiples of 4, so that
/// all pages are on die 0.
#[test]
fn epo_figure_2c() {
    for (length, order) in [(3, "3 2 1"), (4, "2 3 1"), (5, "4 2 3 1"), (6, "3 4 2 1")] {
        let mut bench = bench("epo", 8, &[]);
        write(&mut bench, &[4, 8, 12, 8, 16, 12][..length]);
        bench.apply(&Operation::Drain);
        let pages = bench
            .records
            .iter()
            .rev()
            .map(|record| (record.pages[0] / 4).to_string());
        assert_eq!(pages.collect::<Vec<_>>().join(" "), order);
    }
    let mut full = bench("epo", 4, &[]);
    write(&mut full, &[4, 8, 12, 8, 16, 12, 20]);
    assert_eq!(full.log, ["hit", "hit", "evict 4"]);
}

#[test]
fn epo_skips_empty_queues() {
    let mut bench = bench("epo", 4, &[]);
    write(&mut bench, &[0, 4, 8, 12, 16]);
    assert_eq!(bench.log, ["evict 0"]);
    assert_eq!(bench.buffer.counts().resident, 4);
}

fn text(word: &str) -> Value {
    Value::Text(word.to_owned())
}

/// With `epo_key=physical` a page is found by its flash address. Unless the device updates in place, a rewrite
/// changes the address of the page. So without updates in place no write hits.
#[test]
fn epo_by_physical_address_never_hits() {
    for (in_place, hits) in [(false, 0), (true, 2)] {
        let mut bench = bench("epo", 8, &[("epo_key", text("physical"))]);
        bench.device.updates_in_place = in_place;
        write(&mut bench, &[1, 2, 3, 2, 4, 3]);
        let counts = bench.buffer.counts();
        assert_eq!((counts.write_hits, counts.resident), (hits, 4));
        // Each rewrite that does not hit destages the old copy of its page.
        assert_eq!(counts.destaged(), 2 - hits);
        let replaced = if in_place {
            ["hit", "hit"]
        } else {
            ["evict 2", "evict 3"]
        };
        assert_eq!(bench.log, replaced);
    }
}

/// By the arithmetic that figure 3 prints, every miss adds (number of dies - 1) pages to the pool of free pages.
/// So no page is ever evicted.
#[test]
fn epo_as_printed_never_evicts() {
    let mut bench = bench("epo", 4, &[("epo_pool", text("printed"))]);
    write(&mut bench, &[0, 4, 8, 12, 16, 20, 24, 28]);
    assert_eq!((bench.log.len(), bench.buffer.counts().dirty_max), (0, 8));
    assert_eq!(pool_of(&bench), [(4 + 8 * 3) as f64, 4.0]);
}

/// All pages are on one die, so an eviction removes one page. But `every_queue` adds one page per queue to the
/// pool of free pages, which is four pages.
#[test]
fn epo_that_counts_every_queue_grows_beyond_its_capacity() {
    let mut bench = bench("epo", 4, &[("epo_pool", text("every_queue"))]);
    write(&mut bench, &[0, 4, 8, 12, 16, 20, 24, 28]);
    assert_eq!(bench.log, ["evict 0"]);
    assert_eq!(pool_of(&bench), [0.0, 3.0]);
    write(&mut bench, &[32]);
    assert_eq!(bench.log, ["evict 0", "evict 4"]);
    assert_eq!(pool_of(&bench), [3.0, 3.0]);
}

/// The size of the pool of free pages, and the largest number of pages that the buffer held beyond its capacity.
fn pool_of(bench: &Bench) -> [f64; 2] {
    let mut found = [0.0; 2];
    bench.buffer.report(&mut |name, value| match name {
        "pool_pages" => found[0] = value,
        "beyond_capacity_pages_max" => found[1] = value,
        name => panic!("{name} is no figure of a pool"),
    });
    found
}

#[test]
fn cflru_on_the_common_streams_is_lru() {
    for stream in [S1, S2] {
        let mut pages = [Vec::new(), Vec::new()];
        for (scheme, pages) in ["cflru", "lru"].iter().zip(&mut pages) {
            let mut bench = bench(scheme, 8, &[]);
            write(&mut bench, stream);
            bench.apply(&Operation::Drain);
            pages.extend(
                bench
                    .records
                    .iter()
                    .map(|record| (record.cause, record.pages.clone())),
            );
        }
        assert_eq!(pages[0], pages[1]);
    }
}

/// A cache of four lines in two sets, over two packages. Pages 0 2 2 4 1 are written first. Each text then lists
/// the pages that one idle step writes back.
#[test]
fn apu_in_four_lines() {
    let cases = [
        ("wb", &[][..]),
        ("apu-lru", &["2", "4", "1"]),
        ("apu-lfu", &["4", "1", "2"]),
        ("apu-lru-d", &["2 1", "4"]),
        ("apu-lfu-d", &["4 1", "2"]),
    ];
    for (scheme, steps) in cases {
        let row = find(scheme).unwrap();
        let values = Values::defaults(COMMON.iter().chain(row.parameters));
        let new = || Bench::over(2, row, 4, &values, Completion::AtOnce, None);
        let mut bench = new();
        write(&mut bench, &[0, 2, 2, 4, 1]);
        assert_eq!(bench.log, ["hit", "evict 0"], "{scheme}");
        bench.log.clear();
        for _ in 0..5 {
            bench.apply(&Operation::Idle);
        }
        let expected: Vec<_> = steps
            .iter()
            .map(|step| format!("idle {step} kept"))
            .collect();
        assert_eq!(bench.log, expected, "{scheme}");
        assert_eq!(bench.buffer.counts().evictions(), 1);
    }
}

#[test]
fn apu_drops_a_line_that_idle_time_has_cleaned() {
    let row = find("apu-lru-d").unwrap();
    let values = Values::defaults(COMMON.iter().chain(row.parameters));
    let mut bench = Bench::over(2, row, 4, &values, Completion::AtOnce, None);
    write(&mut bench, &[0, 2, 2, 4, 1]);
    bench.apply(&Operation::Idle);
    write(&mut bench, &[6]);
    bench.apply(&Operation::Read(vec![0]));
    assert_eq!(bench.log, ["hit", "evict 0", "idle 2 1 kept", "miss"]);
    let counts = bench.buffer.counts();
    assert_eq!((counts.evictions(), counts.dropped.clean), (1, 1));
    bench.apply(&Operation::Read(vec![2, 4, 6, 1]));
    assert_eq!(bench.log[4..], ["miss", "hit", "hit", "hit"]);
}
