//! Worked examples that run the whole program. Each example lists the pages that a scheme destages for one of two
//! short streams of writes.
//!
//! The device has 4 dies and blocks of 4 pages, and the buffer has 8 pages. At the end the run drains the pages that
//! are still in the buffer.

use crate::common;

use common::{Place, TINY, page_writes};

const S1: [u64; 14] = [0, 4, 8, 12, 16, 1, 5, 9, 13, 17, 2, 6, 10, 14];
const S2: [u64; 26] = [
    0, 1, 2, 3, 20, 4, 20, 5, 8, 20, 12, 13, 16, 9, 21, 20, 24, 28, 0, 1, 2, 3, 6, 20, 32, 17,
];

/// For each scheme, the destaged pages of stream S1 and then of stream S2. Pages before the bar are evicted during
/// the writes, and pages after the bar are drained at the end.
const EXPECTED: [(&str, &str, &str); 12] = [
    (
        "lru",
        "0,4,8,12,16,1 | 5,9,13,17,2,6,10,14",
        "0,1,2,3,4,5,8,12,13,16,9,21,24,28 | 0,1,2,3,6,20,32,17",
    ),
    (
        "fifo",
        "0,4,8,12,16,1 | 5,9,13,17,2,6,10,14",
        "0,1,2,3,20,4,5,8,12,13,16,9,21,20,24 | 28,0,1,2,3,6,32,17",
    ),
    (
        "block-lru",
        "12,16,0 1,8 9 | 17,2,4 5 6,10,13 14",
        "0 1 2 3,4 5,12 13,16,8 9,20 21,24,28 | 0 1 2 3,6,20,32,17",
    ),
    (
        "clc:alpha=1",
        "12,16,0 1,8 9 | 17,2,4 5 6,10,13 14",
        "0 1 2 3,4 5,12 13,16,8 9,20 21,24,28 | 0 1 2 3,6,20,32,17",
    ),
    (
        "bplru",
        "12,16,0 1,8 9 | 17,2,4 5 6,10,13 14",
        "0 1 2 3,4 5,12 13,16,8 9,0 1 2 3 | 24,28,6,20 21,32,17",
    ),
    (
        "fab",
        "0 1,4 5,8 9 | 12 13 14,16 17,2,6,10",
        "0 1 2 3,4 5,12 13,8 9,0 1 2,20 21 | 16 17,24,28,3,6,32",
    ),
    (
        "clc:alpha=0",
        "0 1,4 5,8 9 | 12 13 14,16 17,2,6,10",
        "0 1 2 3,4 5,12 13,8 9,0 1 2,20 21 | 16 17,24,28,3,6,32",
    ),
    (
        "clc:alpha=0.1",
        "0 1,4 5,8 9 | 16 17,2,6,10,12 13 14",
        "0 1 2 3,4 5,12 13,8 9,20 21,0 1 2 3 | 24,28,6,20,32,16 17",
    ),
    (
        "clc:alpha=0.5",
        "12,0 1,4 5,16 17 | 2,6,8 9 10,13 14",
        "0 1 2 3,4 5,12 13,8 9,20 21,16,24,0 1 2 3 | 28,6,20,32,17",
    ),
    (
        "lb-clock",
        "0 1,4 5,8 9 | 12 13 14,16 17,2,6,10",
        "0 1 2 3,4 5,8 9,12 13,16,0 1 2 3 | 24,28,20 21,6,32,17",
    ),
    (
        "epo",
        "0 1,4 5,8 9 2 | 12 13 6,16 17 10,14",
        "0 1 2 3,4 5,8 13,12 9,16 21 2,24 1 6 3 | 28 17,0,20,32",
    ),
    (
        "bpac",
        "12,16,0 1,8 9 | 17,2,4 5 6,10,13 14",
        "0 1 2 3,4 5,12 13,16,8 9,0 1 2 3 | 21,24,28,6,32,17,20",
    ),
];

/// The pages that `buffer` destages for `stream` over a page-mapped device, in the format of [`EXPECTED`].
fn destages(buffer: &str, stream: &[u64]) -> String {
    let place = Place::new();
    place.write("t.disksim", page_writes(stream));
    let options = [
        "--buffer",
        buffer,
        "--set",
        "flash.dies=4",
        "--set",
        "sim.drain=true",
        "--destage-log",
        "d.csv",
        "--json",
    ];
    place.json(&[&["run", "t.disksim"], &TINY[..], &options].concat());
    let log = place.read("d.csv");
    let rows: Vec<Vec<_>> = log
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect())
        .collect();
    let of = |cause: &str| {
        let pages = rows
            .iter()
            .filter(|row| row[1] == cause)
            .map(|row| expand(row[2]));
        pages.collect::<Vec<_>>().join(",")
    };
    format!("{} | {}", of("evict"), of("drain"))
}

