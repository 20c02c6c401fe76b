//! Tests that every recorded trace can be run without any setting.

use destage::{Effort, Grid, Input, Settings, compare};
use destage_tests::outside;

#[test]
#[ignore = "needs recorded traces"]
fn every_recorded_trace_gives_a_result_without_an_option() {
    let list = outside("traces/README.md");
    let folder = list.parent().expect("a folder");
    let traces = std::fs::read_dir(folder).expect("the folder of traces");
    let mut paths: Vec<_> = traces.map(|entry| entry.expect("a file").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "zst"));
    paths.sort();
    assert!(paths.len() >= 17, "{} traces", paths.len());
    let inputs: Vec<_> = paths.iter().map(Input::trace).collect();
    let combinations = Grid::new(Settings::new())
        .combinations()
        .expect("the defaults");
    let results = compare(&inputs, &combinations, &Effort::default()).expect("results");
    for run in &results.runs {
        let failure = run.error.as_ref().map(ToString::to_string);
        assert_eq!(failure, None, "{}", run.trace);
        assert!(
            run.metric("response.mean_ms").unwrap().is_some(),
            "{}",
            run.trace
        );
    }
    for facts in &results.manifest.inputs {
        let sizing = facts.sizing.expect("a size from the input");
        let end = sizing.end_bytes.expect("the end of the addresses");
        // The capacity of the device is the smallest power of two that holds the trace and a reserve of 15 %.
        let flash = sizing.flash_bytes as f64;
        assert!(
            flash * 0.85 >= end as f64 * 0.99,
            "{}: {sizing:?}",
            facts.name
        );
        assert!(
            flash * 0.85 / 2.0 <= end as f64 * 1.01,
            "{}: {sizing:?}",
            facts.name
        );
    }
}
