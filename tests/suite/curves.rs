//! Compares the curves that one pass over a recorded trace yields with a separate run at each size.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use destage::{CurvePlan, Effort, Grid, Input, Reading, Settings, compare, curve};
use destage_sample::sampled;
use destage_tests::outside;

/// The number of requests of a trace: the first 2,000, or all (`None`) with `make whole`.
fn requests() -> Option<u64> {
    sampled(Some(2_000), None)
}

/// The number of sizes to compare, chosen from the sizes at which the curve changes.
fn sizes() -> usize {
    sampled(8, 40)
}

fn held(trace: &str) {
    let reading = Reading {
        limit: requests(),
        ..Reading::default()
    };
    let input = Input::trace(outside(&format!("traces/{trace}")));
    let input = input.read(reading).unwrap();
    let mut settings = Settings::new();
    settings.set_pair("ftl.kind=none").unwrap();
    let plan = CurvePlan {
        settings: settings.clone(),
        buffers: None,
        sizes: Some(vec!["all".to_owned()]),
        sampling: None,
    };
    let curves = curve(&input, &plan, &Effort::default()).unwrap();
    let all = &curves.curves[0];
    assert!(all.has_every_size());
    let changes: Vec<u64> = all.points().filter_map(|point| point.capacity()).collect();
    let last = sizes() - 1;
    let chosen = (0..=last).map(|index| changes[index * (changes.len() - 1) / last]);
    let mut sizes: Vec<u64> = chosen.collect();
    sizes.dedup();
    let texts = sizes.iter().map(u64::to_string);
    let combinations = Grid::new(settings).sizes(texts).combinations().unwrap();
    let runs = compare(&[input], &combinations, &Effort::default())
        .unwrap()
        .runs;
    assert_eq!(runs.len(), sizes.len());
    for (run, bytes) in runs.iter().zip(sizes) {
        let point = all.at(bytes).unwrap();
        let mut known = 0;
        for (name, number) in point.metrics.iter() {
            assert_eq!(
                run.metrics.get(name),
                Some(number),
                "{trace}, {bytes}: {name}"
            );
            known += 1;
        }
        assert_eq!(run.metrics.iter().count(), known + 1, "{trace}, {bytes}");
    }
}

#[test]
#[ignore = "needs recorded traces"]
fn every_size_of_five_traces() {
    for trace in [
        "iozone-100k.disksim.zst",
        "postmark-62k.disksim.zst",
        "tencent-cbs-50k.csv.zst",
        "sqlite-wal-update.wiscsee.zst",
        "pc-mayun.diskmon.zst",
    ] {
        held(trace);
    }
}
