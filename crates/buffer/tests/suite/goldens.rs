//! Compares destage orders with orders that are published or were worked out by hand.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use crate::common;

use common::{Bench, Completion, Operation};
use destage_base::parameter::Values;
use destage_buffer::{COMMON, DestageCause, find};

/// The write sequence of BPLRU (FAST 2008), Table 1.
const S1: &[u64] = &[0, 4, 8, 12, 16, 1, 5, 9, 13, 17, 2, 6, 10, 14];
/// A stream on which the schemes destage in different orders. It contains runs of pages, a hot page, and rewrites
/// of older pages.
const S2: &[u64] = &[
    0, 1, 2, 3, 20, 4, 20, 5, 8, 20, 12, 13, 16, 9, 21, 20, 24, 28, 0, 1, 2, 3, 6, 20, 32, 17,
];

/// The pages that a buffer of eight pages with clusters of four pages destages for `stream`, as text. A record of
/// several pages is in brackets, and a bar precedes the records of the final drain.
fn destages(scheme: &str, stream: &[u64]) -> String {
    let row = find(scheme).unwrap();
    let values = Values::defaults(COMMON.iter().chain(row.parameters));
    let mut bench = Bench::new(row, 8, &values, Completion::AtOnce);
    for page in stream {
        bench.apply(&Operation::Write(vec![*page]));
    }
    bench.apply(&Operation::Drain);
    let text = |drained: bool| {
        let records = bench
            .records
            .iter()
            .filter(|record| (record.cause == DestageCause::Drain) == drained);
        let pages = records.map(|record| {
            record
                .pages
                .iter()
                .map(u64::to_string)
                .collect::<Vec<_>>()
                .join(" ")
        });
        pages
            .map(|pages| {
                if pages.contains(' ') {
                    format!("[{pages}]")
                } else {
                    pages
                }
            })
            .collect::<Vec<_>>()
    };
    format!("{} | {}", text(false).join(" "), text(true).join(" "))
}

#[test]
fn common_streams() {
    let cases = [
        ("lru", S1, "0 4 8 12 16 1 | 5 9 13 17 2 6 10 14"),
        (
            "lru",
            S2,
            "0 1 2 3 4 5 8 12 13 16 9 21 24 28 | 0 1 2 3 6 20 32 17",
        ),
        ("fifo", S1, "0 4 8 12 16 1 | 5 9 13 17 2 6 10 14"),
        (
            "fifo",
            S2,
            "0 1 2 3 20 4 5 8 12 13 16 9 21 20 24 | 28 0 1 2 3 6 32 17",
        ),
    ];
    for (scheme, stream, expected) in cases {
        assert_eq!(destages(scheme, stream), expected, "{scheme}");
    }
}

/// Page LRU destages the pages of Table 1 of BPLRU in the order of their writes; the final drain destages the
/// last of them.
#[test]
fn table_1_of_bplru_under_page_lru() {
    let order: Vec<_> = S1.iter().map(u64::to_string).collect();
    assert_eq!(destages("lru", S1).replace(" |", ""), order.join(" "));
}
