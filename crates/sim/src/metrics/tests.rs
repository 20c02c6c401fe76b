//! Metrics at the limits of their range.

use super::*;

#[test]
fn a_time_beyond_64_bits_is_the_longest_there_is() {
    let mut metrics = Metrics::default();
    let tally = Tally {
        merge_copies: 1 << 40,
        merge_erases: 1,
        ..Tally::default()
    };
    let cost = MergeCost {
        copy: 1 << 30,
        erase: 1,
    };
    merges(&mut metrics, &tally, cost);
    let time = metrics.get(rows::FTL_MERGE_TIME_MS.name).expect("a metric");
    assert_eq!(time.as_f64(), to_ms(u64::MAX));
}
