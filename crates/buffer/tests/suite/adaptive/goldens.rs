//! Compares the destage orders of the streams S1 and S2 with orders that were worked out by hand.

use destage_base::parameter::Values;
use destage_buffer::{COMMON, DestageCause, find};

use crate::common::{Bench, Completion, Operation};

/// The write sequence of BPLRU (FAST 2008), Table 1.
const S1: &[u64] = &[0, 4, 8, 12, 16, 1, 5, 9, 13, 17, 2, 6, 10, 14];
/// A stream on which the schemes destage in different orders. It contains runs of pages, a hot page, and rewrites
/// of older pages.
const S2: &[u64] = &[
    0, 1, 2, 3, 20, 4, 20, 5, 8, 20, 12, 13, 16, 9, 21, 20, 24, 28, 0, 1, 2, 3, 6, 20, 32, 17,
];

/// The pages that a buffer of eight pages with clusters of four pages destages for `stream`, as text. A bar
/// precedes the records of the final drain.
fn destages(scheme: &str, words: &[&str], stream: &[u64]) -> String {
    let row = find(scheme).unwrap();
    let rows = || COMMON.iter().chain(row.parameters);
    let mut values = Values::defaults(rows());
    for word in words {
        let (name, value) = word.split_once('=').unwrap();
        let row = rows().find(|row| row.name == name).unwrap();
        values.set(row.name, row.read(value).unwrap());
    }
    let mut bench = Bench::new(row, 8, &values, Completion::AtOnce);
    for page in stream {
        bench.apply(&Operation::Write(vec![*page]));
    }
    bench.apply(&Operation::Drain);
    let mut text = String::new();
    let mut drains = false;
    for record in &bench.records {
        if record.cause == DestageCause::Drain && !drains {
            drains = true;
            text += " | ";
        }
        let pages: Vec<_> = record.pages.iter().map(u64::to_string).collect();
        text += &format!("[{}]", pages.join(" "));
    }
    text
}

#[test]
fn bpac_without_thresholds() {
    for more in [&[][..], &["bpac_adapts=false"]] {
        assert_eq!(
            destages("bpac", more, S1),
            "[12][16][0 1][8 9] | [17][2][4 5 6][10][13 14]"
        );
        assert_eq!(
            destages("bpac", more, S2),
            "[0 1 2 3][4 5][12 13][16][8 9][0 1 2 3] | [21][24][28][6][32][17][20]"
        );
    }
}

#[test]
fn bpac_with_fixed_thresholds() {
    // The expected orders were worked out for `bpac_ages=all`. With this value, clusters of every kind can be in
    // the size-dependent region.
    let words = &[
        "bpac_pird_thd=4",
        "bpac_bird_thd=4",
        "bpac_adapts=false",
        "bpac_ages=all",
    ];
    assert_eq!(
        destages("bpac", words, S1),
        "[12][16][0 1][8 9] | [17][2][4 5 6][10][13 14]"
    );
    assert_eq!(
        destages("bpac", words, S2),
        "[0 1 2 3][4 5][12 13][8 9][20 21][0 1 2 3] | [24][28][6][20][32][16 17]"
    );
}