/// Expands `0-2 8` to `0 1 2 8`.
fn expand(pages: &str) -> String {
    let number = |text: &str| text.parse::<u64>().expect("a page number");
    let numbers = pages.split(' ').flat_map(|run| {
        let (first, last) = run.split_once('-').unwrap_or((run, run));
        number(first)..=number(last)
    });
    numbers
        .map(|page| page.to_string())
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn the_common_streams() {
    for (buffer, first, second) in EXPECTED {
        assert_eq!(destages(buffer, &S1), first, "{buffer} on S1");
        assert_eq!(destages(buffer, &S2), second, "{buffer} on S2");
    }
}

#[test]
fn promoting_first_evicts_other_clusters() {
    assert_eq!(
        destages("block-lru:touch_order=promote_first", &S1),
        "16,0 1,8 9,17 | 2,4 5 6,10,12 13 14"
    );
}

#[test]
fn a_padded_victim_reads_what_is_missing() {
    // Pages 12 and 15 of block 3 are in the buffer. The write of page 0 evicts them. The flash has contents of pages
    // 13 and 14.
    let place = Place::new();
    place.write("t.disksim", page_writes(&[12, 15, 0]));
    let run = |precondition: &str| {
        let precondition = format!("sim.precondition={precondition}");
        let options = [
            "--buffer",
            "bplru",
            "--set",
            "buffer.capacity_bytes=8KiB",
            "--set",
            &precondition,
            "--destage-log",
            "d.csv",
            "--json",
        ];
        let document = place.json(&[&["run", "t.disksim"], &TINY[..], &options].concat());
        let metric = |name: &str| document["metrics"][name].as_u64().unwrap();
        let fields: Vec<_> = place
            .read("d.csv")
            .lines()
            .nth(1)
            .unwrap()
            .split(',')
            .map(str::to_owned)
            .collect();
        assert_eq!(fields[1..3], ["evict", "12 15"]);
        assert_eq!(
            fields[3..],
            [
                metric("buffer.pad_reads").to_string(),
                metric("buffer.pad_fills").to_string()
            ]
        );
        (
            metric("buffer.pad_reads"),
            metric("buffer.pad_fills"),
            metric("flash.reads"),
            metric("flash.programs"),
        )
    };
    assert_eq!(run("sequential_fill"), (2, 0, 2, 4));
    assert_eq!(run("none"), (0, 2, 0, 4));
}

#[test]
fn a_cluster_just_written_in_order_leaves_next() {
    // The buffer has room for all pages, so the drain shows the order in which clusters would be evicted.
    let order = |buffer: &str, stream: &[u64]| {
        let place = Place::new();
        place.write("t.disksim", page_writes(stream));
        let options = [
            "--buffer",
            buffer,
            "--set",
            "buffer.capacity_bytes=64KiB",
            "--set",
            "sim.drain=true",
            "--destage-log",
            "d.csv",
            "--json",
        ];
        place.json(&[&["run", "t.disksim"], &TINY[..], &options].concat());
        let log = place.read("d.csv");
        log.lines()
            .skip(1)
            .map(|line| line.split(',').nth(2).unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let in_order = [0, 1, 8, 9, 10, 5, 11];
    let out_of_order = [0, 1, 9, 8, 10, 5, 11];
    assert_eq!(order("bplru", &in_order), ["8-11", "0-1", "5"]);
    assert_eq!(order("bplru", &out_of_order), ["0-1", "5", "8-11"]);
    assert_eq!(
        order("bplru:seq_detect=complete", &out_of_order),
        ["8-11", "0-1", "5"]
    );
}

#[test]
fn one_die_makes_epo_an_lru() {
    // All pages are on die 0 of 4. At the end the queue of this die has the pages 12, 16, 8, 4 from head to tail.
    let stream = [4, 8, 12, 8, 16, 12];
    assert_eq!(destages("epo", &stream), " | 4,8,16,12");
    let place = Place::new();
    place.write("t.disksim", page_writes(&[0, 4, 8, 12, 16]));
    let options = [
        "--buffer",
        "epo",
        "--set",
        "flash.dies=4",
        "--set",
        "buffer.capacity_bytes=16KiB",
        "--destage-log",
        "d.csv",
        "--json",
    ];
    let document = place.json(&[&["run", "t.disksim"], &TINY[..], &options].concat());
    assert_eq!(document["metrics"]["buffer.destaged_pages"], 1);
    assert_eq!(document["metrics"]["buffer.dirty_at_end"], 4);
}

/// The number of merges that the stream S1 causes with the scheme `buffer` and 2 log blocks.
fn merges(buffer: &str, costing: &str, drain: bool) -> u64 {
    let place = Place::new();
    place.write("t.disksim", page_writes(&S1));
    let costing = format!("sim.costing={costing}");
    let drain = format!("sim.drain={drain}");
    let options = [
        "--buffer",
        buffer,
        "--ftl",
        "bast:log_blocks=2",
        "--set",
        &costing,
        "--set",
        &drain,
        "--json",
    ];
    let result = place.json(&[&["run", "t.disksim"], &TINY[..], &options].concat());
    ["switch", "partial", "full"]
        .iter()
        .map(|kind| {
            result["metrics"][format!("ftl.merges.{kind}")]
                .as_u64()
                .expect("a count")
        })
        .sum()
}

/// Table 1 of BPLRU (FAST 2008) has 12 merges with a page-level LRU and 7 merges with a block-level LRU.
#[test]
fn merges_of_the_first_stream_over_two_log_blocks() {
    for costing in ["op_count", "event"] {
        for (buffer, drained, not_drained) in [
            ("lru", 12, 4),
            ("block-lru", 7, 2),
            ("bplru:pad=false,comp=false", 7, 2),
        ] {
            assert_eq!(merges(buffer, costing, true), drained, "{buffer} {costing}");
            assert_eq!(
                merges(buffer, costing, false),
                not_drained,
                "{buffer} {costing}"
            );
        }
        let promoted = "block-lru:touch_order=promote_first";
        assert_eq!(merges(promoted, costing, true), 6, "{costing}");
    }
}
